package drivertest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// badSnapshotNames are names that no hypervisor accepts for a snapshot.
var badSnapshotNames = []string{"", ".", "..", "a/b", "../../status/stop", "a\x00b", "a\nb", strings.Repeat("n", 4096)}

// snapshotter opens a host that may change snapshots.
func (s *suite) snapshotter(t *testing.T) hypervisor.Snapshotter {
	t.Helper()
	return as[hypervisor.Snapshotter](t, s.host(t, endpoint.Lifecycle))
}

// ends waits for the task of a change, if there is one, and returns whether the
// change was made. Hypervisors either refuse a call or accept it and fail in
// its task; a refusal must be of one of the kinds.
func (s *suite) ends(t *testing.T, ctx context.Context, taskID string, err error, kinds ...plugin.ErrorKind) bool {
	t.Helper()
	if err != nil {
		if !slices.Contains(kinds, plugin.KindOf(err)) {
			t.Errorf("error is %v, want one of %q", err, kinds)
		}
		return false
	}
	if taskID == "" {
		return true
	}
	_, result := wait(t, ctx, s.host(t, endpoint.Monitoring), taskID, 0)
	return result.OK()
}

// take takes a snapshot, which must succeed.
func (s *suite) take(t *testing.T, ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.SnapshotSpec) (taskID string) {
	t.Helper()
	id, err := s.snapshotter(t).TakeSnapshot(ctx, ref, spec)
	if !s.ends(t, ctx, id, err) {
		t.Fatalf("taking snapshot %s failed: %v", spec.Name, err)
	}
	return id
}

// snapshotsOf returns the snapshots of a guest by name, with the token for
// monitoring.
func (s *suite) snapshotsOf(t *testing.T, ctx context.Context, ref hypervisor.GuestRef) map[string]hypervisor.Snapshot {
	t.Helper()
	list, err := as[hypervisor.Snapshotter](t, s.host(t, endpoint.Monitoring)).Snapshots(ctx, ref)
	must(t, "listing the snapshots", err)
	found := map[string]hypervisor.Snapshot{}
	for _, snapshot := range list {
		found[snapshot.Name] = snapshot
	}
	if len(found) != len(list) {
		t.Errorf("a name occurs twice in %+v", list)
	}
	return found
}

// snapshot tests Snapshotter. Each change either returns an error of the right
// kind or a task that fails; the guest's list of snapshots decides what really
// happened.
func (s *suite) snapshot(t *testing.T) {
	need[hypervisor.Snapshotter](t, s)
	s.snapshotLife(t)
	s.snapshotRefusals(t)
}

// snapshotLife tests snapshots that are taken, rolled back to and deleted.
func (s *suite) snapshotLife(t *testing.T) {
	for _, kind := range s.kinds() {
		s.run(t, "the life of those of a "+string(kind), func(t *testing.T, ctx context.Context) {
			hook(t, "SnapshotGuest", s.SnapshotGuest != nil)
			ref := s.SnapshotGuest(t, kind, hypervisor.GuestStopped)
			if found := s.snapshotsOf(t, ctx, ref); len(found) != 0 {
				t.Fatalf("a new guest has %+v", found)
			}
			first := hypervisor.SnapshotSpec{Name: "first", Description: "before the change, für später"}
			id, err := s.snapshotter(t).TakeSnapshot(ctx, ref, first)
			if plugin.KindOf(err) == plugin.Invalid { // the hypervisor keeps none
				if e := wantKind(t, err, plugin.Invalid); e.Field != "description" {
					t.Errorf("the error names the field %q, want description", e.Field)
				}
				first.Description = ""
				id, err = s.snapshotter(t).TakeSnapshot(ctx, ref, first)
			}
			if !s.ends(t, ctx, id, err) {
				t.Fatal("taking a snapshot failed:", err)
			}
			s.wantOperation(t, ctx, ref, id, hypervisor.OperationSnapshotCreate)
			s.take(t, ctx, ref, hypervisor.SnapshotSpec{Name: "second"})
			s.take(t, ctx, ref, hypervisor.SnapshotSpec{Name: "third"})
			found := s.snapshotsOf(t, ctx, ref)
			if len(found) != 3 || found["first"].Description != first.Description || found["second"].Description != "" {
				t.Errorf("snapshots are %+v", found)
			}
			if found["first"].Parent != "" || found["second"].Parent != "" && found["second"].Parent != "first" {
				t.Errorf("snapshots follow each other as in %+v", found)
			}
			taskID, err := s.snapshotter(t).DeleteSnapshot(ctx, ref, "second")
			if !s.ends(t, ctx, taskID, err) {
				t.Fatal("deleting failed:", err)
			}
			s.wantOperation(t, ctx, ref, taskID, hypervisor.OperationSnapshotDelete)
			found = s.snapshotsOf(t, ctx, ref)
			if _, there := found["second"]; there || len(found) != 2 || found["third"].Parent == "second" {
				t.Errorf("after deleting the second, snapshots are %+v", found)
			}
		})
		for _, start := range []bool{false, true} {
			name := map[bool]string{false: "going back", true: "going back and starting"}[start]
			s.run(t, name+" of a "+string(kind), func(t *testing.T, ctx context.Context) {
				hook(t, "SnapshotGuest", s.SnapshotGuest != nil)
				need[hypervisor.LifecycleManager](t, s)
				ref := s.SnapshotGuest(t, kind, hypervisor.GuestStopped)
				s.take(t, ctx, ref, hypervisor.SnapshotSpec{Name: "stopped"})
				s.act(t, ctx, ref, hypervisor.Start)
				id, err := s.snapshotter(t).RollBack(ctx, ref, hypervisor.RollbackSpec{Name: "stopped", Start: start})
				if !s.ends(t, ctx, id, err) {
					t.Fatal("the rollback failed:", err)
				}
				s.wantOperation(t, ctx, ref, id, hypervisor.OperationSnapshotRollback)
				want := map[bool]string{false: hypervisor.GuestStopped, true: hypervisor.GuestRunning}[start]
				s.eventually(t, ctx, ref, want) // some hypervisors start it in a task of its own
				if found := s.snapshotsOf(t, ctx, ref); len(found) != 1 {
					t.Errorf("after the rollback, snapshots are %+v", found)
				}
			})
		}
	}
	s.run(t, "memory", func(t *testing.T, ctx context.Context) {
		hook(t, "SnapshotGuest", s.SnapshotGuest != nil)
		guests := map[hypervisor.GuestRef]bool{}
		for _, kind := range s.kinds() {
			guests[s.SnapshotGuest(t, kind, hypervisor.GuestRunning)] = kind == hypervisor.VM
			if kind == hypervisor.VM {
				guests[s.SnapshotGuest(t, kind, hypervisor.GuestStopped)] = false
			}
		}
		for ref, memory := range guests {
			id, err := s.snapshotter(t).TakeSnapshot(ctx, ref, hypervisor.SnapshotSpec{Name: "memory", Memory: true})
			if plugin.KindOf(err) == plugin.Invalid {
				if e := wantKind(t, err, plugin.Invalid); e.Field != "memory" {
					t.Errorf("the error names the field %q, want memory", e.Field)
				}
				continue
			}
			if s.ends(t, ctx, id, err, plugin.Unsupported) && s.snapshotsOf(t, ctx, ref)["memory"].Memory != memory {
				t.Errorf("%+v: the snapshot has memory %v, want %v", ref, !memory, memory)
			}
		}
	})
}

// snapshotRefusals tests what must be refused.
func (s *suite) snapshotRefusals(t *testing.T) {
	s.run(t, "names", func(t *testing.T, ctx context.Context) {
		hook(t, "SnapshotGuest", s.SnapshotGuest != nil)
		ref, snapshotter := s.SnapshotGuest(t, s.kind(), hypervisor.GuestStopped), s.snapshotter(t)
		for _, name := range badSnapshotNames {
			_, err := snapshotter.TakeSnapshot(ctx, ref, hypervisor.SnapshotSpec{Name: name})
			if e := wantKind(t, err, plugin.Invalid); e.Field != "name" {
				t.Errorf("%.80q: the error names the field %q, want name", name, e.Field)
			}
			id, err := snapshotter.DeleteSnapshot(ctx, ref, name)
			if s.ends(t, ctx, id, err, plugin.Invalid, plugin.NotFound) {
				t.Errorf("%.80q was deleted", name)
			}
			id, err = snapshotter.RollBack(ctx, ref, hypervisor.RollbackSpec{Name: name})
			if s.ends(t, ctx, id, err, plugin.Invalid, plugin.NotFound) {
				t.Errorf("the guest was rolled back to %.80q", name)
			}
		}
	})
	s.run(t, "what is not there, and what is there already", func(t *testing.T, ctx context.Context) {
		hook(t, "SnapshotGuest", s.SnapshotGuest != nil)
		ref, snapshotter := s.SnapshotGuest(t, s.kind(), hypervisor.GuestStopped), s.snapshotter(t)
		s.take(t, ctx, ref, hypervisor.SnapshotSpec{Name: "there"})
		id, err := snapshotter.TakeSnapshot(ctx, ref, hypervisor.SnapshotSpec{Name: "there"})
		if s.ends(t, ctx, id, err, plugin.Conflict) {
			t.Error("a snapshot name was used twice")
		}
		id, err = snapshotter.DeleteSnapshot(ctx, ref, "absent")
		if s.ends(t, ctx, id, err, plugin.NotFound) {
			t.Error("a snapshot that does not exist was deleted")
		}
		id, err = snapshotter.RollBack(ctx, ref, hypervisor.RollbackSpec{Name: "absent"})
		if s.ends(t, ctx, id, err, plugin.NotFound) {
			t.Error("the guest was rolled back to a snapshot that does not exist")
		}
		if found := s.snapshotsOf(t, ctx, ref); len(found) != 1 {
			t.Errorf("snapshots are %+v", found)
		}
		ref.ID = "999999999"
		_, err = as[hypervisor.Snapshotter](t, s.host(t, endpoint.Monitoring)).Snapshots(ctx, ref)
		wantKind(t, err, plugin.NotFound)
		id, err = snapshotter.TakeSnapshot(ctx, ref, hypervisor.SnapshotSpec{Name: "there"})
		if s.ends(t, ctx, id, err, plugin.NotFound) {
			t.Error("a guest that does not exist has a snapshot")
		}
	})
	s.run(t, "a token without the right", func(t *testing.T, ctx context.Context) {
		if s.Alike {
			t.Skip("the credentials of all capabilities have the same rights")
		}
		hook(t, "SnapshotGuest", s.SnapshotGuest != nil)
		ref, reading := s.SnapshotGuest(t, s.kind(), hypervisor.GuestStopped), as[hypervisor.Snapshotter](t, s.host(t, endpoint.Monitoring))
		s.take(t, ctx, ref, hypervisor.SnapshotSpec{Name: "there"})
		_, take := reading.TakeSnapshot(ctx, ref, hypervisor.SnapshotSpec{Name: "other"})
		_, remove := reading.DeleteSnapshot(ctx, ref, "there")
		_, back := reading.RollBack(ctx, ref, hypervisor.RollbackSpec{Name: "there"})
		for _, err := range []error{take, remove, back} {
			if e := wantKind(t, err, plugin.Denied); len(e.Missing) == 0 {
				t.Error("the error does not name the missing privilege")
			}
		}
	})
	s.run(t, "a locked guest", func(t *testing.T, ctx context.Context) {
		hook(t, "SnapshotGuest and LockedGuest", s.SnapshotGuest != nil && s.LockedGuest != nil)
		id, err := s.snapshotter(t).TakeSnapshot(ctx, s.LockedGuest(t), hypervisor.SnapshotSpec{Name: "first"})
		if s.ends(t, ctx, id, err, plugin.Busy) {
			t.Error("a locked guest got a snapshot")
		}
	})
}

// wantOperation checks that the task of a change is in the list, with its
// operation.
func (s *suite) wantOperation(t *testing.T, ctx context.Context, ref hypervisor.GuestRef, id string, want hypervisor.Operation) {
	t.Helper()
	if id != "" {
		s.wantListed(t, s.guestTasks(t, ctx, ref), id, want)
	}
}

// wantNodeOperation is wantOperation for a task without a guest.
func (s *suite) wantNodeOperation(t *testing.T, ctx context.Context, node, id string, want hypervisor.Operation) {
	t.Helper()
	if id == "" {
		return
	}
	list, err := s.host(t, endpoint.Monitoring).Tasks(ctx, hypervisor.TaskQuery{Node: node, Limit: 200})
	must(t, "listing the node's tasks", err)
	s.wantListed(t, list, id, want)
}

// wantListed checks that a list has a task with its operation.
func (s *suite) wantListed(t *testing.T, list hypervisor.TaskList, id string, want hypervisor.Operation) {
	t.Helper()
	tasks := list.Tasks
	i := slices.IndexFunc(tasks, func(t hypervisor.Task) bool { return t.ID == id })
	if i < 0 {
		s.forgotten(t, list)
	}
	if i < 0 || tasks[i].Operation != want {
		t.Errorf("tasks are %+v, want %s as %s", tasks, id, want)
	}
}
