package lxd_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// The inventory of 150 guests takes the same requests as that of 3, and never the list that reads each guest.
func TestRealRequestsOfAnInventory(t *testing.T) {
	t.Parallel()
	server := lxdtest.New(t) // with no guests of other tests
	f := newFixture(t, server, "many")
	few := f.inventories(t, 3)
	many := f.inventories(t, 150)
	if !slices.Equal(few, many) {
		t.Errorf("the requests are\n%s\nfor 3 guests and\n%s\nfor 150", strings.Join(few, "\n"), strings.Join(many, "\n"))
	}
	for _, r := range many {
		if strings.Contains(r, "recursion=2") || !strings.HasPrefix(r, "GET ") {
			t.Error(r)
		}
	}
	t.Logf("requests of one poll without and with detail, each with a certificate that is not restricted and one that is:\n%s",
		strings.Join(many, "\n"))
}

// inventories has so many guests, reads inventories and gives what was asked for.
func (f *fixture) inventories(t *testing.T, guests int) []string {
	t.Helper()
	have := len(f.list(t.Context(), t))
	for i := have; i < guests; i++ {
		if err := f.Do(t.Context(), http.MethodPost, "/1.0/instances?project="+url.QueryEscape(f.project), map[string]any{
			"name": fmt.Sprintf("e%d", i), "source": map[string]string{"type": "none"}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	var requests []string
	for _, target := range []endpoint.Target{f.Trusted(t), f.Trusted(t, f.project)} {
		p := newProxy(t, with(target, endpoint.Monitoring))
		for _, detail := range []bool{false, true} {
			all := mustGather(t, open(t, f.driver, p.target), hypervisor.InventoryQuery{Detail: detail})
			if len(all.Guests) != guests || len(all.Nodes) != 1 || len(all.Storages) != 1 {
				t.Errorf("%d guests, %d nodes, %d storages", len(all.Guests), len(all.Nodes), len(all.Storages))
			}
			asked := p.take()
			if most := map[bool]int{false: 4, true: 7}[detail]; len(asked) > most {
				t.Errorf("%d requests: %q", len(asked), asked)
			}
			for i, r := range asked {
				if strings.HasPrefix(r, "GET /1.0/certificates/") {
					asked[i] = "GET /1.0/certificates/own"
				}
			}
			slices.Sort(asked) // figures are asked for at the same time
			requests = append(requests, asked...)
		}
	}
	return requests
}

// What an inventory says of guests that run, are frozen and stopped, with and without detail.
func TestRealInventory(t *testing.T) {
	t.Parallel()
	f := newFixture(t, lxdtest.Shared(t), "inventory")
	running, frozen := f.container(t, hypervisor.GuestRunning, lxdtest.Tiny), f.container(t, hypervisor.GuestRunning, lxdtest.Tiny)
	stopped := f.container(t, hypervisor.GuestStopped, lxdtest.Tiny)
	if result := f.act(t, frozen, hypervisor.Pause); !result.OK() {
		t.Fatal(result)
	}
	host := f.host(t, endpoint.Monitoring)
	status := map[hypervisor.GuestRef]string{
		running: hypervisor.GuestRunning, frozen: hypervisor.GuestPaused, stopped: hypervisor.GuestStopped,
	}
	cheap := mustGather(t, host, hypervisor.InventoryQuery{})
	if c := cheap.Cluster; !c.StatesOnly || !c.Partial || !c.Quorate || c.Entry != f.node || c.ID != "" || c.Name != "" {
		t.Errorf("%+v", c)
	}
	for _, g := range cheap.Guests {
		if g.Status != status[g.GuestRef] || g.Pool != f.project || g.CPUSeconds != nil || g.Memory != nil || g.NetIn != nil ||
			(g.Uptime != nil) != (g.GuestRef != stopped) {
			t.Errorf("%+v", g)
		}
	}
	if n := cheap.Nodes[0]; n.Memory != nil || n.Status != hypervisor.NodeOnline || cheap.Storages[0].Used != nil || len(cheap.Guests) != 3 {
		t.Errorf("%+v, %+v", n, cheap.Storages)
	}
	var detailed hypervisor.Page
	measured := func(ref hypervisor.GuestRef) *hypervisor.Guest {
		i := slices.IndexFunc(detailed.Guests, func(g hypervisor.Guest) bool { return g.GuestRef == ref })
		return &detailed.Guests[i]
	}
	waittest.Until(t, "the figures", func() bool { // an older answer may be kept for 8 s
		detailed = mustGather(t, host, hypervisor.InventoryQuery{Detail: true})
		return measured(running).CPUSeconds != nil && measured(frozen).CPUSeconds != nil
	})
	if g := measured(running); g.Memory == nil || g.MemoryTotal == nil || g.NetIn == nil || g.NetOut == nil || g.CPUs == nil ||
		g.Disk != nil {
		t.Errorf("%+v", g)
	}
	if g := measured(stopped); g.Memory != nil || g.CPUSeconds != nil || g.Uptime != nil || g.CPUs == nil {
		t.Errorf("%+v", g)
	}
	n, s := detailed.Nodes[0], detailed.Storages[0]
	if detailed.Cluster.StatesOnly || n.CPUs == nil || n.Memory == nil || s.Used == nil || *s.Used > *s.Total || s.Type != "dir" ||
		s.Shared || s.Status != "available" || s.Node != f.node {
		t.Errorf("%+v, %+v, %+v", detailed.Cluster, n, s)
	}
	one := f.guest(t, running)
	if one.CPUSeconds == nil || one.Memory == nil || one.NetIn == nil || one.Uptime == nil || one.At.IsZero() {
		t.Errorf("%+v", one)
	}
}
