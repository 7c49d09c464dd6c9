package pve

import (
	"maps"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// newWords maps words of the file to others with the same meaning.
var newWords = map[string]string{"slaves": "bond-slaves", "ovs-mtu": "mtu"}

// portWords are the settings that list the interfaces below one.
var portWords = []string{"bridge-ports", "bond-slaves", "ovs-ports", "ovs-bonds"}

// lineOf reads a line; false if it sets nothing.
func lineOf(text, family string) (stanzaLine, bool) {
	words := strings.Fields(text)
	if len(words) == 0 || strings.HasPrefix(words[0], "#") {
		return stanzaLine{}, false
	}
	l := stanzaLine{family: family, key: strings.ReplaceAll(words[0], "_", "-"), value: strings.Join(words[1:], " ")}
	if word := newWords[l.key]; word != "" {
		l.key = word
	}
	switch {
	case l.key == "broadcast": // it follows from the address, and the hypervisor does not keep it
		return l, false
	case slices.Contains([]string{"address", "gateway"}, l.key) && family == "" && strings.Contains(l.value, ":"):
		l.family = "inet6"
	}
	l.value = normal(l.key, l.value)
	if !slices.Contains([]string{"address", "netmask", "gateway"}, l.key) {
		l.family = "" // it is the interface's, wherever it stands
	}
	return l, true
}

// normal returns a value in the form that Proxmox VE writes.
func normal(key, value string) string {
	if slices.Contains(portWords, key) {
		ports := slices.DeleteFunc(strings.Fields(value), func(p string) bool { return p == "none" })
		slices.Sort(ports)
		return strings.Join(ports, " ")
	}
	switch key {
	case "bridge-stp":
		if lower := strings.ToLower(value); lower == "on" || lower == "yes" {
			return "on"
		}
		return "off"
	case "bridge-vlan-aware":
		return "yes"
	case "bond-mode":
		if n := number(value); n != nil && *n >= 0 && *n < int64(len(bondModes)) {
			return bondModes[*n]
		}
	}
	return value
}

// bondModes are the modes of the kernel's bonding driver, by their numbers
// (Documentation/networking/bonding.rst).
var bondModes = []string{"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"}

// saysOf reports whether a line is true of an interface: of its part for IPv4,
// or of that for IPv6.
func saysOf(i hypervisor.Interface, l stanzaLine) (four, six bool) {
	switch l.key {
	case "address":
		return i.CIDR == l.value, i.CIDR6 == l.value
	case "gateway":
		return i.Gateway == l.value, i.Gateway6 == l.value
	case "netmask":
		return true, false
	}
	// The line is true if setting it changes nothing.
	return equalInterfaces(undone(i, []stanzaLine{l}, []stanzaLine{l}), i), false
}

// equalInterfaces reports whether two interfaces have the same settings. The
// order of ports does not matter.
func equalInterfaces(a, b hypervisor.Interface) bool {
	value := func(n *int64) int64 {
		if n == nil {
			return -1
		}
		return *n
	}
	sorted := func(ports []string) []string { return slices.Sorted(slices.Values(ports)) }
	return a.CIDR == b.CIDR && a.CIDR6 == b.CIDR6 && a.Gateway == b.Gateway && a.Gateway6 == b.Gateway6 && a.Dynamic == b.Dynamic &&
		a.Dynamic6 == b.Dynamic6 && slices.Equal(sorted(a.Ports), sorted(b.Ports)) && a.Device == b.Device &&
		value(a.VLAN) == value(b.VLAN) && value(a.MTU) == value(b.MTU) && a.VLANAware == b.VLANAware && a.VLANs == b.VLANs &&
		a.BondMode == b.BondMode && a.BondPrimary == b.BondPrimary && a.BondHash == b.BondHash && maps.Equal(a.Options, b.Options)
}

// undone returns an interface without the added lines of a diff and with the
// removed ones: the configuration in force, computed from the staged one. An
// address and its netmask may be on separate lines, of which only one changed,
// so both are collected per address family before they are joined.
func undone(i hypervisor.Interface, removed, added []stanzaLine) hypervisor.Interface {
	i.Ports, i.Options = slices.Clone(i.Ports), maps.Clone(i.Options)
	for _, l := range added {
		unset(&i, l)
	}
	address, mask := map[string]string{}, map[string]string{}
	for _, l := range removed {
		family := l.family
		if family == "" {
			family = "inet"
		}
		switch l.key {
		case "address":
			address[family] = l.value
		case "netmask":
			mask[family] = l.value
		default:
			set(&i, l)
		}
	}
	for family, m := range mask { // the address alone stayed
		if cidr := map[string]string{"inet": i.CIDR, "inet6": i.CIDR6}[family]; address[family] == "" && cidr != "" {
			address[family], _, _ = strings.Cut(cidr, "/")
			mask[family] = m
		}
	}
	for family, value := range address {
		if !strings.Contains(value, "/") {
			bits := mask[family]
			if bits == "" {
				bits = map[string]string{"inet": "32", "inet6": "128"}[family]
			}
			value = withPrefix("", value, bits)
		}
		if family == "inet6" || strings.Contains(value, ":") {
			i.CIDR6 = value
		} else {
			i.CIDR = value
		}
	}
	if i.VLANAware && i.VLANs == "" {
		i.VLANs = allTags
	}
	return i
}

// allTags are the tags that guests may use on a VLAN-aware bridge without a
// list.
const allTags = "2-4094"

// dynamic reports whether a method gets the addresses from the network.
func dynamic(method string) bool { return method == "dhcp" || method == "auto" }

// set applies a line of a stanza to an interface, except for addresses, which
// undone joins with their netmasks. The keys are those of ifupdown2 and Open
// vSwitch in /etc/network/interfaces.
func set(i *hypervisor.Interface, l stanzaLine) {
	six := l.family == "inet6"
	switch l.key {
	case "auto":
		i.Autostart = true
	case "iface":
		if six {
			i.Dynamic6 = dynamic(l.value)
		} else {
			i.Dynamic = dynamic(l.value)
		}
	case "gateway":
		if six {
			i.Gateway6 = l.value
		} else {
			i.Gateway = l.value
		}
	case "bridge-ports", "bond-slaves", "ovs-ports", "ovs-bonds":
		i.Ports = strings.Fields(l.value)
	case "vlan-raw-device", "ovs-bridge":
		i.Device = l.value
	case "vlan-id":
		i.VLAN = number(l.value)
	case "bridge-vlan-aware":
		i.VLANAware = true
	case "bridge-vids":
		i.VLANs = l.value
	case "bond-mode":
		i.BondMode = l.value
	case "bond-primary":
		i.BondPrimary = l.value
	case "bond-xmit-hash-policy":
		i.BondHash = l.value
	case "mtu":
		i.MTU = number(l.value)
	case "ovs-options":
		setOVS(i, l.value)
	default:
		setOption(i, l.key, l.value)
	}
}

// unset removes the setting of a line and leaves its default in place, because
// that is what Proxmox VE reports for an absent line.
func unset(i *hypervisor.Interface, l stanzaLine) {
	six := l.family == "inet6"
	switch l.key {
	case "auto":
		i.Autostart = false
	case "iface":
		if six {
			i.Dynamic6 = false
		} else {
			i.Dynamic = false
		}
	case "address":
		if six || strings.Contains(l.value, ":") {
			i.CIDR6 = ""
		} else {
			i.CIDR = ""
		}
	case "netmask":
	case "gateway":
		if six {
			i.Gateway6 = ""
		} else {
			i.Gateway = ""
		}
	case "bridge-ports", "bond-slaves", "ovs-ports", "ovs-bonds":
		i.Ports = nil
	case "vlan-raw-device", "ovs-bridge":
		i.Device = ""
	case "vlan-id":
		i.VLAN = nil
	case "bridge-vlan-aware":
		i.VLANAware = false
	case "bridge-vids":
		i.VLANs = ""
	case "bond-mode":
		i.BondMode = bondModes[0]
	case "bond-primary":
		i.BondPrimary = ""
	case "bond-xmit-hash-policy":
		i.BondHash = ""
	case "mtu":
		i.MTU = nil
	case "ovs-options":
		i.VLAN, i.BondMode = nil, ""
		delete(i.Options, "ovs_options")
	case "bridge-stp":
		setOption(i, l.key, "off")
	case "bridge-fd":
		setOption(i, l.key, "0")
	case "bond-miimon":
		setOption(i, l.key, "100")
	default:
		unsetOption(i, l.key, l.value)
	}
}

// setOVS applies options of Open vSwitch. Proxmox VE lists tag and mode in
// fields of their own.
func setOVS(i *hypervisor.Interface, value string) {
	var rest []string
	lacp := false
	for _, pair := range strings.Fields(value) {
		switch key, text, _ := strings.Cut(pair, "="); {
		case key == "tag":
			i.VLAN = number(text)
		case key == "bond_mode" && i.Type == hypervisor.InterfaceOVSBond:
			i.BondMode = text
		case key == "lacp" && i.Type == hypervisor.InterfaceOVSBond:
			lacp = text == "active"
		default:
			rest = append(rest, pair)
		}
	}
	if i.BondMode == "balance-tcp" || lacp && i.BondMode == "balance-slb" {
		i.BondMode = "lacp-" + i.BondMode
	}
	if len(rest) > 0 {
		setOption(i, "ovs-options", strings.Join(rest, " "))
	}
}

// single are the settings that an interface has at most once, and for which
// this driver has no field.
var single = strings.Fields(`bridge-stp bridge-fd bond-miimon ovs-options ovs-type bridge-access bridge-learning bridge-arp-nd-suppress
	bridge-unicast-flood bridge-multicast-flood bridge-disable-mac-learning link-type uplink-id vlan-protocol`)

// optionKey returns the key under which Proxmox VE lists an option.
func optionKey(i *hypervisor.Interface, key string) string {
	for have := range i.Options {
		if strings.ReplaceAll(have, "_", "-") == key {
			return have
		}
	}
	if slices.Contains(single[:5], key) {
		return strings.ReplaceAll(key, "-", "_")
	}
	return key
}

// setOption adds a line to an option. A key may occur several times in the
// file; its values are then joined by line breaks.
func setOption(i *hypervisor.Interface, key, value string) {
	if i.Options == nil {
		i.Options = map[string]string{}
	}
	at := optionKey(i, key)
	if !slices.Contains(single, key) && i.Options[at] != "" {
		value = strings.Join(slices.Sorted(slices.Values(append(strings.Split(i.Options[at], "\n"), value))), "\n")
	}
	i.Options[at] = value
}

// unsetOption removes a line from an option.
func unsetOption(i *hypervisor.Interface, key, value string) {
	at := optionKey(i, key)
	if _, has := i.Options[at]; !has {
		return
	}
	left := slices.DeleteFunc(strings.Split(i.Options[at], "\n"), func(v string) bool { return v == value || slices.Contains(single, key) })
	if len(left) == 0 {
		delete(i.Options, at)
	} else {
		i.Options[at] = strings.Join(left, "\n")
	}
}

// typeBy returns the type of an interface that only the diff still contains.
func typeBy(name string, lines []stanzaLine) string {
	kind := ""
	for _, l := range lines {
		switch l.key {
		case "ovs-type":
			if t := interfaceTypes[l.value]; t != "" {
				return t
			}
		case "vlan-raw-device":
			kind = hypervisor.InterfaceVLAN
		case "bridge-ports":
			kind = hypervisor.InterfaceBridge
		case "bond-slaves":
			kind = hypervisor.InterfaceBond
		}
	}
	switch {
	case kind != "":
		return kind
	case strings.Contains(name, ":"):
		return hypervisor.InterfaceAlias
	case strings.Contains(name, "."):
		return hypervisor.InterfaceVLAN
	}
	return hypervisor.InterfaceNIC
}
