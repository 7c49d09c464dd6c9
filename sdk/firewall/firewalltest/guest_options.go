package firewalltest

import (
	"context"
	"reflect"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

func (s *suite) guestOptions(t *testing.T) {
	t.Parallel()
	if _, ok := firewall.As[firewall.GuestOptioner](s.FirewallType); !ok {
		t.Skip("the firewall's guests have no options")
	}
	as := func(t *testing.T, capability endpoint.Capability) firewall.GuestOptioner {
		return open[firewall.GuestOptioner](t, s, s.Target(t, capability))
	}
	s.run(t, "set, read, and not set any more", func(t *testing.T, ctx context.Context) {
		if s.Guest == nil {
			t.Skip("no hook Guest")
		}
		guest, yes, no := s.Guest(t), true, false
		reads, changes := as(t, endpoint.Monitoring), as(t, endpoint.Lifecycle)
		read := func() firewall.GuestOptions {
			t.Helper()
			now, err := reads.GuestOptions(ctx, guest)
			if err != nil {
				t.Fatal("reading:", err)
			}
			return now
		}
		change := func(set firewall.GuestOptions, clear ...string) {
			t.Helper()
			if err := changes.ChangeGuestOptions(ctx, guest, firewall.GuestOptionsChange{Set: set, Clear: clear}); err != nil {
				t.Fatal("changing:", err)
			}
		}
		same := func(now, want firewall.GuestOptions) {
			t.Helper()
			if now.Digest = ""; !reflect.DeepEqual(now, want) {
				t.Errorf("options are %+v, want %+v", now, want)
			}
		}
		before := read()
		same(before, firewall.GuestOptions{})
		all := firewall.GuestOptions{Enable: &yes, DHCP: &no, NDP: &yes, RADV: &no, MACFilter: &no, IPFilter: &yes, PolicyIn: "DROP",
			PolicyOut: "ACCEPT"}
		change(all)
		after := read()
		same(after, all)
		if after.Digest == before.Digest && after.Digest != "" {
			t.Errorf("the digest stays %q", after.Digest)
		}
		if before.Digest != "" {
			stale := firewall.GuestOptionsChange{Set: firewall.GuestOptions{Digest: before.Digest, Enable: &no}}
			if e := wantKind(t, changes.ChangeGuestOptions(ctx, guest, stale), plugin.Conflict); e.Field != "digest" {
				t.Errorf("a stale digest has the field %q", e.Field)
			}
			same(read(), all)
		}
		change(firewall.GuestOptions{Digest: after.Digest, Enable: &no}, firewall.OptionPolicyIn, firewall.OptionMACFilter)
		all.Enable, all.PolicyIn, all.MACFilter = &no, "", nil
		same(read(), all)
	})
	s.run(t, "what does not do", func(t *testing.T, ctx context.Context) {
		if s.Guest == nil {
			t.Skip("no hook Guest")
		}
		guest, changes := s.Guest(t), as(t, endpoint.Lifecycle)
		for field, change := range map[string]firewall.GuestOptionsChange{
			firewall.OptionPolicyIn: {Set: firewall.GuestOptions{PolicyIn: "PERHAPS"}}, "none": {Clear: []string{"none"}},
		} {
			if e := wantKind(t, changes.ChangeGuestOptions(ctx, guest, change), plugin.Invalid); e.Field != field {
				t.Errorf("%+v: the field is %q, want %q", change, e.Field, field)
			}
		}
		yes := true
		for _, id := range []string{"", ".", "..", "../100", "100/..", "a/b", "n\x00", "100?x=1"} {
			none := firewall.Guest{Kind: guest.Kind, Node: guest.Node, ID: id}
			_, err := changes.GuestOptions(ctx, none)
			wantAny(t, id, err, id != "")
			err = changes.ChangeGuestOptions(ctx, none, firewall.GuestOptionsChange{Set: firewall.GuestOptions{Enable: &yes}})
			wantAny(t, id, err, id != "")
		}
	})
	s.run(t, "wrong token, no right", func(t *testing.T, ctx context.Context) {
		if s.Guest == nil {
			t.Skip("no hook Guest")
		}
		yes, guest := true, s.Guest(t)
		change := firewall.GuestOptionsChange{Set: firewall.GuestOptions{Enable: &yes}}
		wantKind(t, as(t, endpoint.Monitoring).ChangeGuestOptions(ctx, guest, change), plugin.Denied)
		target := s.Target(t, endpoint.Lifecycle)
		target.Credential.Secret = "00000000-dead-beef-0000-000000000000"
		wrong := open[firewall.GuestOptioner](t, s, target)
		wantKind(t, wrong.ChangeGuestOptions(ctx, guest, change), plugin.TokenRejected)
		_, err := wrong.GuestOptions(ctx, guest)
		wantKind(t, err, plugin.TokenRejected)
	})
}

// wantAny fails the test unless err says that there is no such guest, or there is none where that may be.
func wantAny(t *testing.T, id string, err error, none bool) {
	t.Helper()
	if kind := plugin.KindOf(err); err == nil && !none || err != nil && kind != plugin.NotFound && kind != plugin.Invalid {
		t.Errorf("guest %q: error is %v, want not found or invalid", id, err)
	}
}
