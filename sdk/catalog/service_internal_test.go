package catalog

import (
	"testing"

	"github.com/hostler/hostler/sdk/plugin/plugintest"
	catalogv1 "github.com/hostler/hostler/sdk/proto/hostler/catalog/v1"
)

// TestNothingIsLostOnTheWire holds every pair of conversions. A new pair is a new line.
func TestNothingIsLostOnTheWire(t *testing.T) {
	t.Parallel()
	type said struct {
		Title   string
		Trust   string
		Options []Option
	}
	plugintest.RoundTrip(t, func(s said) *catalogv1.InfoResponse {
		return infoToProto(Info{Title: s.Title, Trust: s.Trust, Options: s.Options})
	}, func(m *catalogv1.InfoResponse) said {
		i := infoFromProto(m)
		return said{i.Title, i.Trust, i.Options}
	})
	plugintest.RoundTrip(t, configToProto, configFromProto)
	plugintest.RoundTrip(t, entryToProto, entryFromProto)
	plugintest.RoundTrip(t, syncStepToProto, syncStepFromProto)
	plugintest.RoundTrip(t, bundlePartToProto, bundlePartFromProto)
	plugintest.RoundTrip(t, launchRequestToProto, launchRequestFromProto, "config")
	plugintest.RoundTrip(t, launchToProto, launchFromProto)
	plugintest.RoundTrip(t, iconToProto, iconFromProto)
	plugintest.RoundTrip(t, scoreToProto, scoreFromProto)
}
