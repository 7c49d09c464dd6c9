package pvefirewall_test

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvefirewall"
)

// Two nodes, three guests, and something of everything.
const clusterText = `[OPTIONS]

enable: 1
policy_in: REJECT

[ALIASES]

office 198.51.100.0/24 # where people are
Shadow 203.0.113.7

[IPSET admins]

office
!198.51.100.66
192.0.2.0/25
!192.0.2.64/26
192.0.2.80/28

[IPSET blacklist]

203.0.113.128/25

[IPSET management]

198.51.100.8

[RULES]

IN ACCEPT -i vmbr1 -source +admins -p tcp -dport 9090
GROUP web -i vmbr1
OUT DROP -p udp -dport 123

[group web]

IN HTTPS(ACCEPT)
|IN ACCEPT -p tcp -dport 80
IN DROP -p tcp -dport 8080:8090,9443
OUT REJECT -p tcp -dport 25
`

const hostText = `[OPTIONS]

nosmurfs: 1

[RULES]

IN DROP -source 198.51.100.9 -p tcp -dport 22
IN Ping(ACCEPT)
`

const guestText = `[OPTIONS]

enable: 1
policy_out: REJECT

[ALIASES]

shadow 203.0.113.9

[RULES]

IN ACCEPT -source shadow -p tcp -dport 5432
IN ACCEPT -source dc/shadow -p tcp -dport 5433
GROUP web
IN ACCEPT -i net1 -p udp -sport 1024:65535 -dport 514
IN SSH(ACCEPT) -source +dc/admins
IN ACCEPT -source +nothing -p tcp -dport 1
OUT ACCEPT -dest 192.0.2.10-192.0.2.20 -p tcp
`

func configuration(t testing.TB) *pvefirewall.Config {
	t.Helper()
	read := func(problems []pvefirewall.Problem, err error) {
		t.Helper()
		if err != nil || len(problems) > 0 {
			t.Fatal(problems, err)
		}
	}
	cluster, problems, err := pvefirewall.ParseCluster(clusterText)
	read(problems, err)
	one, problems, err := pvefirewall.ParseNode("one", hostText)
	read(problems, err)
	one.Addresses, one.LocalNetwork = addresses("10.0.0.1/24", "fd00::1/64"), netip.MustParsePrefix("10.0.0.0/24")
	guest, problems, err := pvefirewall.ParseGuest(100, guestText)
	read(problems, err)
	guest.NICs = []pvefirewall.NIC{
		{Name: "net0", Bridge: "vmbr0", MAC: pvefirewall.MAC{2, 0, 0, 0, 0, 1}, Firewall: true},
		{Name: "net1", Bridge: "vmbr1", MAC: pvefirewall.MAC{2, 0, 0, 0, 0, 2}, Firewall: true},
		{Name: "net2", Bridge: "vmbr0"},
	}
	container := pvefirewall.Guest{ID: 200, Container: true,
		Options: pvefirewall.GuestOptions{Enable: pvefirewall.On, IPFilter: pvefirewall.On},
		NICs: []pvefirewall.NIC{{Name: "net0", Bridge: "vmbr0", MAC: pvefirewall.MAC{2, 0, 0, 0, 0, 3}, Firewall: true,
			Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.15"), netip.MustParseAddr("fd00::15")}}}}
	off := pvefirewall.Guest{ID: 300, NICs: []pvefirewall.NIC{
		{Name: "net0", Bridge: "vmbr0", MAC: pvefirewall.MAC{2, 0, 0, 0, 0, 4}, Firewall: true}}}
	one.Guests = []pvefirewall.Guest{guest, off}
	two := pvefirewall.Node{Name: "two", Addresses: addresses("10.0.0.2/24"), LocalNetwork: netip.MustParsePrefix("10.0.0.0/24"),
		Guests: []pvefirewall.Guest{container}}
	return &pvefirewall.Config{Cluster: cluster, Nodes: []pvefirewall.Node{one, two}, Corosync: &pvefirewall.Corosync{Transport: "knet",
		Nodes: []pvefirewall.CorosyncNode{{Name: "one", Rings: []netip.Addr{netip.MustParseAddr("10.0.0.1")}},
			{Name: "two", Rings: []netip.Addr{netip.MustParseAddr("10.0.0.2")}}}}}
}

// Ends of packets.
var (
	net0      = pvefirewall.Endpoint{Kind: pvefirewall.GuestNIC, Guest: 100, NIC: "net0"}
	net1      = pvefirewall.Endpoint{Kind: pvefirewall.GuestNIC, Guest: 100, NIC: "net1"}
	net2      = pvefirewall.Endpoint{Kind: pvefirewall.GuestNIC, Guest: 100, NIC: "net2"}
	container = pvefirewall.Endpoint{Kind: pvefirewall.GuestNIC, Guest: 200, NIC: "net0"}
	offGuest  = pvefirewall.Endpoint{Kind: pvefirewall.GuestNIC, Guest: 300, NIC: "net0"}
	hostOne   = pvefirewall.Endpoint{Kind: pvefirewall.Host, Node: "one"}
	hostTwo   = pvefirewall.Endpoint{Kind: pvefirewall.Host, Node: "two"}
	vmbr0     = pvefirewall.Endpoint{Kind: pvefirewall.Outside, Node: "one", Device: "vmbr0"}
	vmbr1     = pvefirewall.Endpoint{Kind: pvefirewall.Outside, Node: "one", Device: "vmbr1"}
	vmbr0two  = pvefirewall.Endpoint{Kind: pvefirewall.Outside, Node: "two", Device: "vmbr0"}
)

func tcp(from, to pvefirewall.Endpoint, source, dest string, port uint16) pvefirewall.Packet {
	return pvefirewall.Packet{From: from, To: to, Source: netip.MustParseAddr(source), Dest: netip.MustParseAddr(dest), Protocol: 6,
		SourcePort: 40000, DestPort: port}
}

func udp(from, to pvefirewall.Endpoint, source, dest string, sport, dport uint16) pvefirewall.Packet {
	p := tcp(from, to, source, dest, dport)
	p.Protocol, p.SourcePort = 17, sport
	return p
}

func icmp(from, to pvefirewall.Endpoint, source, dest string, kind uint8) pvefirewall.Packet {
	p := tcp(from, to, source, dest, 0)
	p.Protocol, p.ICMPType = 1, kind
	if p.Source.Is6() {
		p.Protocol = 58
	}
	return p
}

func with(p pvefirewall.Packet, change func(p *pvefirewall.Packet)) pvefirewall.Packet {
	change(&p)
	return p
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	f := compile(t, configuration(t))
	const any4, guest4 = "1.2.3.4", "192.0.2.5"
	for name, c := range map[string]struct {
		packet pvefirewall.Packet
		want   string
	}{
		"alias of the guest":       {tcp(vmbr0, net0, "203.0.113.9", guest4, 5432), "guest-in:100 ACCEPT by guest:100 0"},
		"alias that is shadowed":   {tcp(vmbr0, net0, "203.0.113.7", guest4, 5432), "guest-in:100 DROP by policy"},
		"alias of the cluster":     {tcp(vmbr0, net0, "203.0.113.7", guest4, 5433), "guest-in:100 ACCEPT by guest:100 1"},
		"group by a macro":         {tcp(vmbr0, net0, any4, guest4, 443), "guest-in:100 ACCEPT by group:web 0 via guest:100 2"},
		"disabled rule of a group": {tcp(vmbr0, net0, any4, guest4, 80), "guest-in:100 DROP by policy"},
		"list of ports":            {tcp(vmbr0, net0, any4, guest4, 8085), "guest-in:100 DROP by group:web 2 via guest:100 2"},
		"interface of the guest":   {udp(vmbr1, net1, any4, guest4, 2000, 514), "guest-in:100 ACCEPT by guest:100 3"},
		"another interface":        {udp(vmbr0, net0, any4, guest4, 2000, 514), "guest-in:100 DROP by policy"},
		"another source port":      {udp(vmbr1, net1, any4, guest4, 1000, 514), "guest-in:100 DROP by policy"},
		"set by an alias":          {tcp(vmbr0, net0, "198.51.100.65", guest4, 22), "guest-in:100 ACCEPT by guest:100 4"},
		"nomatch":                  {tcp(vmbr0, net0, "198.51.100.66", guest4, 22), "guest-in:100 DROP by policy"},
		"nomatch in a network":     {tcp(vmbr0, net0, "192.0.2.70", guest4, 22), "guest-in:100 DROP by policy"},
		"included again":           {tcp(vmbr0, net0, "192.0.2.90", guest4, 22), "guest-in:100 ACCEPT by guest:100 4"},
		"behind the included":      {tcp(vmbr0, net0, "192.0.2.96", guest4, 22), "guest-in:100 DROP by policy"},
		"rule that is invalid":     {tcp(vmbr0, net0, any4, guest4, 1), "guest-in:100 DROP by policy"},
		"blacklist":                {tcp(vmbr0, net0, "203.0.113.200", guest4, 443), "guest-in:100 DROP by blacklist"},
		"blacklist, guest off":     {tcp(vmbr0, offGuest, "203.0.113.200", guest4, 443), "guest-in:300 DROP by blacklist"},
		"guest off":                {tcp(vmbr0, offGuest, any4, guest4, 443), "guest-in:300 ACCEPT by guest-firewall-off"},
		"NIC without firewall":     {tcp(vmbr0, net2, "203.0.113.200", guest4, 443), "guest-in:100 ACCEPT by nic-firewall-off"},
		"smurf":                    {udp(vmbr0, net0, "10.0.0.255", guest4, 1, 2), "guest-in:100 DROP by smurfs"},
		"DHCP reply":               {udp(vmbr0, net0, any4, guest4, 67, 68), "guest-in:100 ACCEPT by dhcp"},
		"neighbour":                {icmp(vmbr0, net0, "fe80::1", "fd00::5", 135), "guest-in:100 ACCEPT by ndp"},
		"invalid flags": {with(tcp(vmbr0, net0, any4, guest4, 443), func(p *pvefirewall.Packet) { p.Flags = pvefirewall.NoFlags }),
			"guest-in:100 DROP by conntrack-invalid"},
		"invalid flags, nothing checks": {with(tcp(vmbr0, vmbr1, any4, guest4, 443), func(p *pvefirewall.Packet) {
			p.Flags = pvefirewall.FlagFIN
		}), "forward DROP by conntrack-invalid"},
		"nothing checks":           {tcp(vmbr0, vmbr1, any4, guest4, 443), ""},
		"range":                    {tcp(net0, vmbr0, guest4, "192.0.2.20", 1), "guest-out:100 ACCEPT by guest:100 6"},
		"beyond the range":         {tcp(net0, vmbr0, guest4, "192.0.2.21", 1), "guest-out:100 REJECT by policy"},
		"group, out":               {tcp(net0, vmbr0, guest4, "192.0.2.20", 25), "guest-out:100 REJECT by group:web 3 via guest:100 2"},
		"policy with an exception": {udp(net0, vmbr0, guest4, any4, 53, 1), "guest-out:100 DROP by policy/dns-reply"},
		"SMB":                      {tcp(net0, vmbr0, guest4, any4, 445), "guest-out:100 REJECT by policy/smb"},
		"REJECT of ICMP is silent": {icmp(net0, vmbr0, guest4, any4, 8), "guest-out:100 DROP by policy"},
		"fragmentation needed": {with(icmp(net0, vmbr0, guest4, any4, 3), func(p *pvefirewall.Packet) { p.Code = 4 }),
			"guest-out:100 ACCEPT by policy/icmp-accepted"},
		"another MAC": {with(tcp(net0, vmbr0, guest4, "192.0.2.20", 1), func(p *pvefirewall.Packet) { p.SourceMAC = pvefirewall.MAC{2, 6} }),
			"guest-out:100 DROP by macfilter"},
		"DHCP passes before the MAC": {with(udp(net0, vmbr0, "0.0.0.0", "255.255.255.255", 68, 67), func(p *pvefirewall.Packet) {
			p.SourceMAC = pvefirewall.MAC{2, 6}
		}), "guest-out:100 ACCEPT by dhcp"},
		"router advertisement":       {icmp(container, vmbr0two, "fd00::15", "ff02::1", 134), "guest-out:200 DROP by radv"},
		"address of a container":     {tcp(container, vmbr0two, "192.0.2.15", any4, 1), "guest-out:200 ACCEPT by policy"},
		"address of someone else":    {tcp(container, vmbr0two, "192.0.2.16", any4, 1), "guest-out:200 DROP by ipfilter"},
		"link-local of the MAC":      {tcp(container, vmbr0two, "fe80::ff:fe00:3", "fe80::1", 1), "guest-out:200 ACCEPT by policy"},
		"link-local of someone else": {tcp(container, vmbr0two, "fe80::1:2", "fe80::1", 1), "guest-out:200 DROP by ipfilter"},
		"interface of the node":      {tcp(vmbr1, hostOne, "198.51.100.1", "10.0.0.1", 9090), "host-in ACCEPT by cluster 0"},
		"another of the node":        {tcp(vmbr0, hostOne, "198.51.100.1", "10.0.0.1", 9090), "host-in REJECT by policy"},
		"group of the node":          {tcp(vmbr1, hostOne, any4, "10.0.0.1", 443), "host-in ACCEPT by group:web 0 via cluster 1"},
		"node before cluster":        {tcp(vmbr1, hostOne, "198.51.100.9", "10.0.0.1", 22), "host-in DROP by host 0"},
		"management, own set":        {tcp(vmbr0, hostOne, "198.51.100.8", "10.0.0.1", 8006), "host-in ACCEPT by management"},
		"management, local network":  {tcp(vmbr0, hostOne, "10.0.0.77", "10.0.0.1", 60001), "host-in ACCEPT by management"},
		"management, others":         {tcp(vmbr0, hostOne, any4, "10.0.0.1", 8006), "host-in REJECT by policy"},
		"ping to the node":           {icmp(vmbr0, hostOne, any4, "10.0.0.1", 8), "host-in ACCEPT by host 1"},
		"ping, IPv6":                 {icmp(vmbr0, hostOne, "2001:db8::1", "fd00::1", 128), "host-in ACCEPT by host 1"},
		"tcp 43 of IPv6":             {tcp(vmbr0, hostOne, "2001:db8::1", "fd00::1", 43), "host-in REJECT by policy/tcp-43"},
		"igmp": {with(tcp(vmbr0, hostOne, any4, "224.0.0.1", 0), func(p *pvefirewall.Packet) { p.Protocol = 2 }),
			"host-in ACCEPT by igmp"},
		"from the node": {udp(hostOne, vmbr0, "10.0.0.1", any4, 123, 123), "host-out DROP by cluster 2"},
		"from node to node": {udp(hostOne, hostTwo, "10.0.0.1", "10.0.0.2", 5405, 5405),
			"host-out ACCEPT by corosync, host-in ACCEPT by corosync"},
		"corosync from elsewhere": {udp(vmbr0, hostOne, "10.0.0.3", "10.0.0.1", 5405, 5405), "host-in REJECT by policy"},
		"to a node from its own guest, with the mark": {tcp(net0, hostOne, guest4, "192.0.2.12", 7),
			"guest-out:100 ACCEPT by guest:100 6, host-in ACCEPT by mark-left-by-guest-out via cluster 1"},
		"to another node there is no mark": {tcp(net0, hostTwo, guest4, "192.0.2.12", 7),
			"guest-out:100 ACCEPT by guest:100 6, host-in REJECT by policy"},
		"guest to guest of another node": {tcp(container, net0, "192.0.2.15", guest4, 443),
			"guest-out:200 ACCEPT by policy, guest-in:100 ACCEPT by group:web 0 via guest:100 2"},
		"node to its guest": {tcp(hostOne, net0, "10.0.0.1", guest4, 9),
			"host-out ACCEPT by policy, guest-in:100 DROP by policy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			quick, err := f.Evaluate(c.packet)
			if err != nil {
				t.Fatal(err)
			}
			if got := path(quick); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			traced, err := f.Trace(c.packet)
			if err != nil {
				t.Fatal(err)
			}
			sameAnswer(t, quick, traced)
		})
	}
}

// The path says of each rule, in order, why it did not decide.
func TestTraceSaysWhy(t *testing.T) {
	t.Parallel()
	f := compile0(t, configuration(t))
	r, err := f.Trace(tcp(vmbr0, net0, "192.0.2.70", "192.0.2.5", 22))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range r.Stages[0].Steps {
		name := s.Builtin.String()
		if s.Builtin == 0 {
			name = s.Rule.Scope.String() + " " + string(rune('0'+s.Rule.Position))
		}
		if s.Part > 0 {
			name += " part " + string(rune('0'+s.Part))
		}
		got = append(got, name+": "+s.Reason.String())
	}
	want := []string{"conntrack-invalid: not-met", "blacklist: not-met", "smurfs: not-met", "dhcp: not-met", "guest:100 0: dest-port",
		"guest:100 1: dest-port", "group:web 0 part 1: dest-port", "group:web 1: disabled", "group:web 2: dest-port",
		"group:web 3: direction", "guest:100 2: group-passed", "guest:100 3: interface", "guest:100 4 part 1: source-nomatch",
		"guest:100 5: invalid", "guest:100 6: direction", "policy: matched"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// compile0 compiles whatever fails to load.
func compile0(t testing.TB, c *pvefirewall.Config) *pvefirewall.Firewall {
	t.Helper()
	f, err := pvefirewall.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestClusterEnable(t *testing.T) {
	t.Parallel()
	c := configuration(t)
	packet := tcp(vmbr0, net0, "1.2.3.4", "192.0.2.5", 9)
	for _, at := range []struct {
		enable, now int64
		off         bool
	}{{0, 0, true}, {1, 0, false}, {1000, 1060, false}, {1000, 1061, true}} {
		c.Cluster.Options.Enable, c.Now = at.enable, unix(at.now)
		r, err := compile(t, c).Evaluate(packet)
		if err != nil {
			t.Fatal(err)
		}
		if off := r.By.Builtin == pvefirewall.ClusterOff; off != at.off || off != (r.Verdict == pvefirewall.Accept) {
			t.Errorf("enable %d at %d: %s by %s", at.enable, at.now, r.Verdict, decision(r.By))
		}
	}
}

// Rules that Proxmox takes and skips.
func TestProblems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"IN ACCEPT -source +nosuchset":                                   "source: no such ipset 'nosuchset'",
		"IN ACCEPT -source +guest/admins":                                "no such ipset 'admins'",
		"IN ACCEPT -dest nosuch":                                         "dest: no such alias 'nosuch'",
		"IN ACCEPT -source guest/office":                                 "no such alias 'guest/office'",
		"IN ACCEPT -source 10.0.0.5/24":                                  "source: invalid IP address",
		"IN ACCEPT -source 10.0.0.9-10.0.0.1":                            "source: invalid IP address",
		"IN ACCEPT -source 10.0.0.1-10.0.0.9,10.1.1.1":                   "source: you can't use a range in a list",
		"IN ACCEPT -source 10.0.0.1,fd00::1":                             "source: detected mixed ipv4/ipv6",
		"IN ACCEPT -source office -dest fd00::1":                         "dest: detected mixed ipv4/ipv6",
		"IN ACCEPT -source fd00::1 -p icmp":                              "source: detected mixed ipv4/ipv6",
		"IN ACCEPT -dport 80":                                            "proto: missing property",
		"IN ACCEPT -p gre -dport 80":                                     "dport: protocol 'gre' does not support ports",
		"IN ACCEPT -p tcp -dport 90:80":                                  "dport: backwards range '90:80'",
		"IN ACCEPT -p tcp -dport 65536":                                  "dport: invalid port '65536'",
		"IN ACCEPT -p tcp -dport 80,":                                    "dport: extraneous commas",
		"IN ACCEPT -p tcp -dport 1:2,3:4,5:6,7:8,9:10,11:12,13:14,15:16": "dport: too many entries",
		"IN ACCEPT -p tcp -dport nosuchport":                             "dport: invalid port 'nosuchport'",
		"IN ACCEPT -p icmp -dport 300":                                   "unknown icmp-type '300'",
		"IN ACCEPT -p ipv6-icmp -dport echo-request":                     "protocol ipv6-icmp does not have ports",
		"IN ACCEPT -p icmp -icmp-type no-route":                          "icmp-type: invalid icmp-type 'no-route'",
		"IN ACCEPT -p icmp -dport 8 -icmp-type echo-reply":               "icmp-type: 'icmp-type' cannot be specified",
		"IN ACCEPT -p nosuch":                                            "proto: unknown protocol 'nosuch'",
		"IN Nosuch(ACCEPT)":                                              "macro: unknown macro 'Nosuch'",
		"IN HTTP(ACCEPT) -p udp":                                         "proto: parameter 'proto' already define in macro",
		"IN ACCEPT -i vmbr0":                                             "iface: value does not match",
		"FORWARD ACCEPT":                                                 "type: invalid rule type 'forward'",
		"IN accept":                                                      "action: unknown action 'accept'",
		"GROUP 1x":                                                       "action: invalid characters",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			c := configuration(t)
			g, problems, err := pvefirewall.ParseGuest(100, "[RULES]\n"+text+"\n")
			if err != nil || len(problems) > 0 || len(g.Rules) != 1 {
				t.Fatal(problems, err)
			}
			c.Nodes[0].Guests[0].Rules = append(g.Rules, pvefirewall.Rule{Type: "in", Action: "ACCEPT"})
			f := compile(t, c)
			found := f.Problems()
			if len(found) == 0 {
				t.Fatal("there is no problem")
			}
			if got := found[0].String(); !strings.Contains(got, want) || !strings.HasPrefix(got, "guest:100 rules 0: ") {
				t.Errorf("got %q, want %q", got, want)
			}
			r, err := f.Evaluate(udp(vmbr0, net0, "1.2.3.4", "192.0.2.5", 1, 2))
			if err != nil || decision(r.By) != "guest:100 1" {
				t.Errorf("the rule is not skipped: %v, %v", decision(r.By), err)
			}
		})
	}
}

// What the kernel would not load: the old rules stay, and nobody knows them.
func TestNotJudged(t *testing.T) {
	t.Parallel()
	packet4, packet6 := tcp(vmbr0, net0, "1.2.3.4", "192.0.2.5", 9), tcp(vmbr0, net0, "2001:db8::1", "fd00::5", 9)
	for name, c := range map[string]struct {
		change func(c *pvefirewall.Config)
		want   string // of IPv6
		only6  bool
	}{
		"udplite": {guestRule("IN ACCEPT -p udplite -dport 80"), "node one: IPv4 rules: guest:100 rules 0: udplite", false},
		"udplite in IPv6": {guestRule("IN ACCEPT -p udplite -dport 80 -source fd00::1"), "node one: IPv6 rules: guest:100 rules 0: udplite",
			true},
		"a service of another protocol": {guestRule("IN ACCEPT -p tcp -dport ntp"), "service ntp is unknown for tcp", false},
		"one network twice": {func(c *pvefirewall.Config) {
			c.Cluster.IPSets = append(c.Cluster.IPSets, pvefirewall.IPSet{Name: "twice", Members: []pvefirewall.Member{{CIDR: "10.1.0.5/24"},
				{CIDR: "10.1.0.6/24", NoMatch: true}}})
		}, `node one: IP sets: cluster ipset "twice": two members are the same network: 10.1.0.0/24`, false},
		"the local network twice": {func(c *pvefirewall.Config) {
			c.Cluster.IPSets[2].Members = append(c.Cluster.IPSets[2].Members, pvefirewall.Member{CIDR: "10.0.0.5/24"})
		}, "two members are the same network: 10.0.0.0/24", false},
		"nftables": {func(c *pvefirewall.Config) { c.Nodes[0].Options.NFTables = pvefirewall.On }, "nftables", false},
		"a group in which Proxmox stops": {func(c *pvefirewall.Config) {
			c.Cluster.Groups[0].Rules[0] = pvefirewall.Rule{Type: "in", Action: "ACCEPT", Proto: "icmp", DPort: "300"}
		}, "compiling rules: guest:100 rules 2: rule 0 of the group web", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := configuration(t)
			c.change(config)
			f := compile0(t, config)
			var failure *pvefirewall.UndecidedError
			if _, err := f.Evaluate(packet6); !errors.As(err, &failure) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("IPv6: %v, want %q", err, c.want)
			}
			if _, err := f.Evaluate(packet4); (err == nil) != c.only6 {
				t.Errorf("IPv4: %v", err)
			}
			if len(f.Failures()) == 0 {
				t.Error("there is no failure")
			}
		})
	}
	// What is not in force is not loaded either.
	config := configuration(t)
	guestRule("IN ACCEPT -p udplite -dport 80 -i net2")(config)
	if _, err := compile(t, config).Evaluate(packet4); err != nil {
		t.Error(err)
	}
}

func guestRule(text string) func(c *pvefirewall.Config) {
	return func(c *pvefirewall.Config) {
		g, _, err := pvefirewall.ParseGuest(100, "[RULES]\n"+text)
		if err != nil || len(g.Rules) != 1 {
			panic(text)
		}
		c.Nodes[0].Guests[0].Rules = append(g.Rules, c.Nodes[0].Guests[0].Rules...)
	}
}

func TestHostileConfigurations(t *testing.T) {
	t.Parallel()
	var limit *pvefirewall.LimitError
	var broken *pvefirewall.ConfigError
	many := configuration(t)
	many.Cluster.Rules = make([]pvefirewall.Rule, pvefirewall.MaxRules/2+1)
	if _, err := pvefirewall.Compile(many); !errors.As(err, &limit) {
		t.Errorf("too many rules: %v", err)
	}
	members := configuration(t)
	members.Cluster.IPSets[0].Members = make([]pvefirewall.Member, pvefirewall.MaxMembers)
	if _, err := pvefirewall.Compile(members); !errors.As(err, &limit) {
		t.Errorf("too many members: %v", err)
	}
	twice := configuration(t)
	twice.Nodes[1].Guests = twice.Nodes[0].Guests
	if _, err := pvefirewall.Compile(twice); !errors.As(err, &broken) {
		t.Errorf("a guest on two nodes: %v", err)
	}
	nic := configuration(t)
	nic.Nodes[0].Guests[0].NICs[0].Name = "net32"
	if _, err := pvefirewall.Compile(nic); !errors.As(err, &broken) {
		t.Errorf("a NIC that cannot be: %v", err)
	}
	// A group that jumps into itself is an invalid rule.
	recursive := configuration(t)
	recursive.Cluster.Groups[0].Rules = []pvefirewall.Rule{{Type: "group", Action: "web"}}
	if p := compile(t, recursive).Problems(); len(p) == 0 || p[0].Place.Scope.Group != "web" {
		t.Errorf("a recursive group: %v", p)
	}
	// So many jumps into so large a group would take minutes for each packet, were they all made.
	deep := configuration(t)
	deep.Cluster.Groups[0].Rules = slices.Repeat(deep.Cluster.Groups[0].Rules, 5000)
	jumps := slices.Repeat([]pvefirewall.Rule{{Type: "group", Action: "web"}}, 100_000)
	deep.Nodes[0].Guests[0].Rules = jumps
	if r, err := compile(t, deep).Trace(tcp(vmbr0, net0, "1.2.3.4", "192.0.2.5", 9)); err != nil || decision(r.By) != "policy" ||
		len(r.Stages[0].Steps) < len(jumps) {
		t.Errorf("many jumps: %v by %s", err, decision(r.By))
	}
	long := configuration(t)
	long.Nodes[0].Rules[0].Source = strings.Repeat("1.2.3.4,", 1<<20)
	if p := compile(t, long).Problems(); !slices.ContainsFunc(p, func(p pvefirewall.Problem) bool { return p.Field == "source" }) {
		t.Errorf("a long field: %v", p)
	}
	f := compile(t, configuration(t))
	for _, p := range []pvefirewall.Packet{{}, tcp(vmbr0, net0, "1.2.3.4", "fd00::1", 1),
		tcp(vmbr0, pvefirewall.Endpoint{Kind: pvefirewall.GuestNIC, Guest: 9}, "1.2.3.4", "1.2.3.5", 1),
		tcp(pvefirewall.Endpoint{Kind: pvefirewall.Outside, Node: "nowhere"}, net0, "1.2.3.4", "1.2.3.5", 1),
		tcp(pvefirewall.Endpoint{Kind: pvefirewall.Outside}, pvefirewall.Endpoint{Kind: pvefirewall.Outside}, "1.2.3.4", "1.2.3.5", 1)} {
		if _, err := f.Evaluate(p); !errors.Is(err, pvefirewall.ErrPacket) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}
