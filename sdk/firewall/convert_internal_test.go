package firewall

import (
	"testing"

	"github.com/hostler/hostler/sdk/plugin/plugintest"
)

// TestNothingIsLostOnTheWire holds every pair of conversions. A new pair is a new line.
func TestNothingIsLostOnTheWire(t *testing.T) {
	t.Parallel()
	plugintest.RoundTrip(t, ruleToProto, ruleFromProto)
	plugintest.RoundTrip(t, ruleChangeToProto, ruleChangeFromProto)
	plugintest.RoundTrip(t, scopeToProto, scopeFromProto)
	plugintest.RoundTrip(t, guestToProto, guestFromProto)
	plugintest.RoundTrip(t, aliasToProto, aliasFromProto)
	plugintest.RoundTrip(t, aliasChangeToProto, aliasChangeFromProto)
	plugintest.RoundTrip(t, ipSetToProto, ipSetFromProto)
	plugintest.RoundTrip(t, memberToProto, memberFromProto)
	plugintest.RoundTrip(t, memberChangeToProto, memberChangeFromProto)
	plugintest.RoundTrip(t, optionsToProto, optionsFromProto)
	plugintest.RoundTrip(t, optionsChangeToProto, optionsChangeFromProto)
	plugintest.RoundTrip(t, logQueryToProto, logQueryFromProto)
	plugintest.RoundTrip(t, logLineToProto, logLineFromProto)
	plugintest.RoundTrip(t, referenceToProto, referenceFromProto)
	plugintest.RoundTrip(t, groupToProto, groupFromProto)
	plugintest.RoundTrip(t, groupChangeToProto, groupChangeFromProto)
	plugintest.RoundTrip(t, macroToProto, macroFromProto)
	plugintest.RoundTrip(t, usageToProto, usageFromProto)
	plugintest.RoundTrip(t, placeToProto, placeFromProto)
	plugintest.RoundTrip(t, stateToProto, stateFromProto)
	plugintest.RoundTrip(t, ipSetStateToProto, ipSetStateFromProto)
	plugintest.RoundTrip(t, testQueryToProto, testQueryFromProto)
	plugintest.RoundTrip(t, testToProto, testFromProto)
	plugintest.RoundTrip(t, reachQueryToProto, reachQueryFromProto)
	plugintest.RoundTrip(t, reachToProto, reachFromProto)
	plugintest.RoundTrip(t, compareQueryToProto, compareQueryFromProto)
	plugintest.RoundTrip(t, comparisonToProto, comparisonFromProto)
}
