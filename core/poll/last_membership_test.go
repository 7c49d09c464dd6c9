package poll_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// memberFixture is a fake cluster whose hosts tell the membership anew only when they must.
type memberFixture struct {
	*fixture
	hosts []int64
	poll  *poll.Poller
	page  hypervisor.Page
	// fail is what the next answer fails with.
	fail error
}

func newMemberFixture(t *testing.T) *memberFixture {
	f := &memberFixture{fixture: newFixture(t)}
	f.page = report("prod", "", []hypervisor.Node{node("n1"), node("n2")}, vm(100, "n1", "a"), vm(101, "n2", "b"))
	for _, entry := range []string{"n1", "n2"} {
		id := f.host(nil)
		f.hosts = append(f.hosts, id)
		f.answer(id, func(_ context.Context, q hypervisor.InventoryQuery, hand func(hypervisor.Page) error) error {
			f.mu.Lock()
			page, err := f.page, f.fail
			f.fail = nil
			f.mu.Unlock()
			if err != nil {
				return err
			}
			cluster := *page.Cluster
			cluster.Entry = entry
			if q.Known != nil {
				cluster = q.Known.Cluster
				cluster.Kept = true
				if cluster.Entry != entry {
					t.Errorf("%s was given as the node that answers for %s", cluster.Entry, entry)
				}
			}
			page.Cluster = &cluster
			return hand(page)
		})
	}
	f.poll = f.poller(f.db, fast)
	for _, id := range f.hosts {
		f.sync(f.poll, id)
	}
	run(t, f.poll)
	return f
}

// asks polls the cluster and reports whether its membership was asked for.
func (f *memberFixture) asks(t *testing.T) bool {
	t.Helper()
	f.mu.Lock()
	before := len(f.queries)
	f.mu.Unlock()
	f.due()
	waittest.Until(t, "the poll was written", func() bool { return f.Value("SELECT bool_and(next_poll_at > now()) FROM clusters") == "true" })
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, q := range f.queries[before:] {
		if q.Known == nil {
			return true
		}
	}
	return false
}

// Who is in a cluster is asked for again when something hints at a change, and every five minutes.
func TestMembershipIsAskedForWhenItMayHaveChanged(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		do   func(t *testing.T, f *memberFixture)
		asks bool
	}{
		{"nothing happened", func(*testing.T, *memberFixture) {}, false},
		{"figures and states of guests changed", func(_ *testing.T, f *memberFixture) {
			f.page = report("prod", "", []hypervisor.Node{node("n1"), node("n2")}, vm(100, "n2", "a"), vm(101, "n2", "c"), vm(102, "n1", "d"))
		}, false},
		{"five minutes passed", func(_ *testing.T, f *memberFixture) { f.poll.Age(5 * time.Minute) }, true},
		{"a guest is left out", func(_ *testing.T, f *memberFixture) { f.page.Guests = f.page.Guests[:1] }, true},
		{"a node is left out", func(_ *testing.T, f *memberFixture) { f.page.Nodes = f.page.Nodes[:1] }, true},
		{"the host fails, and another one answers in its place", func(_ *testing.T, f *memberFixture) {
			f.mu.Lock()
			f.fail = plugin.Errorf(plugin.Unreachable, "no route")
			f.mu.Unlock()
		}, true},
		{"another instance was told later", func(t *testing.T, f *memberFixture) {
			if err := f.poller(f.db).Sync(t.Context(), f.hosts[0]); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"the last answer was partial", func(t *testing.T, f *memberFixture) {
			f.mu.Lock()
			f.page.Cluster.Partial = true
			f.mu.Unlock()
			f.poll.Age(5 * time.Minute)
			f.asks(t)
		}, true},
		{"a node's address is not known", func(t *testing.T, f *memberFixture) {
			f.mu.Lock()
			f.page.Nodes[1].Address = ""
			f.mu.Unlock()
			f.poll.Age(5 * time.Minute)
			f.asks(t)
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newMemberFixture(t)
			if f.asks(t) {
				t.Fatal("it was asked for at once after a sync")
			}
			test.do(t, f)
			if got := f.asks(t); got != test.asks {
				t.Errorf("asked for: %t, want %t", got, test.asks)
			}
		})
	}
}

// What is kept has the time at which it was told, and a sync tells it anew.
func TestMembershipKeepsItsTime(t *testing.T) {
	t.Parallel()
	f := newMemberFixture(t)
	const told = "SELECT name || ' ' || quorate || ' ' || membership_at FROM clusters"
	before := f.Value(told)
	f.mu.Lock()
	f.page.Cluster.Quorate = false // by votes alone
	f.mu.Unlock()
	for i := range 3 {
		if f.asks(t) {
			t.Fatalf("poll %d asked", i)
		}
	}
	if got := f.Value(told); got != before {
		t.Errorf("it is %s and was %s", got, before)
	}
	f.sync(f.poll, f.hosts[1])
	since := before[len("prod true "):]
	if got := f.Value("SELECT concat_ws(' ', name, quorate, membership_at > $1) FROM clusters", since); got != "prod f t" {
		t.Errorf("after a sync: %s", got)
	}
	if got := f.Value("SELECT string_agg(entry_node, ' ' ORDER BY id) FROM hosts"); got != "n1 n2" {
		t.Errorf("the entries are %s", got)
	}
}

// An inventory that begins again is written as its last beginning told, and once.
func TestInventoryThatBeginsAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.host(nil)
	f.answer(id, func(_ context.Context, _ hypervisor.InventoryQuery, hand func(hypervisor.Page) error) error {
		old := report("old", "n1", []hypervisor.Node{node("n1"), node("n3")}, vm(100, "n1", "wrong"), vm(900, "n3", "gone"))
		old.Storages = []hypervisor.Storage{{Name: "void", Node: "n3", Status: "available"}}
		for _, page := range []hypervisor.Page{old, {Restart: true}, report("new", "n1", []hypervisor.Node{node("n1"), node("n2")},
			vm(100, "n1", "right"))} {
			if err := hand(page); err != nil {
				return err
			}
		}
		return nil
	})
	f.sync(f.poller(f.db), id)
	got := fmt.Sprint(f.Value("SELECT string_agg(name, ' ') FROM clusters"), "; ",
		f.Value("SELECT string_agg(name, ' ' ORDER BY name) FROM nodes"), "; ",
		f.Value("SELECT string_agg(name, ' ') FROM guests"), "; ", f.Value("SELECT count(*) FROM storages"))
	if want := "new; n1 n2; right; 0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
