package processtest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// The migration of guests between nodes over real processes, with the token of the role: a VM that runs goes on running, a container is
// restarted, and what the hypervisor has in the way is told before.
func migrations(t *testing.T, owner *client) {
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "3", "--guests", "1", "--auth-delay", "100ms", "--task-duration", "100ms")
	vm := owner.newGuest(t, cluster, map[string]any{"name": "mover", "status": "running", "node": "pve1"})
	ct := owner.newGuest(t, cluster, map[string]any{
		"type": "lxc", "name": "moved-files", "status": "running", "node": "pve1", "storage": "nas",
	})
	host := owner.enrol(t, cluster, "with nodes", "lifecycle")
	owner.must(t, http.StatusOK, http.MethodPost, "/api/v1/apps/adopt",
		map[string]any{"items": []any{map[string]any{"host_id": host, "vmid": ct}}}, nil)
	s := &snapshotRun{t: t, owner: owner, cluster: cluster, vmid: vm}
	to := func(node, confirm string) map[string]any {
		return map[string]any{"target_host_id": host, "node": node, "confirm": confirm}
	}
	path := fmt.Sprintf("/api/v1/vms/%d", s.idOf("/api/v1/vms", host, vm))
	var check struct {
		Possible, Live bool
		Disks          []struct{ Storage string }
	}
	owner.must(t, http.StatusOK, http.MethodPost, path+"/migrate/preflight", map[string]any{"target_host_id": host, "node": "pve2"}, &check)
	if !check.Possible || !check.Live || len(check.Disks) != 1 || check.Disks[0].Storage != "local-lvm" {
		t.Errorf("the check of a VM: %+v", check)
	}
	s.path = path
	s.refused("migration_blocked", http.MethodPost, "/migrate", to("pve1", ""))
	text := s.done(http.MethodPost, "/migrate", to("pve2", ""))
	for _, line := range []string{"note: moving the guest to the node pve2 while it is running", "log: found local disk", "log: TASK OK"} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in the transcript:\n%s", line, text)
		}
	}
	s.on(path, "pve2")
	s.path = fmt.Sprintf("/api/v1/apps/%d", s.idOf("/api/v1/apps", host, ct))
	s.refused("confirm_required", http.MethodPost, "/migrate", to("pve3", ""))
	s.done(http.MethodPost, "/migrate", to("pve3", "moved-files"))
	s.on(s.path, "pve3")
}

// on wants a guest to run on a node.
func (s *snapshotRun) on(path, node string) {
	s.t.Helper()
	var shown struct{ Node, Status string }
	s.owner.must(s.t, http.StatusOK, http.MethodGet, path, nil, &shown)
	if shown.Node != node || shown.Status != "running" {
		s.t.Errorf("%s is %s on %s, want it running on %s", path, shown.Status, shown.Node, node)
	}
}
