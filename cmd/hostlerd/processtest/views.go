package processtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
)

// listVMs gives the VMs, those of one host when it is named.
func listVMs(t testing.TB, c *client, host ...int64) []guestView {
	t.Helper()
	var all []guestView
	path := "/api/v1/vms"
	if len(host) > 0 {
		path += fmt.Sprintf("?host=%d", host[0])
	}
	c.must(t, http.StatusOK, http.MethodGet, path, nil, &all)
	return all
}

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
	// ScheduleID is nil for what somebody asked for.
	ScheduleID *int64 `json:"schedule_id"`
	Target     struct {
		Kind string
		ID   int64
		Name string
	}
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
	return started(t, c, path, nil)
}

// started asks for a job and returns it.
func started(t testing.TB, c *client, path string, body any) jobView {
	t.Helper()
	var reply struct{ Job jobView }
	c.must(t, http.StatusAccepted, http.MethodPost, path, body, &reply)
	if reply.Job.ID == 0 {
		t.Fatalf("%s gave no job", path)
	}
	return reply.Job
}

// ended waits until a job has ended.
func ended(t testing.TB, c *client, id int64) jobView {
	t.Helper()
	var j jobView
	waittest.Succeeds(t, fmt.Sprintf("the end of job %d", id), func() error {
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

// pluginView is what the tests read of a plugin.
type pluginView struct {
	Name, State, Digest, Error string
	Restarts                   int
	// PID is nil while no process runs.
	PID *int
}

func pluginList(t testing.TB, c *client) []pluginView {
	t.Helper()
	var all []pluginView
	c.must(t, http.StatusOK, http.MethodGet, "/api/v1/plugins", nil, &all)
	return all
}

// progress is what the database knows of a job.
func progress(t testing.TB, c *client, id int64) jobView {
	t.Helper()
	var j jobView
	c.must(t, http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/jobs/%d", id), nil, &j)
	return j
}
