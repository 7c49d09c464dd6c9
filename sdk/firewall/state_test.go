package firewall_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/membackend"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/plugintest"
)

func TestReadState(t *testing.T) {
	t.Parallel()
	backend := membackend.New()
	at := backend.Add("mem:8443")
	guest := firewall.Scope{Kind: firewall.GuestScope, Guest: &firewall.Guest{Kind: "vm", Node: "n1", ID: "7"}}
	at.AddScope(guest)
	service := firewall.Service{Backend: backend, FirewallType: (*membackend.Firewall)(nil)}
	client := firewall.NewClient(plugintest.Connect(t, service))
	open := func(b firewall.Backend, c endpoint.Capability) firewall.Firewall {
		fw, err := b.Open(t.Context(), at.Target(c))
		if err != nil {
			t.Fatal(err)
		}
		return fw
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, mem := t.Context(), open(backend, endpoint.Lifecycle).(*membackend.Firewall)
	for _, port := range []string{"22", "443"} {
		_, _, err := mem.CreateRule(ctx, guest, firewall.Rule{Direction: "in", Action: "ACCEPT", Protocol: "tcp", DestinationPort: port}, "")
		must(err)
	}
	must(mem.CreateAlias(ctx, guest, firewall.Alias{Name: "office", CIDR: "192.0.2.0/24"}, ""))
	for _, set := range []string{"web", "empty"} {
		must(mem.CreateIPSet(ctx, guest, firewall.IPSet{Name: set}, ""))
	}
	must(mem.AddIPSetMember(ctx, guest, "web", firewall.IPSetMember{CIDR: "198.51.100.1"}, ""))
	must(mem.ChangeOptions(ctx, guest, firewall.OptionsChange{Set: firewall.Options{PolicyIn: "DROP"}}))
	must(mem.CreateGroup(ctx, firewall.Group{Name: "mail", Comment: "post"}, ""))
	group := firewall.Scope{Kind: firewall.GroupScope, Group: "mail"}
	_, _, err := mem.CreateRule(ctx, group, firewall.Rule{Direction: "in", Action: "ACCEPT", Macro: "SSH"}, "")
	must(err)

	for name, b := range map[string]firewall.Backend{"directly": backend, "over gRPC": client} {
		fw := open(b, endpoint.Monitoring)
		s, err := firewall.ReadState(ctx, fw, guest)
		must(err)
		if len(s.Rules) != 2 || len(s.Aliases) != 1 || len(s.IPSets) != 2 || s.Options.PolicyIn != "DROP" || s.Digests.Rules == "" {
			t.Errorf("%s: the guest is %+v", name, s)
		}
		if i := slices.IndexFunc(s.IPSets, func(s firewall.IPSetState) bool { return s.Name == "web" }); i < 0 || len(s.IPSets[i].Members) != 1 {
			t.Errorf("%s: sets are %+v", name, s.IPSets)
		}
		must(s.Check())
		if s, err = firewall.ReadState(ctx, fw, group); err != nil || s.Absent || s.Comment != "post" || len(s.Rules) != 1 {
			t.Errorf("%s: the group is %+v, %v", name, s, err)
		}
		s, err = firewall.ReadState(ctx, fw, firewall.Scope{Kind: firewall.GroupScope, Group: "none"})
		if err != nil || !s.Absent || s.Check() != nil {
			t.Errorf("%s: a group that is not there is %+v, %v", name, s, err)
		}
		if _, err := firewall.ReadState(ctx, fw, firewall.Scope{Kind: "planet"}); !invalid(err, firewall.FieldScope) {
			t.Errorf("%s: no scope is %v", name, err)
		}
		nobody := firewall.Scope{Kind: firewall.NodeScope, Node: "nobody"}
		if _, err := firewall.ReadState(ctx, fw, nobody); err == nil {
			t.Errorf("%s: a node that is not there has a state", name)
		}
	}
	// A set that vanishes between the list and its members is left out.
	at.Before(func(method string) {
		if method == "IPSetMembers" {
			at.Before(nil)
			must(mem.DeleteIPSet(ctx, guest, "web", true, ""))
		}
	})
	s, err := firewall.ReadState(ctx, open(backend, endpoint.Monitoring), guest)
	if err != nil || len(s.IPSets) != 1 || s.IPSets[0].Name != "empty" {
		t.Errorf("sets are %+v, %v", s.IPSets, err)
	}
}

func invalid(err error, field string) bool {
	var e *plugin.Error
	return errors.As(err, &e) && e.Kind == plugin.Invalid && e.Field == field
}

func TestStateCheck(t *testing.T) {
	t.Parallel()
	cluster := firewall.Scope{Kind: firewall.ClusterScope}
	rule := firewall.Rule{Direction: "in", Action: "ACCEPT"}
	alias := firewall.Alias{Name: "a", CIDR: "192.0.2.1"}
	set := func(members ...firewall.IPSetMember) firewall.IPSetState {
		return firewall.IPSetState{IPSet: firewall.IPSet{Name: "s"}, Members: members}
	}
	member := firewall.IPSetMember{CIDR: "192.0.2.1"}
	good := firewall.State{Scope: cluster, Rules: []firewall.Rule{rule}, Aliases: []firewall.Alias{alias},
		IPSets: []firewall.IPSetState{set(member)}, Options: firewall.Options{PolicyIn: "DROP", Other: map[string]string{"ebtables": "1"}}}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	long := strings.Repeat("x", firewall.MaxComment+1)
	for field, bad := range map[string][]firewall.State{
		firewall.FieldScope: {{}, {Scope: cluster, Absent: true},
			{Scope: firewall.Scope{Kind: firewall.GroupScope, Group: "g"}, Absent: true, Rules: []firewall.Rule{rule}}},
		firewall.FieldPosition:  {{Scope: cluster, Rules: []firewall.Rule{rule, rule}}},
		firewall.FieldDirection: {{Scope: cluster, Rules: []firewall.Rule{{Action: "ACCEPT"}}}},
		firewall.FieldName: {{Scope: cluster, Aliases: []firewall.Alias{alias, alias}}, {Scope: cluster, IPSets: []firewall.IPSetState{{}}},
			{Scope: cluster, Options: firewall.Options{Other: map[string]string{"a b": ""}}}},
		firewall.FieldCIDR: {{Scope: cluster, Aliases: []firewall.Alias{{Name: "a"}}},
			{Scope: cluster, IPSets: []firewall.IPSetState{set(member, member)}},
			{Scope: cluster, IPSets: []firewall.IPSetState{set(firewall.IPSetMember{CIDR: "a\nb"})}}},
		firewall.FieldComment: {{Scope: firewall.Scope{Kind: firewall.GroupScope, Group: "g"}, Comment: long},
			{Scope: cluster, Aliases: []firewall.Alias{{Name: "a", CIDR: "192.0.2.1", Comment: long}}}},
		firewall.OptionPolicyIn: {{Scope: cluster, Options: firewall.Options{PolicyIn: "PERHAPS"}}},
		firewall.OptionEnable:   {{Scope: cluster, Options: firewall.Options{Other: map[string]string{"enable": "1"}}}},
		"ebtables":              {{Scope: cluster, Options: firewall.Options{Other: map[string]string{"ebtables": "\x00"}}}},
	} {
		for _, s := range bad {
			if err := s.Check(); !invalid(err, field) {
				t.Errorf("%+v: error is %v, want one of %s", s, err, field)
			}
		}
	}
}

func TestStateEqual(t *testing.T) {
	t.Parallel()
	on, off := true, false
	sample := func() firewall.State {
		return firewall.State{
			Scope:   firewall.Scope{Kind: firewall.GuestScope, Guest: &firewall.Guest{Kind: "vm", Node: "n1", ID: "7"}},
			Rules:   []firewall.Rule{{Direction: "in", Action: "ACCEPT"}, {Position: 1, Direction: "out", Action: "DROP"}},
			Aliases: []firewall.Alias{{Name: "a", CIDR: "192.0.2.1"}, {Name: "b", CIDR: "192.0.2.2"}},
			IPSets: []firewall.IPSetState{{IPSet: firewall.IPSet{Name: "s"},
				Members: []firewall.IPSetMember{{CIDR: "192.0.2.1"}, {CIDR: "192.0.2.2"}}}, {IPSet: firewall.IPSet{Name: "t"}}},
			Options: firewall.Options{Enable: &on, PolicyIn: "DROP", Other: map[string]string{"x": "1"}},
		}
	}
	for _, same := range []func(*firewall.State){
		func(s *firewall.State) { s.Scope.Guest.Node = "n2" },
		func(s *firewall.State) { s.Digests.Rules, s.IPSets[0].Digest, s.Options.Digest = "x", "y", "z" },
		func(s *firewall.State) { slices.Reverse(s.Aliases) },
		func(s *firewall.State) { slices.Reverse(s.IPSets) },
		func(s *firewall.State) { slices.Reverse(s.IPSets[0].Members) },
	} {
		other := sample()
		same(&other)
		if !sample().Equal(other) || !other.Equal(sample()) {
			t.Errorf("%+v is another", other)
		}
	}
	for _, differ := range []func(*firewall.State){
		func(s *firewall.State) { s.Scope.Guest.ID = "8" },
		func(s *firewall.State) { s.Scope.Guest = nil },
		func(s *firewall.State) { s.Absent = true },
		func(s *firewall.State) { s.Comment = "x" },
		func(s *firewall.State) { slices.Reverse(s.Rules) },
		func(s *firewall.State) { s.Rules[0].Comment = "x" },
		func(s *firewall.State) { s.Rules = s.Rules[:1] },
		func(s *firewall.State) { s.Aliases[0].CIDR = "192.0.2.3" },
		func(s *firewall.State) { s.IPSets[0].Comment = "x" },
		func(s *firewall.State) { s.IPSets[0].Members[0].NoMatch = true },
		func(s *firewall.State) { s.IPSets = s.IPSets[1:] },
		func(s *firewall.State) { s.Options.Enable = &off },
		func(s *firewall.State) { s.Options.Enable = nil },
		func(s *firewall.State) { s.Options.NDP = &off },
		func(s *firewall.State) { s.Options.PolicyIn = "" },
		func(s *firewall.State) { s.Options.Other = nil },
	} {
		other := sample()
		differ(&other)
		if sample().Equal(other) || other.Equal(sample()) {
			t.Errorf("%+v is the same", other)
		}
	}
}

// manyMembers is a firewall whose sets are large.
type manyMembers struct{ *membackend.Firewall }

func (manyMembers) IPSetMembers(context.Context, firewall.Scope, string) (all []firewall.IPSetMember, digest string, err error) {
	for range firewall.MaxState / firewall.MaxComment / 4 {
		all = append(all, firewall.IPSetMember{CIDR: "192.0.2.1", Comment: strings.Repeat("x", firewall.MaxComment)})
	}
	return all, "", nil
}

// What a hypervisor says of one scope is bounded, whatever it consists of.
func TestReadState_RefusesWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	backend := membackend.New()
	at := backend.Add("mem:8443")
	fw, err := backend.Open(t.Context(), at.Target(endpoint.Lifecycle))
	if err != nil {
		t.Fatal(err)
	}
	mem := fw.(*membackend.Firewall)
	node, cluster := firewall.Scope{Kind: firewall.NodeScope, Node: "n1"}, firewall.Scope{Kind: firewall.ClusterScope}
	at.SetRules(node, slices.Repeat([]firewall.Rule{{Direction: "in", Action: "DROP", Comment: strings.Repeat("x", firewall.MaxComment)}},
		firewall.MaxState/firewall.MaxComment)...)
	for _, name := range []string{"a", "b", "c", "d"} {
		if err := mem.CreateIPSet(t.Context(), cluster, firewall.IPSet{Name: name}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := firewall.ReadState(t.Context(), mem, node); plugin.KindOf(err) != plugin.Refused {
		t.Errorf("of many rules: %v", err)
	}
	if _, err := firewall.ReadState(t.Context(), manyMembers{mem}, cluster); plugin.KindOf(err) != plugin.Refused {
		t.Errorf("of many members: %v", err)
	}
}
