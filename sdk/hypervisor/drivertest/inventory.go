package drivertest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// mostRows is the maximum number of rows of one kind on a page. The contract
// says "a few hundred"; the limit leaves some room. Pages keep the messages of
// gRPC small.
const mostRows = 1000

// gather reads a whole inventory and joins its pages. It handles Restart like
// the service: everything before it is dropped. A driver may only restart if
// the query contained a known membership, which turned out to be wrong.
func gather(t *testing.T, ctx context.Context, host hypervisor.Host, query hypervisor.InventoryQuery) hypervisor.Page {
	t.Helper()
	var all hypervisor.Page
	first := true
	err := host.Inventory(ctx, query, func(page hypervisor.Page) error {
		if page.Restart {
			if query.Known == nil {
				t.Error("the inventory starts again although nothing was known")
			}
			all, first = hypervisor.Page{}, true
			return nil
		}
		if page.Cluster != nil {
			if !first {
				t.Error("the cluster is in a page other than the first")
			}
			all.Cluster = page.Cluster
		}
		first = false
		for what, n := range map[string]int{"nodes": len(page.Nodes), "guests": len(page.Guests), "storages": len(page.Storages)} {
			if n > mostRows {
				t.Errorf("a page has %d %s", n, what)
			}
		}
		all.Nodes = append(all.Nodes, page.Nodes...)
		all.Guests = append(all.Guests, page.Guests...)
		all.Storages = append(all.Storages, page.Storages...)
		all.Samples = append(all.Samples, page.Samples...)
		return nil
	})
	must(t, "reading the inventory", err)
	return all
}

// inventory tests Host.Inventory: completeness, detail, a known membership, and
// errors. The most important rule is that an inventory never looks complete
// when it is not: a token that cannot see everything must lead to Partial or to
// Denied, because the service removes guests that a complete inventory lacks.
func (s *suite) inventory(t *testing.T) {
	s.run(t, "complete and consistent", func(t *testing.T, ctx context.Context) {
		host := s.host(t, endpoint.Monitoring)
		var before, after []hypervisor.GuestRef
		if s.Guests != nil {
			before = s.Guests(t)
		}
		all := gather(t, ctx, host, hypervisor.InventoryQuery{})
		if s.Guests != nil {
			after = s.Guests(t)
		}
		checkInventory(t, all)
		checkFigures(t, all, false)
		got := make([]hypervisor.GuestRef, 0, len(all.Guests))
		for _, g := range all.Guests {
			got = append(got, g.GuestRef)
		}
		for _, ref := range before {
			if _, stayed := subset([]hypervisor.GuestRef{ref}, after); stayed {
				if _, ok := subset([]hypervisor.GuestRef{ref}, got); !ok {
					t.Errorf("guest %+v is not in the inventory", ref)
				}
			}
		}
	})
	s.run(t, "detail", func(t *testing.T, ctx context.Context) {
		since := time.Now().Add(-time.Minute)
		all := gather(t, ctx, s.host(t, endpoint.Monitoring), hypervisor.InventoryQuery{Detail: true, Since: since})
		checkInventory(t, all)
		checkFigures(t, all, true)
		for _, sample := range all.Samples {
			if sample.At.IsZero() || sample.Metric == "" || sample.Guest == nil && sample.Node == "" {
				t.Fatalf("sample %+v lacks time, metric or subject", sample)
			}
		}
	})
	s.run(t, "the cluster is the same each time", func(t *testing.T, ctx context.Context) {
		host := s.host(t, endpoint.Monitoring)
		cheap, detailed := gather(t, ctx, host, hypervisor.InventoryQuery{}), gather(t, ctx, host, hypervisor.InventoryQuery{Detail: true})
		if cheap.Cluster == nil || detailed.Cluster == nil || cheap.Cluster.ID != detailed.Cluster.ID ||
			cheap.Cluster.Name != detailed.Cluster.Name {
			t.Errorf("the cluster is %+v, and with detail %+v", cheap.Cluster, detailed.Cluster)
		}
	})
	s.run(t, "with a known membership", func(t *testing.T, ctx context.Context) {
		host := s.host(t, endpoint.Monitoring)
		fresh := gather(t, ctx, host, hypervisor.InventoryQuery{})
		known := hypervisor.Membership{Cluster: *fresh.Cluster}
		for _, n := range fresh.Nodes {
			known.Nodes = append(known.Nodes, hypervisor.Node{Name: n.Name, Status: n.Status, Address: n.Address, Fingerprint: n.Fingerprint,
				Level: n.Level})
		}
		wrong := known
		wrong.Nodes = append(slices.Clone(known.Nodes), hypervisor.Node{Name: "never-was", Status: hypervisor.NodeOnline, Address: "192.0.2.99"})
		for name, told := range map[string]hypervisor.Membership{"that holds": known, "of a node more": wrong} {
			got := gather(t, ctx, host, hypervisor.InventoryQuery{Known: &told})
			checkInventory(t, got)
			if cluster := *got.Cluster; cluster.Kept && name != "that holds" {
				t.Errorf("a membership %s was kept", name)
			} else if cluster.Kept, cluster.ClockAhead = false, fresh.Cluster.ClockAhead; cluster != *fresh.Cluster {
				t.Errorf("with one %s the cluster is %+v, and %+v without", name, cluster, *fresh.Cluster)
			}
			if now, before := memberships(got.Nodes), memberships(fresh.Nodes); !slices.Equal(now, before) {
				t.Errorf("with one %s the nodes are %v, and %v without", name, now, before)
			}
		}
	})
	s.run(t, "an error from page ends it", func(t *testing.T, ctx context.Context) {
		host := s.host(t, endpoint.Monitoring)
		enough := errors.New("enough")
		pages := 0
		err := host.Inventory(ctx, hypervisor.InventoryQuery{}, func(hypervisor.Page) error {
			pages++
			return enough
		})
		if !errors.Is(err, enough) || pages != 1 {
			t.Errorf("error is %v after %d pages, want the page's own after 1", err, pages)
		}
		if _, err := host.Version(ctx); err != nil {
			t.Error("the host does not work after an error:", err)
		}
	})
	s.run(t, "cancel ends it", func(t *testing.T, ctx context.Context) {
		host := s.host(t, endpoint.Monitoring)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		err := host.Inventory(ctx, hypervisor.InventoryQuery{}, func(hypervisor.Page) error {
			cancel()
			return ctx.Err()
		})
		wantCanceled(t, err)
	})
	s.run(t, "wrong token", func(t *testing.T, ctx context.Context) {
		target := s.wrong(t, endpoint.Monitoring)
		err := s.open(t, target).Inventory(ctx, hypervisor.InventoryQuery{}, func(hypervisor.Page) error { return nil })
		wantKind(t, err, plugin.TokenRejected)
	})
	s.run(t, "a token that does not see all is partial", func(t *testing.T, ctx context.Context) {
		hook(t, "Lacking", s.Lacking != nil)
		target, _ := s.Lacking(t, endpoint.Monitoring)
		partial := false
		err := s.open(t, target).Inventory(ctx, hypervisor.InventoryQuery{}, func(page hypervisor.Page) error {
			if page.Cluster != nil {
				partial = page.Cluster.Partial
			}
			return nil
		})
		if err != nil && plugin.KindOf(err) != plugin.Denied {
			t.Fatalf("error is %v, want none or denied", err)
		}
		if err == nil && !partial {
			t.Error("the inventory of a token that lacks privileges claims to be complete")
		}
	})
}

// memberships returns the nodes without usage values, sorted, for comparisons.
func memberships(nodes []hypervisor.Node) []string {
	var all []string
	for _, n := range nodes {
		all = append(all, strings.Join([]string{n.Name, n.Status, n.Address, n.Fingerprint, n.Level}, " "))
	}
	slices.Sort(all)
	return all
}

// checkInventory checks what every inventory must have: a cluster whose entry
// node exists, unique node names, and guests and storages on existing nodes.
func checkInventory(t *testing.T, all hypervisor.Page) {
	t.Helper()
	if all.Cluster == nil {
		t.Fatal("the inventory has no cluster")
	}
	checkCluster(t, all)
	nodes := map[string]bool{}
	for _, n := range all.Nodes {
		if n.Name == "" || nodes[n.Name] {
			t.Errorf("node %q has no name or occurs twice", n.Name)
		}
		nodes[n.Name] = true
	}
	if !nodes[all.Cluster.Entry] {
		t.Errorf("entry node %q is not among the nodes", all.Cluster.Entry)
	}
	checkGuestRefs(t, all.Guests)
	for _, g := range all.Guests {
		if g.Kind != hypervisor.VM && g.Kind != hypervisor.Container || !nodes[g.Node] || g.Status == "" {
			t.Errorf("guest %+v has a bad kind, node or status", g.GuestRef)
		}
		if !g.At.IsZero() {
			t.Errorf("guest %s has a clock in an inventory", g.ID)
		}
	}
	for _, st := range all.Storages {
		if st.Name == "" || !nodes[st.Node] {
			t.Errorf("storage %q has no name or a bad node %q", st.Name, st.Node)
		}
	}
}
