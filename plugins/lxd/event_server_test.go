package lxd_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/lxd"
	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// soon is how long a stream may take that does not come about.
const soon = 200 * time.Millisecond

// eventServer is a server whose operations are all in one project. It answers the first step of a wait at once, all others at
// the end, and counts what it is asked for.
type eventServer struct {
	address string // of the instance; with its project, as later servers than LXD 5.0 tell it
	// stream answers in place of a stream when it reports true; nil for never.
	stream func(w http.ResponseWriter, r *http.Request) bool
	target endpoint.Target
	made   *lxd.Driver

	mu       sync.Mutex
	is       map[string]string // operations in JSON; one that is missing is forgotten
	sockets  map[*websocket.Conn]bool
	asked    map[string]int // by read, wait, events
	hangsUp  bool           // on all but events
	seconds  int            // of the clock
	changing chan struct{}
}

func newEventServer(t testing.TB) *eventServer {
	t.Helper()
	s := &eventServer{address: "/1.0/instances/web1?project=customers", is: map[string]string{},
		sockets: map[*websocket.Conn]bool{}, asked: map[string]int{}, changing: make(chan struct{})}
	s.target = targetOf(t, serveTLS(t, s), endpoint.Lifecycle)
	s.set(uuid, 103, "")
	return s
}

// host opens a host of a driver that waits so long for a stream.
func (s *eventServer) host(t testing.TB, within time.Duration) *lxd.Host {
	t.Helper()
	return open(t, s.driver(t, within, patience), s.target)
}

// driver makes a driver that looks so often at what it follows.
func (s *eventServer) driver(t testing.TB, within, silence time.Duration) *lxd.Driver {
	t.Helper()
	s.made = lxd.NewWithTiming(nil, lxd.Timing{
		Timeouts: lxdapi.Timeouts{Dial: patience, Header: patience, Body: patience}, Step: time.Second, Stream: within,
		Silence: silence, Retry: 20 * time.Millisecond,
	})
	t.Cleanup(s.made.Close)
	return s.made
}

func (s *eventServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, isOperation := strings.CutPrefix(r.URL.Path, "/1.0/operations/")
	id, waits := strings.CutSuffix(id, "/wait")
	s.mu.Lock()
	hangsUp, first := s.hangsUp, r.URL.Query().Get("timeout") == "1"
	switch {
	case r.URL.Path == "/1.0/events":
		s.asked["events"]++
		s.mu.Unlock()
		s.events(w, r)
		return
	case waits:
		s.asked["wait"]++
	case isOperation:
		s.asked["read"]++
	}
	for {
		is, known := s.is[id] // together with the count: what is set after it has no part in the answer
		changing := s.changing
		s.mu.Unlock()
		switch {
		case hangsUp:
			conn, _, _ := w.(http.Hijacker).Hijack()
			_ = conn.Close()
		case !isOperation:
			answer(w, aServer)
		case !known:
			refusal(w, http.StatusNotFound, "Operation not found")
		case waits && !first && strings.Contains(is, `"status_code":103`):
			select {
			case <-changing:
				s.mu.Lock()
				continue
			case <-r.Context().Done():
			}
		default:
			answer(w, is)
		}
		return
	}
}

// events holds a stream until either side ends it.
func (s *eventServer) events(w http.ResponseWriter, r *http.Request) {
	if s.stream != nil && s.stream(w, r) {
		return
	}
	socket, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	ctx := socket.CloseRead(context.WithoutCancel(r.Context()))
	s.mu.Lock()
	s.sockets[socket] = true
	s.mu.Unlock()
	<-ctx.Done()
	s.mu.Lock()
	delete(s.sockets, socket)
	s.mu.Unlock()
	_ = socket.CloseNow()
}

// set changes an operation without a word.
func (s *eventServer) set(id string, status int, progress string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.is[id] = fmt.Sprintf(`{"id":%q,"class":"task","description":"Starting instance","status_code":%d,"err":"","location":"none",
		"resources":{"instances":[%q]},"metadata":{"create_progress":%q}}`, id, status, s.address, progress)
	close(s.changing)
	s.changing = make(chan struct{})
}

// event is what is told of an operation now.
func (s *eventServer) event(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seconds++
	return fmt.Sprintf(`{"type":"operation","timestamp":%q,"metadata":%s,"location":"none","project":"customers"}`,
		time.Date(2026, 11, 22, 0, 0, s.seconds, 0, time.UTC).Format(time.RFC3339), s.is[id])
}

// tell changes an operation and tells of it.
func (s *eventServer) tell(id string, status int, progress string) {
	s.set(id, status, progress)
	s.send(s.event(id))
}

// send sends a text over all streams.
func (s *eventServer) send(text string) {
	for _, socket := range s.open() {
		_ = socket.Write(context.Background(), websocket.MessageText, []byte(text))
	}
}

// cut ends all streams as a broken connection does.
func (s *eventServer) cut() {
	for _, socket := range s.open() {
		_ = socket.CloseNow()
	}
}

// open are the streams that stand.
func (s *eventServer) open() (all []*websocket.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for socket := range s.sockets {
		all = append(all, socket)
	}
	return all
}

// forget loses all operations.
func (s *eventServer) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.is)
	close(s.changing)
	s.changing = make(chan struct{})
}

func (s *eventServer) hangUp(does bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangsUp = does
}

func (s *eventServer) count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[what]
}

// want compares the numbers of requests.
func (s *eventServer) want(t testing.TB, reads, waits, streams int) {
	t.Helper()
	if r, w, e := s.count("read"), s.count("wait"), s.count("events"); r != reads || w != waits || e != streams {
		t.Errorf("%d reads, %d waits, %d streams, want %d, %d, %d", r, w, e, reads, waits, streams)
	}
}

// waiting is a wait that goes on in the background.
type waiting struct {
	log    []string
	result hypervisor.TaskResult
	err    error
	over   chan struct{}
}

func waitFor(ctx context.Context, host *lxd.Host, id string, from int) *waiting {
	w := &waiting{over: make(chan struct{})}
	go func() {
		defer close(w.over)
		w.result, w.err = host.WaitTask(ctx, id, from, func(l hypervisor.LogLine) error {
			w.log = append(w.log, fmt.Sprint(l.N, " ", l.Text))
			return nil
		})
	}()
	return w
}

// ok waits for an end that is a success.
func (w *waiting) ok(t testing.TB) {
	t.Helper()
	if <-w.over; w.err != nil || !w.result.OK() {
		t.Errorf("%+v, %v", w.result, w.err)
	}
}

// followed waits until so many operations are followed over one stream, and looked at since it stands.
func (s *eventServer) followed(t testing.TB, count int) {
	t.Helper()
	waittest.Until(t, "that all are followed", func() bool { return len(s.open()) == 1 && s.count("read") == 2*count })
}

// gone waits until no stream is left, on either side.
func (s *eventServer) gone(t testing.TB) {
	t.Helper()
	lxd.Idle(s.made)
	waittest.Until(t, "the end of the stream", func() bool { return len(s.open()) == 0 })
}
