package processtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
)

// soon bounds the waiting for what is to happen within a second, so that it is measured and not waited for for ever.
const soon = time.Minute

// withinASecond has something end, up to five times, until that took no longer than a second: a machine that has much else to do is
// slower now and then, and what is always slower fails. With -short it only has it end, once.
func withinASecond(t *testing.T, what string, end func() time.Duration) {
	t.Helper()
	var times []time.Duration
	for range 5 {
		took := end()
		if times = append(times, took); took <= time.Second || testing.Short() {
			t.Logf("%s was told after %s", what, times)
			return
		}
	}
	t.Errorf("%s was told after %s, and never within a second", what, times)
}

// ending waits for the end of a console from now on, which it gives with the time that it took.
func (c *console) ending(t *testing.T) func() (websocket.CloseError, time.Duration) {
	t.Helper()
	ended, begun := make(chan websocket.CloseError, 1), time.Now()
	go func() { ended <- c.closed(t.Context()) }()
	return func() (websocket.CloseError, time.Duration) {
		t.Helper()
		select {
		case end := <-ended:
			return end, time.Since(begun)
		case <-time.After(soon):
			t.Fatal("the console goes on")
			return websocket.CloseError{}, 0
		}
	}
}

// A console ends within a second when the session that opened it is revoked, when the service is killed, and when the node dies, of which
// the first and the last tell why; the person is back as soon as there is something to be back at, whatever was open.
// The audit log has the end of each.
func TestConsolesEnd(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "one", "--recommended")
	s := startService(t, options{})
	owner := setUp(t, s)
	app, _ := owner.running(t, owner.enrol(t, cluster, "lab", "console"))
	ann := owner.user(t, "ann", "operator")
	elsewhere := ann.as(t, s)
	// open opens a console that shows what is typed, so that it is whole.
	open := func(c *client) *console {
		t.Helper()
		shown := c.console(t, app)
		if err := shown.types(t.Context(), "echo here\r"); err != nil {
			t.Fatal(err)
		}
		if err := shown.shows(t.Context(), "echo here\r\nhere\r\n"); err != nil {
			t.Fatal(err)
		}
		return shown
	}
	d := dbtest.Open(t, s.DB)
	ended := 0
	// trail waits until so many more ends are told.
	trail := func(more int) {
		t.Helper()
		ended += more
		waittest.Succeeds(t, "the ends are in the audit log", func() error {
			if n := number(t, d, "SELECT count(*) FROM audit WHERE action = 'app.console_close'"); n != ended {
				return fmt.Errorf("there are %d, want %d", n, ended)
			}
			return nil
		})
	}

	stays := open(elsewhere)
	withinASecond(t, "the revoked session", func() time.Duration {
		revoked := open(ann.as(t, s))
		var sessions []struct {
			ID      int64
			Current bool
		}
		elsewhere.must(t, http.StatusOK, http.MethodGet, "/api/v1/auth/sessions", nil, &sessions)
		end := revoked.ending(t)
		for _, one := range sessions {
			if !one.Current {
				elsewhere.must(t, http.StatusNoContent, http.MethodDelete, fmt.Sprintf("/api/v1/auth/sessions/%d", one.ID), nil, nil)
			}
		}
		closed, took := end()
		if closed.Code != 4401 || !strings.Contains(closed.Reason, "log in") {
			t.Errorf("the revoked session: %v", closed)
		}
		trail(1)
		return took
	})
	if err := stays.types(t.Context(), "echo still\r"); err != nil {
		t.Error(err)
	} else if err := stays.shows(t.Context(), "echo still\r\nstill\r\n"); err != nil {
		t.Errorf("the console of the other session: %v", err)
	}

	withinASecond(t, "the killed service", func() time.Duration {
		end := stays.ending(t)
		s.kill()
		closed, took := end()
		if closed.Code != 0 { // nobody is left who could say why
			t.Errorf("the killed service: %v", closed)
		}
		// Nor has anybody told its end. Who starts later does, as far as it is known, once no sign of life has come for a minute.
		alter(t, d, "UPDATE audit_underway SET seen_at = seen_at - interval '61 seconds'")
		s.start(t)
		trail(1)
		lost := dbtest.On(t, d).Value(`SELECT concat_ws(' ', actor_email, result, error, details ->> 'reason', details ->> 'bytes_out')
			FROM audit WHERE action = 'app.console_close' ORDER BY id DESC LIMIT 1`)
		if want := ann.Email + " failed outcome_unknown the service ended first: when this ended and how much data it transferred is " +
			"unknown"; lost != want {
			t.Errorf("the end of what the killed service had open is told as %q", lost)
		}
		stays = open(elsewhere)
		return took
	})
	// The session outlives the service, and what it had open does not stand in its way: sixteen are what a person may have.
	again := []*console{stays}
	for range 15 {
		again = append(again, open(elsewhere))
	}
	var ends []func() (websocket.CloseError, time.Duration)
	for _, c := range again {
		ends = append(ends, c.ending(t))
	}
	if err := cluster.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var reason string
	var times []time.Duration
	for i, end := range ends {
		closed, took := end()
		if closed.Code != 4502 || closed.Reason == "" {
			t.Errorf("the dead node, console %d: %v", i, closed)
		}
		reason, times = closed.Reason, append(times, took)
	}
	// A node dies once: on a machine that is starved the first of the sixteen shows that nothing waits for a time.
	if first := slices.Min(times); first > time.Second && !testing.Short() {
		t.Errorf("the dead node was told after %s at the soonest", first)
	}
	t.Logf("the dead node was told after %s to %s: %s", slices.Min(times), slices.Max(times), reason)
	refused := elsewhere.do(t, http.MethodPost, fmt.Sprintf("/api/v1/apps/%d/console/tickets", app), nil)
	if refused.Status != http.StatusBadGateway || refused.problem() != "hypervisor_error" {
		t.Errorf("a console of a node that is dead: %d %s", refused.Status, refused.Body)
	}
	trail(16)
}
