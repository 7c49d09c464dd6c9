package firewall_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/firewall"
)

func TestPorts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	some := func() (set map[firewall.Ports]bool, list []firewall.Ports) {
		set = map[firewall.Ports]bool{}
		for range random.IntN(8) {
			p := firewall.Ports{Protocol: []string{"tcp", "udp"}[random.IntN(2)], First: random.IntN(20)}
			p.Last = p.First + random.IntN(5)
			list = append(list, p)
			for port := p.First; port <= p.Last; port++ {
				set[firewall.Ports{Protocol: p.Protocol, First: port, Last: port}] = true
			}
		}
		return set, firewall.JoinPorts(list)
	}
	for range 500 {
		before, b := some()
		after, a := some()
		gained, lost := firewall.ComparePorts(b, a)
		for _, protocol := range []string{"tcp", "udp"} {
			for port := range 30 {
				one := firewall.Ports{Protocol: protocol, First: port, Last: port}
				if has(gained, one) != (after[one] && !before[one]) || has(lost, one) != (before[one] && !after[one]) {
					t.Fatalf("%v to %v gains %v and loses %v: %v", b, a, gained, lost, one)
				}
				if has(b, one) != before[one] {
					t.Fatalf("%v: %v", b, one)
				}
			}
		}
		for _, list := range [][]firewall.Ports{a, b, gained, lost} {
			if !slices.Equal(firewall.JoinPorts(list), list) {
				t.Fatalf("%v is not sorted, or touches", list)
			}
		}
	}
}

func has(list []firewall.Ports, one firewall.Ports) bool {
	return slices.ContainsFunc(list, func(p firewall.Ports) bool {
		return p.Protocol == one.Protocol && p.First <= one.First && one.Last <= p.Last
	})
}
