package firewall

import (
	"testing"

	"github.com/hostler/hostler/sdk/plugin/plugintest"
)

func TestNothingIsLostOnTheWire(t *testing.T) {
	t.Parallel()
	plugintest.RoundTrip(t, ruleToProto, ruleFromProto)
	plugintest.RoundTrip(t, scopeToProto, scopeFromProto)
	plugintest.RoundTrip(t, guestToProto, guestFromProto)
	plugintest.RoundTrip(t, optionsToProto, optionsFromProto)
	plugintest.RoundTrip(t, optionsChangeToProto, optionsChangeFromProto)
}
