package catalog

import (
	"testing"

	"github.com/hostler/hostler/sdk/plugin/plugintest"
)

func TestNothingIsLostOnTheWire(t *testing.T) {
	t.Parallel()
	plugintest.RoundTrip(t, entryToProto, entryFromProto)
}
