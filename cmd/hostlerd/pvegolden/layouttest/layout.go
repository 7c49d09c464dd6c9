package layouttest

import "net/netip"

// nic returns a physical interface.
func nic(name string) Part { return Part{Name: name, Kind: NIC} }

// bridge returns a bridge with an IPv4 and an IPv6 address, each of which may
// be nil.
func bridge(name string, four, six *Address, ports ...string) Part {
	return Part{Name: name, Kind: Bridge, Start: true, Four: four, Six: six, Ports: ports}
}

// bond returns a bond of interfaces.
func bond(name, mode string, ports ...string) Part {
	return Part{Name: name, Kind: Bond, Start: true, Mode: mode, Ports: ports}
}

// at returns a fixed address with a gateway, which may be empty.
func at(cidr, gateway string) *Address { return &Address{cidr, gateway} }

// dial parses the addresses under which the service reaches the node.
func dial(texts ...string) (all []netip.Addr) {
	for _, text := range texts {
		all = append(all, netip.MustParseAddr(text))
	}
	return all
}

// Layouts are those of the table. Each has besides what it is named for two free NICs, and a bridge for guests that is nobody's way.
func Layouts() []Layout {
	home, home6 := at("10.0.0.2/24", "10.0.0.1"), at("fd00::2/64", "fd00::1")
	four, six, both := dial("10.0.0.2"), dial("fd00::2"), dial("10.0.0.2", "fd00::2")
	named := func(name string, p Part) Part { p.Name = name; return p }
	vlan := func(name, device string, tag int, a, b *Address) Part {
		return Part{Name: name, Kind: VLAN, Start: true, Device: device, Tag: tag, Four: a, Six: b}
	}
	dhcp := &Address{}
	path := func(names ...string) []string { return names }
	all := []Layout{
		{Name: "a bridge on a NIC", Parts: []Part{nic("eno1"), bridge("vmbr0", home, nil, "eno1")}, Dialled: four, Path: path("eno1", "vmbr0")},
		{Name: "a NIC alone", Parts: []Part{{Name: "eno1", Kind: NIC, Start: true, Four: home}}, Dialled: four, Path: path("eno1")},
		{Name: "a bridge on a bond, active-backup", Parts: []Part{nic("eno1"), nic("eno2"),
			{Name: "bond0", Kind: Bond, Start: true, Mode: "active-backup", Primary: "eno1", Ports: []string{"eno1", "eno2"}},
			bridge("vmbr0", home, nil, "bond0")}, Dialled: four, Path: path("eno1", "eno2", "bond0", "vmbr0")},
		{Name: "a bridge on a bond, 802.3ad", Parts: []Part{nic("eno1"), nic("eno2"),
			{Name: "bond0", Kind: Bond, Start: true, Mode: "802.3ad", Hash: "layer3+4", Ports: []string{"eno1", "eno2"}},
			bridge("vmbr0", home, home6, "bond0")}, Dialled: both, Path: path("eno1", "eno2", "bond0", "vmbr0")},
		{Name: "an address on a bond", Parts: []Part{nic("eno1"), nic("eno2"), {Name: "bond0", Kind: Bond, Start: true, Mode: "balance-alb",
			Ports: []string{"eno1", "eno2"}, Four: home}}, Dialled: four, Path: path("eno1", "eno2", "bond0")},
		{Name: "a bond under a bridge under a VLAN", Parts: []Part{nic("eno1"), nic("eno2"), bond("bond0", "balance-xor", "eno1", "eno2"),
			{Name: "vmbr0", Kind: Bridge, Start: true, Aware: true, Tags: "2-4094", Ports: []string{"bond0"}},
			vlan("vmbr0.20", "vmbr0", 20, home, nil)}, Dialled: four, Path: path("eno1", "eno2", "bond0", "vmbr0", "vmbr0.20")},
		{Name: "a VLAN under a bridge, by its name", Parts: []Part{nic("eno1"), vlan("eno1.30", "eno1", 30, nil, nil),
			bridge("vmbr0", home, nil, "eno1.30")}, Dialled: four, Path: path("eno1", "eno1.30", "vmbr0")},
		{Name: "a VLAN with a device", Parts: []Part{nic("eno1"), vlan("mgmt", "eno1", 40, home, home6)}, Dialled: both,
			Path: path("eno1", "mgmt")},
		{Name: "a VLAN whose name has the tag only", Parts: []Part{nic("eno1"), bridge("vmbr0", nil, nil, "eno1"),
			vlan("vlan50", "vmbr0", 50, home, nil)}, Dialled: four, Path: path("eno1", "vmbr0", "vlan50")},
		{Name: "a bridge that knows VLANs", Parts: []Part{nic("eno1"), {Name: "vmbr0", Kind: Bridge, Start: true, Aware: true,
			Tags: "2-100 200", Ports: []string{"eno1"}, Four: home}}, Dialled: four, Path: path("eno1", "vmbr0")},
		{Name: "a gateway elsewhere", Parts: []Part{nic("eno1"), nic("eno2"), bridge("vmbr0", at("10.0.0.2/24", ""), nil, "eno1"),
			bridge("vmbr1", at("10.1.0.2/24", "10.1.0.1"), nil, "eno2")}, Dialled: four, Path: path("eno1", "vmbr0", "eno2", "vmbr1")},
		{Name: "two gateways", Parts: []Part{nic("eno1"), nic("eno2"), bridge("vmbr0", home, nil, "eno1"),
			bridge("vmbr1", at("10.1.0.2/24", "10.1.0.1"), nil, "eno2")}, Dialled: four, Path: path("eno1", "vmbr0", "eno2", "vmbr1")},
		{Name: "no gateway", Parts: []Part{nic("eno1"), bridge("vmbr0", at("10.0.0.2/24", ""), nil, "eno1")}, Dialled: four,
			Path: path("eno1", "vmbr0")},
		{Name: "IPv6 only", Parts: []Part{nic("eno1"), bridge("vmbr0", nil, home6, "eno1")}, Dialled: six, Path: path("eno1", "vmbr0")},
		{Name: "IPv6 only, with a gateway of the link", Parts: []Part{nic("eno1"), vlan("eno1.5", "eno1", 5, nil, at("fd00::2/64", "fe80::1"))},
			Dialled: six, Path: path("eno1", "eno1.5")},
		{Name: "both families on one bridge", Parts: []Part{nic("eno1"), bridge("vmbr0", home, home6, "eno1")}, Dialled: both,
			Path: path("eno1", "vmbr0")},
		{Name: "both families on two bridges", Parts: []Part{nic("eno1"), nic("eno2"), bridge("vmbr0", home, nil, "eno1"),
			bridge("vmbr1", nil, home6, "eno2")}, Dialled: both, Path: path("eno1", "vmbr0", "eno2", "vmbr1")},
		{Name: "the other family is not the way", Parts: []Part{nic("eno1"), nic("eno2"), bridge("vmbr0", home, nil, "eno1"),
			bridge("vmbr1", nil, home6, "eno2")}, Dialled: four, Path: path("eno1", "vmbr0")},
		{Name: "an address on an alias", Parts: []Part{nic("eno1"), bridge("vmbr0", at("10.3.0.2/24", "10.3.0.1"), nil, "eno1"),
			{Name: "vmbr0:1", Kind: Alias, Start: true, Device: "vmbr0", Four: at("10.0.0.2/24", "")}}, Dialled: four,
			Path: path("eno1", "vmbr0", "vmbr0:1")},
		{Name: "ports that were renamed", Parts: []Part{nic("nic0"), bridge("vmbr0", home, nil, "nic0")}, Dialled: four,
			Path: path("nic0", "vmbr0"), Links: map[string][]string{"nic0": {"enp3s0", "enx001122334455"}}},
		{Name: "ports that go by their other names", Parts: []Part{nic("enp3s0"), nic("enp4s0"), bond("bond0", "active-backup", "enp3s0",
			"enp4s0"), bridge("vmbr0", home, nil, "bond0")}, Dialled: four, Path: path("enp3s0", "enp4s0", "bond0", "vmbr0"),
			Links: map[string][]string{"nic0": {"enp3s0"}, "nic1": {"enp4s0", "enx001122334466"}}},
		{Name: "Open vSwitch with a bond and a port of its own", Parts: []Part{nic("eno1"), nic("eno2"),
			{Name: "bond0", Kind: OVSBond, Device: "vmbr0", Mode: "balance-slb", Ports: []string{"eno1", "eno2"}},
			{Name: "mgmt", Kind: OVSIntPort, Device: "vmbr0", Tag: 60, Four: home},
			{Name: "vmbr0", Kind: OVSBridge, Start: true, Ports: []string{"bond0", "mgmt"}}}, Dialled: four,
			Path: path("eno1", "eno2", "bond0", "mgmt", "vmbr0")},
		{Name: "Open vSwitch with a NIC", Parts: []Part{{Name: "eno1", Kind: OVSPort, Device: "vmbr0"},
			{Name: "vmbr0", Kind: OVSBridge, Start: true, Ports: []string{"eno1"}, Four: home}}, Dialled: four, Path: path("eno1", "vmbr0")},
		{Name: "DHCP", Parts: []Part{nic("eno1"), bridge("vmbr0", dhcp, nil, "eno1")}, Dialled: four, Unknown: true},
		{Name: "settings that nobody knows", Parts: []Part{nic("eno1"), {Name: "vmbr0", Kind: Bridge, Start: true, Four: home,
			Ports: []string{"eno1"}, Lines: []string{"post-up ip rule add from 10.0.0.2 table 7", "hwaddress 02:00:00:00:00:01",
				"post-up echo up"}}}, Dialled: four, Path: path("eno1", "vmbr0")},
	}
	for i := range all {
		l := &all[i]
		free := named("vmbr9", bridge("", at("10.9.0.1/24", ""), nil, "eno9"))
		free.Comment = "guests"
		l.Parts = append(l.Parts, nic("eno8"), nic("eno9"), free)
		if l.Links == nil {
			l.Links = map[string][]string{}
			for _, p := range l.Parts {
				if p.Kind == NIC || p.Kind == OVSPort {
					l.Links[p.Name] = nil
				}
			}
		}
		l.Links["eno8"], l.Links["eno9"] = nil, nil
		l.Loose = []string{"source /etc/network/interfaces.d/*"}
	}
	return all
}
