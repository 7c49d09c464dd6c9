package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/cmd/hostlerd/notifytest"
	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/heartbeat"
	"github.com/hostler/hostler/core/service"
)

// watchInterval is what systemd asks for in these tests. Their clock is that of a bubble of synctest, so no machine is too slow.
const watchInterval = 30 * time.Second

// watched is a watchdog on the whole API with a handler of its own for /healthz. It runs until the test, a bubble, ends.
func watched(t *testing.T, healthz http.HandlerFunc, change func(*watchdog)) *notifytest.Manager {
	t.Helper()
	m := &notifytest.Manager{Messages: make(chan string, 10000)}
	w := &watchdog{
		handler: api.Handler(api.Deps{Health: healthz, Logger: hclog.NewNullLogger()}), log: hclog.NewNullLogger(), usual: "STATUS=well",
		answers: func(context.Context) error { return nil },
		notifier: &notifier{log: hclog.NewNullLogger(), send: func(message string) error {
			m.Messages <- message
			return nil
		}},
	}
	if change != nil {
		change(w)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		w.run(ctx, watchInterval)
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return m
}

// until takes messages of one kind until the first of another kind.
func until(t *testing.T, m *notifytest.Manager, these, then string) {
	t.Helper()
	for deadline := time.Now().Add(time.Hour); ; {
		switch message := m.Next(t); {
		case strings.HasPrefix(message, then):
			return
		case message != these && !strings.HasPrefix(message, these+" "):
			t.Fatalf("the message is %q, want %q", message, then)
		case time.Now().After(deadline):
			t.Fatalf("there is nothing but %q, want %q", these, then)
		}
	}
}

// systemd counts from sign to sign: each comes when half the time is over, and a first one that is late costs no restart.
func TestWatchdogSignsAtHalfTheInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := watched(t, service.Health().ServeHTTP, nil)
		for range 5 {
			began := time.Now()
			m.Expect(t, "WATCHDOG=1")
			if took := time.Since(began); took != watchInterval/2 {
				t.Errorf("a sign came after %v", took)
			}
		}
	})
}

func TestWatchdogHangingHandler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, watchHangingHandler)
}

func watchHangingHandler(t *testing.T) {
	t.Helper()
	release, hang := make(chan struct{}), make(chan struct{})
	m := watched(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
			<-release // whatever the request's context says
		default:
		}
		service.Health().ServeHTTP(w, r)
	}, nil)
	m.Expect(t, "WATCHDOG=1", "WATCHDOG=1")
	close(hang)
	until(t, m, "WATCHDOG=1", "STATUS=the API does not answer")
	for range 10 {
		m.Expect(t, "STATUS=the API does not answer")
	}
	close(release)
	until(t, m, "STATUS=the API does not answer", "WATCHDOG=1\nSTATUS=well")
	m.Expect(t, "WATCHDOG=1", "WATCHDOG=1")
}

func TestWatchdogFailingHandler(t *testing.T) {
	t.Parallel()
	for name, healthz := range map[string]http.HandlerFunc{
		"500":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"panic":   func(http.ResponseWriter, *http.Request) { panic("on purpose") },
		"missing": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := watched(t, healthz, func(w *watchdog) {
					if healthz == nil {
						w.handler = api.Handler(api.Deps{Logger: hclog.NewNullLogger()})
					}
				})
				for range 3 {
					m.Expect(t, "STATUS=the API ")
				}
			})
		})
	}
}

func TestWatchdogStuckLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, watchStuckLoop)
}

func watchStuckLoop(t *testing.T) {
	t.Helper()
	var poll, seal heartbeat.Monitor
	poll.Beat(time.Hour)
	seal.Beat(-loopGrace + time.Hour)
	away := make(chan struct{})
	m := watched(t, service.Health().ServeHTTP, func(w *watchdog) {
		w.loops = map[service.Loop]*heartbeat.Monitor{"poll": &poll, "seal": &seal, "not begun": {}}
		w.answers = func(context.Context) error {
			select {
			case <-away:
				return errors.New("the database is away")
			default:
				return nil
			}
		}
	})
	m.Expect(t, "WATCHDOG=1", "WATCHDOG=1")
	seal.Beat(-loopGrace)
	until(t, m, "WATCHDOG=1", `STATUS=the loop "seal" is overdue by 5m15s`)
	m.Expect(t, `STATUS=the loop "seal"`)
	close(away) // then it waits for the database, and a restart would not help
	until(t, m, `STATUS=the loop "seal" is late`, "WATCHDOG=1\nSTATUS=well")
	m.Expect(t, "WATCHDOG=1")
}
