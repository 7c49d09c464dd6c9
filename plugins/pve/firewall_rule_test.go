package pve_test

import (
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// TestNewRuleWhosePlaceIsNotKnown: a rule that was made is never reported as one that was not.
func TestNewRuleWhosePlaceIsNotKnown(t *testing.T) {
	t.Parallel()
	rule := firewall.Rule{Direction: "in", Action: "ACCEPT", Macro: "ssh", Comment: " für alle "}
	for name, c := range map[string]struct {
		privileges []string
		fault      *pvesim.Fault
		digest     bool
	}{
		"a token that may not read":              {privileges: []string{"Sys.Modify"}},
		"one with a digest":                      {privileges: []string{"Sys.Modify"}, digest: true},
		"the list is refused":                    {fault: &pvesim.Fault{Kind: pvesim.FaultStatus, Status: 500, Reason: "got timeout"}},
		"the list is cut":                        {fault: &pvesim.Fault{Kind: pvesim.FaultTruncate}},
		"the host restarts after it":             {fault: &pvesim.Fault{Kind: pvesim.FaultStatus, Status: 503, Reason: "Service Unavailable"}},
		"something else answers with a web page": {fault: &pvesim.Fault{Kind: pvesim.FaultStatus, Status: 404, Reason: "Not Found"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFirewalls(t, pvesim.Options{})
			digest := ""
			if c.digest {
				_, now, err := w.firewall(t, endpoint.Monitoring).Rules(t.Context(), clusterScope)
				must(t, "listing", err)
				digest = now
			}
			target := w.properTarget(t, endpoint.Lifecycle)
			if c.privileges != nil {
				target = w.target(endpoint.Lifecycle, w.token("/", true, c.privileges...))
			}
			if c.fault != nil {
				c.fault.Match = pvesim.Match{Method: "GET", Path: "/cluster/firewall/rules"}
				w.fault(t, *c.fault)
			}
			at, after, err := w.openFirewall(t, target).CreateRule(t.Context(), clusterScope, rule, digest)
			if at != -1 || after != "" || err != nil {
				t.Errorf("position %d, digest %q, %v", at, after, err)
			}
			if got := w.FirewallRules(pvesim.FirewallCluster); len(got) != 1 || got[0].Macro != "SSH" || got[0].Comment != "für alle" {
				t.Errorf("rules are %+v", got)
			}
		})
	}
}

// TestNewRuleAmongOthers: the hypervisor writes macros and comments its own way, and somebody else may have been faster.
func TestNewRuleAmongOthers(t *testing.T) {
	t.Parallel()
	w := newFirewalls(t, pvesim.Options{})
	fw, reading := w.firewall(t, endpoint.Lifecycle), w.firewall(t, endpoint.Monitoring)
	_, empty, err := reading.Rules(t.Context(), clusterScope)
	must(t, "listing", err)
	rule := firewall.Rule{Direction: "in", Action: "ACCEPT", Macro: "ssh", Comment: " first "}
	at, first, err := fw.CreateRule(t.Context(), clusterScope, rule, empty)
	if at != 0 || first == "" || err != nil {
		t.Fatalf("position %d, digest %q, %v", at, first, err)
	}
	// Two who saw the empty list: the second is told.
	if _, _, err = fw.CreateRule(t.Context(), clusterScope, rule, empty); wantKind(t, err, plugin.Conflict).Field != firewall.FieldDigest {
		t.Errorf("a digest of the empty list: %v", err)
	}
	if _, now, err := reading.Rules(t.Context(), clusterScope); err != nil || now != first {
		t.Errorf("digest is %q, %v, want %q", now, err, first)
	}
	for field, bad := range map[string]firewall.Rule{
		firewall.FieldComment:  {Direction: "in", Action: "DROP", Comment: "-"},
		firewall.FieldMacro:    {Direction: "in", Action: "DROP", Macro: " - "},
		firewall.FieldSource:   {Direction: "in", Action: "DROP", Source: "nobody"},
		firewall.FieldProtocol: {Direction: "in", Action: "DROP", DestinationPort: "22"},
		firewall.FieldICMPType: {Direction: "in", Action: "DROP", Protocol: "icmp", ICMPType: "nothing"},
		firewall.FieldAction:   {Direction: "group", Action: "x/y"},
	} {
		_, _, err := fw.CreateRule(t.Context(), clusterScope, bad, "")
		if e := wantKind(t, err, plugin.Invalid); e.Field != field {
			t.Errorf("%+v: the field is %q, want %q", bad, e.Field, field)
		}
	}
	text, none := "22", ""
	change := firewall.RuleChange{
		Set:   firewall.RuleFields{Macro: &none, DestinationPort: &text, Protocol: ptr("tcp"), Enabled: ptr(true), Action: ptr("DROP")},
		Clear: []string{firewall.FieldComment, firewall.FieldICMPType}, Digest: first,
	}
	must(t, "changing", fw.ChangeRule(t.Context(), clusterScope, 0, change))
	rules, _, err := reading.Rules(t.Context(), clusterScope)
	want := firewall.Rule{Direction: "in", Action: "DROP", Enabled: true, Protocol: "tcp", DestinationPort: "22"}
	if err != nil || len(rules) != 1 || rules[0] != want {
		t.Errorf("rules are %+v, %v, want %+v", rules, err, want)
	}
}

// TestCreate_NeedsNoWordsOfTheProbe: a digest is compared by requests that the hypervisor refuses. Only the words for another digest
// count among them: new rules, sets and members are made in whatever words it refuses.
func TestCreate_NeedsNoWordsOfTheProbe(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"in words of another release", "no such thing", "400 Parameter verification failed."} {
		w := newFirewalls(t, pvesim.Options{})
		must(t, "setting firewalls", w.SetFirewalls(map[pvesim.FirewallScope]pvesim.FirewallConfig{pvesim.FirewallCluster: {
			IPSets: []pvesim.FirewallIPSet{{Name: "web"}}}}))
		fw, ctx := w.firewall(t, endpoint.Lifecycle), t.Context()
		probe := func(method, path string, times int) {
			t.Helper()
			w.fault(t, pvesim.Fault{Kind: pvesim.FaultStatus, Status: 500, Reason: reason, Times: times,
				Match: pvesim.Match{Method: method, Path: path}})
		}
		_, rules, err := fw.Rules(ctx, clusterScope)
		must(t, "listing rules", err)
		_, sets, err := fw.IPSets(ctx, clusterScope)
		must(t, "listing sets", err)
		_, members, err := fw.IPSetMembers(ctx, clusterScope, "web")
		must(t, "listing members", err)
		probe("PUT", "/cluster/firewall/rules/{pos}", 0)
		_, _, err = fw.CreateRule(ctx, clusterScope, firewall.Rule{Direction: "in", Action: "ACCEPT"}, rules)
		must(t, "creating a rule, "+reason, err)
		probe("PUT", "/cluster/firewall/ipset/{name}/{cidr}", 0)
		must(t, "adding a member, "+reason, fw.AddIPSetMember(ctx, clusterScope, "web", firewall.IPSetMember{CIDR: "192.0.2.1"}, members))
		probe("POST", "/cluster/firewall/ipset", 1)
		must(t, "creating a set, "+reason, fw.CreateIPSet(ctx, clusterScope, firewall.IPSet{Name: "mail"}, sets))
	}
}

// TestRulesThatDoNotHold: a rule whose alias is gone stays in its place, and can be moved and deleted.
func TestRulesThatDoNotHold(t *testing.T) {
	t.Parallel()
	w := newFirewalls(t, pvesim.Options{})
	must(t, "setting firewalls", w.SetFirewalls(map[pvesim.FirewallScope]pvesim.FirewallConfig{pvesim.FirewallCluster: {
		Rules: []pvesim.FirewallRule{{Type: "in", Action: "ACCEPT", Source: "gone", Enable: true}, {Type: "in", Action: "DROP", Macro: "None"}},
	}}))
	fw := w.firewall(t, endpoint.Lifecycle)
	rules, digest, err := fw.Rules(t.Context(), clusterScope)
	if err != nil || len(rules) != 2 || rules[0].Source != "gone" || rules[1].Macro != "None" {
		t.Fatalf("rules are %+v, %v", rules, err)
	}
	must(t, "moving nowhere", fw.MoveRule(t.Context(), clusterScope, 0, 0, digest))
	must(t, "moving", fw.MoveRule(t.Context(), clusterScope, 0, 1, digest))
	rules, digest, err = fw.Rules(t.Context(), clusterScope)
	if err != nil || rules[1].Source != "gone" {
		t.Errorf("rules are %+v, %v", rules, err)
	}
	must(t, "deleting", fw.DeleteRule(t.Context(), clusterScope, 1, digest))
	must(t, "deleting", fw.DeleteRule(t.Context(), clusterScope, 0, ""))
}

// TestObjectsAndTheirCase: the hypervisor looks for aliases in any case, and keeps sets and groups in small letters only.
func TestObjectsAndTheirCase(t *testing.T) {
	t.Parallel()
	w := newFirewalls(t, pvesim.Options{})
	fw, ctx := w.firewall(t, endpoint.Lifecycle), t.Context()
	aliases := func(want ...firewall.Alias) {
		t.Helper()
		got, _, err := fw.Aliases(ctx, clusterScope)
		if err != nil || len(got) != len(want) || len(got) > 0 && got[0] != want[0] {
			t.Errorf("aliases are %+v, %v, want %+v", got, err, want)
		}
	}
	must(t, "creating", fw.CreateAlias(ctx, clusterScope, firewall.Alias{Name: "Office", CIDR: "10.0.0.1/32", Comment: "c"}, ""))
	must(t, "changing", fw.ChangeAlias(ctx, clusterScope, "OFFICE", firewall.AliasChange{CIDR: "10.0.0.2"}))
	aliases(firewall.Alias{Name: "Office", CIDR: "10.0.0.2", Comment: "c"})
	must(t, "writing it otherwise", fw.ChangeAlias(ctx, clusterScope, "office", firewall.AliasChange{Rename: "OffICE"}))
	aliases(firewall.Alias{Name: "OffICE", CIDR: "10.0.0.2", Comment: "c"})
	must(t, "deleting", fw.DeleteAlias(ctx, clusterScope, "oFFice", ""))
	aliases()
	capitals := func(what, field string, err error) {
		t.Helper()
		if e := wantKind(t, err, plugin.Invalid); e.Field != field {
			t.Errorf("%s: the field is %q, want %q", what, e.Field, field)
		}
	}
	capitals("a set", firewall.FieldName, fw.CreateIPSet(ctx, clusterScope, firewall.IPSet{Name: "Web"}, ""))
	capitals("a group", firewall.FieldName, fw.CreateGroup(ctx, firewall.Group{Name: "Web"}, ""))
	must(t, "creating a group", fw.CreateGroup(ctx, firewall.Group{Name: "web"}, ""))
	capitals("a group's new name", firewall.FieldRename, fw.ChangeGroup(ctx, "web", firewall.GroupChange{Rename: "weB"}))
	wantKind(t, fw.DeleteGroup(ctx, "WEB", ""), plugin.NotFound)
	long := "a-name-that-is-longer-than-groups-have"
	capitals("a long name", firewall.FieldName, fw.CreateGroup(ctx, firewall.Group{Name: long}, ""))
	capitals("a long new name", firewall.FieldRename, fw.ChangeGroup(ctx, "web", firewall.GroupChange{Rename: long}))
}

// TestReferencesThatAreHidden: of two with one name a guest's rule means its own, unless it says which.
func TestReferencesThatAreHidden(t *testing.T) {
	t.Parallel()
	w := newFirewalls(t, pvesim.Options{})
	vm := w.guest(t, pvesim.GuestSpec{})
	config := pvesim.FirewallConfig{Aliases: []pvesim.FirewallAlias{{Name: "Web", CIDR: "10.0.0.1", Comment: "c"}},
		IPSets: []pvesim.FirewallIPSet{{Name: "all"}}}
	guest := config
	guest.IPSets = nil
	must(t, "setting firewalls", w.SetFirewalls(map[pvesim.FirewallScope]pvesim.FirewallConfig{
		pvesim.FirewallCluster: config, pvesim.FirewallGuest(vmid(t, vm)): guest,
	}))
	found := map[firewall.Reference]bool{}
	refs, err := w.firewall(t, endpoint.Monitoring).References(t.Context(), guestScope(vm))
	must(t, "listing", err)
	for _, ref := range refs {
		found[ref] = true
	}
	for _, want := range []firewall.Reference{
		{Kind: firewall.IPSetObject, Name: "all", Text: "+all", Scope: firewall.ClusterScope},
		{Kind: firewall.AliasObject, Name: "web", Text: "dc/web", Scope: firewall.ClusterScope, Comment: "c"},
		{Kind: firewall.AliasObject, Name: "web", Text: "web", Scope: firewall.GuestScope, Comment: "c"},
	} {
		if !found[want] || len(found) != 3 {
			t.Errorf("%+v is not among %+v", want, refs)
		}
	}
	fw := w.firewall(t, endpoint.Lifecycle)
	for ref := range found {
		_, _, err := fw.CreateRule(t.Context(), guestScope(vm), firewall.Rule{Direction: "in", Action: "DROP", Source: ref.Text}, "")
		must(t, "a rule that names "+ref.Text, err)
	}
}
