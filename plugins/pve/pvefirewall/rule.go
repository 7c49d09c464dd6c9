package pvefirewall

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Families as bits: a rule is for one, for both, or for none.
const (
	v4 uint8 = 1 << iota
	v6
	both = v4 | v6
)

// familyBit returns the bit of an IP version, and both bits for 0.
func familyBit(family int) uint8 {
	switch family {
	case 4:
		return v4
	case 6:
		return v6
	}
	return both
}

// Values of a compiled rule that stand for none or all.
const (
	anyProtocol  = -1
	anyInterface = -1
	noInterface  = -2 // no packet has it
)

// entry is one rule of the kernel. All its conditions must hold.
type entry struct {
	families uint8
	action   Verdict // 0 with a group
	protocol int16
	device   int32 // of the node, or the number of the guest's NIC
	position int32
	part     int32
	scope    *Scope
	dports   portSet
	sports   portSet
	icmp     *icmpType
	source   *addressSet
	dest     *addressSet
	group    *group
	// repeated is a group that the chain asked before, with the same answer.
	repeated bool
}

// line is one rule of a scope as a trace shows it: which entries it became, or
// why it became none.
type line struct {
	rule        RuleRef
	reason      Reason
	first, last int // entries[first:last]
}

// chain are the rules of one direction.
type chain struct {
	entries []entry
	heads   []head
	lines   []line
	jumps   map[jump]bool
}

// head is the part of an entry that most packets do not match. It is small, so
// that a long chain fits into the processor's cache.
type head struct {
	families  uint8
	protocol  int16
	device    int32
	low, high uint16 // the least and the greatest destination port
}

// head is that of an entry. One with a group lets everything through to the
// entry itself, and a repeated one nothing.
func (e *entry) head() head {
	switch {
	case e.repeated:
		return head{}
	case e.action == 0:
		return head{families: both, protocol: anyProtocol, device: anyInterface, high: math.MaxUint16}
	}
	h := head{families: e.families, protocol: e.protocol, device: e.device, high: math.MaxUint16}
	for i, r := range e.dports {
		if i == 0 {
			h.low, h.high = r.first, r.last
		}
		h.low, h.high = min(h.low, r.first), max(h.high, r.last)
	}
	return h
}

// fits is the cheap part of the comparison, at which most rules fail.
func (h *head) fits(p *probe) bool {
	return h.families&p.family != 0 && (h.protocol == anyProtocol || h.protocol == p.matched) && h.low <= p.dport && p.dport <= h.high &&
		(h.device == anyInterface || h.device == p.device)
}

// jump is a jump into a group, with the interface for which it is made.
type jump struct {
	group  *group
	device int32
}

// asks reports whether the chain has jumped into that group before for the same
// packets, and records the jump.
func (c *chain) asks(g *group, device int32) bool {
	if c.jumps == nil {
		c.jumps = map[jump]bool{}
	}
	before := c.jumps[jump{g, device}] || c.jumps[jump{g, anyInterface}]
	c.jumps[jump{g, device}] = true
	return before
}

// group is a security group. A missing one is empty.
type group struct {
	known   bool
	in, out chain
	// broken says why Proxmox would stop in the middle of making its rules.
	broken string
	// refused is what the kernel would not load, by step.
	refused []refusal
}

// refusal is a reason why the rules would not be loaded.
type refusal struct {
	step  Step
	place Place
	text  string
}

// ruleErrors are the faults of a rule; the first one of each field counts.
type ruleErrors struct {
	fields []string
	texts  []string
}

// add records the first fault of a field.
func (e *ruleErrors) add(field, text string) {
	if !slices.Contains(e.fields, field) {
		e.fields, e.texts = append(e.fields, field), append(e.texts, text)
	}
}

// directions are the directions of rules by the kind of scope.
var directions = map[ScopeKind][]string{
	ScopeGuest: {"in", "out", "group"}, ScopeGroup: {"in", "out", "forward"},
	ScopeCluster: {"in", "out", "forward", "group"}, ScopeNode: {"in", "out", "forward", "group"},
}

// environmentNames are the names of scopes in the original's error texts.
var environmentNames = map[ScopeKind]string{ScopeGuest: "vm", ScopeGroup: "group", ScopeCluster: "cluster", ScopeNode: "host"}

// check returns what Proxmox VE finds wrong with a rule, and the family to
// which its fields bind it: 4, 6, or 0 for both.
func (e *environment) check(r *Rule) (family int, errs ruleErrors) {
	kind := e.scope.Kind
	bind := func(field string, to int) {
		if to == 0 {
			return
		}
		if family != 0 && family != to {
			errs.add(field, "detected mixed ipv4/ipv6 addresses in rule")
			return
		}
		family = to
	}
	for field, value := range map[string]string{"type": r.Type, "action": r.Action, "macro": r.Macro, "iface": r.Iface, "proto": r.Proto,
		"source": r.Source, "dest": r.Dest, "sport": r.SPort, "dport": r.DPort, "icmp-type": r.ICMPType} {
		if len(value) > MaxField {
			errs.add(field, "value is too long")
		}
	}
	if len(errs.fields) > 0 {
		return 0, errs
	}
	e.checkType(r, &errs)
	if r.Iface != "" {
		if kind == ScopeGroup {
			errs.add("type", "parameter -i not allowed for this rule type")
		}
		if !isInterface(r.Iface) {
			errs.add("iface", fmt.Sprintf("invalid network interface name '%.40s'", r.Iface))
		}
		if digits, ok := strings.CutPrefix(r.Iface, "net"); kind == ScopeGuest && (!ok || !isNumber(digits)) {
			errs.add("iface", `value does not match the regex pattern 'net\d+'`)
		}
	}
	known := macro{}
	if r.Macro != "" {
		var ok bool
		if known, ok = macros()[strings.ToLower(r.Macro)]; !ok {
			errs.add("macro", fmt.Sprintf("unknown macro '%.40s'", r.Macro))
		}
	}
	isICMP := r.Proto == "icmp" || r.Proto == "icmpv6" || r.Proto == "ipv6-icmp"
	if set(r.Proto) {
		if _, ok := protocols().find(r.Proto); !ok {
			errs.add("proto", fmt.Sprintf("unknown protocol '%.40s'", r.Proto))
		}
		switch {
		case r.Proto == "icmp":
			bind("proto", 4)
		case isICMP:
			bind("proto", 6)
		}
	}
	checkPortFields(r, isICMP, &errs)
	if set(r.ICMPType) {
		if !isICMP {
			errs.add("proto", "missing property - 'icmp-type' requires this property")
		}
		if set(r.DPort) {
			errs.add("icmp-type", "'icmp-type' cannot be specified together with 'dport'")
		}
		names := icmpv6Types
		if r.Proto == "icmp" {
			names = icmpTypes
		}
		if _, ok := names[r.ICMPType]; isICMP && !ok {
			errs.add("icmp-type", fmt.Sprintf("invalid icmp-type '%.40s' for proto '%s'", r.ICMPType, r.Proto))
		}
	}
	for _, side := range []struct{ field, value string }{{"source", r.Source}, {"dest", r.Dest}} {
		to, text := e.checkAddress(side.value)
		if text != "" {
			errs.add(side.field, text)
		}
		bind(side.field, to)
	}
	if r.Macro != "" && len(errs.fields) == 0 {
		known.conflicts(r, family, &errs)
	}
	return family, errs
}

// CheckRule returns what Proxmox VE refuses in a rule of a kind of scope,
// whatever names exist: the field and the reason, or empty texts.
func CheckRule(kind ScopeKind, r Rule) (field, text string) {
	for _, address := range []*string{&r.Source, &r.Dest} {
		if _, alias := aliasReference(*address); alias || strings.HasPrefix(*address, "+") {
			*address = ""
		}
	}
	e := &environment{scope: Scope{Kind: kind}, cluster: &names{}}
	_, errs := e.check(&r)
	if len(errs.fields) == 0 {
		return "", ""
	}
	return errs.fields[0], errs.texts[0]
}

// set reports whether a field counts as set in Perl, in which Proxmox VE is
// written: "" and "0" do not.
func set(s string) bool { return s != "" && s != "0" }

// checkType checks the type and the action of a rule.
func (e *environment) checkType(r *Rule, errs *ruleErrors) {
	kind := e.scope.Kind
	if r.Type == "" {
		errs.add("type", "missing property")
	}
	if r.Action == "" {
		errs.add("action", "missing property")
	}
	if r.Type == "" {
		return
	}
	if !slices.Contains(directions[kind], r.Type) {
		errs.add("type", fmt.Sprintf("invalid rule type '%.40s' for rule_env '%s'", r.Type, environmentNames[kind]))
	}
	switch r.Type {
	case "in", "out", "forward":
		if r.Type == "forward" && r.Action == "REJECT" {
			errs.add("action", "cannot define REJECT rules on forward chain")
		}
		if r.Action != "" && verdictOf(r.Action) == 0 {
			errs.add("action", fmt.Sprintf("unknown action '%.40s'", r.Action))
		}
	case "group":
		if r.Action != "" && !isName(r.Action) {
			errs.add("action", "invalid characters in security group name")
		}
	default:
		errs.add("type", fmt.Sprintf("unknown rule type '%.40s'", r.Type))
	}
}

// checkPortFields checks the ports of a rule. For ICMP the destination port is
// a message type.
func checkPortFields(r *Rule, isICMP bool, errs *ruleErrors) {
	for _, side := range []struct {
		field, value string
		types        bool
	}{{"dport", r.DPort, isICMP}, {"sport", r.SPort, false}} {
		if !set(side.value) {
			continue
		}
		if _, err := checkPorts(side.value, side.types); err != nil {
			errs.add(side.field, err.Error())
		}
		if !set(r.Proto) {
			errs.add("proto", fmt.Sprintf("missing property - '%s' requires this property", side.field))
		}
		if portProtocols[r.Proto] == 0 && !side.types {
			errs.add(side.field, fmt.Sprintf("protocol '%.40s' does not support ports", r.Proto))
		}
	}
}

// checkAddress returns the fault of a source or destination, or its family,
// which is 0 for sets.
func (e *environment) checkAddress(s string) (family int, text string) {
	switch {
	case !set(s):
		return 0, ""
	case strings.HasPrefix(s, "+"):
		if len(s) > maxSetName+1 {
			return 0, "ipset name too long"
		}
		r, ok := setReference(s)
		if !ok {
			return 0, fmt.Sprintf("invalid ipset name '%.80s'", s)
		}
		if _, exists := e.set(r); !exists {
			return 0, fmt.Sprintf("no such ipset '%s'", r.name)
		}
		return 0, ""
	}
	if r, ok := aliasReference(s); ok {
		if len(s) > maxAliasName {
			return 0, "alias name too long"
		}
		a, found, exists := e.alias(r)
		if !exists {
			return 0, fmt.Sprintf("no such alias '%s'", s)
		}
		if !found {
			return 0, ""
		}
		return familyOf(a.address), ""
	}
	_, family, err := parseAddresses(s)
	if err != nil {
		return 0, err.Error()
	}
	return family, ""
}

// conflicts finds fields that the macro sets to another value.
func (m macro) conflicts(r *Rule, family int, errs *ruleErrors) {
	for _, p := range m.checked(family) {
		for _, f := range []struct{ field, of, rule string }{{"proto", p.Proto, r.Proto}, {"dport", p.DPort, r.DPort},
			{"sport", p.SPort, r.SPort}, {"icmp-type", p.ICMPType, r.ICMPType}} {
			if f.of != "" && f.rule != "" && f.of != f.rule {
				errs.add(f.field, fmt.Sprintf("parameter '%s' already define in macro (value = '%s')", f.field, f.of))
			}
		}
	}
}

// built is the compiled form of a rule.
type built struct {
	entries []entry
	skipped string    // why Proxmox skips it although it checked it
	refused []refusal // what the kernel would not load, without places
}

// build compiles a checked rule that is not a group.
func (e *environment) build(r *Rule, family int) built {
	var b built
	whole := entry{families: familyBit(family), action: verdictOf(r.Action), protocol: anyProtocol, device: anyInterface}
	for _, side := range []struct {
		to    **addressSet
		value string
	}{{&whole.source, r.Source}, {&whole.dest, r.Dest}} {
		set, text := e.addresses(side.value, &b)
		if text != "" {
			return built{skipped: text}
		}
		*side.to = set
	}
	own := macroPart{Proto: r.Proto, DPort: r.DPort, SPort: r.SPort, ICMPType: r.ICMPType}
	if r.Macro == "" {
		b.part(whole, own, 0)
		return b
	}
	m := macros()[strings.ToLower(r.Macro)]
	type version struct {
		families uint8
		parts    []macroPart
	}
	versions := []version{{v4, m.IPv4}, {v6, m.IPv6}}
	if m.Rules != nil {
		versions = []version{{both, m.Rules}}
	}
	for _, f := range versions {
		if whole.families&f.families == 0 {
			continue
		}
		for i, p := range f.parts {
			one := whole
			one.families &= f.families
			b.part(one, macroPart{Proto: either(p.Proto, own.Proto), DPort: either(p.DPort, own.DPort),
				SPort: either(p.SPort, own.SPort), ICMPType: either(p.ICMPType, own.ICMPType)}, i+1)
		}
	}
	if b.skipped != "" {
		b.entries = nil
	}
	return b
}

// either returns the first text that is not empty.
func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// addresses returns the addresses of a checked source or destination, or why
// Proxmox VE skips the rule.
func (e *environment) addresses(s string, b *built) (*addressSet, string) {
	switch {
	case !set(s):
		return nil, ""
	case strings.HasPrefix(s, "+"):
		r, _ := setReference(s)
		found, _ := e.set(r)
		if found == nil {
			return nil, fmt.Sprintf("no such ipset '%s'", r.name)
		}
		return found.addresses, ""
	}
	if r, ok := aliasReference(s); ok {
		a, found, _ := e.alias(r)
		if !found {
			return nil, fmt.Sprintf("no such alias '%s'", s)
		}
		p, valid := prefixOf(a.address, a.bits)
		if !valid {
			b.refuse(familyBit(familyOf(a.address)), fmt.Sprintf("the alias %s has a prefix longer than its address", s))
			return nil, ""
		}
		return union([]span{spanOf(p)}), ""
	}
	spans, _, err := parseAddresses(s)
	if err != nil {
		return nil, err.Error()
	}
	return union(spans), ""
}

// refuse records that the kernel does not load a rule.
func (b *built) refuse(families uint8, text string) {
	step := StepIPv4
	if families&v4 == 0 {
		step = StepIPv6
	}
	b.refused = append(b.refused, refusal{step: step, text: text})
}

// part adds one entry with the conditions of one part of a macro, or of a whole
// rule.
func (b *built) part(to entry, p macroPart, number int) {
	to.part = int32(number)
	if set(p.Proto) {
		n, _ := protocols().find(p.Proto)
		to.protocol = int16(n)
		if n == 0 {
			to.protocol = anyProtocol // for the kernel 0 is all
		}
		b.conditions(&to, p)
	}
	if b.skipped == "" {
		b.entries = append(b.entries, to)
	}
}

// conditions adds the conditions that depend on the protocol: ports and types.
// Types may be in the field of ports.
func (b *built) conditions(to *entry, p macroPart) {
	isICMP := p.Proto == "icmp" || p.Proto == "icmpv6" || p.Proto == "ipv6-icmp"
	v6Type := p.Proto != "icmp"
	if p.ICMPType != "" {
		t, ok := parseICMPType(p.ICMPType, v6Type)
		if !ok || !isICMP {
			b.skipped = fmt.Sprintf("unknown icmp-type '%.40s'", p.ICMPType)
			return
		}
		to.icmp = &t
	}
	protocol := portProtocols[p.Proto]
	switch {
	case p.DPort == "":
	case isICMP && p.Proto == "ipv6-icmp":
		b.skipped = "protocol ipv6-icmp does not have ports"
		return
	case isICMP:
		t, ok := parseICMPType(p.DPort, v6Type)
		if !ok {
			b.skipped = fmt.Sprintf("unknown icmp-type '%.40s'", p.DPort)
			return
		}
		to.icmp = &t
	case protocol == 0:
		b.skipped = fmt.Sprintf("protocol %s does not have ports", p.Proto)
		return
	case set(p.DPort):
		to.dports = b.ports(p.DPort, protocol, to.families)
	}
	if set(p.SPort) {
		if protocol == 0 {
			b.skipped = fmt.Sprintf("protocol %s does not have ports", p.Proto)
			return
		}
		to.sports = b.ports(p.SPort, protocol, to.families)
	}
}

// ports compiles the ports of a rule. A rule that iptables would refuse is
// skipped.
func (b *built) ports(s string, protocol int, families uint8) portSet {
	spec, err := checkPorts(s, false)
	if err != nil {
		b.skipped = err.Error()
		return nil
	}
	if text := spec.loads(protocol); text != "" {
		b.refuse(families, text)
	}
	return spec.ports
}
