package lxd_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// The answer to a change gets lost: the driver says that it may have been taken and does not repeat it, and the guest shows that
// it was, once.
func TestRealLostAnswers(t *testing.T) {
	t.Parallel()
	f := newFixture(t, lxdtest.Shared(t), "lost")
	for name, c := range map[string]struct {
		from, image string
		send        func(*testing.T, hypervisor.Host, hypervisor.GuestRef) error
		done        func(*testing.T, hypervisor.Guest, hypervisor.GuestRef, hypervisor.Host) bool
	}{
		"start": {hypervisor.GuestStopped, lxdtest.Tiny, acting(hypervisor.Start), is(hypervisor.GuestRunning)},
		"stop":  {hypervisor.GuestRunning, lxdtest.Stubborn, acting(hypervisor.Stop), is(hypervisor.GuestStopped)},
		"pause": {hypervisor.GuestRunning, lxdtest.Tiny, acting(hypervisor.Pause), is(hypervisor.GuestPaused)},
		"take a snapshot": {hypervisor.GuestStopped, lxdtest.Tiny, func(t *testing.T, host hypervisor.Host, ref hypervisor.GuestRef) error {
			_, err := host.(hypervisor.Snapshotter).TakeSnapshot(t.Context(), ref, hypervisor.SnapshotSpec{Name: "s1"})
			return err
		}, func(t *testing.T, _ hypervisor.Guest, ref hypervisor.GuestRef, host hypervisor.Host) bool {
			all, err := host.(hypervisor.Snapshotter).Snapshots(t.Context(), ref)
			must(t, "listing snapshots", err)
			return len(all) == 1 && all[0].Name == "s1" && !all[0].Incomplete && !all[0].TakenAt.IsZero()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ref := f.container(t, c.from, c.image)
			p := newProxy(t, with(f.Trusted(t, f.project), endpoint.Lifecycle))
			host := open(t, f.driver, p.target)
			p.lose(func(r *http.Request) bool { return r.Method != http.MethodGet })
			wantKind(t, c.send(t, host, ref), plugin.Unreachable)
			p.lose(nil)
			if sent := changes(p.take()); len(sent) != 1 {
				t.Errorf("sent %q", sent)
			}
			waittest.Until(t, "that it is done", func() bool { return c.done(t, f.guest(t, ref), ref, host) })
			// What may have gone nowhere is never said for sure.
			if list, err := host.Tasks(t.Context(), hypervisor.TaskQuery{Limit: 10, Guest: &ref}); err != nil || !list.CompleteSince.IsZero() {
				t.Errorf("%+v, %v", list, err)
			}
		})
	}
}

// A restart whose answer is lost happens once.
func TestRealLostRestart(t *testing.T) {
	t.Parallel()
	f := newFixture(t, lxdtest.Shared(t), "lostrestart")
	ref := f.container(t, hypervisor.GuestRunning, lxdtest.Tiny)
	p := newProxy(t, with(f.Trusted(t, f.project), endpoint.Lifecycle))
	host := open(t, f.driver, p.target)
	started := func() int64 {
		guest := f.guest(t, ref)
		if guest.Status != hypervisor.GuestRunning || guest.Uptime == nil {
			return 0
		}
		return guest.At.Unix() - *guest.Uptime
	}
	before := started()
	waittest.Until(t, "a second", func() bool { return f.guest(t, ref).At.Unix() > before+2 })
	p.lose(func(r *http.Request) bool { return r.Method != http.MethodGet })
	_, err := host.Act(t.Context(), ref, hypervisor.Restart)
	wantKind(t, err, plugin.Unreachable)
	waittest.Until(t, "the restart", func() bool { return started() > before+1 })
	if sent := changes(p.take()); len(sent) != 1 {
		t.Errorf("sent %q", sent)
	}
}

// The connection breaks while an operation is waited for: the wait goes on and tells its end, and where the server has forgotten
// it meanwhile, that.
func TestRealLostWait(t *testing.T) {
	t.Parallel()
	f := newFixture(t, lxdtest.Shared(t), "lostwait")
	ref := f.container(t, hypervisor.GuestRunning, lxdtest.Stubborn)
	p := newProxy(t, with(f.Trusted(t, f.project), endpoint.Lifecycle))
	host := open(t, f.driver, p.target)
	waits, third := 0, make(chan struct{})
	p.lose(func(r *http.Request) bool { // one call at a time
		if !strings.HasSuffix(r.URL.Path, "/wait") {
			return false
		}
		if waits++; waits == 3 {
			close(third)
		}
		return waits <= 2
	})
	id, err := host.Act(t.Context(), ref, hypervisor.Shutdown) // which the guest does not follow
	must(t, "shutting down", err)
	stopper, stopped := f.host(t, endpoint.Lifecycle), make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-third:
		case <-t.Context().Done():
		}
		if _, err := stopper.Act(t.Context(), ref, hypervisor.Stop); err != nil {
			t.Error(err)
		}
	}()
	result := f.wait(t, host, id)
	<-stopped
	if !result.OK() {
		t.Errorf("%+v", result)
	}
	waittest.Until(t, "that the operation is forgotten", func() bool {
		_, err := host.TaskLog(t.Context(), id, hypervisor.LogQuery{})
		return plugin.KindOf(err) == plugin.NotFound
	})
	_, err = host.WaitTask(t.Context(), id, 0, func(hypervisor.LogLine) error { return nil })
	wantKind(t, err, plugin.NotFound)
	wantKind(t, host.StopTask(t.Context(), id), plugin.NotFound)
}

func acting(action hypervisor.Action) func(*testing.T, hypervisor.Host, hypervisor.GuestRef) error {
	return func(t *testing.T, host hypervisor.Host, ref hypervisor.GuestRef) error {
		_, err := host.(hypervisor.LifecycleManager).Act(t.Context(), ref, action)
		return err
	}
}

func is(status string) func(*testing.T, hypervisor.Guest, hypervisor.GuestRef, hypervisor.Host) bool {
	return func(_ *testing.T, guest hypervisor.Guest, _ hypervisor.GuestRef, _ hypervisor.Host) bool {
		return guest.Status == status
	}
}
