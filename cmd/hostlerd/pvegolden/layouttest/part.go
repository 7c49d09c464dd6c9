// Package layouttest makes networks of nodes out of parts, writes them as files of interfaces in the styles that there are, and changes
// them. It says of each change whether it touches the way to the node, by the parts alone.
package layouttest

import (
	"net/netip"
	"slices"
)

// Kinds of parts.
const (
	NIC        = "nic"
	Bond       = "bond"
	Bridge     = "bridge"
	VLAN       = "vlan"
	Alias      = "alias"
	OVSBridge  = "OVSBridge"
	OVSBond    = "OVSBond"
	OVSPort    = "OVSPort"
	OVSIntPort = "OVSIntPort"
)

// Part is an interface of a node.
type Part struct {
	Name, Kind string
	// Start says that it comes up by itself.
	Start bool
	// Four and Six are its addresses, nil for none of a family.
	Four, Six *Address
	// Ports are below a bridge or a bond. Device is below a VLAN or an alias, and the switch of a port of Open vSwitch.
	Ports  []string
	Device string
	// Tag is of a VLAN or of a port of Open vSwitch; 0 for none.
	Tag int
	// Mode, Primary and Hash are a bond's.
	Mode, Primary, Hash string
	// Aware and Tags are a bridge's, and STP.
	Aware bool
	Tags  string
	STP   bool
	MTU   int
	// Lines are settings that the hypervisor does not know, Comment is one line.
	Lines   []string
	Comment string
}

// Address is what an interface has of a family.
type Address struct {
	// CIDR is its address with the prefix; empty where it comes from the network.
	CIDR, Gateway string
}

// dynamic reports whether the address comes from DHCP or router advertisements.
func (a *Address) dynamic() bool { return a != nil && a.CIDR == "" }

// Layout is a node's network, and how the service reaches the node.
type Layout struct {
	Name  string
	Parts []Part
	// Dialled are the addresses at which the service reaches the node, Path the parts that are on the way there. Unknown says that no
	// file has those addresses.
	Dialled []netip.Addr
	Path    []string
	Unknown bool
	// Links are the kernel's names of the NICs, with the others that it knows.
	Links map[string][]string
	// Loose are lines that are of no interface.
	Loose []string
}

// clone is a copy whose parts can be changed.
func (l Layout) clone() Layout {
	l.Parts = slices.Clone(l.Parts)
	for i := range l.Parts {
		p := &l.Parts[i]
		p.Ports, p.Lines = slices.Clone(p.Ports), slices.Clone(p.Lines)
		for _, address := range []**Address{&p.Four, &p.Six} {
			if *address != nil {
				same := **address
				*address = &same
			}
		}
	}
	l.Loose = slices.Clone(l.Loose)
	return l
}

// part is a part by its name.
func (l *Layout) part(name string) *Part {
	if i := slices.IndexFunc(l.Parts, func(p Part) bool { return p.Name == name }); i >= 0 {
		return &l.Parts[i]
	}
	return nil
}

// onPath reports whether a part is on the way to the node.
func (l *Layout) onPath(name string) bool { return slices.Contains(l.Path, name) }
