package pvefirewall

import (
	"fmt"
	"net/netip"
	"strings"
)

// alias is the address or network of a name. bits is that of parseCIDR.
type alias struct {
	address netip.Addr
	bits    int
}

// ipSet is a set with the addresses that are in it.
type ipSet struct{ addresses *addressSet }

// names are the aliases and sets of one scope. Aliases are stored by their
// names in lower case.
type names struct {
	aliases map[string]alias
	sets    map[string]*ipSet
	sdn     map[string]*ipSet // of the cluster
}

// newNames returns an empty table of aliases and sets.
func newNames() *names { return &names{aliases: map[string]alias{}, sets: map[string]*ipSet{}} }

// environment is the set of names that the rules and members of a scope can
// use.
type environment struct {
	scope   Scope
	cluster *names
	own     *names // of a guest, else nil
}

// alias finds the alias of a reference, the guest's own first. exists reports
// that the name exists in any scope, also where the reference does not look.
func (e *environment) alias(r reference) (a alias, found, exists bool) {
	name := strings.ToLower(r.name)
	shared, inCluster := e.cluster.aliases[name]
	var own alias
	inOwn := false
	if e.own != nil {
		own, inOwn = e.own.aliases[name]
	}
	switch {
	case inOwn && r.scope != "dc":
		return own, true, true
	case inCluster && r.scope != "guest":
		return shared, true, true
	}
	return alias{}, false, inOwn || inCluster
}

// set finds the set of a reference, in the same way as alias.
func (e *environment) set(r reference) (s *ipSet, exists bool) {
	shared, sdn := e.cluster.sets[r.name], e.cluster.sdn[r.name]
	var own *ipSet
	if e.own != nil {
		own = e.own.sets[r.name]
	}
	exists = own != nil || shared != nil || sdn != nil
	switch {
	case own != nil && (r.scope == "" || r.scope == "guest"):
		return own, exists
	case shared != nil && (r.scope == "" || r.scope == "dc"):
		return shared, exists
	case sdn != nil && (r.scope == "" || r.scope == "sdn"):
		return sdn, exists
	}
	return nil, exists
}

// addAliases reads the aliases of a scope. Of two with one name the later
// counts.
func (c *compiler) addAliases(n *names, scope Scope, list []Alias) {
	for i, a := range list {
		place := Place{Scope: scope, Section: SectionAliases, Name: a.Name, Position: i}
		address, bits, err := parseCIDR(a.CIDR)
		if err != nil {
			c.problem(place, "cidr", err.Error())
			continue
		}
		n.aliases[strings.ToLower(a.Name)] = alias{address, bits}
	}
}

// addition is a member that Proxmox adds to a set.
type addition struct {
	prefix  netip.Prefix
	noMatch bool
}

// addSet reads one set of a scope, with what Proxmox adds to it.
func (c *compiler) addSet(env *environment, set IPSet, extra []addition) *ipSet {
	place := Place{Scope: env.scope, Section: SectionIPSet, Name: set.Name, Position: -1}
	type key struct {
		address netip.Addr
		bits    int
	}
	// Equal members count once, with the settings of the last one. Members that
	// are equal only after masking are two for Proxmox VE and one for the
	// kernel, which then refuses all sets.
	members := map[key]bool{}
	literal := map[string]bool{}
	for i, m := range set.Members {
		place.Position = i
		if len(m.CIDR) > MaxField {
			c.problem(place, "cidr", "value does not look like a valid IP address or CIDR network")
			continue
		}
		var address netip.Addr
		var bits int
		text := m.CIDR
		if r, ok := aliasReference(m.CIDR); ok {
			a, found, _ := env.alias(r)
			if !found {
				c.problem(place, "cidr", fmt.Sprintf("no such alias '%.80s'", m.CIDR))
				continue
			}
			address, bits = a.address, a.bits
		} else {
			var err error
			if address, bits, err = parseCIDR(m.CIDR); err != nil {
				c.problem(place, "cidr", err.Error())
				continue
			}
			if bits == 0 {
				c.problem(place, "cidr", "a zero prefix is not allowed in ipset entries")
				continue
			}
			if bits == address.BitLen() {
				text, _, _ = strings.Cut(text, "/")
			}
		}
		if literal[text] {
			c.problem(place, "cidr", fmt.Sprintf("duplicate ipset entry for '%.80s'", text))
			continue
		}
		literal[text] = true
		if bits < 0 {
			bits = address.BitLen()
		}
		members[key{address, bits}] = m.NoMatch
	}
	for _, e := range extra {
		members[key{e.prefix.Addr(), e.prefix.Bits()}] = e.noMatch
	}
	place.Position = -1
	masked := make(map[netip.Prefix]bool, len(members))
	networks := make([]network, 0, len(members))
	for k, noMatch := range members {
		p := netip.PrefixFrom(k.address, k.bits)
		if !p.IsValid() || k.bits == 0 {
			c.fails(StepIPSets, place, fmt.Sprintf("an IP set cannot contain the member %s/%d", k.address, k.bits))
			continue
		}
		p = p.Masked()
		if masked[p] {
			c.fails(StepIPSets, place, fmt.Sprintf("two members are the same network: %s", p))
			continue
		}
		masked[p] = true
		at := inside
		if noMatch {
			at = excluded
		}
		networks = append(networks, network{p, at})
	}
	return &ipSet{longest(networks)}
}

// addSets reads all sets of a scope. Of two with one name the later counts.
func (c *compiler) addSets(env *environment, to map[string]*ipSet, list []IPSet, extra map[string][]addition) {
	last := make(map[string]int, len(list))
	for i, s := range list {
		last[strings.ToLower(s.Name)] = i
	}
	for i, s := range list {
		name := strings.ToLower(s.Name)
		place := Place{Scope: env.scope, Section: SectionIPSet, Name: s.Name, Position: -1}
		switch {
		case !isName(name) || len(name) > maxSetName:
			c.problem(place, "name", "invalid ipset name")
		case last[name] != i:
			c.problem(place, "name", "the IP set is defined again below")
		default:
			to[name] = c.addSet(env, s, extra[name])
		}
	}
}
