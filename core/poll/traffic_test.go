package poll_test

import (
	"fmt"
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// A host's traffic is what its guests' counters have grown by: a node that is away and comes back adds nothing that passed before, and
// neither does a guest that is new, begins anew, or stops.
func TestTrafficOfAHost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	type count map[int64]int64 // the counter by the guest's number; -1 for one that is not known, -2 for one that is stopped
	now := count{}
	id := f.host(func() hypervisor.Page {
		nodes := []hypervisor.Node{node("n1"), node("n2")}
		var guests []hypervisor.Guest
		for number, on := range map[int64]string{100: "n1", 101: "n1", 200: "n2", 201: "n2"} {
			in, there := now[number]
			if !there {
				continue
			}
			g := vm(number, on, fmt.Sprint(number))
			switch g.Status = hypervisor.GuestRunning; in {
			case -1:
				g.Status, nodes[1].Status = hypervisor.GuestUnknown, hypervisor.NodeOffline
			case -2:
				g.Status = hypervisor.GuestStopped
			default:
				g.NetIn = &in
			}
			guests = append(guests, g)
		}
		return report("", "n1", nodes, guests...)
	})
	p := f.poller(f.db)
	for _, step := range []struct {
		what string
		now  count
		want string
	}{
		{"first seen", count{100: 1_000_000, 200: 5_000_000}, "0"},
		{"all go on", count{100: 1_000_010, 200: 5_000_005}, "15"},
		{"a node goes away", count{100: 1_000_020, 200: -1}, "25"},
		{"it stays away", count{100: 1_000_030, 200: -1}, "35"},
		{"it is back", count{100: 1_000_040, 200: 5_900_000}, "45"},
		{"it goes on", count{100: 1_000_050, 200: 5_900_001}, "56"},
		{"new guests", count{100: 1_000_050, 101: 7_000_000, 200: 5_900_001, 201: 9}, "56"},
		{"one begins anew", count{100: 7, 101: 7_000_001, 200: 5_900_001, 201: 9}, "57"},
		{"one stops", count{100: 9, 101: -2, 200: 5_900_001, 201: 9}, "59"},
		{"one is gone", count{100: 9, 101: -2, 201: 10}, "60"},
		{"none runs", count{100: -2}, "60"},
	} {
		now = step.now
		f.sync(p, id)
		got := f.Value("SELECT coalesce(net_in::text, '-') || coalesce(net_out::text, '') FROM metric_samples WHERE target_kind = 'host' " +
			"ORDER BY at DESC LIMIT 1")
		if got != step.want {
			t.Errorf("%s: the host's counter is %s, want %s", step.what, got, step.want)
		}
	}
}
