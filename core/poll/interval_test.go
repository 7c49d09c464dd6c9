package poll_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// A shorter interval holds at once, on instances too that did not set it, and leaves the pauses of failed hosts alone.
func TestShorterIntervalHoldsAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	good := f.host(func() hypervisor.Page { return report("", "n1", []hypervisor.Node{node("n1")}, vm(100, "n1", "a")) })
	dead := f.host(func() hypervisor.Page { return report("", "n2", []hypervisor.Node{node("n2")}) })
	var interval atomic.Int64
	interval.Store(int64(time.Hour))
	p := f.poller(f.db, fast, func(c *poll.Config) {
		c.Interval = func(context.Context) time.Duration { return time.Duration(interval.Load()) }
	})
	f.sync(p, good)
	f.dead(dead)
	if err := p.Sync(t.Context(), dead); err == nil {
		t.Fatal("the dead host answered")
	}
	far := "SELECT count(*) FROM (SELECT next_poll_at FROM clusters UNION ALL SELECT next_poll_at FROM hosts WHERE failures > 0) due " +
		"WHERE next_poll_at > now() + interval '50 minutes'"
	if n := f.Value(far); n != "2" {
		t.Fatalf("%s polls are an hour away, want 2", n)
	}
	run(t, p)
	interval.Store(int64(3 * time.Minute))
	waittest.Until(t, "both polls were brought forward", func() bool { return f.Value(far) == "0" })
	if s := f.Value("SELECT next_poll_at <= now() + interval '3 minutes' FROM clusters"); s != "true" {
		t.Errorf("the cluster's poll is not within the interval")
	}
	// A pause after failures that is no longer than the longest stays.
	f.Exec("UPDATE hosts SET next_poll_at = now() + interval '4 minutes' WHERE id = $1", dead)
	const pause = "SELECT next_poll_at FROM hosts WHERE id = $1"
	paused := f.Value(pause, dead)
	interval.Store(int64(40 * time.Millisecond))
	asked := f.count(good)
	waittest.Until(t, "the good host was polled again and again", func() bool { return f.count(good) > asked+3 })
	if f.Value(pause, dead) != paused {
		t.Errorf("the pause of the failed host was cut short")
	}
}

// Figures that nobody reported are not those of a host either.
func TestHostWithoutFigures(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.host(func() hypervisor.Page {
		return hypervisor.Page{
			Cluster: &hypervisor.Cluster{Entry: "n1"}, Nodes: []hypervisor.Node{{Name: "n1", Status: hypervisor.NodeOnline}},
		}
	})
	f.sync(f.poller(f.db), id)
	if s := f.Value("SELECT num_nonnulls(memory, memory_total, disk, disk_total, net_in) FROM " +
		"metric_samples WHERE target_kind = 'host'"); s != "0" {
		t.Errorf("%s figures of nothing", s)
	}
}
