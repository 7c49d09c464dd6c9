package pvesim_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvetest"
)

// objectScopes are where the recorded server had aliases and IP sets.
var objectScopes = map[string]pvesim.FirewallScope{
	"/cluster/firewall":             pvesim.FirewallCluster,
	"/nodes/pve1/qemu/100/firewall": pvesim.FirewallGuest(100),
	"/nodes/pve1/lxc/101/firewall":  pvesim.FirewallGuest(101),
}

// objectPreparations give the scopes the aliases, sets and the group that were recorded, and take away what was not there yet or any
// more.
func (w *recordedServer) objectPreparations() []preparation {
	c := w.cluster
	each := func(change func(path string, scope pvesim.FirewallScope)) func() {
		return func() {
			for path, scope := range objectScopes {
				change(path, scope)
			}
		}
	}
	alias := func(name, cidr string) func() {
		return each(func(_ string, scope pvesim.FirewallScope) { w.must(c.SetFirewallAlias(scope, name, cidr)) })
	}
	without := func(name string) func() { return alias(name, "") }
	unset := func(name string) func() {
		return each(func(_ string, scope pvesim.FirewallScope) { c.RemoveFirewallIPSet(scope, name) })
	}
	commented := func(name string) func() {
		return each(func(path string, _ pvesim.FirewallScope) {
			w.do("POST", path+"/ipset", url.Values{"name": {name}, "rename": {name}, "comment": {"newc"}}.Encode())
		})
	}
	members := func(list ...string) func() {
		return each(func(path string, scope pvesim.FirewallScope) {
			w.must(c.SetFirewallIPSet(scope, "set1", list...))
			w.do("POST", path+"/ipset", "name=set1&rename=set1&comment=s")
		})
	}
	all := func(fs ...func()) func() {
		return func() {
			for _, f := range fs {
				f()
			}
		}
	}
	return []preparation{
		{"", each(func(path string, scope pvesim.FirewallScope) {
			w.do("POST", path+"/aliases", "name=net6&cidr=2001:db8::/32")
			w.do("POST", path+"/aliases", "name=web1&cidr=10.1.2.3&comment=c1")
			w.do("POST", path+"/ipset", "name=set1&comment=s")
			for _, member := range []string{"cidr=web1", "cidr=10.9.7.9/24", "cidr=10.9.1.5&nomatch=1", "cidr=10.9.0.0/24&comment=m"} {
				w.do("POST", path+"/ipset/set1", member)
			}
			if scope == pvesim.FirewallCluster {
				w.do("POST", path+"/ipset/set1", "cidr=dc/web1")
				w.do("POST", path+"/groups", "group=grp1&comment=g")
				w.do("POST", path+"/groups/grp1", "type=in&action=ACCEPT&proto=tcp&dport=80")
			}
		})},
		{"lxc_101_firewall_ipset_set1__add_dc_alias qemu_100_firewall_ipset_set1__add_dc_alias", func() {
			w.must(c.SetFirewallAlias(pvesim.FirewallCluster, "web1", ""))
		}},
		{"cluster_firewall_groups__empty groups__create", func() { c.RemoveFirewallGroup("grp1") }},
		{"aliases__empty aliases__create aliases__create_v6 aliases__mixed_case refs__empty", all(without("net6"), without("web1"))},
		{"aliases_net6b__rename_duplicate refs__ok refs__type_alias", all(without("net6"), alias("net6b", "2001:db8::/32"))},
		{"lxc_101_firewall_refs__empty qemu_100_firewall_refs__empty", func() {
			w.must(c.SetFirewallAlias(pvesim.FirewallCluster, "net6b", "2001:db8::/32"))
		}},
		{"refs__ok refs__type_alias", alias("web1", "10.1.2.5")},
		{"101_firewall_refs__ok 101_firewall_refs__type_alias 100_firewall_refs__ok 100_firewall_refs__type_alias", func() {
			w.must(c.SetFirewallAlias(pvesim.FirewallCluster, "web1", ""))
			for _, name := range []string{"set1", "set2"} {
				c.RemoveFirewallIPSet(pvesim.FirewallCluster, name)
			}
		}},
		{"aliases_web1__after_update", alias("web1", "10.1.2.5")},
		{"GET__cluster_firewall_aliases__mixed_case aliases_mixedcase__lower_lookup aliases_mixedcase__lower", func() {
			w.must(c.SetFirewallAlias(pvesim.FirewallCluster, "net6b", "2001:db8::/32"))
			w.must(c.SetFirewallAlias(pvesim.FirewallCluster, "MixedCase", "10.0.0.3/24"))
			w.must(c.SetFirewallAlias(pvesim.FirewallCluster, "zz1", "10.0.0.9"))
		}},
		{"GET__cluster_firewall_aliases__mixed_case", all(without("net6"), without("web1"))},
		{"ipset__empty ipset__create refs__empty", all(unset("set1"), unset("set2"))},
		{"firewall_ipset__ok firewall_ipset__rename", unset("set2")},
		{"ipset_set1__empty ipset_set1__add ipset_set1__add_alias ipset_set1__add_dc_alias ipset_set1__add_nomatch ipset_set1__host_bits",
			members()},
		{"refs__ok set2__force_in_use", each(func(_ string, scope pvesim.FirewallScope) {
			c.RemoveFirewallIPSet(scope, "set1")
			w.must(c.SetFirewallIPSet(scope, "set2", "10.9.0.0/24"))
		})},
		{"refs__ok", commented("set2")},
		{"101_firewall_refs__ok 100_firewall_refs__ok", func() { c.RemoveFirewallIPSet(pvesim.FirewallCluster, "set2") }},
	}
}

// TestFirewallObjectsAreTheRealOnes compares what is read of aliases, sets, groups, options and references to the letter, digests
// too. The order of references is by chance in the real server.
func TestFirewallObjectsAreTheRealOnes(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, e := range pvetest.Exchanges(t) {
		_, object, isFirewall := strings.Cut(e.Path, "/firewall/")
		if e.Method != "GET" || e.Status != 200 || !isFirewall || strings.HasPrefix(object, "rules") {
			continue
		}
		w := newRecordedServer(t)
		w.prepare(e)
		got := send(t, w.cluster.URL(""), w.request(e))
		var have, want struct{ Data any }
		noError(t, json.Unmarshal(got.body, &have))
		noError(t, json.Unmarshal(e.Response, &want))
		if object == "refs" {
			for _, rows := range []any{have.Data, want.Data} {
				slices.SortFunc(rows.([]any), func(a, b any) int { return strings.Compare(jsonText(a), jsonText(b)) })
			}
		}
		if !jsonEqual(have, want) {
			t.Errorf("%s:\n\thave %s\n\twant %s", e.Case, jsonText(have.Data), jsonText(want.Data))
		}
		compared++
	}
	if compared < 44 {
		t.Errorf("only %d answers were compared", compared)
	}
}
