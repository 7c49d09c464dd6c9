package pvesim

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// check refuses what does not fit together.
func (f *interfaces) check() *apiError {
	for _, i := range f.all {
		var err *apiError
		switch i.kind {
		case "bridge":
			err = f.checkBridge(i)
		case "bond":
			err = f.checkSlaves(i, "bond", "slaves", "eth or bond")
		case "OVSBond":
			err = f.checkSlaves(i, "OVS bond", "ovs_bonds", "eth")
		case "OVSBridge":
			for _, port := range strings.Fields(i.options["ovs_ports"]) {
				if n := f.named(port); n == nil {
					return failure("OVS bridge '%s' - unable to find port '%s'", i.name, port)
				} else if !n.isOVSPort() {
					return failure("interface '%s' is not defined as OVS port/bond", port)
				}
			}
		case "vlan":
			err = f.checkVLAN(i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ports are those of a parameter.
func (i *iface) ports(key string) []string {
	return strings.Fields(strings.NewReplacer(",", " ", ";", " ").Replace(i.options[key]))
}

// checkBridge checks the ports of a bridge.
func (f *interfaces) checkBridge(i *iface) *apiError {
	for _, port := range i.ports("bridge_ports") {
		n := f.named(port)
		if n == nil && vlanName.MatchString(port) {
			continue // it comes with the bridge
		}
		if n == nil {
			return failure("bridge '%s' - unable to find bridge port '%s'", i.name, port)
		}
		if n.options["address"] != "" && n.options["address"] != "0.0.0.0" || n.options["address6"] != "" && n.options["address6"] != "::" {
			return failure("iface %s - ip address can't be set on interface if bridged in %s", port, i.name)
		}
		if err := checkMTU(n, i); err != nil {
			return err
		}
	}
	return nil
}

// checkSlaves checks the interfaces below a bond or a switch.
func (f *interfaces) checkSlaves(i *iface, what, key, kinds string) *apiError {
	for _, port := range i.ports(key) {
		n := f.named(port)
		if n == nil {
			return failure("%s '%s' - unable to find slave '%s'", what, i.name, port)
		}
		if n.kind != "eth" && (n.kind != "bond" || i.kind != "bond") {
			return failure("%s '%s' - wrong interface type on slave '%s' ('%s' != '%s')", what, i.name, port, n.kind, kinds)
		}
		n.autostart = true
		if err := checkMTU(i, n); err != nil {
			return err
		}
	}
	if primary := i.options["bond-primary"]; primary != "" && !slices.Contains(i.ports(key), primary) {
		return failure("bond '%s' - bond-primary interface is not a slave at /usr/share/perl5/PVE/Network/Interfaces.pm line 905.", i.name)
	}
	return nil
}

// checkVLAN checks the device of a VLAN. The error text has the original's line
// number, which clients see.
func (f *interfaces) checkVLAN(i *iface) *apiError {
	device, tag := vlanOf(i)
	if device == "" || tag == "" {
		return failure("missing vlan-raw-device option at /usr/share/perl5/PVE/Network/Interfaces.pm line 954.")
	}
	n := f.named(device)
	switch {
	case n == nil:
		return failure("vlan '%s' - unable to find parent '%s'", i.name, device)
	case !slices.Contains([]string{"eth", "bridge", "bond", "vlan"}, n.kind):
		return failure("vlan '%s' - wrong interface type on parent '%s' ('%s' != 'eth|bridge|bond|vlan' )", i.name, device, n.kind)
	}
	return checkMTU(n, i)
}

// checkMTU refuses a child with a larger MTU than what it is on.
func checkMTU(parent, child *iface) *apiError {
	have, _ := strconv.Atoi(child.options["mtu"])
	if have == 0 {
		return nil
	}
	most, _ := strconv.Atoi(parent.options["mtu"])
	if most == 0 && parent.kind == "bond" {
		most = have
	}
	if most = cmp.Or(most, 1500); most < have {
		return failure("interface '%s' - mtu %d is lower than '%s' - mtu %d", parent.name, most, child.name, have)
	}
	return nil
}
