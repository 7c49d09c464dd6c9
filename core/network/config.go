package network

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Config contains the settings of an interface in a request: an absent setting
// stays, null clears it.
type Config map[string]json.RawMessage

// commonKeys are the settings of every interface; typeKeys are those of some
// types.
var (
	commonKeys = []string{"autostart", "cidr", "gateway", "cidr6", "gateway6", "mtu", "comment"}
	typeKeys   = map[string][]string{
		hypervisor.InterfaceBridge: {"ports", "vlan_aware", "vlans"},
		hypervisor.InterfaceBond:   {"ports", "bond_mode", "bond_primary", "bond_hash"},
		hypervisor.InterfaceVLAN:   {"device", "vlan"},
	}
	bondModes = []string{"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"}
	bondHash  = []string{"layer2", "layer2+3", "layer3+4"}
	// names are those of interfaces to be made, by type.
	names = map[string]*regexp.Regexp{
		hypervisor.InterfaceBridge: regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{1,9}$`),
		hypervisor.InterfaceBond:   regexp.MustCompile(`^bond[0-9]{1,4}$`),
		hypervisor.InterfaceVLAN:   regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_]{1,14}|[A-Za-z][A-Za-z0-9_]{1,12}\.[1-9][0-9]{0,3})$`),
	}
	nameRules = map[string]string{
		hypervisor.InterfaceBridge: "a bridge's name must have 2 to 10 letters, digits and _, and start with a letter, such as vmbr1",
		hypervisor.InterfaceBond:   "a bond's name must be bond and a number, such as bond0",
		hypervisor.InterfaceVLAN:   "a VLAN's name must be device, dot and tag, such as eno1.20, or 2 to 15 letters, digits and _",
	}
)

// These are the limits of fields. MTU is bounded below by that of IPv6 (RFC
// 8200, section 5), and VLAN ids by IEEE 802.1Q, where 0 and 4095 are reserved.
const (
	minMTU, maxMTU   = 1280, 65520
	minVLAN, maxVLAN = 1, 4094
	maxComment       = 1000
	maxPorts         = 64
	maxName          = 15
)

// order is the wanted interface, with the faults of the request.
type order struct {
	want   hypervisor.Interface
	all    []hypervisor.Interface // what there is besides, with what is staged
	faults []problem.Fault
}

// fault notes what is wrong with a key. All faults are collected, so that a
// form shows them at once.
func (o *order) fault(key, format string, args ...any) {
	o.faults = append(o.faults, problem.Fault{Loc: []any{"body", "config", key}, Msg: fmt.Sprintf(format, args...), Type: "value_error"})
}

// checkName returns the faults of the name of a new interface.
func checkName(name, kind string) []problem.Fault {
	rule := names[kind]
	_, tag, dotted := strings.Cut(name, ".")
	n, err := strconv.Atoi(tag)
	if len(name) > maxName || !rule.MatchString(name) || dotted && (err != nil || n > maxVLAN) {
		return []problem.Fault{{Loc: []any{"body", "iface"}, Msg: nameRules[kind] + "; at most 15 characters", Type: "value_error"}}
	}
	return nil
}

// intend combines a config with the present interface. For a new one, was has
// the name and the type.
func intend(all []hypervisor.Interface, was hypervisor.Interface, config Config) *order {
	o := &order{want: was, all: slices.DeleteFunc(slices.Clone(all), func(i hypervisor.Interface) bool { return i.Name == was.Name })}
	o.want.Ports, o.want.Options = slices.Clone(was.Ports), maps.Clone(was.Options)
	known := slices.Concat(commonKeys, typeKeys[was.Type])
	for _, key := range slices.Sorted(maps.Keys(config)) {
		if !slices.Contains(known, key) {
			o.faults = append(o.faults, problem.Fault{Loc: []any{"body", "config", cut(key)}, Type: "extra_forbidden",
				Msg: "an interface of this type does not have this setting; available settings: " + strings.Join(known, ", ")})
			continue
		}
		o.set(key, bytes.TrimSpace(config[key]))
	}
	o.fix(config)
	o.check(config)
	return o
}

// fix refuses to leave open what becomes of addresses that an interface gets
// from the network: the hypervisor drops that setting with every change.
func (o *order) fix(config Config) {
	for _, family := range []struct {
		key     string
		dynamic *bool
	}{{"cidr", &o.want.Dynamic}, {"cidr6", &o.want.Dynamic6}} {
		if _, given := config[family.key]; *family.dynamic && !given {
			o.fault(family.key, "%s currently gets this address from the network, and any change here ends that; send the address to "+
				"use instead, or null for none", o.want.Name)
		}
		*family.dynamic = false
	}
}

// cut shortens a name for a message.
func cut(name string) string {
	if len(name) > 64 {
		return strings.ToValidUTF8(name[:64], "") + "…"
	}
	return name
}

// set applies one setting.
func (o *order) set(key string, raw json.RawMessage) {
	w := &o.want
	null := string(raw) == "null"
	text := map[string]*string{"cidr": &w.CIDR, "gateway": &w.Gateway, "cidr6": &w.CIDR6, "gateway6": &w.Gateway6, "comment": &w.Comment,
		"device": &w.Device, "vlans": &w.VLANs, "bond_mode": &w.BondMode, "bond_primary": &w.BondPrimary, "bond_hash": &w.BondHash}
	flags := map[string]*bool{"autostart": &w.Autostart, "vlan_aware": &w.VLANAware}
	numbers := map[string]**int64{"mtu": &w.MTU, "vlan": &w.VLAN}
	switch {
	case text[key] != nil:
		*text[key] = ""
		if !null && json.Unmarshal(raw, text[key]) != nil {
			o.fault(key, "must be a string")
		}
		o.checkText(key, *text[key])
	case flags[key] != nil:
		*flags[key] = false
		if !null && json.Unmarshal(raw, flags[key]) != nil {
			o.fault(key, "must be true or false")
		}
	case numbers[key] != nil:
		*numbers[key] = nil
		if !null && json.Unmarshal(raw, numbers[key]) != nil {
			*numbers[key] = nil // it may be half read
			o.fault(key, "must be a whole number")
		}
	case key == "ports":
		w.Ports = nil
		var list []string
		var one string
		switch {
		case null:
		case json.Unmarshal(raw, &list) == nil:
			w.Ports = list
		case json.Unmarshal(raw, &one) == nil:
			w.Ports = strings.FieldsFunc(one, func(r rune) bool { return r == ' ' || r == ',' })
		default:
			o.fault(key, "must be a list of interface names")
		}
	}
}

// checkText refuses text that is too long or has control characters: it is
// written into the node's configuration file, where a line break would begin
// another setting.
func (o *order) checkText(key, text string) {
	limit := 64
	if key == "comment" {
		limit = maxComment
	}
	if utf8.RuneCountInString(text) > limit || strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && !(key == "comment" && r == '\n') || r == utf8.RuneError
	}) {
		o.fault(key, "must have at most %d characters, without control characters", limit)
	}
}

// check checks the settings against each other and against the other
// interfaces. Settings that the request does not contain are not judged alone.
func (o *order) check(config Config) {
	w := &o.want
	o.checkAddress(config, "cidr", "gateway", w.CIDR, w.Gateway, false)
	o.checkAddress(config, "cidr6", "gateway6", w.CIDR6, w.Gateway6, true)
	if w.MTU != nil && (*w.MTU < minMTU || *w.MTU > maxMTU) {
		o.fault("mtu", "must be %d to %d", minMTU, maxMTU)
	}
	switch w.Type {
	case hypervisor.InterfaceBridge:
		o.checkPorts(config, hypervisor.InterfaceNIC, hypervisor.InterfaceBond, hypervisor.InterfaceVLAN)
		if _, given := config["vlan_aware"]; given && !w.VLANAware {
			if _, also := config["vlans"]; !also {
				w.VLANs = ""
			}
		}
		if w.VLANs != "" && !w.VLANAware {
			o.fault("vlans", "requires a bridge with vlan_aware")
		}
		if !tagsFit(w.VLANs) {
			o.fault("vlans", "must be tags from 2 to 4094 and ranges of them, such as 2-4094 or 10,20-29")
		}
	case hypervisor.InterfaceBond:
		o.checkPorts(config, hypervisor.InterfaceNIC)
		o.checkBond()
	case hypervisor.InterfaceVLAN:
		o.checkVLAN()
	}
}

// checkBond checks the fields of a bond, and fills in the usual mode.
func (o *order) checkBond() {
	w := &o.want
	if w.BondMode == "" {
		w.BondMode = "active-backup"
	}
	if len(w.Ports) == 0 {
		o.fault("ports", "a bond needs at least one port")
	}
	if !slices.Contains(bondModes, w.BondMode) {
		o.fault("bond_mode", "must be one of %s", strings.Join(bondModes, ", "))
	}
	if primary := byAnyName(o.all, w.BondPrimary); primary != nil {
		w.BondPrimary = primary.Name
	}
	if w.BondPrimary != "" && (w.BondMode != "active-backup" || !slices.Contains(w.Ports, w.BondPrimary)) {
		o.fault("bond_primary", "must be one of the ports, and requires the mode active-backup")
	}
	if w.BondHash != "" && (!slices.Contains(bondHash, w.BondHash) || w.BondMode != "balance-xor" && w.BondMode != "802.3ad") {
		o.fault("bond_hash", "must be one of %s, and requires the mode balance-xor or 802.3ad", strings.Join(bondHash, ", "))
	}
}

// checkVLAN checks the fields of a VLAN interface. Its device and tag may be in
// the name, such as eno1.50, and must not contradict it.
func (o *order) checkVLAN() {
	w := &o.want
	if device, tag, dotted := strings.Cut(w.Name, "."); dotted {
		n, _ := strconv.ParseInt(tag, 10, 64) // the name was checked
		if w.Device != "" && w.Device != device {
			o.fault("device", "the name requires the value %s", device)
		}
		if w.VLAN != nil && *w.VLAN != n {
			o.fault("vlan", "the name requires the value %s", tag)
		}
		w.Device, w.VLAN = device, &n
	}
	if w.VLAN == nil || *w.VLAN < minVLAN || *w.VLAN > maxVLAN {
		o.fault("vlan", "a VLAN needs a tag from %d to %d", minVLAN, maxVLAN)
	}
	under := byAnyName(o.all, w.Device)
	switch {
	case under == nil:
		o.fault("device", "the node does not have this interface")
	case !slices.Contains([]string{hypervisor.InterfaceNIC, hypervisor.InterfaceBridge, hypervisor.InterfaceBond, hypervisor.InterfaceVLAN},
		under.Type):
		o.fault("device", "a VLAN must be on a NIC, a bridge, a bond or another VLAN")
	}
	for _, other := range o.all {
		if other.Type == hypervisor.InterfaceVLAN && other.Device == w.Device && other.VLAN != nil && w.VLAN != nil && *other.VLAN == *w.VLAN {
			o.fault("vlan", "%s already has this tag on the same device", other.Name)
		}
	}
}

// checkPorts checks that the lower interfaces exist, have a type that allows
// it, no address and no other owner. An interface that the request names by an
// alternative name gets the name in the configuration.
func (o *order) checkPorts(config Config, types ...string) {
	seen := map[string]bool{}
	if len(o.want.Ports) > maxPorts {
		o.fault("ports", "must have at most %d entries", maxPorts)
		return
	}
	_, given := config["ports"]
	for n, name := range o.want.Ports {
		port := byAnyName(o.all, name)
		if port != nil && given {
			o.want.Ports[n] = port.Name
		}
		switch {
		case port == nil:
			o.fault("ports", "the node does not have the interface listed as port %d", n+1)
			continue
		case seen[port.Name]:
			o.fault("ports", "%s is listed twice", port.Name)
		case !slices.Contains(types, port.Type):
			o.fault("ports", "%s has the type %s and cannot be a port of an interface of the type %s", port.Name, port.Type, o.want.Type)
		case given && (port.CIDR != "" || port.CIDR6 != "" || port.Dynamic || port.Dynamic6):
			o.fault("ports", "%s has an address, so it cannot be a port of another interface", port.Name)
		}
		seen[port.Name] = true
		for _, other := range o.all {
			if slices.ContainsFunc(other.Ports, func(p string) bool { return p == port.Name || slices.Contains(port.AltNames, p) }) {
				o.fault("ports", "%s is already a port of %s", port.Name, other.Name)
			}
		}
	}
}

// checkAddress checks an address and a gateway of one family.
func (o *order) checkAddress(config Config, cidrKey, gatewayKey, cidr, gateway string, six bool) {
	_, cidrGiven := config[cidrKey]
	_, gatewayGiven := config[gatewayKey]
	if !cidrGiven && !gatewayGiven {
		return
	}
	var prefix netip.Prefix
	if cidr != "" {
		p, err := netip.ParsePrefix(cidr)
		switch {
		case err != nil || p.Addr().Is6() != six || p.Addr().Is4In6():
			o.fault(cidrKey, "must be an address with a prefix length, such as %s",
				map[bool]string{false: "192.0.2.10/24", true: "fd00::10/64"}[six])
			return
		case p.Bits() == 0 || !hostAddress(p):
			o.fault(cidrKey, "this address cannot be assigned to a machine")
			return
		}
		for _, other := range o.all {
			if taken := carrierOf([]hypervisor.Interface{other}, p.Addr()); taken != nil {
				o.fault(cidrKey, "%s already has this address", other.Name)
			}
		}
		prefix = p
	}
	if gateway == "" {
		return
	}
	g, err := netip.ParseAddr(gateway)
	switch {
	case err != nil || g.Is6() != six || g.Zone() != "" || g.IsUnspecified() || g.IsLoopback() || g.IsMulticast():
		o.fault(gatewayKey, "must be the address of a gateway")
	case !prefix.IsValid():
		o.fault(gatewayKey, "a gateway requires %s", cidrKey)
	case g == prefix.Addr():
		o.fault(gatewayKey, "must differ from the interface's own address")
	case !prefix.Contains(g) && !(six && g.IsLinkLocalUnicast()):
		o.fault(gatewayKey, "must be in the network %s", prefix.Masked())
	}
	for _, other := range o.all {
		if have := gatewayOf(other, six); have != "" {
			o.fault(gatewayKey, "%s already has the gateway %s, and a node has only one per address family", other.Name, have)
		}
	}
}

// hostAddress reports whether a machine can have the address of a prefix: it is
// not the network's own nor its broadcast address.
func hostAddress(p netip.Prefix) bool {
	a := p.Addr()
	if a.IsUnspecified() || a.IsLoopback() || a.IsMulticast() {
		return false
	}
	if a.Is6() || p.Bits() >= 31 {
		return true
	}
	last, host := a.As4(), uint32(1)<<(32-p.Bits())-1
	n := uint32(last[0])<<24 | uint32(last[1])<<16 | uint32(last[2])<<8 | uint32(last[3])
	return n&host != 0 && n&host != host
}

// tagsFit reports whether a text consists of tags and ranges of tags.
func tagsFit(text string) bool {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' || r == ';' }) {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, err1 := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || a < 2 || b > maxVLAN || a > b {
			return false
		}
	}
	return true
}
