package processtest

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
)

// soon bounds what is to happen within a second, on a machine that is starved.
const soon = 20 * time.Second

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

// A console ends at once when the session that opened it is revoked, when the service is killed, and when the node dies, of which the
// first and the last tell why; the person is back as soon as there is something to be back at, whatever was open.
func TestConsolesEnd(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "one", "--recommended")
	s := startService(t, options{})
	owner := setUp(t, s)
	app, _ := owner.running(t, owner.enrol(t, cluster, "lab", "console"))
	ann := owner.user(t, "ann", "operator")
	there, elsewhere := ann.as(t, s), ann.as(t, s)
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
	trail := func(want int) {
		t.Helper()
		waittest.Succeeds(t, "the ends are in the trail", func() error {
			if n := number(t, d, "SELECT count(*) FROM audit WHERE action = 'app.console_close'"); n != want {
				return fmt.Errorf("there are %d", n)
			}
			return nil
		})
	}

	var sessions []struct {
		ID      int64
		Current bool
	}
	elsewhere.must(t, http.StatusOK, http.MethodGet, "/api/v1/auth/sessions", nil, &sessions)
	revoked, stays := open(there), open(elsewhere)
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
	t.Logf("a revoked session was told after %s", took)
	if err := stays.types(t.Context(), "echo still\r"); err != nil {
		t.Error(err)
	} else if err := stays.shows(t.Context(), "echo still\r\nstill\r\n"); err != nil {
		t.Errorf("the console of the other session: %v", err)
	}

	trail(1)
	end = stays.ending(t)
	s.kill()
	if closed, took = end(); closed.Code != 0 { // nobody is left who could say why
		t.Errorf("the killed service: %v", closed)
	}
	t.Logf("a killed service was noticed after %s", took)
	s.start(t)
	// The session outlives the service, and what it had open does not stand in its way: sixteen are what a person may have.
	var again []*console
	for range 16 {
		again = append(again, open(elsewhere))
	}

	var ends []func() (websocket.CloseError, time.Duration)
	for _, c := range again {
		ends = append(ends, c.ending(t))
	}
	if err := cluster.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for i, end := range ends {
		if closed, took = end(); closed.Code != 4502 || closed.Reason == "" {
			t.Errorf("the dead node, console %d: %v", i, closed)
		}
	}
	t.Logf("a dead node was told after %s: %s", took, closed.Reason)
	refused := elsewhere.do(t, http.MethodPost, fmt.Sprintf("/api/v1/apps/%d/console/tickets", app), nil)
	if refused.Status != http.StatusBadGateway || refused.problem() != "hypervisor_error" {
		t.Errorf("a console of a node that is dead: %d %s", refused.Status, refused.Body)
	}
	trail(17)
}
