package lxd_test

import (
	"testing"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Ten guests do not follow a shutdown. Their operations are followed over one stream, with a certificate that is restricted to the
// project, and nothing is asked for meanwhile. When the stream is cut, those that go on are asked for, and end right.
func TestRealFollow(t *testing.T) {
	t.Parallel()
	const count, first = 10, 2 // those that end before the stream is cut
	f := newFixture(t, lxdtest.Shared(t), "follow")
	f.driver = newDriver(t, endurance)
	refs := make([]hypervisor.GuestRef, count)
	for i := range refs {
		refs[i] = f.container(t, hypervisor.GuestStopped, lxdtest.Stubborn)
	}
	f.all(t, map[string]any{"action": "start"})
	p := newProxy(t, with(f.Trusted(t, f.project), endpoint.Lifecycle))
	host := open(t, f.driver, p.target)
	waits := make([]*waiting, count)
	for i, ref := range refs {
		id, err := host.Act(t.Context(), ref, hypervisor.Shutdown)
		must(t, "shutting down", err)
		waits[i] = waitFor(t.Context(), host, id, 0)
	}
	reads := func() int { return p.count("GET /1.0/operations/") - p.count("/wait?") }
	waittest.Until(t, "that all are followed", func() bool { return p.open() == 1 && reads() == 2*count })
	for i, w := range waits[:first] {
		f.stop(t, refs[i])
		w.ok(t)
	}
	if steps, streams := p.count("/wait?"), p.count("/events?"); steps != count || streams != 1 || reads() != 2*count {
		t.Errorf("%d steps of waits, %d streams, %d reads for %d operations", steps, streams, reads(), count)
	}
	p.cut()
	waittest.Until(t, "that the others are asked for", func() bool { return p.count("/wait?") == count+count-first })
	f.all(t, map[string]any{"action": "stop", "force": true})
	for _, w := range waits[first:] {
		w.ok(t)
	}
	for _, w := range waits {
		if len(w.log) != 1 {
			t.Errorf("%q", w.log)
		}
	}
	waittest.Until(t, "the end of the stream", func() bool { return p.open() == 0 })
}

// The server is started again while an operation is followed: it has forgotten it, and tells of the next.
func TestRealFollowRestart(t *testing.T) {
	t.Parallel()
	f := newFixture(t, lxdtest.New(t), "default")
	f.driver = newDriver(t, endurance)
	ref := f.container(t, hypervisor.GuestRunning, lxdtest.Stubborn)
	p := newProxy(t, with(f.Trusted(t, f.project), endpoint.Lifecycle))
	host := open(t, f.driver, p.target)
	follow := func() *waiting {
		id, err := host.Act(t.Context(), ref, hypervisor.Shutdown)
		must(t, "shutting down", err)
		w := waitFor(t.Context(), host, id, 0)
		waittest.Until(t, "that it is followed", func() bool { return p.open() == 1 && p.count("GET /1.0/operations/"+id) == 3 })
		return w
	}
	w := follow()
	f.Kill(t)
	waittest.Until(t, "that it is asked for", func() bool { return p.count("/wait?") > 1 })
	f.Start(t)
	<-w.over
	wantKind(t, w.err, plugin.NotFound)
	w = follow()
	f.stop(t, ref)
	w.ok(t)
	waittest.Until(t, "the end of the stream", func() bool { return p.open() == 0 })
}
