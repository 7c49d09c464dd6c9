package pvefirewall

import "fmt"

// Evaluate judges a packet. The stages of the result have no Steps. A
// UndecidedError says why there can be no verdict; an error that wraps
// ErrPacket, what is wrong with the packet.
func (f *Firewall) Evaluate(packet Packet) (Result, error) { return f.judge(&packet, false) }

// Trace is Evaluate with the Steps of all stages.
func (f *Firewall) Trace(packet Packet) (Result, error) { return f.judge(&packet, true) }

// end is the compiled end of a packet.
type end struct {
	kind  EndpointKind
	node  *node
	guest *guest
	nic   *nic
	name  string // of the device
}

// find returns the compiled end of a packet.
func (f *Firewall) find(e *Endpoint) (end, error) {
	switch e.Kind {
	case GuestNIC:
		g := f.guests[e.Guest]
		if g == nil {
			return end{}, &packetError{fmt.Sprintf("guest %d does not exist", e.Guest)}
		}
		for i := range g.nics {
			if n := &g.nics[i]; n.name == e.NIC {
				return end{GuestNIC, g.node, g, n, n.bridge}, nil
			}
		}
		return end{}, &packetError{fmt.Sprintf("guest %d has no NIC %.40q", e.Guest, e.NIC)}
	case Host, Outside:
		n := f.byName[e.Node]
		switch {
		case n != nil:
		case e.Node != "":
			return end{}, &packetError{fmt.Sprintf("node %.80q does not exist", e.Node)}
		case len(f.nodes) == 1:
			n = f.nodes[0]
		case e.Kind == Host:
			return end{}, &packetError{"the packet does not name a node"}
		}
		return end{kind: e.Kind, node: n, name: e.Device}, nil
	}
	return end{}, &packetError{"an end of the packet has an unknown kind"}
}

// walk is the path of one packet through the chains.
type walk struct {
	firewall *Firewall
	probe    probe
	trace    bool
	result   Result
	stage    *Stage
	// short are chains that stand for others, see Reach.
	short [2]shortened
}

// way is the two ends of a packet.
type way struct{ from, to end }

// judge evaluates one packet. With trace it records every rule that was looked
// at, which costs allocations.
func (f *Firewall) judge(packet *Packet, trace bool) (Result, error) {
	w := walk{firewall: f, trace: trace, result: Result{Verdict: Accept}}
	ends, err := w.prepare(packet)
	if err != nil {
		return Result{}, err
	}
	w.pass(ends.from, ends.to)
	return w.result, nil
}

// prepare finds the ends of a packet, and checks whether it can be judged.
func (w *walk) prepare(packet *Packet) (way, error) {
	f := w.firewall
	if err := f.probe(packet, &w.probe); err != nil {
		return way{}, err
	}
	from, err := f.find(&packet.From)
	if err != nil {
		return way{}, err
	}
	to, err := f.find(&packet.To)
	if err != nil {
		return way{}, err
	}
	if from.node == nil {
		from.node = to.node
	}
	if to.node == nil {
		to.node = from.node
	}
	if from.node == nil {
		return way{}, &packetError{"no end of the packet is on a node"}
	}
	return way{from, to}, w.judged(from, to)
}

// judged checks whether the chains on the path are those that are in force.
func (w *walk) judged(from, to end) error {
	if !w.firewall.on {
		return nil
	}
	for _, e := range [2]end{from, to} {
		refused := e.node.refused4
		if w.probe.family == v6 {
			refused = e.node.refused6
		}
		switch {
		case refused != nil:
			return refused
		case e.kind == Host && e.node.broken != nil:
			return e.node.broken
		case e.kind == GuestNIC && e.nic.firewall && e.guest.broken != nil:
			return e.guest.broken
		}
	}
	return nil
}

// pass moves the packet from one end to the other, until a check does not
// accept it.
func (w *walk) pass(from, to end) {
	if !w.firewall.on {
		w.result.By = Decision{Builtin: ClusterOff}
		return
	}
	same := from.node == to.node
	switch {
	case from.kind == Host && to.kind == Host && same:
		w.result.By = Decision{Builtin: Loopback}
		return
	case from.kind == GuestNIC:
		if w.guestOut(from, to.kind == Host && same) != Accept {
			return
		}
	case from.kind == Host:
		device := from.name
		if same {
			device = to.name
		}
		if w.nodeOut(from.node, device) != Accept {
			return
		}
	}
	if !same {
		w.probe.mark = false
	}
	switch to.kind {
	case GuestNIC:
		w.guestIn(to, from.kind == Host && same)
	case Host:
		device := to.name
		if same {
			device = from.name
		}
		w.nodeIn(to.node, device)
	case Outside:
		if from.kind == Outside {
			w.forward(from.node)
		}
	}
}

// begin starts a stage.
func (w *walk) begin(check Check, n *node) {
	w.result.Stages = append(w.result.Stages, Stage{Check: check, Node: n.name})
	w.stage = &w.result.Stages[len(w.result.Stages)-1]
}

// decide ends a stage.
func (w *walk) decide(v Verdict, by Decision) Verdict {
	w.stage.Verdict, w.stage.By = v, by
	w.result.Verdict, w.result.By = v, by
	if w.trace {
		step := EvaluatedRule{Rule: by.Rule, Via: by.Via, Builtin: by.Builtin, Reason: Matched}
		if by.Builtin != 0 {
			w.stage.Steps = append(w.stage.Steps, step)
		}
	}
	return v
}

// builtin ends the current chain with a verdict of a built-in check.
func (w *walk) builtin(v Verdict, b Builtin) Verdict { return w.decide(v, Decision{Builtin: b}) }

// passed records a built-in check whose condition does not hold.
func (w *walk) passed(b Builtin) {
	if w.trace {
		w.stage.Steps = append(w.stage.Steps, EvaluatedRule{Builtin: b, Reason: NotMet})
	}
}

// met records a built-in check if its condition does not hold, and returns the
// condition.
func (w *walk) met(b Builtin, holds bool) bool {
	if !holds {
		w.passed(b)
	}
	return holds
}

// forward evaluates the checks that every forwarded packet passes on a node.
func (w *walk) forward(n *node) {
	if !n.options.AllowInvalid.or(false) && w.probe.tracking == trackedInvalid {
		w.begin(Forward, n)
		w.builtin(Drop, ConntrackInvalid)
	}
}

// neighbours reports the messages without which IPv6 does not work at all (RFC
// 4861).
func (p *probe) neighbours(advertisements bool) bool {
	if p.family != v6 || !p.icmp {
		return false
	}
	switch p.kind {
	case 133, 135, 136:
		return true
	case 134:
		return advertisements
	}
	return false
}

// input evaluates the checks before all rules for packets to a host or guest.
func (w *walk) input(n *node) (Verdict, bool) {
	p := &w.probe
	if n.blacklist != nil && w.met(Blacklist, p.state(n.blacklist, true) == inside) {
		return w.builtin(Drop, Blacklist), true
	}
	if p.family == v4 && n.options.NoSmurfs.or(true) && w.met(Smurfs, n.smurf(p)) {
		return w.builtin(Drop, Smurfs), true
	}
	if n.options.TCPFlags.or(false) && w.met(TCPFlags, p.illegal()) {
		return w.builtin(Drop, TCPFlags), true
	}
	return 0, false
}

// guestIn evaluates the chains of a guest that receives a packet.
func (w *walk) guestIn(e end, fromOwnNode bool) Verdict {
	n, g, p := e.node, e.guest, &w.probe
	w.begin(GuestIn, n)
	w.stage.Guest, w.stage.NIC = g.id, e.nic.name
	// A packet from the node itself to a NIC without a firewall passes only the
	// guest's chain.
	if !n.options.AllowInvalid.or(false) && (e.nic.firewall || !fromOwnNode) && w.met(ConntrackInvalid, p.tracking == trackedInvalid) {
		return w.builtin(Drop, ConntrackInvalid)
	}
	if !e.nic.firewall {
		return w.builtin(Accept, NICOff)
	}
	if v, decided := w.input(n); decided {
		return v
	}
	if !g.enabled {
		return w.builtin(Accept, GuestOff)
	}
	if g.options.DHCP.or(true) && w.met(DHCP, p.family == v4 && p.udpPorts(67, 68) || p.family == v6 && p.udpPorts(547, 546)) {
		return w.builtin(Accept, DHCP)
	}
	if p.family == v6 && g.options.NDP.or(true) && w.met(NDP, p.neighbours(true)) {
		return w.builtin(Accept, NDP)
	}
	p.device = e.nic.number
	if by, action := w.run(&g.in, true, false); action != 0 {
		return w.rule(n, by, action)
	}
	return w.policy(n, g.options.PolicyIn.or(Drop))
}

// guestOut evaluates the chains of a guest that sends a packet.
func (w *walk) guestOut(e end, toOwnNode bool) Verdict {
	n, g, p := e.node, e.guest, &w.probe
	w.begin(GuestOut, n)
	w.stage.Guest, w.stage.NIC = g.id, e.nic.name
	if !n.options.AllowInvalid.or(false) && (e.nic.firewall || !toOwnNode) && w.met(ConntrackInvalid, p.tracking == trackedInvalid) {
		return w.builtin(Drop, ConntrackInvalid)
	}
	if !e.nic.firewall {
		return w.builtin(Accept, NICOff)
	}
	if !g.enabled {
		return w.builtin(Accept, GuestOff)
	}
	if g.options.DHCP.or(true) && w.met(DHCP, p.family == v4 && p.udpPorts(68, 67) || p.family == v6 && p.udpPorts(546, 547)) {
		p.mark = true
		return w.builtin(Accept, DHCP)
	}
	if mac := p.packet.SourceMAC; e.nic.mac != (MAC{}) && g.options.MACFilter.or(true) &&
		w.met(MACFilter, mac != (MAC{}) && mac != e.nic.mac) {
		return w.builtin(Drop, MACFilter)
	}
	advertises := g.options.RADV.or(false)
	if p.family == v6 && !advertises && w.met(RADV, p.isICMPv6(134)) {
		return w.builtin(Drop, RADV)
	}
	if e.nic.filter != nil && w.met(IPFilter, p.state(e.nic.filter, true) != inside) {
		return w.builtin(Drop, IPFilter)
	}
	if p.family == v6 && g.options.NDP.or(true) && w.met(NDP, p.neighbours(advertises)) {
		p.mark = true
		return w.builtin(Accept, NDP)
	}
	p.device = e.nic.number
	if by, action := w.run(&g.out, false, false); action != 0 {
		p.mark = action == Accept
		return w.rule(n, by, action)
	}
	v := w.policy(n, g.options.PolicyOut.or(Accept))
	p.mark = v == Accept && w.result.By.Exception == NoException
	return v
}

// nodeIn evaluates the chains of a node that receives a packet.
func (w *walk) nodeIn(n *node, device string) Verdict {
	p := &w.probe
	w.begin(NodeIn, n)
	if !n.enabled {
		return w.builtin(Accept, NodeOff)
	}
	if w.met(ConntrackInvalid, p.tracking == trackedInvalid) {
		return w.builtin(Drop, ConntrackInvalid)
	}
	if p.family == v6 && n.options.NDP.or(true) && w.met(NDP, p.neighbours(true)) {
		return w.builtin(Accept, NDP)
	}
	if v, decided := w.input(n); decided {
		return v
	}
	if w.met(IGMP, p.protocol == protoIGMP) {
		return w.builtin(Accept, IGMP)
	}
	p.device = n.deviceOf(device)
	if by, action := w.run(&n.in, true, true); action != 0 {
		return w.rule(n, by, action)
	}
	if w.met(Management, p.tcp() && managementPort(p.dport) && p.state(n.management, true) == inside) {
		return w.builtin(Accept, Management)
	}
	if w.corosync(n, true) {
		return w.builtin(Accept, CorosyncTraffic)
	}
	return w.policy(n, n.policyIn)
}

// nodeOut evaluates the chains of a node that sends a packet.
func (w *walk) nodeOut(n *node, device string) Verdict {
	p := &w.probe
	w.begin(NodeOut, n)
	if !n.enabled {
		return w.builtin(Accept, NodeOff)
	}
	if w.met(ConntrackInvalid, p.tracking == trackedInvalid) {
		return w.builtin(Drop, ConntrackInvalid)
	}
	if p.family == v6 && n.options.NDP.or(true) && w.met(NDP, p.neighbours(false)) {
		return w.builtin(Accept, NDP)
	}
	if w.met(IGMP, p.protocol == protoIGMP) {
		return w.builtin(Accept, IGMP)
	}
	p.device = n.deviceOf(device)
	if by, action := w.run(&n.out, false, true); action != 0 {
		return w.rule(n, by, action)
	}
	if w.met(LocalNetwork, p.tcp() && localPort(p.dport) && p.state(n.localNetwork, false) == inside) {
		return w.builtin(Accept, LocalNetwork)
	}
	if w.corosync(n, false) {
		return w.builtin(Accept, CorosyncTraffic)
	}
	return w.policy(n, n.policyOut)
}

// localPort reports whether a port is one of the hypervisor's own services that
// other nodes must reach: API, SSH, SPICE proxy and consoles.
func localPort(port uint16) bool {
	return port == 8006 || port == 22 || port == 3128 || port >= 5900 && port <= 5999
}

// managementPort reports whether a port is open for the management network: the
// local ports, and those of migrations.
func managementPort(port uint16) bool { return localPort(port) || port >= 60000 && port <= 60050 }

// deviceOf returns the number of a device as rules name it, or of none.
func (n *node) deviceOf(name string) int32 {
	if kernel, ok := n.altNames[name]; ok {
		name = kernel
	}
	if number, ok := n.devices[name]; ok {
		return number
	}
	return noInterface
}

// corosync reports whether a packet is cluster traffic, which is accepted
// before all rules.
func (w *walk) corosync(n *node, in bool) bool {
	if len(n.pairs) == 0 && !n.multicast {
		return false
	}
	return w.met(CorosyncTraffic, w.probe.corosync(n, in))
}

// corosync compares a packet with the addresses and ports of corosync.
func (p *probe) corosync(n *node, in bool) bool {
	if !p.udp() || p.dport != 5404 && p.dport != 5405 {
		return false
	}
	if n.multicast && p.multicast() {
		return true
	}
	own, other := p.packet.Source.Unmap(), p.packet.Dest.Unmap()
	if in {
		own, other = other, own
	}
	for _, r := range n.pairs {
		if r == (pair{own, other}) {
			return true
		}
	}
	return false
}

// rule ends a stage by a rule.
func (w *walk) rule(n *node, by Decision, action Verdict) Verdict {
	if action == Reject {
		action = n.reject(&w.probe)
	}
	return w.decide(action, by)
}

// policy ends a chain with its policy, which has exceptions for some packets.
func (w *walk) policy(n *node, policy Verdict) Verdict {
	v, exception := n.policy(&w.probe, policy)
	return w.decide(v, Decision{Builtin: Policy, Exception: exception})
}

// match returns why an entry does not match, or that it does. Cheap conditions
// come first.
func (e *entry) match(p *probe) Reason {
	switch {
	case e.families&p.family == 0:
		return Family
	case e.device != anyInterface && e.device != p.device:
		return Interface
	case e.protocol != anyProtocol && e.protocol != p.matched:
		return Protocol
	}
	if e.dports != nil && !e.dports.has(p.dport) {
		return DestPort
	}
	if e.sports != nil && !e.sports.has(p.sport) {
		return SourcePort
	}
	if t := e.icmp; t != nil && t.kind != anyType && (t.kind != int16(p.kind) || p.code < t.first || p.code > t.last) {
		return ICMPType
	}
	if e.source != nil {
		switch p.state(e.source, true) {
		case outside:
			return SourceAddress
		case excluded:
			return SourceExcluded
		}
	}
	if e.dest != nil {
		switch p.state(e.dest, false) {
		case outside:
			return DestAddress
		case excluded:
			return DestExcluded
		}
	}
	return Matched
}

// ref returns the reference of a rule.
func (e *entry) ref() RuleRef { return RuleRef{*e.scope, int(e.position)} }

// run compares the packet with a chain of a node or of a guest. The verdict is
// 0 if no rule decides.
//
// On a node the test for the mark of a group is made even if the group itself
// is skipped because of its interface. The rules of a guest are compiled for
// each NIC, so that those of other NICs do not occur.
func (w *walk) run(c *chain, in, onNode bool) (Decision, Verdict) {
	if w.trace {
		return w.runTraced(c, in, onNode)
	}
	for _, s := range w.short {
		if s.of == c {
			c = s.chain
			break
		}
	}
	p := &w.probe
	for i := range c.heads {
		if !c.heads[i].fits(p) {
			continue
		}
		e := &c.entries[i]
		if e.match(p) != Matched {
			if onNode && e.action == 0 && p.mark {
				return Decision{Builtin: MarkLeft, Via: e.ref()}, Accept
			}
			continue
		}
		if e.action != 0 {
			return Decision{Rule: e.ref()}, e.action
		}
		p.mark = false
		inner := e.group.chain(in)
		for j := range inner.heads {
			if !inner.heads[j].fits(p) {
				continue
			}
			if one := &inner.entries[j]; one.match(p) == Matched {
				return Decision{Rule: one.ref(), Via: e.ref()}, one.action
			}
		}
	}
	return Decision{}, 0
}

// chain returns the chain of a group for a direction.
func (g *group) chain(in bool) *chain {
	if in {
		return &g.in
	}
	return &g.out
}

// runTraced is run, and records every rule.
func (w *walk) runTraced(c *chain, in, onNode bool) (Decision, Verdict) {
	p := &w.probe
	for i := range c.lines {
		l := &c.lines[i]
		if l.reason != 0 {
			w.look(l.rule, RuleRef{}, 0, l.reason)
			continue
		}
		for j := l.first; j < l.last; j++ {
			e := &c.entries[j]
			reason := e.match(p)
			if reason == Family && c.hasPart(l, p.family) {
				continue
			}
			switch {
			case e.action != 0:
				w.look(l.rule, RuleRef{}, e.part, reason)
				if reason == Matched {
					return Decision{Rule: l.rule}, e.action
				}
			case reason != Matched:
				w.look(l.rule, RuleRef{}, 0, reason)
				if onNode && p.mark {
					return Decision{Builtin: MarkLeft, Via: l.rule}, Accept
				}
			case e.repeated:
				w.look(l.rule, RuleRef{}, 0, GroupPassed)
			default:
				p.mark = false
				if by, action := w.runGroup(e.group.chain(in), l.rule); action != 0 {
					return by, action
				}
				passed := GroupPassed
				if !e.group.known {
					passed = UnknownGroup
				}
				w.look(l.rule, RuleRef{}, 0, passed)
			}
		}
	}
	return Decision{}, 0
}

// hasPart reports whether the macro of a line has a part for the family; then
// its parts for the other family are not recorded.
func (c *chain) hasPart(l *line, family uint8) bool {
	for i := l.first; i < l.last; i++ {
		if c.entries[i].families&family != 0 {
			return true
		}
	}
	return false
}

// runGroup evaluates the rules of a group.
func (w *walk) runGroup(c *chain, via RuleRef) (Decision, Verdict) {
	for i := range c.lines {
		l := &c.lines[i]
		if l.reason != 0 {
			w.look(l.rule, via, 0, l.reason)
			continue
		}
		for j := l.first; j < l.last; j++ {
			e := &c.entries[j]
			reason := e.match(&w.probe)
			if reason == Family && c.hasPart(l, w.probe.family) {
				continue
			}
			w.look(l.rule, via, e.part, reason)
			if reason == Matched {
				return Decision{Rule: l.rule, Via: via}, e.action
			}
		}
	}
	return Decision{}, 0
}

// look records that a rule was looked at. It is called with trace only.
func (w *walk) look(rule, via RuleRef, part int32, reason Reason) {
	w.stage.Steps = append(w.stage.Steps, EvaluatedRule{Rule: rule, Via: via, Part: int(part), Reason: reason})
}
