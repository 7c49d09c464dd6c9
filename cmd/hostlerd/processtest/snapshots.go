package processtest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// snapshotView is a snapshot as the API shows it.
type snapshotView struct {
	Name        string
	Parent      *string
	Description string
	TakenAt     *time.Time `json:"snaptime"`
	Memory      bool       `json:"vmstate"`
}

// The snapshots of guests over real processes: taken with the memory, listed, gone back to, deleted, and refused by the
// hypervisor in its own words.
func snapshots(t *testing.T, owner *client) {
	cluster := startSim(t, "--scenario", "one", "--guests", "1", "--auth-delay", "100ms", "--task-duration", "100ms")
	vm := owner.newGuest(t, cluster, map[string]any{"name": "db", "status": "running"})
	ct := owner.newGuest(t, cluster, map[string]any{"type": "lxc", "name": "files", "storage": "local"})
	host := owner.enrol(t, cluster, "with snapshots", "lifecycle")
	owner.must(t, http.StatusOK, http.MethodPost, "/api/v1/apps/adopt",
		map[string]any{"items": []any{map[string]any{"host_id": host, "vmid": ct}}}, nil)
	s := &snapshotRun{t: t, owner: owner, cluster: cluster, vmid: vm}
	s.path = fmt.Sprintf("/api/v1/vms/%d", s.idOf("/api/v1/vms", host, vm))

	text := s.done(http.MethodPost, "/snapshots", map[string]any{"name": "fresh", "vmstate": true, "description": "before the change"})
	for _, line := range []string{"note: taking the snapshot fresh", "log: saving VM state and RAM", "log: TASK OK"} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in the transcript:\n%s", line, text)
		}
	}
	s.done(http.MethodPost, "/snapshots", map[string]any{"name": "later"})
	s.lists("fresh< with memory", "later<fresh")
	s.refused("conflict", http.MethodPost, "/snapshots", map[string]any{"name": "later"})

	s.refused("confirm_required", http.MethodPost, "/snapshots/fresh/rollback", nil)
	s.refused("confirm_required", http.MethodPost, "/snapshots/fresh/rollback", map[string]any{"confirm": "fresh"})
	cluster.control(t, http.MethodPost, "/guest", map[string]any{"op": "status", "vmid": vm, "status": "stopped"}, nil)
	s.done(http.MethodPost, "/snapshots/fresh/rollback", map[string]any{"confirm": "db"})
	var shown guestView
	owner.must(t, http.StatusOK, http.MethodGet, s.path, nil, &shown)
	if shown.Status != "running" {
		t.Errorf("the VM whose memory was in the snapshot is %s", shown.Status)
	}
	s.done(http.MethodPost, "/snapshots", map[string]any{"name": "third"})
	s.lists("fresh< with memory", "later<fresh", "third<fresh")
	s.done(http.MethodDelete, "/snapshots/fresh", nil)
	s.lists("later<", "third<")
	s.refused("not_found", http.MethodDelete, "/snapshots/fresh", nil)

	s.halfDeleted()
	s.path = fmt.Sprintf("/api/v1/apps/%d", s.idOf("/api/v1/apps", host, ct))
	s.failed("snapshot feature is not available", http.MethodPost, "/snapshots", map[string]any{"name": "first"})
	s.lists()
}

// newGuest makes a guest behind the API's back and returns its id at the hypervisor.
func (c *client) newGuest(t testing.TB, cluster *sim, order map[string]any) int64 {
	t.Helper()
	order["op"] = "create"
	var made struct{ VMID int64 }
	cluster.control(t, http.MethodPost, "/guest", order, &made)
	return made.VMID
}

// snapshotRun asks for the snapshots of one guest.
type snapshotRun struct {
	t       *testing.T
	owner   *client
	cluster *sim
	path    string
	vmid    int64
}

// idOf is the id in this service of a guest of the list.
func (s *snapshotRun) idOf(list string, host, vmid int64) int64 {
	s.t.Helper()
	var all []guestView
	s.owner.must(s.t, http.StatusOK, http.MethodGet, fmt.Sprintf("%s?host=%d", list, host), nil, &all)
	for _, g := range all {
		if g.HostID == host && g.VMID == vmid {
			return g.ID
		}
	}
	s.t.Fatalf("%d is not in %s: %+v", vmid, list, all)
	return 0
}

// ask makes a request that starts a job, and waits for the job's end.
func (s *snapshotRun) ask(method, path string, in any) jobView {
	s.t.Helper()
	var reply struct{ Job jobView }
	s.owner.must(s.t, http.StatusAccepted, method, s.path+path, in, &reply)
	return ended(s.t, s.owner, reply.Job.ID)
}

// done is ask for a job that must succeed; it returns the transcript.
func (s *snapshotRun) done(method, path string, in any) string {
	s.t.Helper()
	end := s.ask(method, path, in)
	text := transcript(s.t, s.owner, end.ID)
	if end.Status != "succeeded" {
		s.t.Fatalf("%s %s: the job ended %s: %s\n%s", method, path, end.Status, end.Error, text)
	}
	return text
}

// failed is ask for a job that must fail with these words.
func (s *snapshotRun) failed(words, method, path string, in any) {
	s.t.Helper()
	if end := s.ask(method, path, in); end.Status != "failed" || !strings.Contains(end.Error, words) {
		s.t.Errorf("%s %s: the job ended %s: %s\n%s", method, path, end.Status, end.Error, transcript(s.t, s.owner, end.ID))
	}
}

func (s *snapshotRun) refused(code, method, path string, in any) {
	s.t.Helper()
	if a := s.owner.do(s.t, method, s.path+path, in); a.problem() != code {
		s.t.Errorf("%s %s: %d %s, want %s", method, path, a.Status, a.Body, code)
	}
}

// lists holds the list against names with their parents.
func (s *snapshotRun) lists(want ...string) {
	s.t.Helper()
	var all []snapshotView
	s.owner.must(s.t, http.StatusOK, http.MethodGet, s.path+"/snapshots", nil, &all)
	got := []string{}
	for _, one := range all {
		text := one.Name + "<"
		if one.Parent != nil {
			text += *one.Parent
		}
		if one.Memory {
			text += " with memory"
		}
		if one.TakenAt == nil || one.Memory != (one.Description == "before the change") {
			s.t.Errorf("a snapshot is %+v", one)
		}
		got = append(got, text)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.t.Errorf("the snapshots are %v, want %v", got, want)
	}
}

// halfDeleted lets the storage fail in a delete: what is left of the snapshot is no way back.
func (s *snapshotRun) halfDeleted() {
	s.t.Helper()
	s.cluster.control(s.t, http.MethodPost, "/guest",
		map[string]any{"op": "set", "vmid": s.vmid, "snapshot_error": "lvremove failed: exit code 5"}, nil)
	s.failed(`lvremove failed: exit code 5; now the snapshot "later" is incomplete`, http.MethodDelete, "/snapshots/later", nil)
	s.refused("invalid_state", http.MethodPost, "/snapshots/later/rollback", map[string]any{"confirm": "db"})
	s.refused("conflict", http.MethodPost, "/snapshots", map[string]any{"name": "later"})
	s.failed("is locked (snapshot-delete)", http.MethodPost, "/snapshots", map[string]any{"name": "fourth"})
}
