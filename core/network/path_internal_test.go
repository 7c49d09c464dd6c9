package network

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// layout is a node's network in force, and how the service reaches the node.
type layout struct {
	name    string
	all     []hypervisor.Interface
	dialled []string
	// path are the interfaces on the service's way, free those that are not.
	path, free []string
}

func iface(name, kind string, set ...func(*hypervisor.Interface)) hypervisor.Interface {
	i := hypervisor.Interface{Name: name, Type: kind, Active: true, Autostart: true}
	for _, f := range set {
		f(&i)
	}
	return i
}

func ports(names ...string) func(*hypervisor.Interface) {
	return func(i *hypervisor.Interface) { i.Ports = names }
}

func on(device string, tag int64) func(*hypervisor.Interface) {
	return func(i *hypervisor.Interface) {
		if i.Device = device; tag != 0 {
			i.VLAN = &tag
		}
	}
}

func four(cidr, gateway string) func(*hypervisor.Interface) {
	return func(i *hypervisor.Interface) { i.CIDR, i.Gateway = cidr, gateway }
}

func six(cidr, gateway string) func(*hypervisor.Interface) {
	return func(i *hypervisor.Interface) { i.CIDR6, i.Gateway6 = cidr, gateway }
}

func called(names ...string) func(*hypervisor.Interface) {
	return func(i *hypervisor.Interface) { i.AltNames = names }
}

// layouts are those of the table. Each has free NICs and a bridge for guests that is nobody's way.
func layouts() []layout {
	nic, bridge, bond, vlan := hypervisor.InterfaceNIC, hypervisor.InterfaceBridge, hypervisor.InterfaceBond, hypervisor.InterfaceVLAN
	ovs, ovsBond, ovsInt := hypervisor.InterfaceOVS, hypervisor.InterfaceOVSBond, hypervisor.InterfaceOVSInternal
	rest := func(more ...hypervisor.Interface) []hypervisor.Interface {
		return append(more, iface("eno8", nic), iface("eno9", nic), iface("vmbr9", bridge, ports("eno9"), four("10.9.0.1/24", "")))
	}
	free := []string{"eno8", "eno9", "vmbr9"}
	return []layout{
		{"a bridge", rest(iface("eno1", nic), iface("vmbr0", bridge, ports("eno1"), four("10.0.0.2/24", "10.0.0.1"))), []string{"10.0.0.2"},
			[]string{"eno1", "vmbr0"}, free},
		{"a NIC", rest(iface("eno1", nic, four("10.0.0.2/24", "10.0.0.1"))), []string{"10.0.0.2"}, []string{"eno1"}, free},
		{"a bond under a bridge under a VLAN", rest(iface("eno1", nic), iface("eno2", nic), iface("bond0", bond, ports("eno1", "eno2")),
			iface("vmbr0", bridge, ports("bond0")), iface("vmbr0.20", vlan, on("vmbr0", 20), four("10.0.0.2/24", "10.0.0.1"))),
			[]string{"10.0.0.2"}, []string{"eno1", "eno2", "bond0", "vmbr0", "vmbr0.20"}, free},
		{"a VLAN under a bridge", rest(iface("eno1", nic), iface("eno1.20", vlan, on("eno1", 20)),
			iface("vmbr0", bridge, ports("eno1.20"), four("10.0.0.2/24", "10.0.0.1"))), []string{"10.0.0.2"},
			[]string{"eno1", "eno1.20", "vmbr0"}, free},
		{"a gateway elsewhere", rest(iface("eno1", nic), iface("eno2", nic), iface("vmbr0", bridge, ports("eno1"), four("10.0.0.2/24", "")),
			iface("vmbr1", bridge, ports("eno2"), four("10.1.0.2/24", "10.1.0.1"))), []string{"10.0.0.2"},
			[]string{"eno1", "vmbr0", "eno2", "vmbr1"}, free},
		{"IPv6 only", rest(iface("eno1", nic), iface("vmbr0", bridge, ports("eno1"), six("fd00::2/64", "fd00::1"))), []string{"fd00::2"},
			[]string{"eno1", "vmbr0"}, free},
		{"both families on two bridges", rest(iface("eno1", nic), iface("eno2", nic),
			iface("vmbr0", bridge, ports("eno1"), four("10.0.0.2/24", "10.0.0.1")),
			iface("vmbr1", bridge, ports("eno2"), six("fd00::2/64", "fe80::1"))), []string{"10.0.0.2", "fd00::2"},
			[]string{"eno1", "vmbr0", "eno2", "vmbr1"}, free},
		{"the other family is not the way", rest(iface("eno1", nic), iface("eno2", nic),
			iface("vmbr0", bridge, ports("eno1"), four("10.0.0.2/24", "10.0.0.1")),
			iface("vmbr1", bridge, ports("eno2"), six("fd00::2/64", "fe80::1"))), []string{"10.0.0.2"},
			[]string{"eno1", "vmbr0"}, append([]string{"eno2", "vmbr1"}, free...)},
		{"renamed ports", rest(iface("nic0", nic, called("enp3s0", "enx001122334455")), iface("vmbr0", bridge, ports("enp3s0"),
			four("10.0.0.2/24", "10.0.0.1"))), []string{"10.0.0.2"}, []string{"nic0", "vmbr0"}, free},
		{"renamed ports of a bond", rest(iface("nic0", nic, called("enp3s0")), iface("nic1", nic, called("enp4s0")),
			iface("bond0", bond, ports("enp3s0", "enp4s0")), iface("vmbr0", bridge, ports("bond0"), four("10.0.0.2/24", "10.0.0.1"))),
			[]string{"::ffff:10.0.0.2"}, []string{"nic0", "nic1", "bond0", "vmbr0"}, free},
		{"Open vSwitch", rest(iface("eno1", nic), iface("eno2", nic), iface("bond0", ovsBond, ports("eno1", "eno2"), on("vmbr0", 0)),
			iface("vmbr0", ovs, ports("bond0", "mgmt")), iface("mgmt", ovsInt, on("vmbr0", 0), four("10.0.0.2/24", "10.0.0.1"))),
			[]string{"10.0.0.2"}, []string{"eno1", "eno2", "bond0", "vmbr0", "mgmt"}, free},
		{"Open vSwitch whose ports only name it", rest(iface("eno1", hypervisor.InterfaceOVSPort, on("vmbr0", 0)),
			iface("vmbr0", ovs, four("10.0.0.2/24", "10.0.0.1"))), []string{"10.0.0.2"}, []string{"eno1", "vmbr0"}, free},
	}
}

// staging is a change of one interface that may be staged.
type staging struct {
	name  string
	fits  func(i hypervisor.Interface) bool
	apply func(all []hypervisor.Interface, at int) []hypervisor.Interface
	// harmless is one that touches nothing, whatever it is made on.
	harmless bool
}

func always(hypervisor.Interface) bool { return true }

func each(f func(*hypervisor.Interface)) func([]hypervisor.Interface, int) []hypervisor.Interface {
	return func(all []hypervisor.Interface, at int) []hypervisor.Interface {
		f(&all[at])
		return all
	}
}

var stagings = []staging{
	{name: "an MTU", fits: always, apply: each(func(i *hypervisor.Interface) { n := int64(1400); i.MTU = &n })},
	{name: "no start", fits: always, apply: each(func(i *hypervisor.Interface) { i.Autostart = false })},
	{name: "a command", fits: always, apply: each(func(i *hypervisor.Interface) { i.Options = map[string]string{"post-up": "true"} })},
	{name: "a comment", fits: always, apply: each(func(i *hypervisor.Interface) { i.Comment = "changed" }), harmless: true},
	{name: "the order of its ports", fits: func(i hypervisor.Interface) bool { return len(i.Ports) > 1 },
		apply: each(func(i *hypervisor.Interface) { i.Ports = slices.Clone(i.Ports); slices.Reverse(i.Ports) }), harmless: true},
	{name: "no ports", fits: func(i hypervisor.Interface) bool { return len(i.Ports) > 0 },
		apply: each(func(i *hypervisor.Interface) { i.Ports = nil })},
	{name: "another prefix", fits: func(i hypervisor.Interface) bool { return strings.HasSuffix(i.CIDR, "/24") },
		apply: each(func(i *hypervisor.Interface) { i.CIDR = strings.TrimSuffix(i.CIDR, "24") + "25" })},
	{name: "no address", fits: func(i hypervisor.Interface) bool { return i.CIDR+i.CIDR6 != "" },
		apply: each(func(i *hypervisor.Interface) { i.CIDR, i.CIDR6, i.Gateway, i.Gateway6 = "", "", "", "" })},
	{name: "another gateway", fits: func(i hypervisor.Interface) bool { return i.Gateway+i.Gateway6 != "" },
		apply: each(func(i *hypervisor.Interface) {
			if i.Gateway != "" {
				i.Gateway = strings.TrimSuffix(i.Gateway, "1") + "9"
			} else {
				i.Gateway6 = strings.TrimSuffix(i.Gateway6, "1") + "9"
			}
		})},
	{name: "another tag", fits: func(i hypervisor.Interface) bool { return i.VLAN != nil },
		apply: each(func(i *hypervisor.Interface) { n := int64(99); i.VLAN = &n })},
	{name: "awareness of VLANs", fits: func(i hypervisor.Interface) bool { return i.Type == hypervisor.InterfaceBridge },
		apply: each(func(i *hypervisor.Interface) { i.VLANAware = true })},
	{name: "another mode", fits: func(i hypervisor.Interface) bool { return i.Type == hypervisor.InterfaceBond },
		apply: each(func(i *hypervisor.Interface) { i.BondMode = "802.3ad" })},
	{name: "its removal", fits: always, apply: func(all []hypervisor.Interface, at int) []hypervisor.Interface {
		return slices.Delete(all, at, at+1)
	}},
	{name: "a new bridge over it", fits: func(i hypervisor.Interface) bool {
		return slices.Contains([]string{hypervisor.InterfaceNIC, hypervisor.InterfaceBond}, i.Type)
	}, apply: func(all []hypervisor.Interface, at int) []hypervisor.Interface {
		name := all[at].Name
		if len(all[at].AltNames) > 0 {
			name = all[at].AltNames[0]
		}
		return append(all, iface("vmbr5", hypervisor.InterfaceBridge, ports(name)))
	}},
	{name: "a VLAN on it", fits: always, apply: func(all []hypervisor.Interface, at int) []hypervisor.Interface {
		return append(all, iface("v77", hypervisor.InterfaceVLAN, on(all[at].Name, 77)))
	}, harmless: true},
}

// TestOwnPath holds the verdict against a table: every change of every interface of every layout, by whether that is on the way.
func TestOwnPath(t *testing.T) {
	t.Parallel()
	cases := 0
	for _, l := range layouts() {
		if got := len(l.path) + len(l.free); got != len(l.all) {
			t.Fatalf("%s has %d interfaces, of which %d are told", l.name, len(l.all), got)
		}
		var dialled []netip.Addr
		for _, text := range l.dialled {
			dialled = append(dialled, netip.MustParseAddr(text))
		}
		for at := range l.all {
			for _, c := range stagings {
				if !c.fits(l.all[at]) {
					continue
				}
				cases++
				n := hypervisor.NodeNetwork{Current: slices.Clone(l.all), Interfaces: c.apply(slices.Clone(l.all), at), Diff: "+"}
				want := !c.harmless && slices.Contains(l.path, l.all[at].Name)
				v := ownPath(n, dialled, nil)
				if v.touched != want || v.unclear || want != (len(v.why) > 0) {
					t.Errorf("%s, %s on %s: touched %v, unclear %v, want %v: %v", l.name, c.name, l.all[at].Name, v.touched, v.unclear, want,
						v.why)
				}
			}
		}
	}
	t.Logf("%d cases", cases)
	if cases < 200 {
		t.Errorf("only %d cases", cases)
	}
}

func TestOwnPathBesides(t *testing.T) {
	t.Parallel()
	base := layouts()[0]
	dialled := []netip.Addr{netip.MustParseAddr("10.0.0.2")}
	add := func(i hypervisor.Interface) hypervisor.NodeNetwork {
		return hypervisor.NodeNetwork{Current: base.all, Interfaces: append(slices.Clone(base.all), i), Diff: "+"}
	}
	for name, c := range map[string]struct {
		n                hypervisor.NodeNetwork
		dialled          []netip.Addr
		own              []string
		touched, unclear bool
	}{
		"nothing staged": {hypervisor.NodeNetwork{Current: base.all, Interfaces: base.all}, nil, nil, false, false},
		"only a head":    {hypervisor.NodeNetwork{Current: base.all, Interfaces: base.all, Diff: "+#"}, dialled, nil, false, false},
		"no address":     {add(iface("vmbr7", hypervisor.InterfaceBridge)), nil, nil, false, true},
		"an address of nobody": {add(iface("vmbr7", hypervisor.InterfaceBridge)), []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil,
			false, true},
		"a second gateway":      {add(iface("vmbr7", hypervisor.InterfaceBridge, four("10.7.0.2/24", "10.7.0.1"))), dialled, nil, true, false},
		"one of the other kind": {add(iface("vmbr7", hypervisor.InterfaceBridge, six("fd00::2/64", "fd00::1"))), dialled, nil, false, false},
		"the same network":      {add(iface("vmbr7", hypervisor.InterfaceBridge, four("10.0.0.3/24", ""))), dialled, nil, true, false},
		"a network around it":   {add(iface("vmbr7", hypervisor.InterfaceBridge, four("10.200.0.3/8", ""))), dialled, nil, true, false},
		"another network":       {add(iface("vmbr7", hypervisor.InterfaceBridge, four("10.7.0.3/24", ""))), dialled, nil, false, false},
		"unclear": {hypervisor.NodeNetwork{Current: base.all, Interfaces: base.all, Diff: "+", Unclear: true}, dialled, nil, false,
			true},
		"the bridge of our own guest": {hypervisor.NodeNetwork{Current: base.all, Interfaces: slices.DeleteFunc(slices.Clone(base.all),
			func(i hypervisor.Interface) bool { return i.Name == "vmbr9" }), Diff: "+"}, dialled, []string{"vmbr9"}, true, false},
	} {
		if v := ownPath(c.n, c.dialled, c.own); v.touched != c.touched || v.unclear != c.unclear || v.asks() != (c.touched || c.unclear) {
			t.Errorf("%s: touched %v, unclear %v: %v", name, v.touched, v.unclear, v.why)
		}
	}
	loop := hypervisor.NodeNetwork{Diff: "+", Current: []hypervisor.Interface{
		iface("a0", hypervisor.InterfaceBridge, ports("b0"), four("10.0.0.2/24", "")), iface("b0", hypervisor.InterfaceBridge, ports("a0"))}}
	if v := ownPath(loop, dialled, nil); !v.touched {
		t.Error("a loop:", fmt.Sprint(v.why))
	}
}
