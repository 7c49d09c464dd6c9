package pve

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pvefirewall"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// judged is the configuration by which packets are judged: the facts, with
// assumed states in place of some.
type judged struct {
	*facts
	firewall *pvefirewall.Firewall
	cluster  firewall.State
	groups   map[string]firewall.State
	nodeIs   map[string]firewall.State
	guestIs  map[int]firewall.State
	problems map[pvefirewall.RuleRef]string
}

// with compiles the firewall with assumed states in place of what was read. A
// group that is assumed absent is left out, and assumed groups that do not
// exist yet are added. Guests that could not be read are left out; packets from
// and to them are Unknown. Problems that the compiler finds in rules are kept
// by rule, for the steps of a verdict.
func (k *facts) with(assume []firewall.State) (*judged, error) {
	assumed := func(s firewall.State) firewall.State {
		if i := slices.IndexFunc(assume, func(a firewall.State) bool { return a.Scope.Same(s.Scope) }); i >= 0 {
			return assume[i]
		}
		return s
	}
	j := &judged{facts: k, cluster: assumed(k.cluster), groups: map[string]firewall.State{}, nodeIs: map[string]firewall.State{},
		guestIs: map[int]firewall.State{}, problems: map[pvefirewall.RuleRef]string{}}
	config := &pvefirewall.Config{Corosync: k.corosync, Cluster: pvefirewall.Cluster{
		Aliases: aliasesOf(j.cluster), IPSets: setsOf(j.cluster), Rules: rulesOfState(j.cluster),
	}}
	setOptions(j.cluster.Options, config.Cluster.Options.Set)
	for _, group := range slices.Concat(k.groups, assume) {
		name := strings.ToLower(group.Scope.Group)
		if _, done := j.groups[name]; done || group.Scope.Kind != firewall.GroupScope {
			continue
		}
		if group = assumed(group); group.Absent {
			continue
		}
		j.groups[name] = group
		config.Cluster.Groups = append(config.Cluster.Groups, pvefirewall.Group{Name: group.Scope.Group, Rules: rulesOfState(group)})
	}
	for name, node := range k.nodes {
		s := node.state
		s.Scope = firewall.Scope{Kind: firewall.NodeScope, Node: name}
		s = assumed(s)
		j.nodeIs[name] = s
		config.Nodes = append(config.Nodes, j.node(name, node, s))
	}
	for i := range config.Nodes {
		n := &config.Nodes[i]
		for _, g := range k.guests {
			if g.guest.Node == n.Name && g.err == nil {
				s := assumed(g.state)
				j.guestIs[g.id] = s
				n.Guests = append(n.Guests, guestOf(g, s))
			}
		}
	}
	var err error
	if j.firewall, err = pvefirewall.Compile(config); err != nil {
		return nil, plugin.Errorf(plugin.Refused, "the firewall cannot be evaluated: %s", oneLine(err.Error()))
	}
	for _, p := range j.firewall.Problems() {
		ref := pvefirewall.RuleRef{Scope: p.Place.Scope, Position: p.Place.Position}
		if p.Place.Section == pvefirewall.SectionRules && j.problems[ref] == "" {
			j.problems[ref] = oneLine(strings.TrimPrefix(p.Field+": "+p.Text, ": "))
		}
	}
	return j, nil
}

// node converts the state of a node for the evaluator.
func (j *judged) node(name string, facts *nodeFacts, s firewall.State) pvefirewall.Node {
	n := pvefirewall.Node{Name: name, Rules: rulesOfState(s), AltNames: map[string]string{}}
	setOptions(s.Options, n.Options.Set)
	own := j.nodeAddress(name)
	for _, i := range facts.network.Current {
		for _, text := range []string{i.CIDR, i.CIDR6} {
			p, ok := prefixOf(text)
			if !ok {
				continue
			}
			n.Addresses = append(n.Addresses, p)
			if own.IsValid() && p.Addr() == own {
				n.LocalNetwork = p.Masked()
			}
		}
		for _, other := range i.AltNames {
			n.AltNames[other] = i.Name
		}
	}
	return n
}

// nodeAddress returns the address by which the cluster knows a node; the zero
// value if it is unknown.
func (k *facts) nodeAddress(name string) netip.Addr {
	if k.membership == nil || k.membership.nodes[name] == nil {
		return netip.Addr{}
	}
	a, _ := netip.ParseAddr(k.membership.nodes[name].Address)
	return a.Unmap()
}

// guestOf converts the state of a guest for the evaluator.
func guestOf(g *guestFacts, s firewall.State) pvefirewall.Guest {
	out := pvefirewall.Guest{ID: g.id, Container: g.guest.Kind == "container", Aliases: aliasesOf(s), IPSets: setsOf(s),
		Rules: rulesOfState(s)}
	setOptions(s.Options, out.Options.Set)
	for _, nic := range g.nics {
		out.NICs = append(out.NICs, nic.NIC)
	}
	return out
}

// setOptions passes the options that are set to a setter. Options that it does
// not know do not influence a verdict.
func setOptions(o firewall.Options, set func(key, value string) error) {
	for _, name := range firewall.OptionFlags() {
		if on := *o.Flag(name); on != nil {
			_ = set(name, oneOrZero(*on))
		}
	}
	for _, name := range firewall.OptionTexts() {
		if text := *o.Text(name); text != "" {
			_ = set(name, text)
		}
	}
	for name, value := range o.Other {
		_ = set(name, value)
	}
}

// aliasesOf converts the aliases of a state.
func aliasesOf(s firewall.State) []pvefirewall.Alias {
	out := make([]pvefirewall.Alias, len(s.Aliases))
	for i, a := range s.Aliases {
		out[i] = pvefirewall.Alias{Name: a.Name, CIDR: a.CIDR}
	}
	return out
}

// setsOf converts the sets of a state.
func setsOf(s firewall.State) []pvefirewall.IPSet {
	out := make([]pvefirewall.IPSet, len(s.IPSets))
	for i, set := range s.IPSets {
		out[i].Name = set.Name
		for _, m := range set.Members {
			out[i].Members = append(out[i].Members, pvefirewall.Member{CIDR: m.CIDR, NoMatch: m.NoMatch})
		}
	}
	return out
}

// rulesOfState converts the rules of a state.
func rulesOfState(s firewall.State) []pvefirewall.Rule {
	out := make([]pvefirewall.Rule, len(s.Rules))
	for i, r := range s.Rules {
		out[i] = evaluatedRule(r)
	}
	return out
}

// evaluatedRule converts a rule for the evaluator.
func evaluatedRule(r firewall.Rule) pvefirewall.Rule {
	return pvefirewall.Rule{Type: r.Direction, Action: r.Action, Disabled: !r.Enabled, Macro: r.Macro, Iface: r.Interface,
		Proto: r.Protocol, Source: r.Source, Dest: r.Destination, SPort: r.SourcePort, DPort: r.DestinationPort, ICMPType: r.ICMPType}
}
