package firewalltest

import (
	"context"
	"testing"

	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// ruleCheck tests RuleChecker, which checks a rule without creating it. It
// works with a token that may only read.
func (s *suite) ruleCheck(t *testing.T) {
	lacks[firewall.RuleChecker](t, s)
	eachScope[firewall.RuleChecker](t, s, "as rules are made", func(t *testing.T, ctx context.Context, g ground) {
		check := reads[firewall.RuleChecker](t, g)
		good := firewall.Rule{Direction: firewall.DirectionIn, Action: "ACCEPT", Enabled: true, Protocol: "tcp", DestinationPort: "22"}
		must(t, "checking a rule", check.CheckRule(ctx, g.Scope, good))
		bad := good
		bad.Action = "EXPLODE"
		wantField(t, "an unknown action", check.CheckRule(ctx, g.Scope, bad), plugin.Invalid, firewall.FieldAction)
	})
}
