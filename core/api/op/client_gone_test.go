package op_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/waittest"
)

// logged is a log that can be read while it is written.
type logged struct{ waittest.Text }

func (l *logged) config() op.Config {
	return op.Config{KeepAlive: time.Millisecond, Logger: hclog.New(&hclog.LoggerOptions{Output: l, Level: hclog.Debug})}
}

// Readers that leave are no errors: whether the handler notices by its context, by an event that it sends, or fails because of it.
func TestReaderThatLeavesIsNoError(t *testing.T) {
	t.Parallel()
	log := &logged{}
	left := make(chan struct{}, 3)
	server := httptest.NewServer(lone(t, log.config(), func(a *op.API) {
		op.Stream(a, "/api/v1/try/:mode", func(ctx context.Context, in *struct {
			Mode string `path:"mode"`
		}, s *op.EventStream) error {
			defer func() { left <- struct{}{} }()
			if err := s.Send("1", "", 1); err != nil {
				return err
			}
			switch in.Mode {
			case "fail":
				<-ctx.Done()
				return errors.New("a query was cut off")
			case "send":
				for {
					if err := s.Send("2", "", strings.Repeat("x", 1<<16)); err != nil {
						return err
					}
				}
			}
			<-ctx.Done()
			return ctx.Err()
		}, public)
	}))
	t.Cleanup(server.Close)
	for _, mode := range []string{"wait", "send", "fail"} {
		answer, err := http.Get(server.URL + "/api/v1/try/" + mode)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		<-left
	}
	waittest.Until(t, "three refusals", func() bool { return strings.Count(log.String(), "code=canceled") == 3 })
	if said := log.String(); strings.Contains(said, "[ERROR]") || strings.Contains(said, "[WARN]") {
		t.Error(said)
	}
}

// What is under way when the service stops is told so: its caller is still there.
func TestRequestThatTheServiceEnds(t *testing.T) {
	t.Parallel()
	running, stop := context.WithCancel(t.Context())
	config := (&logged{}).config()
	config.Stopping = running.Done()
	handler := lone(t, config, func(a *op.API) {
		op.Get(a, "/api/v1/try", func(ctx context.Context, _ *struct{}) (*struct{}, error) {
			stop()
			<-ctx.Done()
			return nil, ctx.Err()
		}, public)
	})
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(running, "GET", "/api/v1/try", nil))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), `"stopping"`) {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

// A stream that breaks by itself stays an error.
func TestStreamThatBreaksIsAnError(t *testing.T) {
	t.Parallel()
	log := &logged{}
	server := httptest.NewServer(lone(t, log.config(), func(a *op.API) {
		op.Stream(a, "/api/v1/try", func(_ context.Context, _ *struct{}, s *op.EventStream) error {
			if err := s.Open(); err != nil {
				return err
			}
			return errors.New("broken")
		}, public)
	}))
	t.Cleanup(server.Close)
	answer, err := http.Get(server.URL + "/api/v1/try")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, answer.Body) // a reader that left earlier would be the cause
	answer.Body.Close()
	waittest.Until(t, "the error", func() bool { return strings.Contains(log.String(), "[ERROR]") })
}

// trail is a recorder that can be switched off.
type trail struct {
	mu   sync.Mutex
	off  bool
	rows []audit.Entry
}

func (r *trail) Record(_ context.Context, e audit.Entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.off {
		return problem.New(problem.CodeDatabaseFull, "full")
	}
	r.rows = append(r.rows, e)
	return nil
}

func (r *trail) turn(off bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.off = off
}

// Attempts whose rows cannot be written are counted, the log says it once, and one row tells of them.
func TestGapInTheTrail(t *testing.T) {
	t.Parallel()
	log, rows := &logged{}, &trail{off: true}
	config := log.config()
	config.Router, config.Authenticator, config.Resolver = route.New(), &sample{}, &sample{}
	config.Recorder, config.GapRetry = rows, time.Millisecond
	spec := public
	spec.Audit = op.Audit{Action: "thing.try"}
	a := op.New(config)
	op.Post(a, "/api/v1/try", func(context.Context, *struct{}) (*op.Empty, error) {
		return nil, problem.New(problem.CodeConflict, "no")
	}, spec)
	for range 30 {
		a.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/api/v1/try", http.NoBody))
	}
	if n := strings.Count(log.String(), "[ERROR]"); n != 1 {
		t.Errorf("%d errors in the log", n)
	}
	rows.turn(false)
	waittest.Until(t, "the gap's row", func() bool {
		rows.mu.Lock()
		defer rows.mu.Unlock()
		return len(rows.rows) > 0
	})
	e := rows.rows[0]
	actions, _ := e.Details["actions"].(map[string]any)
	if e.Action != "audit.gap" || e.ActorType != audit.ActorSystem || e.Result != audit.ResultFailed || e.Error != "database_full" ||
		e.Details["missed"] != 30 || actions["thing.try"] != 30 {
		t.Errorf("%+v", e)
	}
	a.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/api/v1/try", http.NoBody))
	if last := rows.rows[len(rows.rows)-1]; len(rows.rows) != 2 || last.Action != "thing.try" || last.Result != audit.ResultRefused {
		t.Errorf("%+v", rows.rows)
	}
}
