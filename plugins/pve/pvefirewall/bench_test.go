package pvefirewall_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvefirewall"
)

// large is a node with 200 guests, of which the first has 500 rules, and 50 sets of 1,000 members.
func large(random *rand.Rand) *pvefirewall.Config {
	c := &pvefirewall.Config{Nodes: []pvefirewall.Node{measuredNode()}}
	c.Cluster.Options.Enable = 1
	for i := range 50 {
		set := pvefirewall.IPSet{Name: fmt.Sprintf("set%d", i)}
		for j := range 1000 {
			set.Members = append(set.Members, pvefirewall.Member{CIDR: fmt.Sprintf("10.%d.%d.%d/30", i, j/64, j%64*4), NoMatch: j%10 == 0})
		}
		c.Cluster.IPSets = append(c.Cluster.IPSets, set)
	}
	for id := range 200 {
		g := pvefirewall.Guest{ID: 100 + id, Options: pvefirewall.GuestOptions{Enable: pvefirewall.On},
			NICs: []pvefirewall.NIC{{Name: "net0", Bridge: "vmbr0", MAC: pvefirewall.MAC{2, 0, 0, 0, 0, byte(id)}, Firewall: true}}}
		rules := 5
		if id == 0 {
			rules = 500
		}
		for i := range rules {
			r := pvefirewall.Rule{Type: []string{"in", "out"}[i%2&min(id, 1)], Action: []string{"ACCEPT", "DROP", "REJECT"}[i%3],
				Proto: []string{"tcp", "udp"}[i/2%2], DPort: fmt.Sprint(1 + random.IntN(2000))}
			switch i % 5 {
			case 0:
				r.Source = fmt.Sprintf("+set%d", random.IntN(50))
			case 1:
				r.DPort = fmt.Sprintf("%s,%d:%d", r.DPort, 3000+i, 3005+i)
			case 2:
				r.Source = fmt.Sprintf("10.%d.0.0/16", random.IntN(50))
			case 3:
				r.Source, r.DPort = fmt.Sprintf("+set%d", random.IntN(50)), ""
			}
			g.Rules = append(g.Rules, r)
		}
		c.Nodes[0].Guests = append(c.Nodes[0].Guests, g)
	}
	return c
}

func randomPackets(random *rand.Rand, n int) []pvefirewall.Packet {
	list := make([]pvefirewall.Packet, n)
	for i := range list {
		list[i] = tcp(pvefirewall.Endpoint{Kind: pvefirewall.Outside, Device: "vmbr0"}, net0,
			fmt.Sprintf("10.%d.%d.%d", random.IntN(60), random.IntN(20), random.IntN(256)), "10.200.0.1", uint16(1+random.IntN(4000)))
		if i%2 == 1 {
			list[i].Protocol = 17
		}
	}
	return list
}

// BenchmarkEvaluate is 10,000 packets against 500 rules and 50 sets of 1,000 members, for each op one packet.
func BenchmarkEvaluate(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	f := compile(b, large(random))
	packets := randomPackets(random, 10_000)
	for name, judge := range map[string]func(pvefirewall.Packet) (pvefirewall.Result, error){"verdict": f.Evaluate, "path": f.Trace} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, err := judge(packets[i%len(packets)]); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "verdicts/s")
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	c := large(rand.New(rand.NewPCG(1, 2)))
	for b.Loop() {
		compile(b, c)
	}
}

// BenchmarkReach asks which of 199 guests reach the one with 500 rules, and on which ports.
func BenchmarkReach(b *testing.B) {
	f := compile(b, large(rand.New(rand.NewPCG(1, 2))))
	q := pvefirewall.ReachQuery{To: net0, Dest: netip.MustParseAddr("10.200.0.1")}
	for id := 101; id < 300; id++ {
		q.From = append(q.From, pvefirewall.Source{Endpoint: pvefirewall.Endpoint{Kind: pvefirewall.GuestNIC, Guest: id, NIC: "net0"},
			Address: netip.AddrFrom4([4]byte{10, byte(id % 50), 0, byte(id)})})
	}
	for b.Loop() {
		answers, err := f.Reach(q)
		if err != nil {
			b.Fatal(err)
		}
		for _, a := range answers {
			if a.Err != nil {
				b.Fatal(a.Err)
			}
		}
	}
}
