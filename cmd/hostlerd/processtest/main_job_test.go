package processtest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
)

// The main job, over real processes: a simulated cluster behind TLS, the service, its plugin, PostgreSQL.
func TestMainJob(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "3", "--guests", "30")
	s := startService(t, options{DB: dbtest.EmptyURL(t)})
	owner := setUpByToken(t, s)
	host := owner.enrol(t, cluster, "lab", "lifecycle", "console", "backup")

	vm := find(t, owner, "/api/v1/vms", "running")
	if vm.HostID != host {
		t.Errorf("the VM belongs to host %d, want %d", vm.HostID, host)
	}
	job := ended(t, owner, act(t, owner, fmt.Sprintf("/api/v1/vms/%d/stop", vm.ID)).ID)
	if job.Status != "succeeded" || job.Kind != "vm.stop" || !strings.HasPrefix(job.TaskID, "UPID:"+vm.Node+":") {
		t.Fatalf("the job: %+v\n%s", job, transcript(t, owner, job.ID))
	}
	if text := transcript(t, owner, job.ID); !strings.Contains(text, "log: TASK OK") {
		t.Errorf("the transcript has not the task's log:\n%s", text)
	}
	var after guestView
	waittest.Succeeds(t, "the VM is seen stopped", func() error {
		owner.must(t, http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/vms/%d", vm.ID), nil, &after)
		if after.Status != "stopped" {
			return fmt.Errorf("it is %s", after.Status)
		}
		return nil
	})
	// The hypervisor's own list still says that it runs; a poll must not put that back.
	owner.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", host), nil, nil)
	owner.must(t, http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/vms/%d", vm.ID), nil, &after)
	if after.Status != "stopped" {
		t.Errorf("after a poll the VM is %s", after.Status)
	}
	row := audited(t, owner, "vm.stop")
	if row.Result != "ok" || row.JobID != job.ID || row.ActorEmail != ownerEmail || row.RequestID == "" || row.Address != "127.0.0.1" {
		t.Errorf("the audit row: %+v", row)
	}

	// The same with a container, which is an app once it was adopted.
	container := find(t, owner, "/api/v1/apps/discovered", "running")
	owner.must(t, http.StatusOK, http.MethodPost, "/api/v1/apps/adopt", map[string]any{
		"items": []map[string]any{{"host_id": container.HostID, "vmid": container.VMID}},
	}, nil)
	app := find(t, owner, "/api/v1/apps", "running")
	job = ended(t, owner, act(t, owner, fmt.Sprintf("/api/v1/apps/%d/shutdown", app.ID)).ID)
	if job.Status != "succeeded" || job.Kind != "app.shutdown" {
		t.Fatalf("the app's job: %+v\n%s", job, transcript(t, owner, job.ID))
	}
	if row := audited(t, owner, "app.shutdown"); row.JobID != job.ID {
		t.Errorf("the app's audit row: %+v", row)
	}
}
