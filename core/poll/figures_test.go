package poll_test

import (
	"context"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

const (
	usedFigures = "memory, disk, net_in, net_out, disk_read, disk_write"
	nodeFigures = "SELECT string_agg(concat_ws(' ', name, cpu, cpus, memory, memory_total, uptime), ', ' ORDER BY name) FROM nodes"
	// storageFigures has the storages by node: each has one.
	storageFigures = "SELECT string_agg(concat_ws(' ', node, used, total), ', ' ORDER BY node) FROM storages"
)

// What an inventory of states leaves out stays, with its age; what it tells is written.
func TestFiguresStayWhereOnlyStatesAreTold(t *testing.T) {
	t.Parallel()
	f := newCertified(t)
	ref := f.running()
	f.polls(false, 0)
	if got := f.of(ref, "status, cpus, memory_total, disk_total, uptime >= 3600, "+usedFigures); got != "running,2,2147483648,,t,,,,,," {
		t.Errorf("after the first poll: %s", got)
	}
	if got := f.ages(ref); got != "guest -1, node -1, seen 0" {
		t.Errorf("without figures: %s", got)
	}
	f.polls(true, 0)
	const figures, nodes, storages = "1073741824,5,1000,2000,3000,4000",
		"node1 0.5 8 8589934592 17179869184 3600, node2 0.5 8 8589934592 17179869184 3600",
		"node1 1073741824 107374182400, node2 1073741824 107374182400"
	if got := f.of(ref, usedFigures); got != figures {
		t.Errorf("with detail: %s", got)
	}
	f.cluster.Change(ref.ID, func(g *hypervisor.Guest) {
		*g.Memory, *g.Disk, *g.NetIn, g.CPUs, g.MemoryTotal = 7, 7, 7, ptr(4.0), nil
	})
	for poll := 1; poll <= 3; poll++ {
		f.polls(false, 100)
		if got := f.of(ref, usedFigures+", cpus, memory_total, disk_total"); got != figures+",4,2147483648,34359738368" {
			t.Errorf("%d polls of states later: %s", poll, got)
		}
	}
	if got := f.Value(nodeFigures); got != nodes {
		t.Errorf("the nodes are %s, want %s", got, nodes)
	}
	if got := f.Value(storageFigures); got != storages {
		t.Errorf("the storages are %s, want %s", got, storages)
	}
	if got := f.ages(ref); got != "guest 300, node 300, seen 0" {
		t.Errorf("three polls later: %s", got)
	}
	f.polls(true, 0)
	if got := f.of(ref, usedFigures+", cpus, memory_total"); got != "7,7,7,2000,3000,4000,4," {
		t.Errorf("with detail again: %s", got)
	}
	if got := f.ages(ref); got != "guest 0, node 0, seen 0" {
		t.Errorf("with detail again: %s", got)
	}
}

// A guest that runs no more keeps its disk alone, one that was started anew too, and one of which the state is not known nothing.
func TestFiguresGoWithTheLifeThatTheyAreOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change     func(f *certified, ref hypervisor.GuestRef)
		want, ages string
	}{
		"it runs on": {func(*certified, hypervisor.GuestRef) {}, "running,0.1,1073741824,5,1000,2000,3000,4000,2,",
			"guest 60, node 60, seen 0"},
		"it is paused": {status(hypervisor.GuestPaused), "paused,0.1,1073741824,5,1000,2000,3000,4000,2,", "guest 60, node 60, seen 0"},
		"it is stopped": {func(f *certified, ref hypervisor.GuestRef) {
			f.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Status, g.Uptime = hypervisor.GuestStopped, nil })
		}, "stopped,,,5,,,,,2,", "guest 60, node 60, seen 0"},
		"it was started anew": {func(f *certified, ref hypervisor.GuestRef) {
			f.Exec("UPDATE guests SET uptime = uptime + 100000")
		}, "running,,,5,,,,,2,", "guest 60, node 60, seen 0"},
		"its state is not known": {status(hypervisor.GuestUnknown), "unknown,,,,,,,,,", "guest -1, node 60, seen 0"},
		"its host is silent": {func(f *certified, _ hypervisor.GuestRef) {
			f.cluster.SetFault("inventory", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no route")})
			if err := f.poll.Sync(context.Background(), 1); err == nil {
				f.t.Error("a silent host was polled")
			}
			f.cluster.SetFault("inventory", memdriver.Fault{})
		}, "running,,,,,,,,2,", "guest -1, node -1, seen 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newCertified(t)
			ref := f.running()
			f.polls(false, 0)
			f.polls(true, 0)
			f.Exec("UPDATE guests SET cpu = 0.1")
			c.change(f, ref)
			f.polls(false, 60)
			if got := f.of(ref, "status, cpu, "+usedFigures+", cpus, ''"); got != c.want+`""` {
				t.Errorf("the row is %s, want %s", got, c.want)
			}
			if got := f.ages(ref); got != c.ages {
				t.Errorf("ages: %s, want %s", got, c.ages)
			}
		})
	}
}

func status(status string) func(*certified, hypervisor.GuestRef) {
	return func(f *certified, ref hypervisor.GuestRef) {
		f.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Status = status })
	}
}

// A guest that only a poll of states has seen has no figures, whatever others of its cluster have.
func TestAGuestThatIsNewToAPollOfStates(t *testing.T) {
	t.Parallel()
	f := newCertified(t)
	f.running()
	f.polls(false, 0)
	f.polls(true, 0)
	later := f.running()
	f.polls(false, 60)
	if got := f.of(later, "cpu, "+usedFigures); got != ",,,,,," || f.ages(later) != "guest -1, node 60, seen 0" {
		t.Errorf("%s; %s", got, f.ages(later))
	}
}

// No sample is written of what was not measured: of guests, nodes, storages or the host.
func TestNoSamplesOfWhatWasNotMeasured(t *testing.T) {
	t.Parallel()
	f := newCertified(t)
	f.running()
	const samples = "SELECT coalesce(string_agg(target_kind || ' ' || n, ', ' ORDER BY target_kind), '') FROM " +
		"(SELECT target_kind, count(*) AS n FROM metric_samples GROUP BY 1) s"
	f.polls(false, 0)
	if got := f.Value(samples); got != "" {
		t.Errorf("after a poll of states: %s", got)
	}
	f.Exec("UPDATE clusters SET seen_at = now()")
	f.polls(true, 0)
	const once = "guest 1, host 1, node 2, storage 2"
	if got := f.Value(samples); got != once {
		t.Errorf("after one with detail: %s", got)
	}
	f.polls(false, 0)
	f.polls(false, 0)
	if got := f.Value(samples); got != once {
		t.Errorf("after two more of states: %s", got)
	}
}

// Figures are of the moment at which the hypervisor told them, however long it then takes until they are written.
func TestFiguresAreOfWhenTheyWereTold(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.host(nil)
	const wait = 300 * time.Millisecond
	began := f.Value("SELECT now()")
	f.answer(id, func(_ context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
		if err := page(report("", "n1", []hypervisor.Node{node("n1")}, vm(100, "n1", "web"))); err != nil {
			return err
		}
		time.Sleep(wait)
		return page(hypervisor.Page{})
	})
	f.sync(f.poller(f.db), id)
	for _, table := range []string{"clusters", "nodes"} {
		if got := f.Value("SELECT figures_at BETWEEN $1::timestamptz AND seen_at - $2::interval FROM "+table, began, wait); got != "true" {
			t.Errorf("%s: seen and measured %s apart", table, f.Value("SELECT seen_at - figures_at FROM "+table))
		}
	}
}
