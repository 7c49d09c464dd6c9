package firewalltest

import (
	"context"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// scopes calls every ability on kinds of scopes that do not have it. It checks
// the SDK's server and client more than the backend.
func (s *suite) scopes(t *testing.T) {
	t.Parallel()
	lacking(t, s, func(ctx context.Context, fw firewall.RuleLister, on firewall.Scope) error {
		_, _, err := fw.Rules(ctx, on)
		return err
	})
	lacking(t, s, func(ctx context.Context, fw firewall.RuleEditor, on firewall.Scope) error {
		return fw.DeleteRule(ctx, on, 0, "")
	})
	lacking(t, s, func(ctx context.Context, fw firewall.RuleMover, on firewall.Scope) error {
		return fw.MoveRule(ctx, on, 0, 0, "")
	})
	lacking(t, s, func(ctx context.Context, fw firewall.AliasManager, on firewall.Scope) error {
		return fw.DeleteAlias(ctx, on, "name", "")
	})
	lacking(t, s, func(ctx context.Context, fw firewall.IPSetManager, on firewall.Scope) error {
		return fw.DeleteIPSet(ctx, on, "name", false, "")
	})
	lacking(t, s, func(ctx context.Context, fw firewall.IPSetMemberEditor, on firewall.Scope) error {
		return fw.RemoveIPSetMember(ctx, on, "name", "192.0.2.1", "")
	})
	lacking(t, s, func(ctx context.Context, fw firewall.OptionsManager, on firewall.Scope) error {
		return fw.ChangeOptions(ctx, on, firewall.OptionsChange{})
	})
	lacking(t, s, func(ctx context.Context, fw firewall.LogReader, on firewall.Scope) error {
		_, err := fw.Log(ctx, on, firewall.LogQuery{})
		return err
	})
	lacking(t, s, func(ctx context.Context, fw firewall.ReferenceLister, on firewall.Scope) error {
		_, err := fw.References(ctx, on)
		return err
	})
	lacking(t, s, func(ctx context.Context, fw firewall.UsageFinder, on firewall.Scope) error {
		_, err := fw.Usage(ctx, on, firewall.AliasObject, "name")
		return err
	})
}

// lacking checks that a call is Unsupported on each kind of scope without the
// ability. The error names the field "scope" if another kind has the ability,
// and no field if none has.
func lacking[Optional any](t *testing.T, s *suite, call func(context.Context, Optional, firewall.Scope) error) {
	name := firewall.AbilityName[Optional]()
	s.run(t, name, func(t *testing.T, ctx context.Context) {
		fw, err := s.backend.Open(ctx, s.Target(t, endpoint.Lifecycle))
		must(t, "opening", err)
		defer fw.Close()
		_, claimed := firewall.As[Optional](fw)
		for _, scope := range []firewall.Scope{
			{Kind: firewall.ClusterScope}, {Kind: firewall.NodeScope, Node: absentNode}, {Kind: firewall.GroupScope, Group: "no-such-group"},
			{Kind: firewall.GuestScope, Guest: &firewall.Guest{Kind: "vm", Node: absentNode, ID: "100"}},
		} {
			_, at := firewall.AsAt[Optional](fw, scope.Kind)
			if want := s.info.Has(scope.Kind, name); at != want {
				t.Errorf("%s at %s: %t, want %t", name, scope.Kind, at, want)
			}
			if at {
				continue
			}
			field := ""
			if claimed {
				field = firewall.FieldScope
			}
			wantField(t, string(scope.Kind), call(ctx, fw.(Optional), scope), plugin.Unsupported, field)
		}
		if claimed {
			wantField(t, "no scope", call(ctx, fw.(Optional), firewall.Scope{Kind: "planet"}), plugin.Invalid, firewall.FieldScope)
		}
	})
}
