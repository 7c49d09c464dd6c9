package pve_test

import (
	"reflect"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// TestFirewallOptionsOfLaterReleases: what a release has besides is read, and written, by its name there.
func TestFirewallOptionsOfLaterReleases(t *testing.T) {
	t.Parallel()
	w := newFirewalls(t, pvesim.Options{})
	w.SetFirewallOptions(pvesim.FirewallCluster, map[string]any{"enable": 1, "policy_in": "DROP", "ebtables": 0, "new-option": "some text"})
	got, err := w.firewall(t, endpoint.Monitoring).Options(t.Context(), clusterScope)
	yes := true
	want := firewall.Options{Digest: got.Digest, Enable: &yes, PolicyIn: "DROP",
		Other: map[string]string{"ebtables": "0", "new-option": "some text"}}
	if err != nil || got.Digest == "" || !reflect.DeepEqual(got, want) {
		t.Errorf("options are %+v, %v, want %+v", got, err, want)
	}
}

func TestFirewallOptionsThatDoNotDo(t *testing.T) {
	t.Parallel()
	w := newFirewalls(t, pvesim.Options{})
	fw, vm, yes := w.firewall(t, endpoint.Lifecycle), guestScope(w.guest(t, pvesim.GuestSpec{})), true
	other := func(name, value string) firewall.Options {
		return firewall.Options{Other: map[string]string{name: value}}
	}
	for _, c := range []struct {
		on     firewall.Scope
		field  string
		change firewall.OptionsChange
	}{
		{vm, "policy_forward", firewall.OptionsChange{Set: firewall.Options{PolicyForward: "DROP"}}},
		{clusterScope, "policy_forward", firewall.OptionsChange{Set: firewall.Options{PolicyForward: "REJECT"}}},
		{clusterScope, "dhcp", firewall.OptionsChange{Set: firewall.Options{DHCP: &yes}}},
		{vm, "log_level_in", firewall.OptionsChange{Set: firewall.Options{LogLevelIn: "loud"}}},
		{nodeScope("pve1"), "nf_conntrack_max", firewall.OptionsChange{Set: other("nf_conntrack_max", "5")}},
		{nodeScope("pve1"), "nf_conntrack_helpers", firewall.OptionsChange{Set: other("nf_conntrack_helpers", "ftp,none")}},
		{clusterScope, "log_ratelimit", firewall.OptionsChange{Set: other("log_ratelimit", "rate=often")}},
		{clusterScope, "delete", firewall.OptionsChange{Set: other("delete", "enable")}},
		{clusterScope, "digest", firewall.OptionsChange{Set: other("digest", "0")}},
		{clusterScope, "enable", firewall.OptionsChange{Set: other("enable", "4000000000")}},
		{clusterScope, "../rules", firewall.OptionsChange{Set: other("../rules", "1")}},
		{clusterScope, "enable,digest", firewall.OptionsChange{Clear: []string{"enable,digest"}}},
		{clusterScope, "", firewall.OptionsChange{Clear: []string{""}}},
		{vm, "ebtables", firewall.OptionsChange{Clear: []string{"enable", "ebtables"}}},
		{clusterScope, "enable", firewall.OptionsChange{Set: firewall.Options{Enable: &yes}, Clear: []string{"enable"}}},
	} {
		err := fw.ChangeOptions(t.Context(), c.on, c.change)
		if e := wantKind(t, err, plugin.Invalid); e.Field != c.field {
			t.Errorf("%+v: the field is %q, want %q: %v", c.change, e.Field, c.field, err)
		}
	}
	for scope, config := range w.Firewalls() {
		if len(config.Options) > 0 {
			t.Errorf("%s has the options %+v", scope, config.Options)
		}
	}
	none := firewall.Options{Enable: &yes, Digest: "no digest at all"}
	err := fw.ChangeOptions(t.Context(), clusterScope, firewall.OptionsChange{Set: none})
	if e := wantKind(t, err, plugin.Conflict); e.Field != firewall.FieldDigest {
		t.Errorf("a digest that is none: %+v", e)
	}
}
