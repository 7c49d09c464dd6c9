package pvesim

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// iface is an interface of a node, as the file of interfaces has it.
type iface struct {
	name, kind string
	// priority is its place in the file; 0 for one that has no part in it.
	priority  int
	autostart bool
	// families are inet and inet6, in the order of the file; empty for a part that names none.
	families []string
	// exists is what the kernel says of it; nil is what the hypervisor leaves out.
	exists *int
	// options are those of the API. Those of the part for IPv6 end in 6 where
	// they are an address or a method.
	options map[string]string
	// lines are what nobody knows, as it stands there, by "options" and "options6".
	lines map[string][]string
}

// newIface returns an empty interface.
func newIface(name string) *iface {
	return &iface{name: name, options: map[string]string{}, lines: map[string][]string{}}
}

// interfaces are the file of interfaces.
type interfaces struct {
	all []*iface
	// loose are lines that are of no interface, with their places.
	loose []looseLine
}

// looseLine is a line of the file outside of stanzas, with its place among
// them.
type looseLine struct {
	priority int
	text     string
}

// named returns the interface with that name, or nil.
func (f *interfaces) named(name string) *iface {
	if i := slices.IndexFunc(f.all, func(i *iface) bool { return i.name == name }); i >= 0 {
		return f.all[i]
	}
	return nil
}

// touch is the interface of a name, which begins to be there.
func (f *interfaces) touch(name string) *iface {
	i := f.named(name)
	if i == nil {
		i = newIface(name)
		f.all = append(f.all, i)
	}
	return i
}

// drop removes an interface.
func (f *interfaces) drop(name string) {
	f.all = slices.DeleteFunc(f.all, func(i *iface) bool { return i.name == name })
}

// otherWords are the newer words of the file for which the API has older ones.
var otherWords = map[string]string{
	"ovs_mtu": "mtu", "bond-slaves": "slaves", "bond_slaves": "slaves", "bond-xmit-hash-policy": "bond_xmit_hash_policy",
	"bond-mode": "bond_mode", "bond-miimon": "bond_miimon", "bridge-vlan-aware": "bridge_vlan_aware", "bridge-fd": "bridge_fd",
	"bridge-stp": "bridge_stp", "bridge-ports": "bridge_ports", "bridge-vids": "bridge_vids",
}

// plainWords are those whose value the API gives as it stands there.
var plainWords = strings.Fields(`mtu ovs_type ovs_options ovs_bridge ovs_bonds ovs_ports bridge_fd bridge_vids bridge-access
	bridge-learning bridge-arp-nd-suppress bridge-unicast-flood bridge-multicast-flood bridge-disable-mac-learning bond_miimon
	bond_xmit_hash_policy bond-primary link-type uplink-id vlan-protocol vlan-raw-device vlan-id`)

// bondModes are the modes of the kernel's bonding driver, by their numbers.
var bondModes = []string{"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"}

var (
	startWords = regexp.MustCompile(`^\s*(?:allow-auto|auto|allow-ovs|allow-hotplug)\s+(.*)$`)
	ifaceWords = regexp.MustCompile(`^\s*iface\s+(\S+)(?:\s+(inet6?)\s+(\S+))?\s*$`)
	endWords   = regexp.MustCompile(`^\s*(?:(?:iface|mapping|auto|source|source-directory)\s|allow-)`)
	bondName   = regexp.MustCompile(`^bond\d+$`)
	aliasName  = regexp.MustCompile(`^(\S+):\d+$`)
	vlanName   = regexp.MustCompile(`^(\S+)\.(\d+)$`)
	vlanNumber = regexp.MustCompile(`^vlan(\d+)$`)
	nicName    = regexp.MustCompile(`^(?:eth\d+|en[^:.]+|ib[^:.]+|(?:nic|if)\d+)$`)
)

// parseInterfaces reads a file of interfaces as the hypervisor does. links are
// the physical interfaces of the kernel, with their other names.
func parseInterfaces(text string, links map[string][]string) *interfaces {
	f := &interfaces{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	next := 2 // 1 is lo's
	for at := 0; at < len(lines); {
		line := lines[at]
		at++
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		if m := startWords.FindStringSubmatch(line); m != nil {
			for _, name := range strings.Fields(m[1]) {
				f.touch(name).autostart = true
			}
			continue
		}
		if m := ifaceWords.FindStringSubmatch(line); m != nil {
			i := f.touch(m[1])
			if i.priority == 0 {
				i.priority, next = next, next+1
			}
			i.families = append(i.families, m[2])
			if m[2] != "" {
				i.options["method"+strings.TrimPrefix(m[2], "inet")] = m[3]
			}
			for at < len(lines) && i.line(m[2], strings.TrimRight(lines[at], " \t\r")) {
				at++
			}
			// What ends a part is looked at again; an empty line is none of anything.
			continue
		}
		if strings.ContainsFunc(line, func(r rune) bool {
			return r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		}) {
			f.loose, next = append(f.loose, looseLine{next, line}), next+1
		}
	}
	f.link(links)
	if f.named("lo") == nil {
		lo := f.touch("lo")
		lo.priority, lo.autostart, lo.options["method"] = 1, true, "loopback"
	}
	for _, i := range slices.Clone(f.all) {
		f.classify(i, links)
	}
	for _, i := range f.all {
		i.complete()
	}
	f.loose = slices.DeleteFunc(f.loose, func(l looseLine) bool { return strings.HasPrefix(l.text, "allow-") })
	return f
}

// line takes a line of a part over; false ends the part.
func (i *iface) line(family, text string) bool {
	suffix := strings.TrimPrefix(family, "inet")
	trimmed := strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(trimmed, "#"):
		i.options["comments"+suffix] += strings.TrimPrefix(trimmed, "#") + "\n"
		return true
	case endWords.MatchString(text):
		return false
	}
	word, value, more := strings.Cut(strings.ReplaceAll(trimmed, "\t", " "), " ")
	value = strings.TrimSpace(value)
	if !more || value == "" {
		return false
	}
	key := word
	if other := otherWords[word]; other != "" {
		key = other
	}
	switch {
	case slices.Contains([]string{"address", "netmask", "broadcast", "gateway"}, key):
		if family == "" && key != "netmask" && strings.Contains(value, ":") {
			suffix = "6"
		}
		i.options[key+suffix] = value
	case slices.Contains(plainWords, key):
		i.options[key] = value
	case key == "slaves", key == "bridge_ports":
		ports := slices.DeleteFunc(strings.Fields(value), func(p string) bool { return p == "none" })
		slices.Sort(ports)
		i.options[key] = strings.TrimSpace(i.options[key] + " " + strings.Join(slices.Compact(ports), " "))
	case key == "bridge_stp":
		i.options[key] = "off"
		if lower := strings.ToLower(value); lower == "on" || lower == "yes" {
			i.options[key] = "on"
		}
	case key == "bridge_vlan_aware":
		i.options[key] = "1"
	case key == "bond_mode":
		if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < len(bondModes) {
			value = bondModes[n]
		}
		i.options[key] = value
	default:
		i.lines["options"+suffix] = append(i.lines["options"+suffix], trimmed)
	}
	return true
}
