package poll_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// trio is a cluster of three nodes, each registered as a host of its own.
func trio(f *fixture, guests ...hypervisor.Guest) []int64 {
	nodes := []hypervisor.Node{node("n1"), node("n2"), node("n3")}
	var ids []int64
	for _, entry := range []string{"n1", "n2", "n3"} {
		ids = append(ids, f.host(func() hypervisor.Page { return report("prod", entry, nodes, guests...) }))
	}
	return ids
}

func (f *fixture) due() { f.Exec("UPDATE clusters SET next_poll_at = now()") }

func (f *fixture) total(ids []int64) (n int) {
	for _, id := range ids {
		n += f.count(id)
	}
	return n
}

func fast(c *poll.Config) {
	c.Tick = 5 * time.Millisecond
	c.Timeout = time.Hour // no host is given up on
}

// A cluster that was polled between being listed as due and its cycle, by another instance or by this one, has had its turn.
func TestFasterCycleIsTheOnlyOne(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ids := trio(f, vm(100, "n1", "a"))
	p := f.poller(f.db)
	f.sync(p, ids[0])
	f.due()
	before := f.total(ids)
	for range 3 {
		if err := p.CycleOf(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	if asked := f.total(ids) - before; asked != 1 {
		t.Errorf("a cluster that was due once was asked %d times", asked)
	}
	if f.Value("SELECT next_poll_at > now() FROM clusters") != "true" {
		t.Error("the cluster is due again at once")
	}
}

func TestMembersShareOneClusterAndTakeTurns(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ids := trio(f, vm(100, "n1", "a"), vm(200, "n2", "b"), ct(300, "n3", "c"))
	p := f.poller(f.db)
	for _, id := range ids {
		f.sync(p, id)
	}
	if got, want := f.Value("SELECT string_agg(concat_ws(' ', entry_node, server_cluster, server_address), '; ' ORDER BY id) FROM hosts"),
		"n1 prod 192.0.2.1; n2 prod 192.0.2.2; n3 prod 192.0.2.3"; got != want {
		t.Errorf("the hosts' servers are %q, want %q", got, want)
	}
	rows := f.guests()
	if len(rows) != 3 || f.Value("SELECT count(*) FROM clusters") != "1" {
		t.Fatalf("%d guests in %s clusters: %+v", len(rows), f.Value("SELECT count(*) FROM clusters"), rows)
	}
	for i, r := range rows {
		if r.Host != ids[i] {
			t.Errorf("guest %d belongs to host %d, want %d", r.VMID, r.Host, ids[i])
		}
	}
	run(t, f.poller(f.db, fast))
	for turn := 1; turn <= 6; turn++ {
		f.due()
		want := 3 + turn
		waittest.Until(t, "the cluster was polled once more", func() bool { return f.total(ids) == want })
		waittest.Until(t, "the poll was written", func() bool {
			return f.Value("SELECT bool_and(next_poll_at > now()) FROM clusters") == "true"
		})
	}
	for _, id := range ids {
		if f.count(id) != 3 {
			t.Errorf("host %d was asked %d times, want 3", id, f.count(id))
		}
	}
}

func TestAnotherMemberTakesOverInTheSameCycle(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ids := trio(f, vm(100, "n1", "a"))
	p := f.poller(f.db, fast)
	for _, id := range ids {
		f.sync(p, id)
	}
	run(t, p)

	f.dead(ids[0])
	before := f.Value("SELECT seen_at FROM clusters")
	f.due()
	waittest.Until(t, "another host was asked", func() bool { return f.Value("SELECT seen_at FROM clusters") != before })
	if s := f.Value("SELECT status || error_reason FROM hosts WHERE id = $1", ids[0]); s != "unreachable"+"unreachable" {
		t.Errorf("the dead host is %s", s)
	}
	if rows := f.guests(); rows[0].Status != "running" || rows[0].Memory == nil {
		t.Errorf("the guest suffered: %+v", rows[0])
	}

	// It is tried again by itself, with the cheapest call, and comes back.
	probed := f.probed[ids[0]]
	f.answer(ids[0], func(_ context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
		return page(report("prod", "n1", []hypervisor.Node{node("n1"), node("n2"), node("n3")}, vm(100, "n1", "a")))
	})
	f.Exec("UPDATE hosts SET next_poll_at = now() WHERE id = $1", ids[0])
	waittest.Until(t, "the host is back", func() bool { return f.Value("SELECT status FROM hosts WHERE id = $1", ids[0]) == "online" })
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.probed[ids[0]] != probed+1 {
		t.Errorf("probed %d times", f.probed[ids[0]]-probed)
	}
}

func TestDeadClusterIsUnknownAndComesBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ids := trio(f, vm(100, "n1", "a"), ct(101, "n2", "b"))
	p := f.poller(f.db, fast)
	for _, id := range ids {
		f.sync(p, id)
	}
	for _, id := range ids {
		f.dead(id)
	}
	run(t, p)
	f.due()
	waittest.Until(t, "the guests are unknown", func() bool {
		return f.Value("SELECT count(*) FROM guests WHERE status = 'unknown' AND cpu IS NULL AND memory IS NULL AND memory_total IS NULL "+
			"AND uptime IS NULL") == "2"
	})
	if f.Value("SELECT count(*) FROM nodes WHERE status = 'unknown'") != "3" {
		t.Error("the nodes are not unknown")
	}
	nodes := []hypervisor.Node{node("n1"), node("n2"), node("n3")}
	f.answer(ids[2], func(_ context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
		return page(report("prod", "n3", nodes, vm(100, "n1", "a"), ct(101, "n2", "b")))
	})
	f.Exec("UPDATE hosts SET next_poll_at = now()")
	f.due()
	waittest.Until(t, "the guests run again", func() bool { return f.Value("SELECT count(*) FROM guests WHERE status = 'running'") == "2" })
}

func TestBackOffGrowsAndEndsWithSync(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.host(func() hypervisor.Page { return report("", "n1", []hypervisor.Node{node("n1")}) })
	f.dead(id)
	p := f.poller(f.db, func(c *poll.Config) { c.Interval = func(context.Context) time.Duration { return 10 * time.Second } })
	for i, want := range []float64{10, 20, 40, 80, 160, 300, 300} {
		err := p.Sync(t.Context(), id)
		var asProblem *problem.Error
		if !errors.As(err, &asProblem) || asProblem.Code != problem.CodeHypervisorError || asProblem.Members["reason"] != "unreachable" {
			t.Fatalf("sync gave %v", err)
		}
		var got float64
		if err := f.db.Pool.QueryRow(t.Context(),
			"SELECT extract(epoch FROM next_poll_at - polled_at)::float8 FROM hosts").Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got < want*0.94 || got > want*1.06 {
			t.Errorf("failure %d: %.1f s, want about %.0f", i+1, got, want)
		}
	}
	f.answer(id, func(_ context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
		return page(report("", "n1", []hypervisor.Node{node("n1")}))
	})
	f.sync(p, id)
	if v := f.Value("SELECT failures || status || version FROM hosts"); v != "0online9.2.11" {
		t.Errorf("after sync: %s", v)
	}
}

func TestHangingHostsDelayNobody(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	// More than there are database connections.
	for range 40 {
		id := f.host(nil)
		f.answer(id, func(ctx context.Context, _ hypervisor.InventoryQuery, _ func(hypervisor.Page) error) error {
			<-ctx.Done()
			return ctx.Err()
		})
	}
	good := f.host(func() hypervisor.Page {
		return report("", "good1", []hypervisor.Node{node("good1")}, vm(1, "good1", "x"))
	})
	p := f.poller(f.db, fast)
	stop := run(t, p)
	waittest.Until(t, "the good host was polled beside hanging ones",
		func() bool { return f.Value("SELECT status FROM hosts WHERE id = $1", good) == "online" })
	stop()
	if n := f.Value("SELECT count(*) FROM hosts WHERE status = 'unreachable'"); n != "0" {
		t.Errorf("stopping the service made %s hosts unreachable", n)
	}
}

func TestSlowHostTimesOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.host(nil)
	f.answer(id, func(ctx context.Context, _ hypervisor.InventoryQuery, _ func(hypervisor.Page) error) error {
		<-ctx.Done()
		return ctx.Err()
	})
	p := f.poller(f.db, func(c *poll.Config) { c.Timeout = 50 * time.Millisecond })
	if err := p.Sync(t.Context(), id); problem.CodeOf(err) != problem.CodeTimeout {
		t.Fatalf("got %v", err)
	}
	if r := f.Value("SELECT error_reason FROM hosts"); r != "timeout" {
		t.Errorf("reason %s", r)
	}
}

func TestTwoInstancesPollOnceAndTakeOver(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	second := dbtest.Open(t, f.db.Pool.Config().ConnString())
	entered, release := make(chan struct{}, 10), make(chan struct{})
	id := f.host(nil)
	f.answer(id, func(ctx context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
		entered <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
			return ctx.Err()
		}
		return page(report("", "n1", []hypervisor.Node{node("n1")}))
	})
	stopA := run(t, f.poller(f.db, fast))
	<-entered
	b := f.poller(second, fast)
	run(t, b)
	// The second instance finds the lock taken for as long as the first one is at it.
	for range 20 {
		time.Sleep(5 * time.Millisecond)
		if f.count(id) != 1 {
			t.Fatal("two instances polled at once")
		}
	}
	stopA()
	<-entered // the second one took over
	close(release)
	waittest.Until(t, "the host is online", func() bool { return f.Value("SELECT status FROM hosts") == "online" })
	if n := f.count(id); n != 2 {
		t.Errorf("asked %d times, want 2", n)
	}
}

func TestHostsJoinAndLeaveClusters(t *testing.T) { inBothShapes(t, testHostsJoinAndLeaveClusters) }

func testHostsJoinAndLeaveClusters(t *testing.T, f *fixture) {
	one := report("", "n1", []hypervisor.Node{node("n1")}, ct(101, "n1", "app"))
	two := report("", "n2", []hypervisor.Node{node("n2")})
	a := f.host(func() hypervisor.Page { return one })
	b := f.host(func() hypervisor.Page { return two })
	p := f.poller(f.db)
	both := func() {
		t.Helper()
		f.sync(p, a)
		f.sync(p, b)
	}
	both()
	if f.Value("SELECT count(*) FROM clusters") != "2" {
		t.Fatal("two machines must be two clusters")
	}
	f.Exec(adopt)
	before := f.guests()[0].ID

	nodes := []hypervisor.Node{node("n1"), node("n2")}
	one, two = report("prod", "n1", nodes, ct(101, "n1", "app")), report("prod", "n2", nodes, ct(101, "n1", "app"))
	f.sync(p, b) // the one without guests reports it first
	f.sync(p, a)
	rows := f.guests()
	if f.Value("SELECT count(*) FROM clusters") != "1" || len(rows) != 1 || rows[0].Host != a {
		t.Fatalf("%s clusters, %+v", f.Value("SELECT count(*) FROM clusters"), rows)
	}
	if f.Value("SELECT count(*) FROM apps a JOIN guests g USING (cluster_id, vmid) WHERE g.id = a.guest_id") != "1" {
		t.Error("the app lost its container")
	}
	_ = before

	one, two = report("prod", "n1", nodes[:1], ct(101, "n1", "app")), report("", "n2", nodes[1:], vm(7, "n2", "new"))
	both()
	rows = f.guests()
	if f.Value("SELECT count(*) FROM clusters") != "2" || len(rows) != 2 {
		t.Fatalf("%s clusters, %+v", f.Value("SELECT count(*) FROM clusters"), rows)
	}
	for _, r := range rows {
		if want := map[int64]int64{101: a, 7: b}[r.VMID]; r.Host != want {
			t.Errorf("guest %d at host %d, want %d", r.VMID, r.Host, want)
		}
	}
}

func TestClustersOfOneNameStayApart(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]hypervisor.Node{
		"other nodes":            {Name: "pve9", Status: "online", Address: "192.0.2.9"},
		"another address":        {Name: "n1", Status: "online", Address: "198.51.100.1"},
		"a contradicting leaf":   {Name: "n1", Status: "online", Address: "192.0.2.1", Fingerprint: fingerprint("b")},
		"another team's machine": {Name: "n1", Status: "online", Address: "192.0.2.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			first := node("n1")
			first.Fingerprint = fingerprint("a")
			a := f.host(func() hypervisor.Page { return report("prod", "n1", []hypervisor.Node{first}, vm(100, "n1", "a")) })
			b := f.host(func() hypervisor.Page {
				return report("prod", second.Name, []hypervisor.Node{second}, vm(100, second.Name, "b"))
			})
			if name == "another team's machine" {
				f.Exec("INSERT INTO teams (id, name, slug) VALUES (2, 'T', 't')")
				f.Exec("UPDATE hosts SET team_id = 2 WHERE id = $1", b)
			}
			p := f.poller(f.db)
			f.sync(p, a)
			f.sync(p, b)
			if n := f.Value("SELECT count(*) FROM guests"); n != "2" {
				t.Errorf("%s guests, want 2", n)
			}
		})
	}
}

func fingerprint(pair string) string {
	out := ""
	for i := range 32 {
		if i > 0 {
			out += ":"
		}
		out += pair + pair
	}
	return out
}

func TestRemovedWhilePolled(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.host(nil)
	f.answer(id, func(_ context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
		f.Exec("DELETE FROM hosts WHERE id = $1", id)
		return page(report("", "n1", []hypervisor.Node{node("n1")}, vm(1, "n1", "a")))
	})
	if err := f.poller(f.db).Sync(t.Context(), id); problem.CodeOf(err) != problem.CodeNotFound {
		t.Fatalf("got %v", err)
	}
	if len(f.guests()) != 0 || f.Value("SELECT count(*) FROM clusters") != "0" {
		t.Error("something was written for a host that is gone")
	}
}
