package poll_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
)

func TestGuestsAppearChangeMoveAndVanish(t *testing.T) {
	inBothShapes(t, testGuestsAppearChangeMoveAndVanish)
}

func testGuestsAppearChangeMoveAndVanish(t *testing.T, f *fixture) {
	nodes := []hypervisor.Node{node("n1"), node("n2")}
	now := report("", "n1", nodes, vm(100, "n1", "web"), ct(101, "n1", "db"))
	id := f.host(func() hypervisor.Page { return now })
	p := f.poller(f.db)
	f.sync(p, id)
	first := f.guests()
	if len(first) != 2 || first[0].Name != "web" || first[0].Kind != "vm" || first[1].Kind != "container" || *first[0].Memory != 100_000 ||
		first[0].Host != id {
		t.Fatalf("after the first poll: %+v", first)
	}
	if tags := f.Value("SELECT tags FROM guests WHERE vmid = 100"); tags != "{a,b}" {
		t.Errorf("tags %s", tags)
	}

	t.Run("a change and a move keep the row", func(t *testing.T) {
		moved := vm(100, "n2", "web-renamed")
		moved.Status = hypervisor.GuestPaused
		now = report("", "n1", nodes, moved, ct(101, "n1", "db"))
		before := f.Value("SELECT changed_at FROM guests WHERE vmid = 101")
		f.sync(p, id)
		rows := f.guests()
		if len(rows) != 2 || rows[0].ID != first[0].ID || rows[0].Node != "n2" || rows[0].Name != "web-renamed" || rows[0].Status != "paused" {
			t.Fatalf("%+v", rows)
		}
		if after := f.Value("SELECT changed_at FROM guests WHERE vmid = 101"); after != before {
			t.Error("a guest that did not change was written")
		}
	})
	t.Run("a guest that the hypervisor does not name yet keeps its name", func(t *testing.T) {
		nameless := vm(100, "n2", "")
		nameless.Status = "unknown"
		now = report("", "n1", nodes, nameless, ct(101, "n1", "db"), vm(300, "n1", ""))
		f.sync(p, id)
		if rows := f.guests(); rows[0].Name != "web-renamed" || rows[0].Status != "unknown" || rows[2].Name != "VM "+string(f.ref(300)) {
			t.Fatalf("%+v", rows)
		}
	})
	t.Run("an id taken by another kind is a new guest", func(t *testing.T) {
		now = report("", "n1", nodes, vm(101, "n1", "new"))
		f.sync(p, id)
		rows := f.guests()
		if len(rows) != 1 || rows[0].Kind != "vm" || rows[0].ID == first[1].ID {
			t.Fatalf("%+v", rows)
		}
	})
	t.Run("all of them vanish", func(t *testing.T) {
		now = report("", "n1", nodes)
		f.sync(p, id)
		if rows := f.guests(); len(rows) != 0 {
			t.Fatalf("%+v", rows)
		}
	})
}

// The hypervisor's list lags: for a while it must not put back what a job has read itself.
func TestWhatAJobHasReadIsNotPutBack(t *testing.T) { inBothShapes(t, testWhatAJobHasReadIsNotPutBack) }

func testWhatAJobHasReadIsNotPutBack(t *testing.T, f *fixture) {
	now := report("", "n1", []hypervisor.Node{node("n1")}, vm(100, "n1", "web"))
	id := f.host(func() hypervisor.Page { return now })
	p := f.poller(f.db)
	f.sync(p, id)
	for _, c := range []struct{ name, change, want string }{
		{"just read", "status = 'stopped', read_at = now()", "stopped"},
		{"read some time ago", "status = 'stopped', read_at = now() - interval '16 seconds'", "running"},
		{"read, and then not known", "status = 'unknown', read_at = now()", "running"},
	} {
		if _, err := f.db.Pool.Exec(t.Context(), "UPDATE guests SET "+c.change); err != nil {
			t.Fatal(err)
		}
		f.sync(p, id)
		if got := f.Value("SELECT status FROM guests"); got != c.want {
			t.Errorf("%s: the guest is %s, want %s", c.name, got, c.want)
		}
	}
}

func TestWhatCannotBeSeenIsNotDeleted(t *testing.T) {
	inBothShapes(t, testWhatCannotBeSeenIsNotDeleted)
}

func testWhatCannotBeSeenIsNotDeleted(t *testing.T, f *fixture) {
	nodes := []hypervisor.Node{node("n1"), node("n2")}
	now := report("c", "n1", nodes, vm(100, "n1", "one"), vm(200, "n2", "two"))
	id := f.host(func() hypervisor.Page { return now })
	p := f.poller(f.db)
	f.sync(p, id)

	t.Run("a shortened list", func(t *testing.T) {
		now = report("c", "n1", nodes[:1], vm(100, "n1", "one"))
		now.Cluster.Partial = true
		f.hidden[200] = true
		f.sync(p, id)
		if rows := f.guests(); len(rows) != 2 || rows[1].Status != "unknown" || f.Value("SELECT count(*) FROM nodes") != "2" {
			t.Fatalf("%+v", rows)
		}
	})
	t.Run("a list that is empty because the token lost its rights", func(t *testing.T) {
		f.missing = []string{"VM.Audit"}
		now = report("c", "n1", nodes)
		f.sync(p, id)
		if rows := f.guests(); len(rows) != 2 || rows[0].Status != "unknown" {
			t.Fatalf("%+v", rows)
		}
		f.missing = nil
		delete(f.hidden, 200)
	})
	t.Run("a node that is off, its guests left out", func(t *testing.T) {
		away := node("n2")
		away.Status = hypervisor.NodeOffline
		now = report("c", "n1", []hypervisor.Node{nodes[0], away}, vm(100, "n1", "one"))
		f.sync(p, id)
		if rows := f.guests(); len(rows) != 2 || rows[1].Status != "unknown" || rows[1].Memory != nil {
			t.Fatalf("%+v", rows)
		}
	})
	t.Run("a node that was taken out of the cluster", func(t *testing.T) {
		now = report("c", "n1", nodes[:1], vm(100, "n1", "one"))
		f.sync(p, id)
		if rows := f.guests(); len(rows) != 1 || f.Value("SELECT count(*) FROM nodes") != "1" {
			t.Fatalf("%+v", rows)
		}
	})
}

// Whatever a driver says, the poll succeeds with what makes sense of it.
func TestGarbageNeverBreaksThePoll(t *testing.T) { inBothShapes(t, testGarbageNeverBreaksThePoll) }

func testGarbageNeverBreaksThePoll(t *testing.T, f *fixture) {
	wild := vm(100, "n1", "web\x00\xff"+strings.Repeat("é", 5000))
	wild.Status, wild.Lock, wild.Pool, wild.Tags = "on fire", "\x00", strings.Repeat("p", 1<<20),
		[]string{"\xff\x00", strings.Repeat("t", 1000)}
	for range 1000 {
		wild.Tags = append(wild.Tags, "x")
	}
	wild.CPU, wild.CPUs, wild.Memory, wild.Uptime, wild.NetIn = ptr(math.NaN()), ptr(math.Inf(1)), ptr(int64(-5)),
		ptr(int64(math.MinInt64)), ptr(int64(math.MaxInt64))
	twin := vm(102, "n1", "twin")
	twin.NetIn, twin.Memory = ptr(int64(math.MaxInt64)), ptr(int64(math.MaxInt64))
	bad := func(id hypervisor.GuestID, name string) hypervisor.Guest {
		g := vm(106, "n1", name)
		g.ID = id
		return g
	}
	odd := node("n1")
	odd.Memory, odd.DiskTotal, odd.CPU, odd.CPUs, odd.Fingerprint, odd.Status = ptr(int64(math.MaxInt64)), ptr(int64(-1)), ptr(math.NaN()),
		ptr(0.0), "zz", hypervisor.NodeOnline
	huge := node("n2")
	huge.Memory = ptr(int64(math.MaxInt64))
	samples := []hypervisor.Sample{
		{Node: "n1", Metric: "cpu", Value: math.NaN()}, {Node: "n1", Metric: "no such thing", Value: 1},
		{Node: "n9", Metric: "memory", Value: math.Inf(1)},
		{Guest: &hypervisor.GuestRef{Kind: hypervisor.VM, ID: "a\x00b"}, Metric: "cpu", Value: 1},
		{Guest: &hypervisor.GuestRef{Kind: hypervisor.VM, ID: "100", UID: "a\x00b"}, Metric: "cpu", Value: 1},
		{Guest: &hypervisor.GuestRef{Kind: "sheep", ID: "-1"}, Metric: "cpu", Value: 1},
	}
	page := report("c\x00", "n1\xff", []hypervisor.Node{odd, huge, {}, odd, {Name: "\x00"}},
		wild, twin, vm(102, "n2", "twice"), bad("", "empty"), bad("a\x00b", "NUL"), bad("a\nb", "lines"), bad("a\xffb", "no text"),
		bad(hypervisor.GuestID(strings.Repeat("n", 256)), "long"), vm(103, "", "nowhere"), vm(104, "no such node", "lost"),
		hypervisor.Guest{GuestRef: hypervisor.GuestRef{Kind: "sheep", ID: "105", Node: "n1"}})
	page.Storages = []hypervisor.Storage{{}, {Name: "s\x00", Node: "n1", Used: ptr(int64(-1)), Content: []string{"\x00"}},
		{Name: "s", Node: "n1"}}
	page.Samples = samples
	id := f.host(func() hypervisor.Page { return page })
	p := f.poller(f.db)
	f.sync(p, id)
	f.sync(p, id)
	rows := f.guests()
	if len(rows) != 3 || rows[0].Status != "unknown" || rows[0].Memory != nil || len(rows[0].Name) > 255 ||
		!strings.HasPrefix(rows[0].Name, "web\uFFFDé") {
		t.Fatalf("%+v", rows)
	}
	if rows[1].Name != "twin" || rows[2].Node != "no such node" || rows[2].Host != id {
		t.Errorf("%+v", rows[1:])
	}
	if n := f.Value("SELECT count(*) FROM nodes"); n != "2" {
		t.Errorf("%s nodes, want 2", n)
	}
	if f.Value("SELECT status FROM hosts") != "online" {
		t.Error("the host is not online")
	}

	t.Run("an inventory of nothing is no inventory", func(t *testing.T) {
		f.answer(id, func(context.Context, hypervisor.InventoryQuery, func(hypervisor.Page) error) error { return nil })
		err := p.Sync(t.Context(), id)
		if problem.CodeOf(err) != problem.CodeHypervisorError || len(f.guests()) != 3 {
			t.Fatalf("%v, %d guests", err, len(f.guests()))
		}
	})
}
