package pvefirewall_test

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvefirewall"
)

// Reach answers for every port what Evaluate answers for it.
func TestReachIsEvaluateOfAllPorts(t *testing.T) {
	t.Parallel()
	f := compile(t, configuration(t))
	address := netip.MustParseAddr
	for _, to := range []struct {
		end  pvefirewall.Endpoint
		dest string
	}{{net0, "192.0.2.5"}, {hostOne, "10.0.0.1"}, {hostTwo, "10.0.0.2"}, {offGuest, "192.0.2.6"}, {net1, "192.0.2.12"}} {
		from := []pvefirewall.Source{{Endpoint: container, Address: address("192.0.2.15")},
			{Endpoint: container, Address: address("192.0.2.16")},
			{Endpoint: net1, Address: address("192.0.2.99")}, {Endpoint: vmbr1, Address: address("198.51.100.1")},
			{Endpoint: vmbr0, Address: address("203.0.113.9")}, {Endpoint: hostOne, Address: address("10.0.0.1")}}
		answers, err := f.Reach(pvefirewall.ReachQuery{To: to.end, Dest: address(to.dest), From: from})
		if err != nil || len(answers) != len(from) {
			t.Fatal(err)
		}
		for i, a := range answers {
			if a.Err != nil || a.From != from[i] {
				t.Fatalf("%+v: %v", a.From, a.Err)
			}
			open := map[uint8]*[65536]bool{6: {}, 17: {}}
			for _, r := range a.Open {
				for port := int(r.First); port <= int(r.Last); port++ {
					open[r.Protocol][port] = true
				}
			}
			for protocol, ports := range open {
				p := pvefirewall.Packet{From: a.From.Endpoint, To: to.end, Source: a.From.Address, Dest: address(to.dest), Protocol: protocol,
					SourcePort: 40000}
				for port := range ports {
					p.DestPort = uint16(port)
					r, err := f.Evaluate(p)
					if err != nil {
						t.Fatal(err)
					}
					if (r.Verdict == pvefirewall.Accept) != ports[port] {
						t.Fatalf("%+v to %+v: protocol %d port %d: %s, but reachable is %v", a.From, to, protocol, port, path(r), ports[port])
					}
				}
			}
		}
	}
}

func TestReachIsBounded(t *testing.T) {
	t.Parallel()
	f := compile(t, configuration(t))
	var limit *pvefirewall.LimitError
	q := pvefirewall.ReachQuery{To: net0, Dest: netip.MustParseAddr("192.0.2.5"),
		From: make([]pvefirewall.Source, pvefirewall.MaxSources+1)}
	if _, err := f.Reach(q); !errors.As(err, &limit) {
		t.Errorf("too many senders: %v", err)
	}
	q.From = q.From[:1]
	if a, err := f.Reach(q); err != nil || !errors.Is(a[0].Err, pvefirewall.ErrPacket) {
		t.Errorf("a sender that is none: %v, %v", a, err)
	}
}
