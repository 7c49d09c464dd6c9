package pvefirewall

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Firewall is a compiled configuration with which packets can be compared. It
// is immutable, and safe for concurrent use.
type Firewall struct {
	on       bool
	nodes    []*node
	byName   map[string]*node
	guests   map[int]*guest
	problems []Problem
	failures []*UndecidedError
}

// Problems returns what Proxmox VE skips, in the order of the configuration.
// Problems of aliases and sets come before those of rules.
func (f *Firewall) Problems() []Problem { return slices.Clone(f.problems) }

// Failures returns why packets on some paths are not judged.
func (f *Firewall) Failures() []*UndecidedError { return slices.Clone(f.failures) }

// node is a compiled node with its chains.
type node struct {
	name    string
	enabled bool
	options NodeOptions
	in, out chain

	policyIn, policyOut Verdict
	management          *addressSet
	blacklist           *addressSet
	localNetwork        *addressSet
	broadcasts          []uint32
	devices             map[string]int32
	altNames            map[string]string

	multicast bool
	pairs     []pair
	// refused4 and refused6 say why packets of that family are not judged on
	// this node; broken, why its own chains are not.
	refused4, refused6, broken *UndecidedError
}

// pair is the addresses of two nodes on one ring.
type pair struct{ own, other netip.Addr }

// guest is a compiled guest.
type guest struct {
	node    *node
	id      int
	enabled bool
	options GuestOptions
	in, out chain
	nics    []nic
	broken  *UndecidedError
}

// nic is a compiled network interface of a guest.
type nic struct {
	name     string
	number   int32
	bridge   string
	mac      MAC
	firewall bool
	filter   *addressSet // nil without a filter
}

// compiler builds a Firewall.
type compiler struct {
	config   *Config
	firewall *Firewall
	cluster  *names
	groups   map[string]*group
	node     *node // that is being made
	refused  []refusal
	// ownManagement says that the cluster defines the set management.
	ownManagement bool
	// told says that the problems of what all nodes share are known.
	told bool
}

// problem records a part of the configuration that the firewall skips. A node's
// view of the cluster is compiled once per node; only the first one reports.
func (c *compiler) problem(place Place, field, text string) {
	if c.told {
		return
	}
	c.firewall.problems = append(c.firewall.problems, Problem{Place: place, Field: field, Text: text})
}

// maxRefusals limits the refusals that are kept for each step of a node: the
// first one ends the loading anyway.
const maxRefusals = 100

// fails records what the kernel would not load of the object that is being
// compiled.
func (c *compiler) fails(step Step, place Place, text string) { c.refuse(refusal{step, place, text}) }

// refuse records why a node would not load its rules. Only the first few of
// each step are kept.
func (c *compiler) refuse(list ...refusal) {
	for _, r := range list {
		same := 0
		for _, known := range c.refused {
			if known.step == r.step {
				same++
			}
		}
		if same < maxRefusals {
			c.refused = append(c.refused, r)
		}
	}
}

// Compile compiles a configuration, which it neither changes nor keeps. What
// Proxmox VE skips is no error; see Problems. A LimitError or a ConfigError is
// returned for a configuration that cannot be compiled.
func Compile(config *Config) (*Firewall, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	f := &Firewall{on: config.Cluster.Options.on(config.Now), byName: map[string]*node{}, guests: map[int]*guest{}}
	c := &compiler{config: config, firewall: f, cluster: newNames(), groups: map[string]*group{}}
	scope := Scope{Kind: ScopeCluster}
	env := &environment{scope: scope, cluster: c.cluster}
	c.addAliases(c.cluster, scope, config.Cluster.Aliases)
	sets := slices.Clone(config.Cluster.IPSets)
	management := IPSet{Name: "management"}
	sets = slices.DeleteFunc(sets, func(s IPSet) bool {
		if strings.EqualFold(s.Name, management.Name) {
			management, c.ownManagement = s, true
			return true
		}
		return false
	})
	c.addSets(env, c.cluster.sets, sets, nil)
	c.cluster.sdn = map[string]*ipSet{}
	c.addSets(env, c.cluster.sdn, config.Cluster.SDN, nil)
	shared := c.refused
	for i := range config.Nodes {
		c.refused = slices.Clone(shared)
		c.addNode(&config.Nodes[i], management)
	}
	if len(config.Nodes) == 0 {
		c.addShared()
	}
	return f, nil
}

// addShared compiles the groups and the rules of the cluster. Each node has its
// own, because the set `management` has another member on each.
func (c *compiler) addShared() []ruleBuilt {
	c.groups = map[string]*group{}
	for _, g := range c.config.Cluster.Groups {
		c.addGroup(g)
	}
	return c.checkRules(&environment{scope: Scope{Kind: ScopeCluster}, cluster: c.cluster}, c.config.Cluster.Rules)
}

// validate refuses a configuration that exceeds a limit or contradicts itself.
// The limits bound the memory and the time of Compile.
func (c *Config) validate() error {
	rules, members := len(c.Cluster.Rules), 0
	if len(c.Nodes) > MaxNodes {
		return &LimitError{"nodes", MaxNodes}
	}
	count := func(aliases []Alias, sets []IPSet) {
		members += len(aliases)
		for _, s := range sets {
			members += len(s.Members) + 1
		}
	}
	count(c.Cluster.Aliases, c.Cluster.IPSets)
	count(nil, c.Cluster.SDN)
	for _, g := range c.Cluster.Groups {
		rules += len(g.Rules) + 1
	}
	rules *= max(len(c.Nodes), 1)
	names, ids := map[string]bool{}, map[int]bool{}
	for _, n := range c.Nodes {
		place := Place{Scope: Scope{Kind: ScopeNode, Node: n.Name}, Position: -1}
		if n.Name == "" || names[n.Name] {
			return &ConfigError{place, "node names must be unique and not empty"}
		}
		names[n.Name] = true
		rules += len(n.Rules)
		for _, g := range n.Guests {
			place := Place{Scope: Scope{Kind: ScopeGuest, Guest: g.ID}, Position: -1}
			if ids[g.ID] {
				return &ConfigError{place, "two guests have this ID"}
			}
			ids[g.ID] = true
			if len(ids) > MaxGuests {
				return &LimitError{"guests", MaxGuests}
			}
			rules += len(g.Rules)
			count(g.Aliases, g.IPSets)
			if err := validateNICs(g.NICs, place); err != nil {
				return err
			}
		}
	}
	switch {
	case rules > MaxRules:
		return &LimitError{"rules", MaxRules}
	case members > MaxMembers:
		return &LimitError{"members of IP sets", MaxMembers}
	}
	return nil
}

// validateNICs checks the names of a guest's interfaces. Each must be "net"
// with a number, and occur once.
func validateNICs(nics []NIC, place Place) error {
	seen := map[string]bool{}
	for _, n := range nics {
		place.Section, place.Name = SectionNICs, n.Name
		if nicNumber(n.Name) < 0 || seen[n.Name] {
			return &ConfigError{place, fmt.Sprintf("the NICs of a guest must be net0 to net%d, each at most once", MaxNICs-1)}
		}
		seen[n.Name] = true
	}
	return nil
}

// ruleBuilt is a checked rule with its compiled entries.
type ruleBuilt struct {
	*Rule
	ref    RuleRef
	reason Reason // why it is not in force, or 0
	built
}

// checkRules checks and compiles the rules of a scope.
func (c *compiler) checkRules(env *environment, rules []Rule) []ruleBuilt {
	all := make([]ruleBuilt, len(rules))
	for i := range rules {
		r := &rules[i]
		one := ruleBuilt{Rule: r, ref: RuleRef{env.scope, i}}
		place := Place{Scope: env.scope, Section: SectionRules, Position: i}
		family, errs := env.check(r)
		for j, field := range errs.fields {
			c.problem(place, field, errs.texts[j])
		}
		switch {
		case len(errs.fields) > 0:
			one.reason = Invalid
		case r.Disabled:
			one.reason = Disabled
		case r.Type == "forward":
			one.reason = ForwardOnly
		case r.Type != "group":
			one.built = env.build(r, family)
			for j := range one.refused {
				one.refused[j].place = place
			}
			if one.skipped != "" {
				one.reason = Invalid
				c.problem(place, "", one.skipped)
			}
		}
		all[i] = one
	}
	return all
}

// add appends a rule to the chain of one direction. device is the interface to
// which it is bound.
func (ch *chain) add(r *ruleBuilt, direction string, device int32, g *group) {
	l := line{rule: r.ref, reason: r.reason, first: len(ch.entries)}
	switch {
	case l.reason != 0:
	case r.Type == "group":
		ch.entries = append(ch.entries, entry{families: both, protocol: anyProtocol, device: device, position: int32(r.ref.Position),
			scope: &r.ref.Scope, group: g, repeated: ch.asks(g, device)})
	case r.Type != direction:
		l.reason = Direction
	case len(r.entries) == 0:
		l.reason = Family
	default:
		for _, e := range r.entries {
			e.position, e.scope, e.device = int32(r.ref.Position), &r.ref.Scope, device
			ch.entries = append(ch.entries, e)
		}
	}
	l.last = len(ch.entries)
	for i := l.first; i < l.last; i++ {
		ch.heads = append(ch.heads, ch.entries[i].head())
	}
	ch.lines = append(ch.lines, l)
}

// addGroup compiles the chains of a group. Of two groups with one name the
// later counts.
func (c *compiler) addGroup(g Group) {
	name := strings.ToLower(g.Name)
	env := &environment{scope: Scope{Kind: ScopeGroup, Group: name}, cluster: c.cluster}
	place := Place{Scope: env.scope, Section: SectionGroup, Name: g.Name, Position: -1}
	if !isName(name) || len(name) > maxGroupName {
		c.problem(place, "name", "invalid security group name")
		return
	}
	if c.groups[name] != nil {
		c.problem(place, "name", "the group is defined more than once; this definition applies")
	}
	made := &group{known: true}
	rules := c.checkRules(env, g.Rules)
	for i := range rules {
		r := &rules[i]
		if r.skipped != "" && !r.Disabled {
			made.broken = fmt.Sprintf("rule %d of the group %s: %s", i, name, r.skipped)
		}
		if len(made.refused) < maxRefusals {
			made.refused = append(made.refused, r.refused...)
		}
		made.in.add(r, "in", anyInterface, nil)
		made.out.add(r, "out", anyInterface, nil)
	}
	c.groups[name] = made
}

// groupNamed returns the group into which a rule jumps.
func (c *compiler) groupNamed(name string) *group {
	if g := c.groups[name]; g != nil {
		return g
	}
	return &group{}
}

// addNode compiles a node with the rules of the cluster and its own. A
// cluster's rules are part of each node's chains, after the node's own rules.
func (c *compiler) addNode(from *Node, management IPSet) {
	n := &node{name: from.Name, enabled: from.Options.Enable.or(true), options: from.Options,
		policyIn: c.config.Cluster.Options.PolicyIn.or(Drop), policyOut: c.config.Cluster.Options.PolicyOut.or(Accept),
		devices: map[string]int32{}, altNames: map[string]string{}}
	c.node = n
	for k, v := range from.AltNames {
		n.altNames[k] = v
	}
	c.firewall.nodes = append(c.firewall.nodes, n)
	c.firewall.byName[n.name] = n
	if b := c.cluster.sets["blacklist"]; b != nil {
		n.blacklist = b.addresses
	}
	c.told = len(c.firewall.nodes) > 1
	c.addLocalNetwork(from.LocalNetwork, management)
	clusterRules := c.addShared()
	c.told = false
	for _, p := range from.Addresses {
		if p.IsValid() && p.Addr().Is4() && p.Bits() < 31 {
			n.broadcasts = append(n.broadcasts, uint32(wideOf(spanOf(p).last).low))
		}
	}
	n.broadcasts = append(n.broadcasts, 0x7fffffff, 0xffffffff)
	c.addCorosync()

	scope := Scope{Kind: ScopeNode, Node: n.name}
	rules := c.checkRules(&environment{scope: scope, cluster: c.cluster}, from.Rules)
	for i := range rules {
		c.addNodeRule(&rules[i])
	}
	for i := range clusterRules {
		c.addNodeRule(&clusterRules[i])
	}
	for i := range from.Guests {
		c.addGuest(&from.Guests[i])
	}
	c.finish()
}

// device returns the number of an interface of the node.
func (n *node) device(name string) int32 {
	if kernel, ok := n.altNames[name]; ok {
		name = kernel
	}
	number, ok := n.devices[name]
	if !ok {
		number = int32(len(n.devices))
		n.devices[name] = number
	}
	return number
}

// addNodeRule adds a rule to the chains of a node.
func (c *compiler) addNodeRule(r *ruleBuilt) {
	n := c.node
	place := Place{Scope: r.ref.Scope, Section: SectionRules, Position: r.ref.Position}
	device, one := int32(anyInterface), *r
	var g *group
	if one.reason == 0 {
		if r.Type == "group" {
			g = c.groupNamed(r.Action)
			switch {
			case len(r.Action) > maxGroupName:
				// The name is too long for a chain. Only this rule is lost
				// here.
				one.reason = Invalid
				c.problem(place, "action", "security group name too long")
			case n.enabled && g.broken != "" && n.broken == nil:
				n.broken = &UndecidedError{Node: n.name, Step: StepCompile, Place: place, Text: g.broken}
			}
		}
		if n.enabled && c.firewall.on {
			c.refuse(one.refused...)
			if g != nil {
				c.refuse(g.refused...)
			}
		}
		if r.Iface != "" {
			name := r.Iface
			if kernel, ok := n.altNames[name]; ok {
				name = kernel
			}
			device = n.device(name)
			if len(name) > 15 && n.enabled {
				c.fails(StepIPv4, place, "the name of the interface is longer than the kernel's 15 bytes")
			}
		}
	}
	n.in.add(&one, "in", device, g)
	n.out.add(&one, "out", device, g)
}

// addLocalNetwork adds what may always manage the node: its network or the
// cluster's alias local_network, and the set `management`.
func (c *compiler) addLocalNetwork(own netip.Prefix, management IPSet) {
	n := c.node
	local := netip.MustParsePrefix("127.0.0.0/8")
	if own.IsValid() {
		local = own.Masked()
	}
	if a, ok := c.cluster.aliases["local_network"]; ok {
		var valid bool
		if local, valid = prefixOf(a.address, a.bits); !valid || local.Bits() == 0 {
			c.fails(StepIPSets, Place{Scope: Scope{Kind: ScopeCluster}, Section: SectionAliases, Name: "local_network", Position: -1},
				"an IP set cannot contain this network")
			local = netip.MustParsePrefix("127.0.0.0/8")
		}
	}
	n.localNetwork = union([]span{spanOf(local)})
	env := &environment{scope: Scope{Kind: ScopeCluster}, cluster: c.cluster}
	set := c.addSet(env, management, []addition{{prefix: local}})
	n.management = set.addresses
	if c.ownManagement {
		c.cluster.sets["management"] = set
	}
}

// addCorosync adds the exceptions for the traffic of the cluster. They precede
// the rules, so that a mistake in a rule cannot break the quorum.
func (c *compiler) addCorosync() {
	n := c.node
	if c.config.Corosync == nil {
		return
	}
	n.multicast = c.config.Corosync.Transport == "udp"
	var own []netip.Addr
	for _, m := range c.config.Corosync.Nodes {
		if m.Name == n.name {
			own = m.Rings
		}
	}
	for _, m := range c.config.Corosync.Nodes {
		for ring, other := range m.Rings {
			if m.Name != n.name && ring < len(own) && own[ring].IsValid() && other.IsValid() && own[ring].BitLen() == other.BitLen() {
				n.pairs = append(n.pairs, pair{own[ring], other})
			}
		}
	}
}

// addGuest compiles a guest with its own aliases and sets.
func (c *compiler) addGuest(from *Guest) {
	n := c.node
	scope := Scope{Kind: ScopeGuest, Guest: from.ID}
	own := newNames()
	env := &environment{scope: scope, cluster: c.cluster, own: own}
	g := &guest{node: n, id: from.ID, enabled: from.Options.Enable.or(false), options: from.Options}
	c.firewall.guests[g.id] = g
	c.addAliases(own, scope, from.Aliases)
	extra := map[string][]addition{}
	for _, one := range from.NICs {
		if one.Firewall {
			extra["ipfilter-"+one.Name] = additions(from, one)
		}
	}
	c.addSets(env, own.sets, from.IPSets, extra)
	active := map[string]bool{}
	for _, one := range from.NICs {
		made := nic{name: one.Name, number: int32(nicNumber(one.Name)), bridge: one.Bridge, mac: one.MAC, firewall: one.Firewall}
		if name := "ipfilter-" + one.Name; one.Firewall {
			active[one.Name] = true
			if s := own.sets[name]; s != nil {
				made.filter = s.addresses
			} else if from.Options.IPFilter.or(false) {
				made.filter = c.addSet(env, IPSet{Name: name}, extra[name]).addresses
			}
		}
		g.nics = append(g.nics, made)
	}
	rules := c.checkRules(env, from.Rules)
	for i := range rules {
		c.addGuestRule(g, &rules[i], active)
	}
}

// additions returns the members that Proxmox VE adds to the filter of a NIC.
func additions(g *Guest, n NIC) []addition {
	list := []addition{{prefix: netip.PrefixFrom(n.MAC.linkLocal(), 128)}, {prefix: netip.MustParsePrefix("fe80::/10"), noMatch: true}}
	if g.Container {
		for _, a := range n.Addresses {
			if a = a.Unmap().WithZone(""); a.IsValid() {
				list = append(list, addition{prefix: netip.PrefixFrom(a, a.BitLen())})
			}
		}
	}
	return list
}

// addGuestRule adds a rule to the chains of a guest.
func (c *compiler) addGuestRule(g *guest, r *ruleBuilt, active map[string]bool) {
	device := int32(anyInterface)
	live := g.enabled && c.firewall.on && r.reason == 0 && len(active) > 0
	if r.Iface != "" {
		device = noInterface
		if n := nicNumber(r.Iface); n >= 0 {
			device = int32(n)
		}
		live = live && active[r.Iface]
	}
	var jump *group
	if r.Type == "group" {
		jump = c.groupNamed(r.Action)
		text := jump.broken
		if len(r.Action) > maxGroupName {
			text = "the name of the security group is too long for a chain of the kernel"
		}
		if live && text != "" && g.broken == nil {
			place := Place{Scope: r.ref.Scope, Section: SectionRules, Position: r.ref.Position}
			g.broken = &UndecidedError{Node: c.node.name, Step: StepCompile, Place: place, Text: text}
			c.firewall.failures = append(c.firewall.failures, g.broken)
		}
	}
	if live {
		c.refuse(r.refused...)
		if jump != nil {
			c.refuse(jump.refused...)
		}
	}
	g.in.add(r, "in", device, jump)
	g.out.add(r, "out", device, jump)
}

// finish determines what of the node is not judged. If the firewall is off,
// nothing is loaded.
func (c *compiler) finish() {
	n := c.node
	if !c.firewall.on {
		n.broken = nil
		return
	}
	if n.options.NFTables.or(false) {
		place := Place{Scope: Scope{Kind: ScopeNode, Node: n.name}, Section: SectionOptions, Name: "nftables", Position: -1}
		c.refused = append([]refusal{{StepNFTables, place, "the node uses the nftables firewall, which Hostler " +
			"cannot evaluate"}}, c.refused...)
	}
	for _, r := range c.refused {
		e := &UndecidedError{Node: n.name, Step: r.step, Place: r.place, Text: r.text}
		c.firewall.failures = append(c.firewall.failures, e)
		if n.refused4 == nil && r.step != StepIPv6 {
			n.refused4 = e
		}
		if n.refused6 == nil {
			n.refused6 = e
		}
	}
	if n.broken != nil {
		c.firewall.failures = append(c.firewall.failures, n.broken)
	}
}
