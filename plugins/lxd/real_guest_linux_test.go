package lxd_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/lxd/lxdtest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// A guest that was deleted and made again under its name is another one, to which nothing is done.
func TestRealNameOfAnotherGuest(t *testing.T) {
	t.Parallel()
	f := newFixture(t, lxdtest.Shared(t), "again")
	at := f.Container(t, f.project, "web1", lxdtest.Tiny)
	before := f.ref(t, at.Name)
	if err := f.Do(t.Context(), http.MethodDelete, f.path(at.Name, ""), nil, nil); err != nil {
		t.Fatal(err)
	}
	f.Container(t, f.project, at.Name, lxdtest.Tiny)
	after := f.ref(t, at.Name)
	t.Cleanup(func() { f.remove(t, after) })
	if before.ID != after.ID || before.UID == after.UID {
		t.Fatalf("%+v and %+v", before, after)
	}
	host := f.host(t, endpoint.Lifecycle)
	_, err := host.Guest(t.Context(), before)
	wantKind(t, err, plugin.NotFound)
	for _, action := range []hypervisor.Action{hypervisor.Start, hypervisor.Stop, hypervisor.Reset} {
		_, err := host.Act(t.Context(), before, action)
		wantKind(t, err, plugin.NotFound)
	}
	_, err = host.TakeSnapshot(t.Context(), before, hypervisor.SnapshotSpec{Name: "s1"})
	wantKind(t, err, plugin.NotFound)
	_, err = host.DeleteSnapshot(t.Context(), before, "s1")
	wantKind(t, err, plugin.NotFound)
	_, err = host.RollBack(t.Context(), before, hypervisor.RollbackSpec{Name: "s1"})
	wantKind(t, err, plugin.NotFound)
	if guest := f.guest(t, after); guest.Status != hypervisor.GuestStopped {
		t.Errorf("%+v", guest)
	}
}

// A restricted certificate sees and acts in its project and is Denied elsewhere, with the project that it lacks; of two guests
// of one name in two projects each has its own id.
func TestRealRestricted(t *testing.T) {
	t.Parallel()
	own, other := newFixture(t, lxdtest.Shared(t), "tenant1"), newFixture(t, lxdtest.Shared(t), "tenant2")
	mine, theirs := own.container(t, hypervisor.GuestStopped, lxdtest.Tiny), other.container(t, hypervisor.GuestStopped, lxdtest.Tiny)
	host := own.host(t, endpoint.Lifecycle)
	all := mustGather(t, host, hypervisor.InventoryQuery{})
	if len(all.Guests) != 1 || all.Guests[0].GuestRef != mine || !all.Cluster.Partial {
		t.Errorf("%+v, %+v", all.Cluster, all.Guests)
	}
	if result := own.act(t, mine, hypervisor.Start); !result.OK() {
		t.Error(result)
	}
	_, read := host.Guest(t.Context(), theirs)
	_, acted := host.Act(t.Context(), theirs, hypervisor.Start)
	_, listed := host.Snapshots(t.Context(), theirs)
	_, tasks := host.Tasks(t.Context(), hypervisor.TaskQuery{Limit: 10, Guest: &theirs})
	for _, err := range []error{read, acted, listed} {
		if e := wantKind(t, err, plugin.Denied); !slices.Equal(e.Missing, []string{"project tenant2"}) || e.Path != "/project/tenant2" {
			t.Errorf("%+v", e)
		}
	}
	if tasks != nil { // 5.0 shows everybody's
		wantKind(t, tasks, plugin.Denied)
	}
	whole := open(t, own.driver, own.Trusted(t))
	every := mustGather(t, whole, hypervisor.InventoryQuery{})
	has := func(ref hypervisor.GuestRef) bool {
		return slices.ContainsFunc(every.Guests, func(g hypervisor.Guest) bool { return g.GuestRef == ref })
	}
	if !has(mine) || !has(theirs) || every.Cluster.Partial {
		t.Errorf("%+v", every.Guests)
	}
	gone := mine
	gone.ID = "no-such-project/web1"
	_, err := whole.Guest(t.Context(), gone)
	wantKind(t, err, plugin.NotFound)
}

// What certificates may do, as the server has them in its list.
func TestRealPermissions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, lxdtest.Shared(t), "rights")
	for name, c := range map[string]struct {
		target endpoint.Target
		want   hypervisor.Permissions
	}{
		"unrestricted": {f.Trusted(t), hypervisor.Permissions{Extra: []string{"unrestricted certificate"}, Paths: []string{"/"}}},
		"restricted":   {f.Trusted(t, f.project, "default"), hypervisor.Permissions{Paths: []string{"/project/default", "/project/rights"}}},
		"nowhere":      {f.Nowhere(t), hypervisor.Permissions{Missing: []string{"a project"}}},
		"metrics":      {f.MetricsOnly(t), hypervisor.Permissions{Missing: []string{"certificate of the type client"}}},
	} {
		got, err := open(t, f.driver, c.target).Permissions(t.Context())
		if err != nil || !slices.Equal(got.Extra, c.want.Extra) || !slices.Equal(got.Missing, c.want.Missing) ||
			!slices.Equal(got.Paths, c.want.Paths) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	_, err := open(t, f.driver, f.Stranger(t)).Permissions(t.Context())
	wantKind(t, err, plugin.TokenRejected)
	_, err = open(t, f.driver, f.MetricsOnly(t)).Version(t.Context())
	if e := wantKind(t, err, plugin.Denied); len(e.Missing) != 1 {
		t.Errorf("%+v", e)
	}
}

// A frozen container can be stopped, reset, snapshotted and brought back.
func TestRealFrozen(t *testing.T) {
	t.Parallel()
	f := newFixture(t, lxdtest.Shared(t), "frozen")
	for _, action := range []hypervisor.Action{hypervisor.Stop, hypervisor.Reset, hypervisor.Start} {
		ref := f.container(t, hypervisor.GuestRunning, lxdtest.Tiny)
		if result := f.act(t, ref, hypervisor.Pause); !result.OK() || f.guest(t, ref).Status != hypervisor.GuestPaused {
			t.Fatal(result)
		}
		if again := f.act(t, ref, hypervisor.Pause); again.Status != hypervisor.TaskFailed || again.Message == "" {
			t.Errorf("pausing twice is %+v", again)
		}
		result := f.act(t, ref, action)
		t.Logf("%s of a frozen container: %+v, then %s", action, result, f.guest(t, ref).Status)
		wants := map[hypervisor.Action]string{hypervisor.Stop: hypervisor.GuestStopped, hypervisor.Reset: hypervisor.GuestRunning}
		if want := wants[action]; result.OK() && want != "" && f.guest(t, ref).Status != want {
			t.Errorf("%s leads to %s", action, f.guest(t, ref).Status)
		} else if !result.OK() && f.guest(t, ref).Status != hypervisor.GuestPaused {
			t.Errorf("%s failed and led to %s", action, f.guest(t, ref).Status)
		}
	}
}

// Going back from every state with and without a start.
func TestRealRollBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t, lxdtest.Shared(t), "back")
	host := f.host(t, endpoint.Lifecycle)
	for _, from := range []string{hypervisor.GuestStopped, hypervisor.GuestRunning, hypervisor.GuestPaused} {
		for _, start := range []bool{false, true} {
			status := from
			if from == hypervisor.GuestPaused {
				status = hypervisor.GuestRunning
			}
			ref := f.container(t, status, lxdtest.Tiny)
			id, err := host.TakeSnapshot(t.Context(), ref, hypervisor.SnapshotSpec{Name: "s1"})
			must(t, "taking a snapshot", err)
			if result := f.wait(t, host, id); !result.OK() {
				t.Fatal(result)
			}
			if from == hypervisor.GuestPaused {
				f.act(t, ref, hypervisor.Pause)
			}
			id, err = host.RollBack(t.Context(), ref, hypervisor.RollbackSpec{Name: "s1", Start: start})
			must(t, "going back", err)
			if result := f.wait(t, host, id); !result.OK() {
				t.Errorf("from %s: %+v", from, result)
			}
			want := map[bool]string{false: hypervisor.GuestStopped, true: hypervisor.GuestRunning}[start]
			if guest := f.guest(t, ref); guest.Status != want || guest.GuestRef != ref {
				t.Errorf("from %s with start %v: %s", from, start, guest.Status)
			}
		}
	}
	// Nothing is stopped for a snapshot that is not there.
	ref := f.container(t, hypervisor.GuestRunning, lxdtest.Tiny)
	_, err := host.RollBack(t.Context(), ref, hypervisor.RollbackSpec{Name: "none"})
	wantKind(t, err, plugin.NotFound)
	if guest := f.guest(t, ref); guest.Status != hypervisor.GuestRunning {
		t.Error(guest.Status)
	}
}

// A guest that does not follow a shutdown goes on, and the wait for it can be given up; a stop ends it.
func TestRealShutdown(t *testing.T) {
	t.Parallel()
	f := newFixture(t, lxdtest.Shared(t), "shutdown")
	ref := f.container(t, hypervisor.GuestRunning, lxdtest.Stubborn)
	host := f.host(t, endpoint.Lifecycle)
	id, err := host.Act(t.Context(), ref, hypervisor.Shutdown)
	must(t, "shutting down", err)
	list, err := host.Tasks(t.Context(), hypervisor.TaskQuery{Limit: 10, Guest: &ref})
	i := slices.IndexFunc(list.Tasks, func(task hypervisor.Task) bool { return task.ID == id })
	if err != nil || i < 0 || list.Tasks[i].Status != hypervisor.TaskRunning || list.Tasks[i].Node != f.node ||
		list.Tasks[i].GuestID != ref.ID {
		t.Errorf("%+v, %v", list, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := host.WaitTask(ctx, id, 0, func(hypervisor.LogLine) error { return nil }); plugin.KindOf(err) != plugin.Timeout {
		t.Error("giving up:", err)
	}
	wantKind(t, host.StopTask(t.Context(), id), plugin.Conflict) // the server does not let it be
	if result := f.act(t, ref, hypervisor.Stop); !result.OK() {
		t.Error(result)
	}
	if guest := f.guest(t, ref); guest.Status != hypervisor.GuestStopped {
		t.Error(guest.Status)
	}
}
