package pvefirewall

import (
	"slices"
	"strings"
)

// MaxText limits how much of a .fw file is read. Proxmox VE's cluster file
// system limits files to one mebibyte.
const MaxText = 4 << 20

// ParseCluster reads the text of /etc/pve/firewall/cluster.fw. Lines that
// Proxmox VE drops with a warning become Problems and have no position; the
// other lines count. The only error is a LimitError.
func ParseCluster(text string) (Cluster, []Problem, error) {
	var c Cluster
	p := parser{scope: Scope{Kind: ScopeCluster}, option: c.Options.Set, aliases: &c.Aliases, sets: &c.IPSets, groups: &c.Groups,
		rules: &c.Rules}
	err := p.parse(text)
	return c, p.problems, err
}

// ParseNode reads the text of /etc/pve/nodes/NAME/host.fw like ParseCluster. It
// sets only options and rules.
func ParseNode(name, text string) (Node, []Problem, error) {
	n := Node{Name: name}
	p := parser{scope: Scope{Kind: ScopeNode, Node: name}, option: n.Options.Set, rules: &n.Rules}
	err := p.parse(text)
	return n, p.problems, err
}

// ParseGuest reads the text of /etc/pve/firewall/ID.fw like ParseCluster. It
// sets no NICs, because the file does not contain them.
func ParseGuest(id int, text string) (Guest, []Problem, error) {
	g := Guest{ID: id}
	p := parser{scope: Scope{Kind: ScopeGuest, Guest: id}, option: g.Options.Set, aliases: &g.Aliases, sets: &g.IPSets, rules: &g.Rules}
	err := p.parse(text)
	return g, p.problems, err
}

// parser reads one file. A section that the scope does not have is nil, and its
// head is not recognised.
type parser struct {
	scope    Scope
	option   func(key, value string) error
	aliases  *[]Alias
	sets     *[]IPSet
	groups   *[]Group
	rules    *[]Rule
	problems []Problem

	section Section
	members *[]Member // of the set that is being read
	group   *[]Rule   // that is being read
	name    string
	line    int
}

// Most problems of a text that are told; more are counted as read only.
const maxProblems = 10_000

// problem records a line that cannot be read. The number of problems is
// limited, because a file may consist of nothing else.
func (p *parser) problem(text string) {
	if len(p.problems) < maxProblems {
		place := Place{Scope: p.scope, Section: p.section, Name: p.name, Position: -1, Line: p.line}
		p.problems = append(p.problems, Problem{Place: place, Text: text})
	}
}

// space is the set of bytes that \s matches in Perl.
const space = " \t\n\r\f\v"

// parse reads a .fw file line by line like the original: a bad line is skipped
// and does not make the file unusable.
func (p *parser) parse(text string) error {
	if len(text) > MaxText {
		return &LimitError{"bytes of a file", MaxText}
	}
	for line := range strings.SplitSeq(text, "\n") {
		p.line++
		line = strings.Trim(line, " \t")
		if strings.HasPrefix(line, "#") || strings.Trim(line, space) == "" {
			continue
		}
		if p.head(line) {
			continue
		}
		switch p.section {
		case SectionOptions:
			p.readOption(line)
		case SectionAliases:
			p.readAlias(line)
		case SectionIPSet:
			p.readMember(line)
		case SectionGroup:
			p.readRule(p.group, line)
		case SectionRules:
			p.readRule(p.rules, line)
		default:
			p.problem("skip line - no section")
		}
	}
	return nil
}

// head reads the head of a section, and reports whether the line was one.
func (p *parser) head(line string) bool {
	if line[0] != '[' {
		return false
	}
	switch lower := strings.ToLower(line); {
	case lower == "[options]":
		p.section, p.name = SectionOptions, ""
		return true
	case lower == "[aliases]" && p.aliases != nil:
		p.section, p.name = SectionAliases, ""
		return true
	case lower == "[rules]" && p.rules != nil:
		p.section, p.name = SectionRules, ""
		return true
	}
	if name, ok := headName(line, "group"); ok && p.groups != nil {
		if p.section, p.name = SectionGroup, name; !isName(name) || len(name) > maxGroupName {
			p.problem("invalid security group name, or too long")
			p.section = 0
			return true
		}
		i := slices.IndexFunc(*p.groups, func(g Group) bool { return g.Name == name })
		if i < 0 {
			i = len(*p.groups)
			*p.groups = append(*p.groups, Group{})
		}
		(*p.groups)[i] = Group{Name: name}
		p.group = &(*p.groups)[i].Rules
		return true
	}
	if name, ok := headName(line, "ipset"); ok && p.sets != nil {
		if p.section, p.name = SectionIPSet, name; !isName(name) || len(name) > maxSetName {
			p.problem("invalid ipset name, or too long")
			p.section = 0
			return true
		}
		i := slices.IndexFunc(*p.sets, func(s IPSet) bool { return s.Name == name })
		if i < 0 {
			i = len(*p.sets)
			*p.sets = append(*p.sets, IPSet{})
		}
		(*p.sets)[i] = IPSet{Name: name}
		p.members = &(*p.sets)[i].Members
		return true
	}
	return false
}

// headName reads [kind NAME], perhaps with a comment. The name is changed to
// lower case.
func headName(line, kind string) (string, bool) {
	inner := line[1:]
	if len(inner) < len(kind) || !strings.EqualFold(inner[:len(kind)], kind) {
		return "", false
	}
	inner = inner[len(kind):]
	rest := strings.TrimLeft(inner, space)
	if rest == inner {
		return "", false
	}
	name, behind, ok := strings.Cut(rest, "]")
	behind = strings.TrimLeft(behind, space)
	if !ok || name == "" || strings.ContainsAny(name, space) || behind != "" && behind[0] != '#' {
		return "", false
	}
	return strings.ToLower(name), true
}

// readOption reads "key: value".
func (p *parser) readOption(line string) {
	key, value, ok := strings.Cut(line, ":")
	if !ok || p.option(key, strings.Trim(value, space)) != nil {
		p.problem("can't parse option '" + short(line) + "'")
	}
}

// short shortens a text that a problem quotes.
func short(s string) string { return s[:min(len(s), 80)] }

// readAlias reads "name cidr # comment".
func (p *parser) readAlias(line string) {
	line, _, comment := strings.Cut(line, "#")
	if comment {
		line = strings.TrimRight(line, space)
	}
	// Exactly one space separates them.
	i := strings.IndexAny(line, space)
	if i <= 0 || line[i+1:] == "" || strings.ContainsAny(line[i+1:], space) {
		p.problem("can't parse alias '" + short(line) + "'")
		return
	}
	a := Alias{Name: line[:i], CIDR: line[i+1:]}
	if _, _, err := parseCIDR(a.CIDR); err != nil {
		p.problem(err.Error())
		return
	}
	*p.aliases = append(*p.aliases, a)
}

// readMember reads a member of a set. An exclamation mark in front excludes it.
func (p *parser) readMember(line string) {
	line, _, _ = strings.Cut(line, "#")
	m := Member{}
	if rest, ok := strings.CutPrefix(line, "!"); ok {
		m.NoMatch, line = true, strings.TrimLeft(rest, space)
	}
	m.CIDR = strings.Trim(line, space)
	if m.CIDR == "" || strings.ContainsAny(m.CIDR, space) {
		p.problem("can't parse the member '" + short(line) + "'")
		return
	}
	*p.members = append(*p.members, m)
}

// readRule reads a rule.
func (p *parser) readRule(to *[]Rule, line string) {
	r, problem := parseRule(line)
	if problem != "" {
		p.problem(problem)
		return
	}
	*to = append(*to, r)
}

// parseRule reads one line of rules, or returns why Proxmox VE drops it.
func parseRule(line string) (Rule, string) {
	line, _, _ = strings.Cut(line, "#")
	var r Rule
	line, r.Disabled = strings.CutPrefix(line, "|")
	kind, rest := word(line)
	action, behind := word(strings.TrimLeft(rest, space))
	if kind == "" || action == "" {
		return Rule{}, "unable to parse rule: " + short(line)
	}
	r.Type, r.Action, line = strings.ToLower(kind), action, strings.TrimLeft(behind, space)
	if r.Type == "in" || r.Type == "out" || r.Type == "forward" {
		r.Macro, r.Action = macroAction(action)
	}
	for line != "" {
		var ok bool
		if line, ok = r.parameter(line); !ok {
			return Rule{}, "unable to parse rule parameters: " + short(line)
		}
	}
	return r, ""
}

// word splits a text at the first space.
func word(s string) (first, rest string) {
	if i := strings.IndexAny(s, space); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// macroAction reads MACRO(ACCEPT).
func macroAction(s string) (name, action string) {
	if i := strings.LastIndexByte(s, '('); i > 0 && s[len(s)-1] == ')' {
		if inner := s[i+1 : len(s)-1]; verdictOf(inner) != 0 {
			return s[:i], inner
		}
	}
	return "", s
}

// logLevels are the levels of log options.
var logLevels = []string{"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug", "nolog"}

// parameter reads one parameter at the start of a line. Exactly one space
// follows its name.
func (r *Rule) parameter(line string) (rest string, ok bool) {
	name, value, cut := strings.Cut(line, " ")
	if !cut || value == "" || strings.IndexByte(space, value[0]) >= 0 {
		return line, false
	}
	if name == "-i" {
		r.Iface, rest = word(value)
		return strings.TrimLeft(rest, space), true
	}
	if r.Type == "group" {
		return line, false
	}
	if long, ok := strings.CutPrefix(name, "--"); ok && long != "p" {
		name = "-" + long
	}
	to := r.field(name)
	switch {
	case to != nil:
		*to, rest = word(value)
		return strings.TrimLeft(rest, space), true
	case name == "-log":
		for _, level := range logLevels {
			if rest, ok := strings.CutPrefix(value, level); ok {
				return strings.TrimLeft(rest, space), true
			}
		}
	}
	return line, false
}

// field returns the field of a parameter, or nil.
func (r *Rule) field(parameter string) *string {
	switch parameter {
	case "-p", "-proto":
		return &r.Proto
	case "-dport":
		return &r.DPort
	case "-sport":
		return &r.SPort
	case "-source":
		return &r.Source
	case "-dest":
		return &r.Dest
	case "-icmp-type":
		return &r.ICMPType
	}
	return nil
}
