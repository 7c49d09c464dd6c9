package firewalltest

import (
	"context"
	"reflect"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// options tests OptionsManager. An option that is not set differs from one that
// is set to its default, and both must survive a round trip.
func (s *suite) options(t *testing.T) {
	t.Parallel()
	if _, ok := firewall.As[firewall.OptionsManager](s.FirewallType); !ok {
		t.Skip("the firewall has no options")
	}
	as := func(t *testing.T, capability endpoint.Capability) firewall.OptionsManager {
		return open[firewall.OptionsManager](t, s, s.Target(t, capability))
	}
	eachScope[firewall.OptionsManager](t, s, "all of a scope", s.allOptions)
	s.run(t, "set, read, and not set any more", func(t *testing.T, ctx context.Context) {
		if s.Guest == nil {
			t.Skip("no hook Guest")
		}
		guest, yes, no := scopeOf(s.Guest(t)), true, false
		reads, changes := as(t, endpoint.Monitoring), as(t, endpoint.Lifecycle)
		read := func() firewall.Options {
			t.Helper()
			now, err := reads.Options(ctx, guest)
			if err != nil {
				t.Fatal("reading:", err)
			}
			return now
		}
		change := func(set firewall.Options, clear ...string) {
			t.Helper()
			if err := changes.ChangeOptions(ctx, guest, firewall.OptionsChange{Set: set, Clear: clear}); err != nil {
				t.Fatal("changing:", err)
			}
		}
		same := func(now, want firewall.Options) {
			t.Helper()
			if now.Digest = ""; !reflect.DeepEqual(now, want) {
				t.Errorf("options are %+v, want %+v", now, want)
			}
		}
		before := read()
		same(before, firewall.Options{})
		all := firewall.Options{Enable: &yes, DHCP: &no, NDP: &yes, RADV: &no, MACFilter: &no, IPFilter: &yes, PolicyIn: "DROP",
			PolicyOut: "ACCEPT"}
		change(all)
		after := read()
		same(after, all)
		if after.Digest == before.Digest && after.Digest != "" {
			t.Errorf("the digest stays %q", after.Digest)
		}
		if before.Digest != "" {
			stale := firewall.OptionsChange{Set: firewall.Options{Digest: before.Digest, Enable: &no}}
			if e := wantKind(t, changes.ChangeOptions(ctx, guest, stale), plugin.Conflict); e.Field != "digest" {
				t.Errorf("a stale digest has the field %q", e.Field)
			}
			same(read(), all)
		}
		change(firewall.Options{Digest: after.Digest, Enable: &no}, firewall.OptionPolicyIn, firewall.OptionMACFilter)
		all.Enable, all.PolicyIn, all.MACFilter = &no, "", nil
		same(read(), all)
	})
	s.run(t, "what does not do", func(t *testing.T, ctx context.Context) {
		if s.Guest == nil {
			t.Skip("no hook Guest")
		}
		guest, changes := scopeOf(s.Guest(t)), as(t, endpoint.Lifecycle)
		for field, change := range map[string]firewall.OptionsChange{
			firewall.OptionPolicyIn: {Set: firewall.Options{PolicyIn: "PERHAPS"}}, "none": {Clear: []string{"none"}},
		} {
			if e := wantKind(t, changes.ChangeOptions(ctx, guest, change), plugin.Invalid); e.Field != field {
				t.Errorf("%+v: the field is %q, want %q", change, e.Field, field)
			}
		}
		yes := true
		for _, id := range []string{"", ".", "..", "../100", "100/..", "a/b", "n\x00", "100?x=1"} {
			none := scopeOf(firewall.Guest{Kind: guest.Guest.Kind, Node: guest.Guest.Node, ID: id})
			_, err := changes.Options(ctx, none)
			wantAny(t, id, err, id != "")
			err = changes.ChangeOptions(ctx, none, firewall.OptionsChange{Set: firewall.Options{Enable: &yes}})
			wantAny(t, id, err, id != "")
		}
	})
	s.run(t, "wrong token, no right", func(t *testing.T, ctx context.Context) {
		if s.Guest == nil {
			t.Skip("no hook Guest")
		}
		yes, guest := true, scopeOf(s.Guest(t))
		change := firewall.OptionsChange{Set: firewall.Options{Enable: &yes}}
		wantKind(t, as(t, endpoint.Monitoring).ChangeOptions(ctx, guest, change), plugin.Denied)
		target := s.Target(t, endpoint.Lifecycle)
		target.Credential.Secret = "00000000-dead-beef-0000-000000000000"
		wrong := open[firewall.OptionsManager](t, s, target)
		wantKind(t, wrong.ChangeOptions(ctx, guest, change), plugin.TokenRejected)
		_, err := wrong.Options(ctx, guest)
		wantKind(t, err, plugin.TokenRejected)
	})
}

// allOptions sets the suite's options of a kind of scope, and takes them away again.
func (s *suite) allOptions(t *testing.T, ctx context.Context, g ground) {
	want, given := s.Options[g.Scope.Kind]
	if !given {
		t.Skip("no options are given for it")
	}
	edit := changes[firewall.OptionsManager](t, g)
	read := func() firewall.Options {
		t.Helper()
		now, err := reads[firewall.OptionsManager](t, g).Options(ctx, g.Scope)
		must(t, "reading", err)
		return now
	}
	before := read()
	set := want
	set.Digest = before.Digest
	must(t, "setting", edit.ChangeOptions(ctx, g.Scope, firewall.OptionsChange{Set: set}))
	now := read()
	names := wantOptions(t, now, want)
	if len(names) == 0 {
		t.Fatal("no options are given")
	}
	if now.Digest != "" && now.Digest == before.Digest {
		t.Errorf("the digest stays %q", now.Digest)
	}
	for field, change := range map[string]firewall.OptionsChange{
		"no-such-option": {Set: firewall.Options{Other: map[string]string{"no-such-option": "1"}}}, "nor-this": {Clear: []string{"nor-this"}},
	} {
		wantField(t, field, edit.ChangeOptions(ctx, g.Scope, change), plugin.Invalid, field)
	}
	for name := range want.Other {
		for _, text := range hostileTexts() {
			change := firewall.OptionsChange{Set: firewall.Options{Other: map[string]string{name: text}}}
			wantField(t, name, edit.ChangeOptions(ctx, g.Scope, change), plugin.Invalid, name)
		}
	}
	if now.Digest != "" {
		change := firewall.OptionsChange{Set: firewall.Options{Digest: neverADigest}, Clear: names}
		wantField(t, "stale", edit.ChangeOptions(ctx, g.Scope, change), plugin.Conflict, firewall.FieldDigest)
	}
	noRight(t, g, func(edit firewall.OptionsManager) error {
		return edit.ChangeOptions(ctx, g.Scope, firewall.OptionsChange{Clear: names})
	})
	if again := read(); !reflect.DeepEqual(again, now) {
		t.Errorf("options are %+v, want %+v as before", again, now)
	}
	must(t, "clearing", edit.ChangeOptions(ctx, g.Scope, firewall.OptionsChange{Set: firewall.Options{Digest: now.Digest}, Clear: names}))
	left := read()
	for _, name := range names {
		if flag := left.Flag(name); flag != nil && *flag != nil || left.Text(name) != nil && *left.Text(name) != "" || left.Other[name] != "" {
			t.Errorf("%s is still set: %+v", name, left)
		}
	}
}

// wantOptions checks that all options of want have their values in now, and
// returns their names.
func wantOptions(t *testing.T, now, want firewall.Options) (names []string) {
	t.Helper()
	for _, name := range firewall.OptionFlags() {
		value := *want.Flag(name)
		if value == nil {
			continue
		}
		names = append(names, name)
		if got := *now.Flag(name); got == nil || *got != *value {
			t.Errorf("%s is not %t", name, *value)
		}
	}
	for _, name := range firewall.OptionTexts() {
		value := *want.Text(name)
		if value == "" {
			continue
		}
		names = append(names, name)
		if got := *now.Text(name); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
	for name, value := range want.Other {
		names = append(names, name)
		if now.Other[name] != value {
			t.Errorf("%s is %q, want %q", name, now.Other[name], value)
		}
	}
	return names
}

// scopeOf returns the scope of a guest.
func scopeOf(guest firewall.Guest) firewall.Scope {
	return firewall.Scope{Kind: firewall.GuestScope, Guest: &guest}
}

// wantAny fails the test unless err says that there is no such guest, or there
// is none where that may be.
func wantAny(t *testing.T, id string, err error, none bool) {
	t.Helper()
	if kind := plugin.KindOf(err); err == nil && !none || err != nil && kind != plugin.NotFound && kind != plugin.Invalid {
		t.Errorf("guest %q: error is %v, want not found or invalid", id, err)
	}
}
