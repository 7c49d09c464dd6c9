package firewalltest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// rules tests RuleLister: positions count from 0 without gaps, reading does not
// change the digest, and unknown scopes, nodes and guests are errors. Some
// backends keep the rules of a guest apart from its node, so a guest on an
// absent node may have an empty list.
func (s *suite) rules(t *testing.T) {
	t.Parallel()
	if _, ok := firewall.As[firewall.RuleLister](s.FirewallType); !ok {
		t.Skip("the firewall lists no rules")
	}
	lister := func(t *testing.T) firewall.RuleLister {
		return open[firewall.RuleLister](t, s, s.Target(t, endpoint.Monitoring))
	}
	s.run(t, "of every scope", func(t *testing.T, ctx context.Context) {
		if s.Lists == nil {
			t.Skip("no hook Lists")
		}
		for _, list := range s.Lists(t) {
			rules, digest, err := lister(t).Rules(ctx, list.Scope)
			if err != nil || !slices.Equal(rules, list.Rules) {
				t.Errorf("%+v: rules are\n%+v, %v, want\n%+v", list.Scope, rules, err, list.Rules)
			}
			again, digestAgain, err := lister(t).Rules(ctx, list.Scope)
			if err != nil || digest != digestAgain || !slices.Equal(rules, again) {
				t.Errorf("%+v: nothing changed, but digest %q became %q, %v", list.Scope, digest, digestAgain, err)
			}
			for i, r := range rules {
				if r.Position != i || r.Action == "" || !slices.Contains(directions, r.Direction) {
					t.Errorf("%+v: rule %d is %+v", list.Scope, i, r)
				}
			}
		}
	})
	s.run(t, "a change of the rules changes the digest", func(t *testing.T, ctx context.Context) {
		if s.Change == nil {
			t.Skip("no hook Change")
		}
		scope := s.Change(t)
		_, before, err := lister(t).Rules(ctx, scope)
		if err != nil {
			t.Fatal("listing:", err)
		}
		s.Change(t)
		if _, after, err := lister(t).Rules(ctx, scope); err != nil || after == before && after != "" {
			t.Errorf("digest %q became %q, %v", before, after, err)
		}
	})
	s.run(t, "scopes that are none", func(t *testing.T, ctx context.Context) {
		guest := &firewall.Guest{Kind: "vm", Node: "n", ID: "100"}
		for _, scope := range []firewall.Scope{
			{}, {Kind: "planet"}, {Kind: "../cluster"}, {Kind: firewall.GuestScope}, {Kind: firewall.ClusterScope, Guest: guest},
			{Kind: firewall.ClusterScope, Node: "n"}, {Kind: firewall.GuestScope, Guest: &firewall.Guest{Kind: "toaster", ID: "100"}},
		} {
			_, _, err := lister(t).Rules(ctx, scope)
			if e := wantKind(t, err, plugin.Invalid); e.Field != "scope" {
				t.Errorf("%+v: the error names the field %q, want scope", scope, e.Field)
			}
		}
	})
	s.run(t, "nodes and guests that are none", func(t *testing.T, ctx context.Context) {
		nodes := []string{"", ".", "..", absentNode, "a/b", "../../cluster", "n\x00", "n?x=1", "n\xffd", strings.Repeat("n", 4096)}
		for _, node := range nodes {
			if !has[firewall.RuleLister](s, firewall.NodeScope) {
				break
			}
			_, _, err := lister(t).Rules(ctx, firewall.Scope{Kind: firewall.NodeScope, Node: node})
			if kind := plugin.KindOf(err); err == nil || kind != plugin.NotFound && kind != plugin.Invalid {
				t.Errorf("node %.80q: error is %v, want not found or invalid", node, err)
			}
		}
		for _, node := range nodes {
			if !has[firewall.RuleLister](s, firewall.GuestScope) {
				break
			}
			_, _, err := lister(t).Rules(ctx, firewall.Scope{Kind: firewall.GuestScope, Guest: &firewall.Guest{Kind: "vm", Node: node, ID: "100"}})
			if node == absentNode && err == nil { // some backends keep the rules of guests beside the nodes
				continue
			}
			if kind := plugin.KindOf(err); err == nil || kind != plugin.NotFound && kind != plugin.Invalid {
				t.Errorf("a guest on node %.80q: error is %v, want not found or invalid", node, err)
			}
		}
	})
	s.run(t, "ids of guests that are none", func(t *testing.T, ctx context.Context) {
		for _, id := range []string{"", ".", "..", "../100", "100/..", "a/b", "0100", "+100", " 100", "100\n", "1e2", "-1", "n\x00", "n\xffd",
			"100?x=1", strings.Repeat("1", 4096)} {
			rules, _, err := lister(t).Rules(ctx, firewall.Scope{Kind: firewall.GuestScope, Guest: &firewall.Guest{Kind: "vm", Node: "n", ID: id}})
			if kind := plugin.KindOf(err); err == nil && len(rules) > 0 || err != nil && kind != plugin.NotFound && kind != plugin.Invalid {
				t.Errorf("guest %.80q: %d rules, error %v, want none, or not found or invalid", id, len(rules), err)
			}
		}
	})
	s.run(t, "wrong fingerprint, wrong token, no right", func(t *testing.T, ctx context.Context) {
		target := s.Target(t, endpoint.Monitoring)
		target.Fingerprint = strings.TrimSuffix(strings.Repeat("AB:", 32), ":")
		_, _, err := open[firewall.RuleLister](t, s, target).Rules(ctx, firewall.Scope{Kind: firewall.ClusterScope})
		wantKind(t, err, plugin.Untrusted)
		target = s.Target(t, endpoint.Monitoring)
		target.Credential.Secret = "00000000-dead-beef-0000-000000000000"
		_, _, err = open[firewall.RuleLister](t, s, target).Rules(ctx, firewall.Scope{Kind: firewall.ClusterScope})
		wantKind(t, err, plugin.TokenRejected)
		if s.Lacking != nil {
			_, _, err = open[firewall.RuleLister](t, s, s.Lacking(t)).Rules(ctx, firewall.Scope{Kind: firewall.ClusterScope})
			wantKind(t, err, plugin.Denied)
		}
	})
	s.run(t, "canceled", func(t *testing.T, ctx context.Context) {
		rules := lister(t)
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		if _, _, err := rules.Rules(canceled, firewall.Scope{Kind: firewall.ClusterScope}); !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v, want context.Canceled in it", err)
		}
	})
}

// absentNode is the name of a node that could be there and is not.
const absentNode = "no-such-node"

var directions = []string{firewall.DirectionIn, firewall.DirectionOut, firewall.DirectionForward, firewall.DirectionGroup}
