package op_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/waittest"
)

type StreamIn struct {
	Last string `header:"Last-Event-ID"`
	From int    `query:"from" minimum:"0"`
}

// hanging is how long a test waits for what ends or comes by itself. It bounds hanging, not speed.
const hanging = time.Minute

// open reads a stream that must end, or say what the test waits for, before hanging is over.
func open(t *testing.T, url string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hanging)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Last-Event-ID", "41")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

// serve is a server whose connections end with the test, even those that a handler holds.
func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		server.CloseClientConnections()
		closed := make(chan struct{})
		go func() { server.Close(); close(closed) }() // waits for handlers without a limit
		select {
		case <-closed:
		case <-time.After(hanging):
			t.Error("a handler goes on though its connection has ended")
		}
	})
	return server
}

// comments reads so many comments of a stream, by which it shows that it lives.
func comments(t *testing.T, scan *bufio.Scanner, n int) {
	t.Helper()
	for n > 0 {
		if !scan.Scan() {
			t.Fatalf("the stream ended, or said nothing, with %d comments to come: %v", n, scan.Err())
		}
		if scan.Text() == ":" {
			n--
		}
	}
}

// streaming serves a stream that fails, ends, or lasts until its reader is gone, which it reports on gone.
func streaming(t *testing.T) (url string, gone chan error) {
	gone = make(chan error, 1)
	a := lone(t, op.Config{KeepAlive: time.Millisecond}, func(a *op.API) {
		op.Stream(a, "/api/v1/try/:mode", func(ctx context.Context, in *struct {
			StreamIn
			Mode string `path:"mode"`
		}, s *op.EventStream) error {
			switch in.Mode {
			case "fail":
				return problem.New(problem.CodeConflict, "not now")
			case "end":
				if err := s.Send("1", "line", map[string]string{"text": "a\nb<c>"}); err != nil {
					return err
				}
				return s.Send("2", "", "after "+in.Last)
			case "late":
				if err := s.Send("1", "", 1); err != nil {
					return err
				}
				return errors.New("broke in the middle")
			case "empty":
				return nil
			}
			if err := s.Send("1", "", 1); err != nil {
				return err
			}
			<-ctx.Done()
			gone <- s.Send("2", "", 2)
			return ctx.Err()
		}, public)
	})
	server := serve(t, a)
	return server.URL + "/api/v1/try/", gone
}

func TestStream(t *testing.T) {
	t.Parallel()
	url, _ := streaming(t)
	read := func(mode string) (*http.Response, string) {
		answer := open(t, url+mode)
		var lines []string
		scan := bufio.NewScanner(answer.Body)
		for scan.Scan() {
			lines = append(lines, scan.Text())
		}
		if mode != "late" && scan.Err() != nil {
			t.Errorf("%s does not end: %v", mode, scan.Err())
		}
		lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" || l == ":" })
		return answer, strings.Join(lines, "|")
	}
	answer, body := read("end")
	if want := `id: 1|event: line|data: {"text":"a\nb<c>"}|id: 2|data: "after 41"`; body != want ||
		answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%v %s", answer.Header, body)
	}
	if answer, body := read("fail"); answer.StatusCode != 409 || !strings.Contains(body, `"error":"conflict"`) {
		t.Errorf("failing first: %d %s", answer.StatusCode, body)
	}
	if answer, body := read("end?from=-1"); answer.StatusCode != 422 {
		t.Errorf("bad input: %d %s", answer.StatusCode, body)
	}
	if answer, body := read("late"); answer.StatusCode != 200 || body != "id: 1|data: 1" {
		t.Errorf("failing later: %d %s", answer.StatusCode, body)
	}
	if answer, body := read("empty"); answer.StatusCode != 200 || body != "" || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("no events: %d %s", answer.StatusCode, body)
	}
	patient := http.Client{Timeout: hanging}
	head, err := patient.Head(url + "wait")
	if err != nil || head.StatusCode != 200 {
		t.Errorf("HEAD: %v %v", head, err)
	}
}

func TestStreamKeepsAliveAndEndsWithItsReader(t *testing.T) {
	t.Parallel()
	url, gone := streaming(t)
	answer := open(t, url+"wait")
	comments(t, bufio.NewScanner(answer.Body), 3)
	answer.Body.Close()
	select {
	case err := <-gone:
		_ = err // a last write may still land in the socket's buffer
	case <-time.After(hanging):
		t.Fatal("the handler outlived its reader")
	}
}

// A reader whose session, role or key has ended must not read on, whatever the handler does.
func TestStreamEndsWithTheRightToReadIt(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*sample){
		"logged out or deactivated": func(s *sample) { s.auth = problem.New(problem.CodeUnauthenticated, "log in") },
		"no role any more":          func(s *sample) { s.caller = &identity.Caller{UserID: 5, Teams: map[int64]identity.Role{}} },
		"a role elsewhere only": func(s *sample) {
			s.caller = &identity.Caller{UserID: 5, Teams: map[int64]identity.Role{3: identity.Owner}}
		},
		"a lower role": func(s *sample) {
			s.caller = &identity.Caller{UserID: 5, Teams: map[int64]identity.Role{2: identity.Viewer}}
		},
		"someone else": func(s *sample) {
			s.caller = &identity.Caller{UserID: 6, Teams: map[int64]identity.Role{2: identity.Operator}}
		},
		"the host went elsewhere": func(s *sample) { s.resolve = problem.New(problem.CodeNotFound, "gone") },
		"the feature was put off": func(s *sample) { s.off["events"] = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			s := &sample{off: map[string]bool{}, caller: &identity.Caller{UserID: 5, Teams: map[int64]identity.Role{2: identity.Operator}}}
			guarded := &lockedSample{sample: s, mu: &mu}
			ended := make(chan error, 1)
			a := op.New(op.Config{
				Router: route.New(), Authenticator: guarded, Resolver: guarded, Recorder: s, Reauthorise: time.Millisecond,
				KeepAlive:    time.Millisecond,
				Entitlements: func(_ context.Context, name string) bool { mu.Lock(); defer mu.Unlock(); return !s.off[name] },
			})
			op.Stream(a, "/api/v1/hosts/:host_id/events", func(ctx context.Context, _ *hostIn, out *op.EventStream) error {
				if err := out.Send("1", "", 1); err != nil {
					return err
				}
				<-ctx.Done()
				ended <- out.Send("2", "", "after the end")
				return nil
			}, op.Spec{ID: "stream", Summary: "Stream", Tag: "Try", Role: identity.Viewer, On: op.Host, Entitlement: "events"})
			answer := open(t, serve(t, a).URL+"/api/v1/hosts/7/events")
			if answer.StatusCode != 200 {
				t.Fatalf("%v", answer)
			}
			scan := bufio.NewScanner(answer.Body)
			comments(t, scan, 20) // it lasts while nothing changes
			mu.Lock()
			change(s)
			mu.Unlock()
			for scan.Scan() {
				if strings.Contains(scan.Text(), "after the end") {
					t.Error("an event went out after the right to it had ended")
				}
			}
			if errors.Is(scan.Err(), context.DeadlineExceeded) {
				t.Fatal("the stream does not end")
			}
			select {
			case err := <-ended:
				if err == nil {
					t.Error("the handler could still send")
				}
			case <-time.After(hanging):
				t.Fatal("the handler does not end")
			}
		})
	}
}

// bell is a source of wake-ups that a test rings.
type bell struct{ c chan struct{} }

func (b bell) Watch(int64) (<-chan struct{}, func()) { return b.c, func() {} }

// A wake-up ends a stream long before the next look; a storm of them makes few looks.
func TestStreamIsLookedAtWhenRightsMayHaveChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, streamIsLookedAt)
}

func streamIsLookedAt(t *testing.T) {
	var mu sync.Mutex
	s := &sample{caller: &identity.Caller{UserID: 5, Teams: map[int64]identity.Role{1: identity.Viewer}}}
	guarded := &lockedSample{sample: s, mu: &mu}
	rights := bell{make(chan struct{}, 1)}
	a := op.New(op.Config{Router: route.New(), Authenticator: guarded, Resolver: guarded, Recorder: s, Reauthorise: time.Hour,
		Rights: rights})
	op.Stream(a, "/api/v1/events", func(ctx context.Context, _ *nothing, out *op.EventStream) error {
		if err := out.Open(); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}, op.Spec{ID: "stream", Summary: "Stream", Tag: "Try", Role: identity.Viewer, On: op.Anywhere})
	server := inMemory(t, a)
	answer, err := server.Client().Get(server.URL + "/api/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	asked := func() int {
		mu.Lock()
		defer mu.Unlock()
		return guarded.asked
	}
	began := time.Now()
	rings := 0
	for ; time.Since(began) < time.Second; rings++ {
		select {
		case rights.c <- struct{}{}: // taken as soon as the guard looks for the next
		case <-time.After(hanging):
			t.Fatal("the guard listens no longer")
		}
	}
	if looks := asked(); looks < 3 || looks > 14 || rings > 14 {
		t.Errorf("%d looks after %d wake-ups in %v", looks, rings, time.Since(began))
	}
	mu.Lock()
	s.auth = problem.New(problem.CodeUnauthenticated, "log in")
	mu.Unlock()
	began = time.Now()
	select {
	case rights.c <- struct{}{}:
	default:
	}
	if _, err := io.ReadAll(answer.Body); err != nil || time.Since(began) > time.Second {
		t.Fatalf("it ended after %v: %v", time.Since(began), err)
	}
}

// A database that is away for a moment is no reason to end a stream.
func TestStreamOutlivesAnAuthenticatorThatFails(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	s := &sample{caller: &identity.Caller{UserID: 5, Teams: map[int64]identity.Role{1: identity.Viewer}}}
	guarded := &lockedSample{sample: s, mu: &mu}
	a := op.New(op.Config{Router: route.New(), Authenticator: guarded, Resolver: guarded, Recorder: s, Reauthorise: time.Millisecond})
	last := make(chan struct{})
	op.Stream(a, "/api/v1/events", func(ctx context.Context, _ *nothing, out *op.EventStream) error {
		if err := out.Open(); err != nil {
			return err
		}
		select {
		case <-last:
			return out.Send("9", "", "the last")
		case <-ctx.Done():
			return ctx.Err()
		}
	}, op.Spec{ID: "stream", Summary: "Stream", Tag: "Try", Role: identity.Viewer, On: op.Anywhere})
	answer := open(t, serve(t, a).URL+"/api/v1/events")
	mu.Lock()
	s.auth = problem.New(problem.CodeDatabaseUnavailable, "away")
	before := guarded.asked
	mu.Unlock()
	waittest.Until(t, "the guard has looked five times", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return guarded.asked >= before+5
	})
	close(last)
	if body, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(body), "the last") {
		t.Errorf("%q %v", body, err)
	}
}

// lockedSample is a sample whose callers and things change while it serves.
type lockedSample struct {
	*sample
	mu    *sync.Mutex
	asked int
}

func (s *lockedSample) Authenticate(ctx context.Context, r *http.Request) (*identity.Caller, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return s.sample.Authenticate(ctx, r)
}

func (s *lockedSample) Resolve(ctx context.Context, on op.On, id int64) (op.Resource, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sample.Resolve(ctx, on, id)
}
