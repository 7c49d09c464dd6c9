package processtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
)

// The same requests do the same to guests of both kinds.
func (s *sideBySide) deeds(t *testing.T) {
	vm := s.vm
	for _, ref := range []string{"web", "customers/web"} {
		t.Run(ref, func(t *testing.T) {
			s.powerAndSnapshots(t, s.apps[ref].path, strings.ReplaceAll(ref, "/", " "), s.lxdHost)
		})
		a := s.apps[ref]
		// The way back takes the restart's line away, which the last start writes again.
		if n := s.lxd.Boots(t, a.InstanceRef); n != 3 {
			t.Errorf("%s: process 1 tells of %d starts", ref, n)
		}
	}
	t.Run("a VM", func(t *testing.T) { s.powerAndSnapshots(t, fmt.Sprintf("/api/v1/vms/%d", vm.ID), vm.Name, s.pveHost) })
	for action, want := range map[string]int{"stop": 1, "start": 2, "reboot": 1} {
		if n := s.pve.sent(t, action); n != want {
			t.Errorf("the cluster was asked to %s %d times", action, n)
		}
	}

	// What snapshots of the second kind have not is refused in words of its own.
	run := &snapshotRun{t: t, owner: s.owner, path: s.apps["web"].path}
	run.failed("cannot have a description", http.MethodPost, "/snapshots", map[string]any{"name": "told", "description": "before the change"})
	run.failed("memory", http.MethodPost, "/snapshots", map[string]any{"name": "awake", "vmstate": true})
	run.lists("later<")
	run.done(http.MethodDelete, "/snapshots/later", nil)
}

// powerAndSnapshots takes a guest that runs through all that the API does to guests of both kinds; it runs again afterwards.
func (s *sideBySide) powerAndSnapshots(t *testing.T, path, name string, host int64) {
	run := &snapshotRun{t: t, owner: s.owner, path: path}
	status := func(want string) {
		t.Helper()
		var now guestView
		if s.owner.must(t, http.StatusOK, http.MethodGet, path, nil, &now); now.Status != want || now.HostID != host {
			t.Errorf("it is %s on host %d, want %s on %d", now.Status, now.HostID, want, host)
		}
	}
	run.done(http.MethodPost, "/stop", nil)
	status("stopped")
	run.done(http.MethodPost, "/start", nil)
	status("running")
	run.done(http.MethodPost, "/snapshots", map[string]any{"name": "fresh"})
	run.refused("conflict", http.MethodPost, "/snapshots", map[string]any{"name": "fresh"})
	run.done(http.MethodPost, "/restart", nil)
	status("running")
	run.refused("confirm_required", http.MethodPost, "/snapshots/fresh/rollback", map[string]any{"confirm": "fresh"})
	run.done(http.MethodPost, "/snapshots/fresh/rollback", map[string]any{"confirm": name})
	status("stopped") // the memory was not kept
	run.done(http.MethodPost, "/start", nil)
	status("running")
	run.done(http.MethodPost, "/snapshots", map[string]any{"name": "later"})
	run.done(http.MethodDelete, "/snapshots/fresh", nil)
	run.refused("not_found", http.MethodDelete, "/snapshots/fresh", nil)
	run.refused("not_found", http.MethodPost, "/snapshots/fresh/rollback", map[string]any{"confirm": name})
}

// Schedules for guests of both kinds become due at the same moment, one by one's own request besides.
func (s *sideBySide) schedules(t *testing.T) {
	vm, a := s.vm, s.apps["web"]
	idle := s.apps["idle"]
	ids := []int64{
		newSchedule(t, s.owner, "app.snapshot_create", map[string]any{"app_id": a.id, "name": "nightly"}),
		newSchedule(t, s.owner, "vm.snapshot_create", map[string]any{"vm_id": vm.ID, "name": "nightly"}),
		newSchedule(t, s.owner, "app.start", map[string]any{"app_id": idle.id}),
	}
	alter(t, s.db, "UPDATE schedules SET next_run_at = clock_timestamp() WHERE id = ANY($1)", ids)
	(&wakeTicker{}).wake(t, s.owner)
	waittest.Succeeds(t, "the jobs of all schedules end well", func() error {
		if n := number(t, s.db, "SELECT count(*) FROM jobs WHERE schedule_id = ANY($1) AND status = 'succeeded'", ids); n != len(ids) {
			return fmt.Errorf("%d have", n)
		}
		return nil
	})
	if n := number(t, s.db, "SELECT count(*) FROM jobs WHERE schedule_id = ANY($1)", ids); n != len(ids) {
		t.Errorf("%d jobs were started", n)
	}
	for _, path := range []string{a.path, fmt.Sprintf("/api/v1/vms/%d", vm.ID)} {
		var all []snapshotView
		s.owner.must(t, http.StatusOK, http.MethodGet, path+"/snapshots", nil, &all)
		if !slices.ContainsFunc(all, func(one snapshotView) bool { return strings.HasPrefix(one.Name, "nightly-") }) {
			t.Errorf("%s has no snapshot of the schedule: %+v", path, all)
		}
	}
	if status := s.lxd.Instance(t, idle.InstanceRef).Status; status != "Running" || s.lxd.Boots(t, idle.InstanceRef) != 1 {
		t.Errorf("the container that was to be started once is %s", status)
	}
	s.lxd.SetStatus(t, idle.InstanceRef, "Stopped")
}

// sideAudit is what the tests read of a row of the audit log.
type sideAudit struct {
	Result string
	Target struct{ ID, Name string }
}

// The audit log, the jobs, the feed and the figures have things of both hosts.
func (s *sideBySide) named(t *testing.T) {
	a, vm := s.apps["customers/web"], s.vm
	for action, target := range map[string]int64{"app.restart": a.id, "vm.restart": vm.ID} {
		var rows []sideAudit
		s.owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/audit?action="+action, nil, &rows)
		if !slices.ContainsFunc(rows, func(r sideAudit) bool {
			return r.Result == "ok" && r.Target.ID == fmt.Sprint(target) && r.Target.Name != ""
		}) {
			t.Errorf("the audit log's rows of %s: %+v", action, rows)
		}
	}
	for _, host := range []int64{s.pveHost, s.lxdHost} {
		if n := number(t, s.db, "SELECT count(*) FROM jobs WHERE host_id = $1 AND status = 'succeeded'", host); n < 6 {
			t.Errorf("%d jobs of host %d", n, host)
		}
		for kind, query := range map[string]string{
			"guest": "SELECT count(*) FROM metric_samples m JOIN guests g ON g.id = m.target_id WHERE m.target_kind = 'guest' " +
				"AND m.memory > 0 AND g.host_id = $1",
			"node": "SELECT count(*) FROM metric_samples m JOIN nodes n ON n.id = m.target_id WHERE m.target_kind = 'node' " +
				"AND m.memory > 0 AND n.host_id = $1",
		} {
			if number(t, s.db, query, host) == 0 {
				t.Errorf("host %d has no sample of a %s", host, kind)
			}
		}
	}
	figures := string(s.owner.must(t, http.StatusOK, http.MethodGet, "/metrics", nil, nil).Body)
	for _, line := range []string{
		`hostler_hosts{status="online"} 2`, `hostler_plugin_up{kind="hypervisor",name="lxd"} 1`,
		`hostler_plugin_up{kind="hypervisor",name="pve"} 1`,
	} {
		if !strings.Contains(figures, line) {
			t.Errorf("%s is not among the figures", line)
		}
	}
}
