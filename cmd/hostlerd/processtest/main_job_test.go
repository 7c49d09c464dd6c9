package processtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
)

// guestView is what the tests read of a VM or an app.
type guestView struct {
	ID     int64
	HostID int64 `json:"host_id"`
	Node   string
	VMID   int64 `json:"vmid"`
	Name   string
	Status string
}

// jobView is what the tests read of a job.
type jobView struct {
	ID     int64
	Kind   string
	Status string
	TaskID string `json:"task_id"`
	Error  string
}

// eventView is one line of a job's transcript.
type eventView struct {
	Seq  int
	Kind string
	Text string
}

// find is the first guest of the list with this status.
func find(t testing.TB, c *client, path, status string) guestView {
	t.Helper()
	var all []guestView
	c.must(t, http.StatusOK, http.MethodGet, path, nil, &all)
	for _, g := range all {
		if g.Status == status {
			return g
		}
	}
	t.Fatalf("no %s guest in %s: %d are there", status, path, len(all))
	return guestView{}
}

// act asks for a lifecycle action and returns the job.
func act(t testing.TB, c *client, path string) jobView {
	t.Helper()
	var reply struct{ Job jobView }
	c.must(t, http.StatusAccepted, http.MethodPost, path, nil, &reply)
	if reply.Job.ID == 0 {
		t.Fatalf("%s gave no job", path)
	}
	return reply.Job
}

// ended waits until a job has ended.
func ended(t testing.TB, c *client, id int64) jobView {
	t.Helper()
	var j jobView
	eventually(t, fmt.Sprintf("the end of job %d", id), func() error {
		a, err := c.try(t.Context(), http.MethodGet, fmt.Sprintf("/api/v1/jobs/%d", id), nil)
		if err != nil {
			return err
		}
		if a.Status != http.StatusOK {
			return fmt.Errorf("%d: %s", a.Status, a.Body)
		}
		if err := json.Unmarshal(a.Body, &j); err != nil {
			return err
		}
		if j.Status == "queued" || j.Status == "running" {
			return fmt.Errorf("it is %s", j.Status)
		}
		return nil
	})
	return j
}

// transcript is a job's text.
func transcript(t testing.TB, c *client, id int64) string {
	t.Helper()
	var events []eventView
	c.must(t, http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/jobs/%d/events", id), nil, &events)
	var text strings.Builder
	for i, e := range events {
		if e.Seq != i+1 {
			t.Errorf("event %d of job %d has the number %d", i+1, id, e.Seq)
		}
		fmt.Fprintf(&text, "%s: %s\n", e.Kind, e.Text)
	}
	return text.String()
}

// auditView is what the tests read of an audit row.
type auditView struct {
	Action     string
	Result     string
	Error      string
	ActorEmail string `json:"actor_email"`
	JobID      int64  `json:"job_id"`
	RequestID  string `json:"request_id"`
	Address    string
}

// audited is the newest audit row of an action.
func audited(t testing.TB, c *client, action string) auditView {
	t.Helper()
	var rows []auditView
	c.must(t, http.StatusOK, http.MethodGet, "/api/v1/audit?action="+action, nil, &rows)
	if len(rows) == 0 {
		t.Fatalf("no audit row of %s", action)
	}
	return rows[0]
}

// The main job, over real processes: a simulated cluster behind TLS, the service, its plugin, PostgreSQL.
func TestMainJob(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "3", "--guests", "30")
	s := startService(t, options{DB: dbtest.EmptyURL(t)})
	owner := setUp(t, s)
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
	eventually(t, "the VM is seen stopped", func() error {
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
