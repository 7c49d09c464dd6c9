package lxdapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/plugin"
)

// stream serves events: each connection is one call of each. What each returns with ends the connection.
func stream(t *testing.T, each func(ctx context.Context, nth int32, send func(string)) error) http.HandlerFunc {
	var connections atomic.Int32
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/1.0/events" || r.URL.Query().Get("type") != "operation" {
			t.Errorf("asked for %s", r.RequestURI)
			return
		}
		socket, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = socket.CloseNow() }()
		ctx := socket.CloseRead(r.Context())
		_ = each(ctx, connections.Add(1), func(text string) { _ = socket.Write(ctx, websocket.MessageText, []byte(text)) })
	}
}

// event is one of an operation, of a second.
func event(second, status int, progress string) string {
	return fmt.Sprintf(`{"type":"operation","timestamp":"2026-11-22T00:00:%02dZ","metadata":{"id":%q,"status_code":%d,"may_cancel":true,
		"resources":{"instances":["/1.0/instances/web1"]},"metadata":{"fds":{"0":%q},"create_progress":%q}},"location":"none",
		"project":"customers"}`, second, uuid, status, canary, progress)
}

// kept are the events that a ring has.
func kept(ring *lxdapi.EventRing) []lxdapi.Event {
	events, _, _ := ring.Since(0)
	return events
}

func listens(ring *lxdapi.EventRing) bool {
	_, stands := ring.Mark()
	return stands
}

// watch runs Watch until the test is over, or until it ends by itself.
func watch(t *testing.T, client *lxdapi.Client, ring *lxdapi.EventRing, pace lxdapi.WatchTiming) <-chan error {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ended <- client.Watch(ctx, lxdapi.Scope{All: true}, ring, pace)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return ended
}

func TestWatch(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	client := serve(t, stream(t, func(ctx context.Context, nth int32, send func(string)) error {
		switch nth {
		case 1:
			send(event(1, 103, ""))
			send(event(2, 103, "rootfs: 50%"))
			send(`{"type":"logging","timestamp":"2026-11-22T00:00:02Z","metadata":{"message":"x"}}`)
			<-goOn
		case 2:
			send(event(3, 200, ""))
			<-ctx.Done()
		}
		return nil
	}))
	ring := lxdapi.NewEventRing(10)
	watch(t, client, ring, lxdapi.WatchTiming{Backoff: time.Millisecond})
	waittest.Until(t, "the first events", func() bool { return len(kept(ring)) == 2 })
	mark, stands := ring.Mark()
	if !stands {
		t.Error("nobody listens")
	}
	customers := lxdapi.InstanceRef{Project: "customers", Name: "web1"}
	for i, e := range kept(ring) {
		if op := e.Operation; op.ID != uuid || op.StatusCode != 103 || op.Instances[0] != customers || e.Time.Second() != i+1 ||
			op.Progress != []string{"", "rootfs: 50%"}[i] || strings.Contains(fmt.Sprintf("%+v", e), canary) {
			t.Errorf("%+v", e)
		}
	}
	close(goOn)
	waittest.Until(t, "the event of the second connection", func() bool { return len(kept(ring)) == 3 })
	events, _, whole := ring.Since(mark)
	if whole || len(events) == 0 || !events[len(events)-1].Operation.Ended() {
		t.Errorf("%+v, whole %v", events, whole)
	}
}

// The ring says that nobody listens, and a server that lets nobody in is not asked without a pause.
func TestWatchOfADeadServer(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	ring := lxdapi.NewEventRing(10)
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1); asked.Load() > 1 {
			refusal(w, 503, "LXD is shutting down")
			return
		}
		conn, _, _ := w.(http.Hijacker).Hijack()
		_ = conn.Close()
	})
	ended := watch(t, client, ring, lxdapi.WatchTiming{Backoff: 50 * time.Millisecond, BackoffMax: 100 * time.Millisecond})
	waittest.Until(t, "some tries", func() bool { return asked.Load() >= 4 })
	if listens(ring) {
		t.Error("listens to a server that is not there")
	}
	select {
	case err := <-ended:
		t.Error(err)
	default:
	}
}

// What another try would not mend ends the watch.
func TestWatchThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"no websocket": func(w http.ResponseWriter, _ *http.Request) { answer(w, "null") },
		"no LXD":       http.NotFound,
		"no event":     stream(t, func(ctx context.Context, _ int32, send func(string)) error { send("x"); <-ctx.Done(); return nil }),
		"bad operation": stream(t, func(ctx context.Context, _ int32, send func(string)) error {
			send(`{"type":"operation","metadata":7}`)
			<-ctx.Done()
			return nil
		}),
		"a huge event": stream(t, func(ctx context.Context, _ int32, send func(string)) error {
			send(`{"type":"` + strings.Repeat("a", 2<<20) + `"}`)
			<-ctx.Done()
			return nil
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			err := serve(t, handler).Watch(ctx, lxdapi.Scope{}, lxdapi.NewEventRing(1), lxdapi.WatchTiming{Backoff: time.Millisecond})
			wantKind(t, err, plugin.Protocol)
		})
	}
}

// A server that no longer answers pings is left, though its connection stands.
func TestWatchOfASilentServer(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	var connections atomic.Int32
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		connections.Add(1)
		socket, err := websocket.Accept(w, r, nil) // nobody reads from it
		if err == nil {
			<-release
			_ = socket.CloseNow()
		}
	})
	watch(t, client, lxdapi.NewEventRing(1), lxdapi.WatchTiming{Ping: 50 * time.Millisecond, Backoff: time.Millisecond})
	waittest.Until(t, "another connection", func() bool { return connections.Load() >= 2 })
}

func TestWatchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	client := serve(t, stream(t, func(ctx context.Context, _ int32, _ func(string)) error { <-ctx.Done(); return nil }))
	ctx, cancel := context.WithCancel(t.Context())
	ring := lxdapi.NewEventRing(1)
	ended := make(chan error, 1)
	go func() { ended <- client.Watch(ctx, lxdapi.Scope{}, ring, lxdapi.WatchTiming{}) }()
	waittest.Until(t, "the connection", func() bool { return listens(ring) })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if listens(ring) {
		t.Error("listens though the watch is over")
	}
}
