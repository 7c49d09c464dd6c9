package poll_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// share is the guest's part of its cores; -1 when it is not known.
func (f *certified) share(ref hypervisor.GuestRef) float64 {
	f.t.Helper()
	n, err := strconv.ParseFloat(f.Value("SELECT coalesce(cpu, -1)::text FROM guests WHERE uid = $1", ref.UID), 64)
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

// works lets a guest use that many seconds of CPU time more.
func (f *certified) works(ref hypervisor.GuestRef, seconds float64) {
	f.cluster.Change(ref.ID, func(g *hypervisor.Guest) { *g.CPUSeconds += seconds })
}

// The part of the cores is what was used between two readings of the counter, where these can be compared.
func TestCPUIsCounted(t *testing.T) {
	t.Parallel()
	const unknown = -1
	for name, c := range map[string]struct {
		// between is what happens between two readings that lie apart by this many seconds.
		between func(f *certified, ref hypervisor.GuestRef)
		apart   int
		want    float64
	}{
		"some":             {func(f *certified, ref hypervisor.GuestRef) { f.works(ref, 600) }, 600, 0.5},
		"none":             {func(*certified, hypervisor.GuestRef) {}, 600, 0},
		"more than all":    {func(f *certified, ref hypervisor.GuestRef) { f.works(ref, 10000) }, 600, 1},
		"over a long time": {func(f *certified, ref hypervisor.GuestRef) { f.works(ref, 600) }, 3000, 0.1},
		"of another number of cores": {func(f *certified, ref hypervisor.GuestRef) {
			f.works(ref, 600)
			f.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.CPUs = ptr(4.0) })
		}, 600, 0.25},
		"of a node's cores": {func(f *certified, ref hypervisor.GuestRef) {
			f.works(ref, 600)
			f.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.CPUs = nil })
		}, 600, 0.125},
		"of no core at all": {func(f *certified, ref hypervisor.GuestRef) {
			f.works(ref, 600)
			f.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.CPUs = ptr(0.0) })
		}, 600, unknown},
		"the counter fell": {func(f *certified, ref hypervisor.GuestRef) { f.works(ref, -100) }, 600, unknown},
		"the uptime fell": {func(f *certified, ref hypervisor.GuestRef) {
			f.works(ref, 600)
			f.Exec("UPDATE guests SET uptime = uptime + 1000")
		}, 600, unknown},
		"it is up for less time than has passed": {func(f *certified, ref hypervisor.GuestRef) { f.works(ref, 600) }, 40000, unknown},
		"no time has passed by the clock":        {func(f *certified, ref hypervisor.GuestRef) { f.works(ref, 600) }, -3600, unknown},
		"no clock tells since when it is up": {func(f *certified, ref hypervisor.GuestRef) {
			f.works(ref, 600)
			f.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Uptime = nil })
		}, 600, 0.5},
		"with polls of states between": {func(f *certified, ref hypervisor.GuestRef) {
			f.works(ref, 600)
			for range 3 {
				f.polls(false, 200)
			}
		}, 0, 0.5},
		"it was stopped between": {func(f *certified, ref hypervisor.GuestRef) {
			f.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Status = hypervisor.GuestStopped })
			f.polls(false, 300)
			f.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Status = hypervisor.GuestRunning })
			f.works(ref, 600)
		}, 300, unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newCertified(t)
			ref, idle := f.running(), f.running()
			f.polls(false, 0)
			f.polls(true, 0)
			if got := f.share(ref); got != unknown {
				t.Errorf("one reading tells %v", got)
			}
			c.between(f, ref)
			f.polls(true, c.apart)
			if got := f.share(ref); math.Abs(got-c.want) > 0.05 {
				t.Errorf("CPU is %v, want about %v", got, c.want)
			}
			sample := f.Value(`SELECT coalesce(s.cpu, -1)::text FROM metric_samples s JOIN guests g
				ON s.target_kind = 'guest' AND s.target_id = g.id WHERE g.uid = $1 ORDER BY s.at DESC LIMIT 1`, ref.UID)
			if n, err := strconv.ParseFloat(sample, 64); err != nil || math.Abs(n-f.share(ref)) > 1e-6 {
				t.Errorf("the sample has %s, the guest %v", sample, f.share(ref))
			}
			if got := f.share(idle); got > 0.05 {
				t.Errorf("CPU of another guest is %v", got)
			}
			// Whatever it was, the next two readings can be compared again.
			f.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.CPUs = ptr(2.0) })
			f.polls(true, 0)
			f.works(ref, 600)
			f.polls(true, 600)
			if got := f.share(ref); math.Abs(got-0.5) > 0.05 {
				t.Errorf("CPU is %v in the end", got)
			}
			f.polls(false, 600)
			if got := f.share(ref); math.Abs(got-0.5) > 0.05 {
				t.Errorf("CPU is %v after a poll of states", got)
			}
		})
	}
}

// Counters that cannot be true are none, and what is measured is worth more than what is counted.
func TestOddCounters(t *testing.T) {
	t.Parallel()
	f := newTold(t)
	counted := func(id string, cpu *float64, seconds float64) hypervisor.Guest {
		g := named(id, id)
		g.CPU, g.CPUSeconds, g.Uptime = cpu, &seconds, ptr(int64(10000))
		return g
	}
	tell := func(seconds float64) {
		f.Exec("UPDATE guests SET cpu_seconds_at = cpu_seconds_at - interval '1000 seconds'")
		f.answers(counted("both", ptr(0.5), seconds), counted("less", nil, -seconds), counted("NaN", nil, math.NaN()),
			counted("infinite", nil, math.Inf(1)), counted("right", nil, seconds))
	}
	tell(1)
	tell(2)
	tell(1002) // half of two cores, whether or not the test itself takes some seconds
	if got := f.Value("SELECT string_agg(concat_ws(' ', ref, coalesce(round(cpu::numeric, 1), -1)), ', ' ORDER BY ref) FROM guests"); got !=
		"NaN -1, both 0.5, infinite -1, less -1, right 0.5" {
		t.Error(got)
	}
}
