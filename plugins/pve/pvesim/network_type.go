package pvesim

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// link says of which interfaces the kernel has the hardware.
func (f *interfaces) link(links map[string][]string) {
	yes := 1
	for _, name := range slices.Sorted(maps.Keys(links)) {
		called := name
		for _, other := range links[name] {
			if f.named(other) != nil {
				called = other
				break
			}
		}
		f.touch(called).exists = &yes
	}
}

// physical reports whether the kernel has hardware of this name.
func physical(name string, links map[string][]string) bool {
	for link, others := range links {
		if link == name || slices.Contains(others, name) {
			return true
		}
	}
	return false
}

// classify tells the type of an interface.
func (f *interfaces) classify(i *iface, links map[string][]string) {
	o := i.options
	_, hasPorts := o["bridge_ports"]
	i.kind = "unknown"
	parent := func(name string) *int {
		if on := f.named(name); on != nil {
			return on.exists
		}
		no := 0
		f.touch(name).exists = &no
		f.named(name).kind = "unknown"
		return &no
	}
	switch dotted, alias := vlanName.FindStringSubmatch(i.name), aliasName.FindStringSubmatch(i.name); {
	case hasPorts:
		i.kind = "bridge"
		if o["bridge_stp"] == "" {
			o["bridge_stp"] = "off"
		}
		if o["bridge_fd"] == "" && o["bridge_stp"] == "off" {
			o["bridge_fd"] = "0"
		}
	case o["ovs_type"] == "OVSBridge":
		i.kind = "OVSBridge"
	case bondName.MatchString(i.name) && o["ovs_type"] == "":
		i.kind = "bond"
	case bondName.MatchString(i.name):
		if o["ovs_type"] == "OVSBond" {
			i.kind = "OVSBond"
			i.ovsBond()
		}
	case alias != nil:
		i.kind, i.exists = "alias", parent(alias[1])
	case dotted != nil:
		i.kind = "vlan"
		if o["vlan-raw-device"] == "" {
			o["vlan-raw-device"] = dotted[1]
		}
		o["vlan-id"] = dotted[2]
		i.exists = parent(o["vlan-raw-device"])
	case o["vlan-raw-device"] != "":
		i.kind = "vlan"
		if m := vlanNumber.FindStringSubmatch(i.name); m != nil {
			o["vlan-id"] = m[1]
		}
		i.exists = parent(o["vlan-raw-device"])
	case physical(i.name, links) || nicName.MatchString(i.name):
		switch o["ovs_type"] {
		case "":
			i.kind = "eth"
		case "OVSPort":
			i.kind = "OVSPort"
			i.ovsOption("tag", "ovs_tag")
		}
	case i.name == "lo":
		i.kind = "loopback"
	case o["ovs_type"] == "OVSIntPort":
		i.kind = "OVSIntPort"
		i.ovsOption("tag", "ovs_tag")
	}
}

// ovsOption takes one of the options of Open vSwitch out, and gives it to a parameter of the API.
func (i *iface) ovsOption(name, key string) {
	var rest []string
	for _, pair := range strings.Fields(i.options["ovs_options"]) {
		if value, is := strings.CutPrefix(pair, name+"="); is {
			i.options[key] = value
		} else {
			rest = append(rest, pair)
		}
	}
	if delete(i.options, "ovs_options"); len(rest) > 0 {
		i.options["ovs_options"] = strings.Join(rest, " ")
	}
}

// ovsBond writes the options of a bond of Open vSwitch.
func (i *iface) ovsBond() {
	i.ovsOption("bond_mode", "bond_mode")
	i.ovsOption("lacp", "lacp")
	switch {
	case i.options["bond_mode"] == "balance-tcp":
		i.options["bond_mode"] = "lacp-balance-tcp"
	case i.options["lacp"] == "active" && i.options["bond_mode"] == "balance-slb":
		i.options["bond_mode"] = "lacp-balance-slb"
	}
	delete(i.options, "lacp")
	i.ovsOption("tag", "ovs_tag")
}

// complete makes what follows from what the file says.
func (i *iface) complete() {
	for _, family := range []string{"", "6"} {
		if i.options["method"+family] == "" {
			i.options["method"+family] = "manual"
		}
		address, mask := i.options["address"+family], i.options["netmask"+family]
		if address == "" {
			continue
		}
		if before, bits, has := strings.Cut(address, "/"); has {
			i.options["cidr"+family], i.options["address"+family], i.options["netmask"+family] = address, before, bits
			continue
		}
		if m, err := netip.ParseAddr(mask); err == nil && m.Is4() {
			ones := 0
			for _, b := range m.As4() {
				for ; b&0x80 != 0; b <<= 1 {
					ones++
				}
			}
			mask = strconv.Itoa(ones)
			i.options["netmask"+family] = mask
		}
		if mask == "" {
			mask = map[string]string{"": "32", "6": "128"}[family]
		}
		i.options["cidr"+family] = address + "/" + mask
	}
	if more := i.options["comments6"]; more != "" {
		i.options["comments"] += more
		delete(i.options, "comments6")
	}
	if len(i.families) == 0 {
		i.families = []string{"inet"}
	}
}
