package drivertest

import (
	"context"
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// act performs an action and waits for its task, which must succeed.
func (s *suite) act(t *testing.T, ctx context.Context, ref hypervisor.GuestRef, action hypervisor.Action) (taskID string,
	lines []hypervisor.LogLine) {
	t.Helper()
	host := s.host(t, endpoint.Lifecycle)
	taskID, err := as[hypervisor.LifecycleManager](t, host).Act(ctx, ref, action)
	must(t, string(action), err)
	if taskID == "" {
		return "", nil
	}
	lines, result := wait(t, ctx, host, taskID, 0)
	if !result.OK() {
		t.Fatalf("%s ended as %+v", action, result)
	}
	return taskID, lines
}

// after maps an action to the state in which it must end.
var after = map[hypervisor.Action]string{
	hypervisor.Start: hypervisor.GuestRunning, hypervisor.Stop: hypervisor.GuestStopped,
	hypervisor.Shutdown: hypervisor.GuestStopped, hypervisor.Restart: hypervisor.GuestRunning,
	hypervisor.Pause: hypervisor.GuestPaused, hypervisor.Resume: hypervisor.GuestRunning, hypervisor.Reset: hypervisor.GuestRunning,
}

// actions returns the actions that the driver claims for a kind of guest.
func (s *suite) actions(t *testing.T, kind hypervisor.GuestKind) []hypervisor.Action {
	t.Helper()
	info := s.described(t)
	return slices.DeleteFunc(hypervisor.Actions(hypervisor.VM), func(a hypervisor.Action) bool { return !info.HasAction(kind, a) })
}

// lifecycle tests LifecycleManager: each action on a guest in a suitable state,
// then unknown guests, unknown actions, missing privileges and locks. An action
// is complete when its task has ended; an empty task ID means that it completed
// within the call.
func (s *suite) lifecycle(t *testing.T) {
	need[hypervisor.LifecycleManager](t, s)
	s.unfitting(t)
	for _, kind := range s.kinds() {
		for _, action := range s.actions(t, kind) {
			s.run(t, string(kind)+" "+string(action), func(t *testing.T, ctx context.Context) {
				hook(t, "NewGuest", s.NewGuest != nil)
				status := hypervisor.GuestRunning
				if action == hypervisor.Start {
					status = hypervisor.GuestStopped
				}
				ref := s.NewGuest(t, kind, status)
				if action == hypervisor.Resume {
					s.act(t, ctx, ref, hypervisor.Pause)
				}
				s.act(t, ctx, ref, action)
				got, err := s.host(t, endpoint.Monitoring).Guest(ctx, ref)
				must(t, "reading the guest", err)
				if got.Status != after[action] {
					t.Errorf("the guest is %s after %s, want %s", got.Status, action, after[action])
				}
			})
		}
	}
	s.run(t, "unknown guest", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		ref := s.NewGuest(t, s.kind(), hypervisor.GuestStopped)
		ref.ID = "999999999"
		host := s.host(t, endpoint.Lifecycle)
		id, err := as[hypervisor.LifecycleManager](t, host).Act(ctx, ref, hypervisor.Start)
		if err == nil { // some hypervisors find out in the task
			if _, result := wait(t, ctx, host, id, 0); result.OK() {
				t.Error("an action on a guest that does not exist succeeded")
			}
			return
		}
		wantKind(t, err, plugin.NotFound)
	})
	s.run(t, "actions that the kind does not know", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		lifecycler := as[hypervisor.LifecycleManager](t, s.host(t, endpoint.Lifecycle))
		ref := s.NewGuest(t, s.kinds()[len(s.kinds())-1], hypervisor.GuestRunning)
		known := s.actions(t, ref.Kind)
		for _, action := range append(hypervisor.Actions(hypervisor.VM), "explode", "../config", "") {
			if slices.Contains(known, action) {
				continue
			}
			_, err := lifecycler.Act(ctx, ref, action)
			switch plugin.KindOf(err) {
			case plugin.Invalid, plugin.Unsupported:
			default:
				t.Errorf("%q: error is %v, want invalid or unsupported", action, err)
			}
		}
	})
	s.run(t, "a token without the right", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest and Lacking", s.NewGuest != nil && s.Lacking != nil)
		target, missing := s.Lacking(t, endpoint.Lifecycle)
		ref := s.NewGuest(t, s.kind(), hypervisor.GuestStopped)
		_, err := as[hypervisor.LifecycleManager](t, s.open(t, target)).Act(ctx, ref, hypervisor.Start)
		if len(missing) > 0 {
			if e := wantKind(t, err, plugin.Denied); len(e.Missing) == 0 {
				t.Error("the error does not name the missing privilege")
			}
		}
	})
	s.run(t, "locked guest", func(t *testing.T, ctx context.Context) {
		hook(t, "LockedGuest", s.LockedGuest != nil)
		ref := s.LockedGuest(t)
		host := s.host(t, endpoint.Lifecycle)
		id, err := as[hypervisor.LifecycleManager](t, host).Act(ctx, ref, hypervisor.Start)
		if err == nil { // some hypervisors find out in the task
			_, result := wait(t, ctx, host, id, 0)
			if result.OK() {
				t.Error("an action on a locked guest succeeded")
			}
			return
		}
		wantKind(t, err, plugin.Busy)
	})
}
