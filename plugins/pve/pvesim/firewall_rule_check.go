package pvesim

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pvesim/schema"
)

var (
	ruleActions      = []string{"ACCEPT", "DROP", "REJECT"}
	guestNICPattern  = regexp.MustCompile(`^net\d+$`)
	groupNamePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]+$`)
)

// ruleCheck collects what is wrong with one rule.
type ruleCheck struct {
	c     *Cluster
	scope FirewallScope
	rule  *FirewallRule
	ruleFaults
}

// ruleFaults are what is wrong with a rule: the fields in the order of the
// checks, and the first text of each.
type ruleFaults struct {
	fields []string
	texts  map[string]string
}

// fault records the first fault of a field.
func (f *ruleFaults) fault(field, format string, args ...any) {
	if f.texts[field] == "" {
		f.fields = append(f.fields, field)
		f.texts[field] = fmt.Sprintf(format, args...)
	}
}

// first is the answer to a request with such a rule: the real server stops at the first fault.
func (f *ruleFaults) first() *apiError { return badParameter(f.fields[0], f.texts[f.fields[0]]) }

// verifyRule says what is wrong with a rule by field, works out its family and
// gives its macro the usual case. environment is the kind of scope, which a
// path can name otherwise than the guest is.
func (c *Cluster) verifyRule(scope FirewallScope, environment string, rule *FirewallRule) ruleFaults {
	k := &ruleCheck{c: c, scope: scope, rule: rule, ruleFaults: ruleFaults{texts: map[string]string{}}}
	rule.family = 0
	k.checkTypeAndAction(environment)
	k.checkInterface(environment)
	if m := schema.FindMacro(rule.Macro); m != nil {
		rule.Macro = m.Name
	} else if rule.Macro != "" {
		k.fault("macro", "unknown macro '%s'", rule.Macro)
	}
	k.checkProtocol()
	for _, field := range []string{"source", "dest"} {
		if value := *ruleFields[field](rule); value != "" {
			family, err := parseAddressSpec(value)
			if err != nil {
				k.fault(field, "%v", err)
			}
			k.setFamily(field, family)
			k.checkName(field, value)
		}
	}
	if rule.Macro != "" && len(k.fields) == 0 {
		k.checkMacro()
	}
	return k.ruleFaults
}

// checkTypeAndAction checks the type and the action of a rule.
func (k *ruleCheck) checkTypeAndAction(environment string) {
	guestScope := environment == "vm" || environment == "ct"
	switch rule := k.rule; {
	case rule.Type == "":
		k.fault("type", "%s", textMissing)
	case rule.Action == "":
		k.fault("action", "%s", textMissing)
	case rule.Type == "forward" && guestScope, rule.Type == "group" && environment == "group":
		k.fault("type", "invalid rule type '%s' for rule_env '%s'", rule.Type, environment)
	case rule.Type == "forward" && rule.Action == "REJECT":
		k.fault("action", "cannot define REJECT rules on forward chain")
	case rule.Type == "group":
		if !groupNamePattern.MatchString(rule.Action) {
			k.fault("action", "invalid characters in security group name")
		}
	case rule.Type != "in" && rule.Type != "out" && rule.Type != "forward":
		k.fault("type", "unknown rule type '%s'", rule.Type)
	case !slices.Contains(ruleActions, rule.Action):
		k.fault("action", "unknown action '%s'", rule.Action)
	}
}

// checkInterface checks the interface of a rule. That of a guest is one of its
// NICs.
func (k *ruleCheck) checkInterface(environment string) {
	name := k.rule.Interface
	switch {
	case name == "":
	case environment == "group":
		k.fault("type", "parameter -i not allowed for this rule type")
	case !ifacePattern.MatchString(name):
		k.fault("iface", "invalid network interface name '%s'", name)
	case (environment == "vm" || environment == "ct") && !guestNICPattern.MatchString(name):
		k.fault("iface", "value does not match the regex pattern 'net\\d+'")
	}
}

// checkProtocol looks at protocol, ports and ICMP type together.
func (k *ruleCheck) checkProtocol() {
	r := k.rule
	icmp4, icmp6 := r.Proto == "icmp", r.Proto == "icmpv6" || r.Proto == "ipv6-icmp"
	switch {
	case icmp4:
		k.setFamily("proto", 4)
	case icmp6:
		k.setFamily("proto", 6)
	}
	if r.Proto != "" {
		if text := firewallFormats["pve-fw-protocol-spec"](r.Proto); text != "" {
			k.fault("proto", "%s", text)
		}
	}
	for _, field := range []string{"dport", "sport"} {
		ports := *ruleFields[field](r)
		if ports == "" {
			continue
		}
		isICMP := field == "dport" && (icmp4 || icmp6)
		if err := checkPorts(ports, isICMP); err != nil {
			k.fault(field, "%v", err)
		}
		switch {
		case r.Proto == "":
			k.fault("proto", "missing property - '%s' requires this property", field)
		case !isICMP && !portProtocols[r.Proto]:
			k.fault(field, "protocol '%s' does not support ports", r.Proto)
		}
	}
	switch types := map[bool]map[string]bool{false: icmpTypes, true: icmpv6Types}[icmp6]; {
	case r.ICMPType == "":
	case !icmp4 && !icmp6:
		k.fault("proto", "missing property - 'icmp-type' requires this property")
	case r.Dport != "":
		k.fault("icmp-type", "'icmp-type' cannot be specified together with 'dport'")
	case !types[r.ICMPType]:
		k.fault("icmp-type", "invalid icmp-type '%s' for proto '%s'", r.ICMPType, r.Proto)
	}
}

// setFamily notes the family that a field asks for; two different ones do not go together.
func (k *ruleCheck) setFamily(field string, family int) {
	if family == 0 {
		return
	}
	if k.rule.family != 0 && k.rule.family != family {
		k.fault(field, "detected mixed ipv4/ipv6 adresses in rule")
		return
	}
	k.rule.family = family
}

// checkName looks an alias or IP set up. An alias has the family of its address.
func (k *ruleCheck) checkName(field, value string) {
	if m := ipsetPattern.FindStringSubmatch(value); m != nil {
		for _, f := range k.c.firewallsFor(k.scope, m[1]) {
			if _, exists := f.ipsets[m[2]]; exists {
				return
			}
		}
		k.fault(field, "no such ipset '%s'", m[2])
		return
	}
	if strings.HasPrefix(value, "+") && !strings.HasPrefix(value, "+sdn/") {
		k.fault(field, "invalid ipset name '%s'", value)
		return
	}
	m := aliasPattern.FindStringSubmatch(value)
	if m == nil {
		return
	}
	for _, f := range k.c.firewallsFor(k.scope, m[1]) {
		if address, exists := f.aliases[strings.ToLower(m[2])]; exists {
			if family, err := addressFamily(address.CIDR); err == nil {
				k.setFamily(field, family)
			}
			return
		}
	}
	k.fault(field, "no such alias '%s'", value)
}

// checkMacro refuses a field that the macro sets itself to another value.
func (k *ruleCheck) checkMacro() {
	for _, expanded := range schema.FindMacro(k.rule.Macro).Rules {
		if expanded.Family != 0 && k.rule.family != 0 && expanded.Family != k.rule.family {
			continue
		}
		for field, value := range expanded.Fields {
			if own := *ruleFields[field](k.rule); own != "" && own != value {
				k.fault(field, "parameter '%s' already define in macro (value = '%s')", field, value)
			}
		}
	}
}
