package lxd_test

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/lxd"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// The end and the progress come by events: those of other operations, those told twice and those told too late are none.
func TestFollow(t *testing.T) {
	t.Parallel()
	for from, want := range map[int][]string{
		0: {"1 Starting instance", "2 rootfs: 10%", "3 rootfs: 20%", "4 rootfs: 30%"},
		3: {"4 rootfs: 20%", "5 rootfs: 30%"},
	} {
		t.Run(fmt.Sprint("from ", from), func(t *testing.T) {
			t.Parallel()
			s := newEventServer(t)
			other := strings.Replace(uuid, "4", "5", 1)
			s.set(other, 400, "rootfs: 99%")
			s.set(uuid, 103, "rootfs: 10%")
			w := waitFor(t.Context(), s.host(t, patience), uuid, from)
			s.followed(t, 1)
			s.send(s.event(other))
			s.send(`{"type":"logging","metadata":{"message":"x"}}`)
			s.send(s.event(uuid))
			early := s.event(uuid)
			s.set(uuid, 103, "rootfs: 20%")
			twice := s.event(uuid)
			s.send(twice)
			s.send(strings.Replace(early, "10%", "15%", 1))
			s.tell(uuid, 103, "rootfs: 30%")
			s.send(twice)
			s.tell(uuid, 200, "")
			s.tell(uuid, 400, "") // an end is the last
			w.ok(t)
			if !slices.Equal(w.log, want) {
				t.Errorf("%q, want %q", w.log, want)
			}
			s.gone(t)
			s.want(t, 2, 1, 1)
		})
	}
}

// An operation may fail by events too; what the log refuses ends the wait; and an operation may end before the stream stands, or
// without a word.
func TestEndsByEvents(t *testing.T) {
	t.Parallel()
	s := newEventServer(t)
	w := waitFor(t.Context(), s.host(t, patience), uuid, 0)
	s.followed(t, 1)
	s.tell(uuid, 401, "")
	want := hypervisor.TaskResult{Status: hypervisor.TaskFailed, Message: "the operation was canceled"}
	if <-w.over; w.err != nil || !reflect.DeepEqual(w.result, want) {
		t.Errorf("%+v, %v", w.result, w.err)
	}

	s = newEventServer(t)
	refused := errors.New("no room")
	host, done := s.host(t, patience), make(chan error, 1)
	go func() {
		_, err := host.WaitTask(t.Context(), uuid, 1, func(hypervisor.LogLine) error { return refused })
		done <- err
	}()
	s.followed(t, 1)
	s.tell(uuid, 103, "rootfs: 10%")
	if err := <-done; !errors.Is(err, refused) {
		t.Error(err)
	}
	s.gone(t)

	s = newEventServer(t)
	s.stream = func(http.ResponseWriter, *http.Request) bool { s.set(uuid, 200, ""); return false }
	waitFor(t.Context(), s.host(t, patience), uuid, 0).ok(t)
	s.want(t, 2, 1, 1)

	s = newEventServer(t)
	w = waitFor(t.Context(), open(t, s.driver(t, patience, soon), s.target), uuid, 0)
	waittest.Until(t, "that it is looked at twice", func() bool { return s.count("read") > 3 })
	s.set(uuid, 200, "")
	w.ok(t)
	if n := s.count("wait"); n != 1 {
		t.Errorf("%d waits", n)
	}
	s.gone(t)
}

// Where there is no stream, or one that says what it should not, the end is asked for, and comes out as well.
func TestFollowWithoutEvents(t *testing.T) {
	t.Parallel()
	refuse := func(status int) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool { refusal(w, status, "not authorized"); return true }
	}
	for name, c := range map[string]struct {
		stream  func(http.ResponseWriter, *http.Request) bool
		says    string
		within  time.Duration
		address string
		streams int // most of them
	}{
		"refused":             {refuse(http.StatusForbidden), "", patience, "", 1},
		"an old server":       {refuse(http.StatusNotFound), "", patience, "", 1},
		"no websocket":        {func(w http.ResponseWriter, _ *http.Request) bool { answer(w, "null"); return true }, "", patience, "", 1},
		"never":               {func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true }, "", soon, "", 1},
		"a server in trouble": {refuse(http.StatusServiceUnavailable), "", soon, "", 9},
		"a proxy that passes on nothing": {func(w http.ResponseWriter, r *http.Request) bool {
			socket, err := websocket.Accept(w, r, nil) // nobody reads from it, and so no ping is answered
			if err != nil {
				return true
			}
			<-t.Context().Done() // the connection is no longer the request's
			_ = socket.CloseNow()
			return true
		}, "", soon, "", 1},
		"garbage":                 {nil, "x", patience, "", 1},
		"an operation that is no": {nil, `{"type":"operation","metadata":7}`, patience, "", 1},
		"megabytes": {nil, `{"type":"operation","metadata":{"id":"` + uuid + `","status_code":400,"metadata":{"x":"` +
			strings.Repeat("a", 2<<20) + `"}}}`, patience, "", 1},
		"the project is not known": {nil, "", patience, "/1.0/instances/web1", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEventServer(t)
			s.stream = c.stream
			if c.address != "" {
				s.address = c.address
				s.set(uuid, 103, "")
			}
			w := waitFor(t.Context(), s.host(t, c.within), uuid, 0)
			if c.says != "" {
				s.followed(t, 1)
				s.send(c.says)
			}
			waittest.Until(t, "that the end is asked for", func() bool { return s.count("wait") == 2 })
			s.set(uuid, 200, "")
			w.ok(t)
			if n := s.count("events"); n > c.streams {
				t.Errorf("%d streams were asked for", n)
			}
			s.gone(t)
		})
	}
}

// A server that tells more than anybody can hear is followed to the end all the same.
func TestFloodOfEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("sends a flood: make check runs it")
	}
	t.Parallel()
	s := newEventServer(t)
	slow, done := make(chan struct{}), make(chan hypervisor.TaskResult, 1)
	host := s.host(t, patience)
	go func() {
		result, err := host.WaitTask(t.Context(), uuid, 1, func(hypervisor.LogLine) error { <-slow; return nil })
		if err != nil {
			t.Error(err)
		}
		done <- result
	}()
	s.followed(t, 1)
	s.tell(uuid, 103, "rootfs: 1%") // the log hangs
	other := strings.Replace(uuid, "4", "5", 1)
	s.set(other, 103, "")
	flood := s.event(other)
	for range 2000 {
		s.send(flood)
	}
	s.tell(other, 200, "")
	waittest.Until(t, "the last event", func() bool { return lxd.Told(host, "customers", other) })
	close(slow)
	waittest.Until(t, "that the end is asked for", func() bool { return s.count("wait") == 2 })
	s.set(uuid, 200, "")
	if result := <-done; !result.OK() {
		t.Errorf("%+v", result)
	}
	s.gone(t)
}

// The stream breaks: the end is asked for. A server that was started again has forgotten all.
func TestStreamThatBreaks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then func(*testing.T, *eventServer, *lxd.Host)
		kind plugin.ErrorKind
	}{
		"and it goes on": {func(t *testing.T, s *eventServer, _ *lxd.Host) {
			s.cut()
			waittest.Until(t, "that the end is asked for", func() bool { return s.count("wait") == 2 })
			s.set(uuid, 200, "")
		}, ""},
		"with the end as its last word": {func(_ *testing.T, s *eventServer, _ *lxd.Host) {
			s.tell(uuid, 200, "")
			s.forget()
			s.cut()
		}, ""},
		"and the next one tells the end": {func(t *testing.T, s *eventServer, host *lxd.Host) {
			s.hangUp(true)
			s.cut()
			waittest.Until(t, "the next stream", func() bool { return s.count("events") == 2 && len(s.open()) == 1 })
			s.tell(uuid, 200, "")
			s.tell(uuid, 400, "")
			s.forget()
			waittest.Until(t, "the event", func() bool { return lxd.Told(host, "customers", uuid) })
			s.hangUp(false)
		}, ""},
		"and it is forgotten": {func(t *testing.T, s *eventServer, _ *lxd.Host) {
			s.hangUp(true)
			s.cut()
			waittest.Until(t, "some tries", func() bool { return s.count("read") > 5 })
			s.forget()
			s.hangUp(false)
		}, plugin.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEventServer(t)
			host := s.host(t, patience)
			w := waitFor(t.Context(), host, uuid, 0)
			s.followed(t, 1)
			c.then(t, s, host)
			if c.kind == "" {
				w.ok(t)
			} else {
				<-w.over
				wantKind(t, w.err, c.kind)
			}
			s.gone(t)
		})
	}
}
