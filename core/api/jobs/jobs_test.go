package jobs_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/jobs"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/waittest"
)

// service is the real handler, twice on one database; jobs of the kind "talk" say what the test tells them to.
type service struct {
	apitest.API
	// other is the address of the second instance.
	other string
	db    *db.DB
	queue *job.Queue
	say   chan string
	quit  chan struct{}
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{say: make(chan string), quit: make(chan struct{})}
	url := dbtest.URL(t)
	s.db = dbtest.Open(t, url)
	if _, err := s.db.Pool.Exec(t.Context(), "INSERT INTO teams (id, name, slug) VALUES (2, 'Two', 'two')"); err != nil {
		t.Fatal(err)
	}
	s.queue, s.URL = s.instance(t, s.db)
	_, s.other = s.instance(t, dbtest.Open(t, url))
	s.LogIn = apitest.FakeLogIn
	return s
}

func (s *service) instance(t *testing.T, d *db.DB) (*job.Queue, string) {
	t.Helper()
	queue, err := job.New(job.Config{DB: d, Logger: hclog.NewNullLogger(), StopLimit: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	queue.Register("talk", job.WorkerFunc(func(ctx context.Context, run *job.Run) error {
		for {
			select {
			case line := <-s.say:
				run.Log(line)
			case <-s.quit:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}))
	queue.Register("fail", job.WorkerFunc(func(context.Context, *job.Run) error { return job.Fail("disk is full") }))
	handler := apitest.Resource(op.Config{Authenticator: apitest.Callers{}, Resolver: op.ScopeResolver{DB: d},
		Recorder: audit.Recorder{DB: d}}, func(a *op.API) {
		jobs.Register(a, jobs.Deps{Queue: queue})
	})
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	if err := queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = queue.Stop(context.Background()) })
	return queue, server.URL
}

func (s *service) enqueue(t *testing.T, kind string, team, id int64) int64 {
	t.Helper()
	var made int64
	err := s.db.Tx(t.Context(), func(tx *db.Tx) error {
		j, err := s.queue.Enqueue(t.Context(), tx,
			job.Spec{Kind: kind, Target: job.Target{Kind: "vm", ID: id, Name: fmt.Sprintf("vm-%d", id)}, TeamID: team})
		if err == nil {
			made = j.ID
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// await waits until a job has a status.
func (s *service) await(t *testing.T, id int64, want job.Status) {
	t.Helper()
	waittest.Succeeds(t, fmt.Sprintf("job %d becomes %s", id, want), func() error {
		j, err := s.queue.Get(t.Context(), id, identity.VisibleTeams{All: true, Teams: []int64{}})
		if err == nil && j.Status != want {
			err = fmt.Errorf("it is %+v", j)
		}
		return err
	})
}

func TestJobs(t *testing.T) {
	t.Parallel()
	s := newService(t)
	failed := s.enqueue(t, "fail", 1, 3)
	s.await(t, failed, job.Failed)
	foreign := s.enqueue(t, "fail", 2, 4)
	s.await(t, foreign, job.Failed)
	running := s.enqueue(t, "talk", 1, 5)
	s.await(t, running, job.Running)
	one := fmt.Sprintf("/api/v1/jobs/%d", failed)
	two := apitest.In(2, identity.Operator)
	total := func(want string) func(*testing.T, *apitest.Response) {
		return func(t *testing.T, a *apitest.Response) {
			if got := a.Header.Get("X-Total-Count"); got != want {
				t.Errorf("X-Total-Count is %q, want %q", got, want)
			}
		}
	}
	s.Run(t,
		apitest.Scenario{Name: "list", Method: "GET", URL: "/api/v1/jobs", As: apitest.Viewer, Status: 200, After: total("3"),
			Contains: []string{`"kind":"fail"`, `"error":"disk is full"`, `"target":{"kind":"vm","id":3,"name":"vm-3"}`, `"requested_by":null`}},
		apitest.Scenario{Name: "list page", Method: "GET", URL: "/api/v1/jobs?per_page=1&page=2", As: apitest.Viewer, Status: 200,
			After:    total("3"),
			Contains: []string{fmt.Sprintf(`[{"id":%d,`, foreign)}, Lacks: []string{`vm-3`, `vm-5`}},
		apitest.Scenario{Name: "list filtered", Method: "GET", URL: "/api/v1/jobs?status=running&kind=talk&target=vm:5", As: apitest.Viewer,
			Status: 200, After: total("1")},
		apitest.Scenario{Name: "list nothing", Method: "GET", URL: "/api/v1/jobs?target=app:5", As: apitest.Viewer, Status: 200,
			After: total("0"), Contains: []string{"[]"}},
		apitest.Scenario{Name: "list host", Method: "GET", URL: "/api/v1/jobs?host=9", As: apitest.Viewer, Status: 200, After: total("0")},
		apitest.Scenario{Name: "list some", Method: "GET", URL: fmt.Sprintf("/api/v1/jobs?ids=%d,%d,999999", failed, running),
			As: apitest.Viewer, Status: 200, After: total("2"), Lacks: []string{"vm-4"},
			Contains: []string{`"progress":null,"last_line":"disk is full","params":{}`}},
		apitest.Scenario{Name: "list none of a team", Method: "GET", URL: fmt.Sprintf("/api/v1/jobs?ids=%d", failed), As: two, Status: 200,
			After: total("0")},
		apitest.Scenario{Name: "list bad ids", Method: "GET", URL: "/api/v1/jobs?ids=1,x", As: apitest.Viewer, Status: 422, Error: "invalid",
			Contains: []string{`"ids"`}},
		apitest.Scenario{Name: "list too many", Method: "GET", URL: "/api/v1/jobs?ids=" + strings.Repeat("1,", 500) + "1", As: apitest.Viewer,
			Status: 422, Error: "invalid", Contains: []string{`"ids"`}},
		apitest.Scenario{Name: "list of a team", Method: "GET", URL: "/api/v1/jobs", As: two, Status: 200, After: total("1"),
			Contains: []string{"vm-4"}, Lacks: []string{"vm-3"}},
		apitest.Scenario{Name: "list bad target", Method: "GET", URL: "/api/v1/jobs?target=vm&status=done&host=0&page=0", As: apitest.Viewer,
			Status: 422, Error: "invalid",
			Contains: []string{`"target"`, `"status"`, `"host"`, `"page"`}},
		apitest.Scenario{Name: "list huge target", Method: "GET", URL: "/api/v1/jobs?target=vm:99999999999999999999", As: apitest.Viewer,
			Status: 422, Error: "invalid"},
		apitest.Scenario{Name: "list as nobody", Method: "GET", URL: "/api/v1/jobs", Status: 401, Error: "unauthenticated"},
		apitest.Scenario{Name: "get", Method: "GET", URL: one, As: apitest.Viewer, Status: 200,
			Contains: []string{`"status":"failed"`, `"duration_s":`, `"runs":1`}},
		apitest.Scenario{Name: "get of another team", Method: "GET", URL: one, As: two, Status: 404, Error: "not_found"},
		apitest.Scenario{Name: "get missing", Method: "GET", URL: "/api/v1/jobs/999999", As: apitest.Viewer, Status: 404, Error: "not_found"},
		apitest.Scenario{Name: "get bad id", Method: "GET", URL: "/api/v1/jobs/x", As: apitest.Viewer, Status: 422, Error: "invalid"},
		apitest.Scenario{Name: "events", Method: "GET", URL: one + "/events", As: apitest.Viewer, Status: 200,
			Contains: []string{`{"seq":1,`, `"kind":"status","text":"queued"}`, `"kind":"note","text":"disk is full"}`, `"text":"failed"}`}},
		apitest.Scenario{Name: "events window", Method: "GET", URL: one + "/events?after=1&limit=1", As: apitest.Viewer, Status: 200,
			Contains: []string{`{"seq":2,`}, Lacks: []string{`"seq":1`, `"seq":3`}},
		apitest.Scenario{Name: "events beyond", Method: "GET", URL: one + "/events?after=2147483647", As: apitest.Viewer, Status: 200,
			Contains: []string{"[]"}},
		apitest.Scenario{Name: "events bad window", Method: "GET", URL: one + "/events?after=-1&limit=1001", As: apitest.Viewer, Status: 422,
			Error: "invalid"},
		apitest.Scenario{Name: "events of another team", Method: "GET", URL: one + "/events", As: two, Status: 404, Error: "not_found"},
		apitest.Scenario{Name: "stream of another team", Method: "GET", URL: one + "/events/stream", As: two, Status: 404, Error: "not_found"},
		apitest.Scenario{Name: "stream bad id", Method: "GET", URL: one + "/events/stream", Headers: map[string]string{"Last-Event-ID": "x"},
			As: apitest.Viewer, Status: 422, Error: "invalid"},
		apitest.Scenario{Name: "stream huge id", Method: "GET", URL: one + "/events/stream",
			Headers: map[string]string{"Last-Event-ID": "9999999999"}, As: apitest.Viewer, Status: 422, Error: "invalid"},
		apitest.Scenario{Name: "retry as viewer", Method: "POST", URL: one + "/retry", As: apitest.Viewer, Status: 403, Error: "forbidden"},
		apitest.Scenario{Name: "retry of another team", Method: "POST", URL: one + "/retry", As: two, Status: 404, Error: "not_found"},
		apitest.Scenario{Name: "retry what runs", Method: "POST", URL: fmt.Sprintf("/api/v1/jobs/%d/retry", running), As: apitest.Operator,
			Status: 409, Error: "invalid_state", Contains: []string{"has not ended"}},
		apitest.Scenario{Name: "retry what nobody asks for", Method: "POST", URL: one + "/retry", As: apitest.Operator, Status: 409,
			Error: "invalid_state", Contains: []string{"fail jobs are started by the service"}},
		apitest.Scenario{Name: "cancel as viewer", Method: "POST", URL: one + "/cancel", As: apitest.Viewer, Status: 403, Error: "forbidden"},
		apitest.Scenario{Name: "cancel of another team", Method: "POST", URL: one + "/cancel", As: two, Status: 404, Error: "not_found"},
		apitest.Scenario{Name: "cancel finished", Method: "POST", URL: one + "/cancel", As: apitest.Operator, Status: 409,
			Error: "job_finished"},
		apitest.Scenario{Name: "cancel running", Method: "POST", URL: fmt.Sprintf("/api/v1/jobs/%d/cancel", running), As: apitest.Operator,
			Status:   202,
			Contains: []string{`{"job":{"id":`, `"cancel_requested":true`}},
	)
	s.await(t, running, job.Canceled)
	var rows []string
	err := s.db.Pool.QueryRow(t.Context(), `SELECT array_agg(action || ' ' || target_kind || ':' || target_id || ' ' || result || ' ' `+
		`|| error || ' ' || actor_email ORDER BY id) FROM audit`).Scan(&rows)
	want := []string{
		fmt.Sprintf("job.cancel job:%d refused forbidden viewer@example.org", failed),
		fmt.Sprintf("job.cancel job:%d refused not_found operator@example.org", failed),
		fmt.Sprintf("job.cancel job:%d refused job_finished operator@example.org", failed),
		fmt.Sprintf("job.cancel job:%d ok  operator@example.org", running),
	}
	if err != nil || strings.Join(rows, "\n") != strings.Join(want, "\n") {
		t.Errorf("trail\n%s\n%v, want\n%s", strings.Join(rows, "\n"), err, strings.Join(want, "\n"))
	}
}

// reader follows a stream.
type reader struct {
	body  *http.Response
	lines *bufio.Scanner
}

// received is one Server-Sent Event.
type received struct {
	id, event string
	data      map[string]any
}

func (s *service) follow(t *testing.T, base string, id int64, last string) *reader {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("%s/api/v1/jobs/%d/events/stream", base, id), nil)
	if err != nil {
		t.Fatal(err)
	}
	apitest.FakeLogIn(request, apitest.Viewer)
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %s", response.StatusCode, response.Header.Get("Content-Type"))
	}
	return &reader{response, bufio.NewScanner(response.Body)}
}

// next reads one event; ok is false when the stream has ended.
func (r *reader) next(t *testing.T) (e received, ok bool) {
	t.Helper()
	for r.lines.Scan() {
		line := r.lines.Text()
		switch {
		case strings.HasPrefix(line, "id: "):
			e.id = line[4:]
		case strings.HasPrefix(line, "event: "):
			e.event = line[7:]
		case strings.HasPrefix(line, "data: "):
			if err := json.Unmarshal([]byte(line[6:]), &e.data); err != nil {
				t.Fatal(err)
			}
		case line == "" && e.data != nil:
			return e, true
		}
	}
	return e, false
}

func (r *reader) expect(t *testing.T, id, event, text string) {
	t.Helper()
	e, ok := r.next(t)
	if !ok || e.id != id || e.event != event || e.data["text"] != text {
		t.Fatalf("got %+v (%v), want %s %s %q", e, ok, id, event, text)
	}
}

// Readers at both instances see every event once, one that comes back goes on where it was, and the end ends the stream.
func TestStream(t *testing.T) {
	t.Parallel()
	s := newService(t)
	id := s.enqueue(t, "talk", 1, 5)
	here, there := s.follow(t, s.URL, id, ""), s.follow(t, s.other, id, "")
	for _, r := range []*reader{here, there} {
		r.expect(t, "1", "status", "queued")
		r.expect(t, "2", "status", "running")
	}
	s.say <- "first"
	here.expect(t, "3", "log", "first")
	there.expect(t, "3", "log", "first")
	_ = there.body.Body.Close()
	s.say <- "second"
	here.expect(t, "4", "log", "second")
	back := s.follow(t, s.other, id, "3")
	back.expect(t, "4", "log", "second")
	close(s.quit)
	for _, r := range []*reader{here, back} {
		r.expect(t, "5", "status", "succeeded")
		if e, ok := r.next(t); !ok || e.event != "end" || e.id != "5" || e.data["status"] != "succeeded" {
			t.Errorf("got %+v (%v), want the end", e, ok)
		}
		if e, ok := r.next(t); ok {
			t.Errorf("%+v came after the end", e)
		}
	}
	late := s.follow(t, s.URL, id, "5")
	if e, ok := late.next(t); !ok || e.event != "end" {
		t.Errorf("got %+v (%v), want the end", e, ok)
	}
}

// A reader that reads nothing holds neither the job nor other readers up.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	s := newService(t)
	id := s.enqueue(t, "talk", 1, 5)
	slow, quick := s.follow(t, s.URL, id, ""), s.follow(t, s.URL, id, "")
	_ = slow
	const lines = 3000
	for range lines {
		s.say <- strings.Repeat("x", 4000)
	}
	close(s.quit)
	s.await(t, id, job.Succeeded)
	seen := 0
	for {
		e, ok := quick.next(t)
		if !ok {
			t.Fatal("the quick reader's stream ended without its end")
		}
		if e.event == "end" {
			break
		}
		if seen++; e.id != fmt.Sprint(seen) {
			t.Fatalf("event %s came after %d", e.id, seen-1)
		}
	}
	if seen != lines+3 {
		t.Errorf("the quick reader saw %d events, want %d", seen, lines+3)
	}
}

// The end of the service ends its streams.
func TestStreamEndsWithTheService(t *testing.T) {
	t.Parallel()
	s := newService(t)
	id := s.enqueue(t, "talk", 1, 5)
	r := s.follow(t, s.URL, id, "")
	r.expect(t, "1", "status", "queued")
	if err := s.queue.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for {
		e, ok := r.next(t)
		if !ok {
			return
		}
		if e.event == "end" {
			t.Error("the job was said to have ended")
		}
	}
}
