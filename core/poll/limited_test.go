package poll_test

import (
	"context"
	"testing"
	"time"

	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// A member whose token lost a right leaves the cluster to the others in the same cycle, and nothing of it suffers.
func TestAMemberThatSeesLessLeavesTheClusterToOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	all := []hypervisor.Guest{vm(100, "n1", "a"), vm(200, "n2", "b"), ct(300, "n3", "c")}
	ids := trio(f, all...)
	p := f.poller(f.db, fast)
	for _, id := range ids {
		f.sync(p, id)
	}
	nodes := []hypervisor.Node{node("n1"), node("n2"), node("n3")}
	short := report("prod", "n1", nodes, all[0])
	f.answer(ids[0], func(_ context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
		return page(short)
	})
	f.set(func() { f.lacks[ids[0]] = []string{"VM.Audit"} })
	running := func() string {
		return f.Value("SELECT count(*) FILTER (WHERE status = 'running') || ' ' || count(*) FILTER (WHERE listed_at IS NOT NULL) FROM guests")
	}
	// By hand, through that very host: its state is told, and the others are asked for the rest.
	f.sync(p, ids[0])
	if got := f.state(ids[0]); got != "online permission {VM.Audit}" || running() != "3 0" ||
		f.Value("SELECT next_poll_at <= now() FROM clusters") != "true" {
		t.Fatalf("%s, %s guests", got, running())
	}
	stop := run(t, p)
	turn := func() {
		t.Helper()
		seen := f.Value("SELECT seen_at FROM clusters")
		f.due()
		waittest.Until(t, "the cluster was polled", func() bool { return f.Value("SELECT seen_at FROM clusters") != seen })
		if running() != "3 0" {
			t.Fatalf("guests that run, and that are left out: %s", running())
		}
	}
	turn()
	before := f.count(ids[0])
	for range 4 {
		turn()
	}
	if n := f.count(ids[0]); n != before {
		t.Errorf("the host was asked %d times more", n-before)
	}
	// After a while it has its turn again, and the next one takes over in the same cycle.
	f.Exec("UPDATE hosts SET next_poll_at = now() WHERE id = $1", ids[0])
	f.Exec("UPDATE host_credentials SET verified_at = now() - interval '6 minutes' WHERE host_id = $1", ids[0])
	turn()
	if n := f.count(ids[0]); n != before+1 || f.state(ids[0]) != "online permission {VM.Audit}" ||
		f.alerts() != "host.permission warning open" {
		t.Errorf("asked %d times more; %s; %s", n-before, f.state(ids[0]), f.alerts())
	}
	// With the right it is one of them again.
	f.set(func() { delete(f.lacks, ids[0]) })
	f.answer(ids[0], func(_ context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
		return page(report("prod", "n1", nodes, all...))
	})
	f.Exec("UPDATE hosts SET next_poll_at = now() WHERE id = $1", ids[0])
	f.Exec("UPDATE host_credentials SET verified_at = now() - interval '6 minutes' WHERE host_id = $1", ids[0])
	for range ids {
		turn() // until it is the one asked longest ago
	}
	if got := f.state(ids[0]) + "; " + f.alerts(); got != "online  {}; host.permission warning" {
		t.Error(got)
	}
	// Where nobody else is left, what it sees is better than nothing.
	stop()
	f.set(func() { f.lacks[ids[0]] = []string{"VM.Audit"} })
	f.answer(ids[0], func(_ context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
		return page(short)
	})
	f.dead(ids[1])
	f.dead(ids[2])
	_ = p.Sync(t.Context(), ids[1])
	_ = p.Sync(t.Context(), ids[2])
	f.sync(p, ids[0])
	if running() != "1 2" {
		t.Errorf("guests that run, and that are left out: %s", running())
	}
}

// A poll that finds its host limited is counted as one that went well, and the same cycle goes on to the next member.
func TestALimitedMembersPollGoesOnInItsCycle(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ids := trio(f, vm(100, "n1", "a"))
	// Nothing is due by itself in the time of the test.
	p := f.poller(f.db, fast, func(c *poll.Config) { c.Interval = func(context.Context) time.Duration { return time.Hour } })
	for _, id := range ids {
		f.sync(p, id)
	}
	f.set(func() { f.lacks[ids[0]] = []string{"Sys.Audit"} })
	f.Exec("UPDATE host_credentials SET missing = '{Sys.Audit}' WHERE host_id = $1", ids[0])
	f.answer(ids[0], func(_ context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
		// Another cycle would find nothing that is due.
		f.Exec("UPDATE clusters SET next_poll_at = now() + interval '1 hour'")
		return page(report("prod", "n1", []hypervisor.Node{node("n1"), node("n2"), node("n3")}, vm(100, "n1", "b")))
	})
	// It is asked first: the others were asked later.
	f.Exec("UPDATE hosts SET polled_at = now() - interval '1 hour' WHERE id = $1", ids[0])
	before, others, limited := p.Counters(), f.count(ids[1])+f.count(ids[2]), f.count(ids[0])
	f.due()
	run(t, p)
	waittest.Until(t, "two polls were counted", func() bool { return p.Counters().Polls >= before.Polls+2 })
	if n := f.count(ids[1]) + f.count(ids[2]) - others; n != 1 || f.count(ids[0]) != limited+1 {
		t.Errorf("the limited host was asked %d times and the others %d, want once each", f.count(ids[0])-limited, n)
	}
	if after := p.Counters(); after.Polls != before.Polls+2 || after.Failures != before.Failures || after.Seconds <= before.Seconds {
		t.Errorf("the counters went from %+v to %+v", before, after)
	}
	if g := f.guests(); len(g) != 1 || g[0].Name != "a" || f.state(ids[0]) != "online permission {Sys.Audit}" {
		t.Errorf("%+v, the host is %s", g, f.state(ids[0]))
	}
}

// Without the right to see its cluster a member does not leave it, and the cluster keeps its name.
func TestAnAnswerThatDoesNotNameItsClusterMovesNobody(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ids := trio(f, vm(100, "n1", "a"))
	p := f.poller(f.db)
	for _, id := range ids {
		f.sync(p, id)
	}
	f.Exec("UPDATE clusters SET quorate = false")
	for _, id := range ids[1:] {
		f.dead(id)
		_ = p.Sync(t.Context(), id)
	}
	f.set(func() { f.missing = []string{"Sys.Audit"} })
	f.answer(ids[0], func(_ context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
		r := report("", "", []hypervisor.Node{{Name: "n1", Status: "online"}, {Name: "n2", Status: "online"}, {Name: "n3", Status: "online"}},
			vm(100, "n1", "a"))
		r.Cluster.Partial = true
		return page(r)
	})
	f.sync(p, ids[0])
	if got := f.Value("SELECT string_agg(name || ' ' || quorate, ', ') FROM clusters"); got != "prod false" {
		t.Errorf("clusters: %s", got)
	}
	if got := f.Value("SELECT count(*) FROM hosts WHERE cluster_id = (SELECT id FROM clusters)"); got != "3" || len(f.guests()) != 1 ||
		f.guests()[0].Status != "running" {
		t.Errorf("%s members, %+v", got, f.guests())
	}
	if got := f.Value("SELECT string_agg(address, ' ' ORDER BY name) FROM nodes"); got != "192.0.2.1 192.0.2.2 192.0.2.3" {
		t.Errorf("addresses %s", got)
	}
}

// A host that answered while the last of the others failed keeps the cluster from being marked.
func TestAClusterIsNotSilentWhenAHostAnsweredMeanwhile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ids := trio(f, vm(100, "n1", "a"))[:2]
	// Nothing is due by itself in the time of the test.
	p := f.poller(f.db, fast, func(c *poll.Config) { c.Interval = func(context.Context) time.Duration { return time.Hour } })
	for _, id := range ids {
		f.sync(p, id)
	}
	f.Exec("DELETE FROM hosts WHERE id > $1", ids[1])
	f.dead(ids[0])
	marked := f.Value("SELECT changed_at FROM guests")
	asked := make(chan struct{}, 100)
	f.answer(ids[1], func(context.Context, hypervisor.InventoryQuery, func(hypervisor.Page) error) error {
		// The first host's own probe finds it well just now.
		f.Exec("UPDATE hosts SET failures = 0, status = 'online', error_reason = '', next_poll_at = now() + interval '1 hour' WHERE id = $1",
			ids[0])
		f.answer(ids[0], func(_ context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
			asked <- struct{}{}
			return page(report("prod", "n1", []hypervisor.Node{node("n1"), node("n2"), node("n3")}, vm(100, "n1", "a")))
		})
		return plugin.Errorf(plugin.Unreachable, "no route to host")
	})
	f.Exec("UPDATE hosts SET polled_at = now() - interval '1 hour' WHERE id = $1", ids[0])
	run(t, p)
	f.due()
	waittest.Until(t, "the cluster was due again at once", func() bool { return len(asked) > 0 })
	waittest.Until(t, "the poll was written", func() bool { return f.Value("SELECT next_poll_at > now() FROM clusters") == "true" })
	if got := f.Value("SELECT status FROM guests"); got != "running" || f.Value("SELECT changed_at FROM guests") != marked {
		t.Errorf("the guest is %s and was marked in between", got)
	}
}

// Two hosts at one node that are pinned to different certificates are two machines of one name.
func TestDifferentPinsAtOneNodeAreTwoMachines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pins     [2]string
		clusters string
	}{
		"the same pin":       {[2]string{"a", "a"}, "1"},
		"different pins":     {[2]string{"a", "b"}, "2"},
		"only one is pinned": {[2]string{"a", ""}, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			var ids []int64
			for _, pin := range c.pins {
				id := f.host(func() hypervisor.Page { return report("prod", "n1", []hypervisor.Node{node("n1")}, vm(100, "n1", "a")) })
				if pin != "" {
					f.Exec("UPDATE hosts SET tls_fingerprint = $2 WHERE id = $1", id, fingerprint(pin))
				}
				ids = append(ids, id)
			}
			p := f.poller(f.db)
			for range 2 {
				for _, id := range ids {
					f.sync(p, id)
				}
				if got := f.Value("SELECT count(*) FROM clusters"); got != c.clusters || f.Value("SELECT count(*) FROM guests") != c.clusters {
					t.Errorf("%s clusters", got)
				}
			}
		})
	}
}

// Each node of a cluster has a certificate of its own: pins are compared at one node only.
func TestDifferentPinsAtTwoNodesAreOneCluster(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ids := trio(f, vm(100, "n1", "a"))
	p := f.poller(f.db)
	for _, id := range ids {
		f.Exec("UPDATE hosts SET tls_fingerprint = $2 WHERE id = $1", id, fingerprint(string(rune('a'+id%3))))
	}
	for range 2 {
		for _, id := range ids {
			f.sync(p, id)
		}
	}
	if got := f.Value("SELECT count(*) FROM clusters"); got != "1" || len(f.guests()) != 1 {
		t.Errorf("%s clusters, %d guests", got, len(f.guests()))
	}
}

// What a member tells that is known to see less is not written while others see everything, even when it lists every guest.
func TestAMemberThatSeesLessWritesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ids := trio(f, vm(100, "n1", "a"))
	p := f.poller(f.db)
	for _, id := range ids {
		f.sync(p, id)
	}
	f.set(func() { f.lacks[ids[0]] = []string{"Sys.Audit"} })
	f.Exec("UPDATE host_credentials SET missing = '{Sys.Audit}' WHERE host_id = $1", ids[0])
	f.answer(ids[0], func(_ context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
		return page(report("prod", "n1", []hypervisor.Node{node("n1"), node("n2"), node("n3")}, vm(100, "n1", "b")))
	})
	seen := f.Value("SELECT seen_at FROM clusters")
	f.sync(p, ids[0])
	if g := f.guests(); len(g) != 1 || g[0].Name != "a" || f.Value("SELECT seen_at FROM clusters") != seen ||
		f.state(ids[0]) != "online permission {Sys.Audit}" {
		t.Errorf("%+v, the host is %s", g, f.state(ids[0]))
	}
	// One that cannot answer, or sees less too, does not stand in for it.
	f.dead(ids[1])
	_ = p.Sync(t.Context(), ids[1])
	f.set(func() { f.lacks[ids[2]] = []string{"Sys.Audit"} })
	f.Exec("UPDATE hosts SET error_reason = 'permission' WHERE id = $1", ids[2])
	f.sync(p, ids[0])
	if g := f.guests(); len(g) != 1 || g[0].Name != "b" {
		t.Errorf("%+v", g)
	}
}
