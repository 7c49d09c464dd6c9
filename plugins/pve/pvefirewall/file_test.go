package pvefirewall_test

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvefirewall"
)

func unix(second int64) time.Time { return time.Unix(second, 0) }

func TestParse(t *testing.T) {
	t.Parallel()
	c, problems, err := pvefirewall.ParseCluster(`lost
[Options]
enable: 1
POLICY_IN: reject
log_ratelimit: enable=1,burst=10
nosuch: 1
policy_out: NO
[aliases]
one 10.0.0.1#the first
two  10.0.0.2
three 10.0.0.300
[IPSET Mixed] # comment
! 10.0.0.0/8 # comment
dc/one
a b
[rules]
|IN HTTP(DROP) -i vmbr0 --source 10.0.0.1 -dest +mixed -log err # off
OUT ACCEPT -proto tcp --dport 80 -sport 1:2 -icmp-type any
IN ACCEPT -p  tcp
IN ACCEPT -nosuch 1
GROUP web -i vmbr0
GROUP web -p tcp
IN
[group Web]
IN ACCEPT
[group web]
OUT DROP
[group 1]
IN ACCEPT
`)
	if err != nil {
		t.Fatal(err)
	}
	if c.Options.Enable != 1 || c.Options.PolicyIn != pvefirewall.Reject || c.Options.PolicyOut != 0 {
		t.Errorf("options %+v", c.Options)
	}
	if want := []pvefirewall.Alias{{Name: "one", CIDR: "10.0.0.1"}}; !slices.Equal(c.Aliases, want) {
		t.Errorf("aliases %+v", c.Aliases)
	}
	if len(c.IPSets) != 1 || c.IPSets[0].Name != "mixed" ||
		!slices.Equal(c.IPSets[0].Members, []pvefirewall.Member{{CIDR: "10.0.0.0/8", NoMatch: true}, {CIDR: "dc/one"}}) {
		t.Errorf("sets %+v", c.IPSets)
	}
	if want := []pvefirewall.Rule{
		{Type: "in", Action: "DROP", Macro: "HTTP", Disabled: true, Iface: "vmbr0", Source: "10.0.0.1", Dest: "+mixed"},
		{Type: "out", Action: "ACCEPT", Proto: "tcp", DPort: "80", SPort: "1:2", ICMPType: "any"},
		{Type: "group", Action: "web", Iface: "vmbr0"},
	}; !slices.Equal(c.Rules, want) {
		t.Errorf("rules %+v", c.Rules)
	}
	if len(c.Groups) != 1 || !slices.Equal(c.Groups[0].Rules, []pvefirewall.Rule{{Type: "out", Action: "DROP"}}) {
		t.Errorf("groups %+v", c.Groups)
	}
	var at []int
	for _, p := range problems {
		at = append(at, p.Place.Line)
	}
	if want := []int{1, 6, 7, 10, 11, 15, 19, 20, 22, 23, 28, 29}; !slices.Equal(at, want) {
		t.Errorf("problems in the lines %v, want %v: %v", at, want, problems)
	}
	var limit *pvefirewall.LimitError
	if _, _, err := pvefirewall.ParseCluster(strings.Repeat("#", pvefirewall.MaxText+1)); !errors.As(err, &limit) {
		t.Errorf("a text that is too long: %v", err)
	}
}

// Whatever is read can be compiled and asked, and the answer is the same with and without the path.
func FuzzConfiguration(f *testing.F) {
	f.Add(clusterText, hostText, guestText, uint8(6), uint16(443), "198.51.100.66", "192.0.2.5")
	f.Add("[IPSET a1]\n0.0.0.0/1\n!255.255.255.255\n::/1\n!ffff::/16\n", "", "[RULES]\nIN ACCEPT -source +a1", uint8(17),
		uint16(53), "255.255.255.255", "0.0.0.0")
	f.Add("", "[RULES]\nGROUP g", "[RULES]\nOUT Trcrt(REJECT)\nIN ACCEPT -p 0 -dport 0", uint8(58), uint16(0), "ffff::1", "::")
	f.Fuzz(func(t *testing.T, cluster, host, guest string, protocol uint8, port uint16, source, dest string) {
		c, _, err := pvefirewall.ParseCluster(cluster)
		if err != nil {
			return
		}
		c.Options.Enable = 1
		n, _, err := pvefirewall.ParseNode("n", host)
		if err != nil {
			return
		}
		g, _, err := pvefirewall.ParseGuest(100, guest)
		if err != nil {
			return
		}
		g.Options.Enable = pvefirewall.On
		g.NICs = []pvefirewall.NIC{{Name: "net0", Bridge: "vmbr0", Firewall: true, MAC: pvefirewall.MAC{2}},
			{Name: "net1", Bridge: "vmbr1", Firewall: true}}
		n.Guests = []pvefirewall.Guest{g}
		from, err := netip.ParseAddr(source)
		to, err2 := netip.ParseAddr(dest)
		if err != nil || err2 != nil {
			return
		}
		firewall, err := pvefirewall.Compile(&pvefirewall.Config{Cluster: c, Nodes: []pvefirewall.Node{n}})
		if err != nil {
			return
		}
		ends := []pvefirewall.Endpoint{{Kind: pvefirewall.Host}, {Kind: pvefirewall.Outside, Device: "vmbr0"}, net0, net1}
		for _, a := range ends {
			for _, b := range ends {
				p := pvefirewall.Packet{From: a, To: b, Source: from, Dest: to, Protocol: protocol, SourcePort: 40000, DestPort: port,
					ICMPType: uint8(port), Code: uint8(port >> 8)}
				quick, err := firewall.Evaluate(p)
				traced, err2 := firewall.Trace(p)
				if (err == nil) != (err2 == nil) {
					t.Fatalf("%v, but traced %v", err, err2)
				}
				if err == nil {
					sameAnswer(t, quick, traced)
				}
			}
		}
	})
}
