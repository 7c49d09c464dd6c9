package processtest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor/consoletest"
)

// Consoles over whole processes, on a simulated Proxmox VE: fifty that are open at once, a new size, what is pasted, much output, and
// whatever ends them tells why within a second.
func TestConsoles(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "one", "--recommended")
	s := startService(t, options{})
	owner := setUp(t, s)
	host := owner.enrol(t, cluster, "lab", "console")
	app, _ := owner.running(t, host)
	ctx := t.Context()
	opened := fifty(t, s, owner, app)

	c := owner.console(t, app)
	opened++
	if err := c.resizes(ctx, 132, 50); err != nil {
		t.Fatal(err)
	}
	if err := c.shows(ctx, "[132x50]\r\n"); err != nil {
		t.Error(err)
	}
	c.pastes(t, 1<<20)
	c.cats(t, 100<<20)

	withinASecond(t, "the killed plugin", func() time.Duration {
		ending := c.ending(t)
		for _, pid := range pluginsOf(t, s) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		end, took := ending()
		if end.Code != 4503 || !strings.Contains(end.Reason, "plugin is not running") {
			t.Errorf("the killed plugin: %v", end)
		}
		waittest.Until(t, "the plugin is back", func() bool {
			return owner.do(t, http.MethodPost, fmt.Sprintf("/api/v1/apps/%d/console/tickets", app), nil).Status == http.StatusOK
		})
		c = owner.console(t, app)
		opened++
		return took
	})
	withinASecond(t, "the service that stops", func() time.Duration {
		ending := c.ending(t)
		stopped := make(chan struct{})
		go func() {
			s.stop(t)
			close(stopped)
		}()
		end, took := ending()
		if end.Code != 4503 || end.Reason != "the service is stopping" {
			t.Errorf("the stopped service: %v", end)
		}
		<-stopped
		s.start(t)
		c = owner.console(t, app)
		opened++
		return took
	})
	var trail []struct{ Details map[string]any }
	owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/audit?action=app.console_close&per_page=100", nil, &trail)
	if len(trail) != opened-1 {
		t.Errorf("%d ends are in the audit log, want %d", len(trail), opened-1)
	}
}

// fifty opens fifty consoles, types into each while all are open, and closes them. It gives their number.
func fifty(t *testing.T, s *service, owner *client, app int64) int {
	t.Helper()
	var all []*console
	var reading sync.WaitGroup // from the beginning: only a client that reads answers pings
	ctx, cancel := context.WithCancel(t.Context())
	defer reading.Wait()
	defer cancel()
	for i := range 5 { // a person has sixteen at most: five people have ten each
		email := fmt.Sprintf("operator%d@example.com", i)
		owner.must(t, http.StatusCreated, http.MethodPost, "/api/v1/users",
			map[string]any{"email": email, "password": ownerPassword, "role": "operator"}, nil)
		person := newClient(s)
		person.logIn(t, email, ownerPassword)
		for range 10 {
			c, word := person.console(t, app), fmt.Sprintf("word-%d", len(all))
			all = append(all, c)
			reading.Go(func() {
				if err := c.shows(ctx, "echo "+word+"\r\n"+word+"\r\n"); err != nil {
					t.Error(err)
				}
			})
		}
	}
	d := dbtest.Open(t, s.DB)
	whole := func(when string) {
		t.Helper()
		if n := number(t, d, "SELECT count(*) FROM audit_underway WHERE action = 'app.console_close'"); n != 50 {
			t.Errorf("%d consoles are open %s, want 50", n, when)
		}
	}
	whole("before anything is typed")
	for i, c := range all {
		if err := c.types(t.Context(), fmt.Sprintf("echo word-%d\r", i)); err != nil {
			t.Error(err)
		}
	}
	reading.Wait()
	whole("after each has shown what was typed")
	for _, c := range all {
		_ = c.Close(websocket.StatusNormalClosure, "")
	}
	waittest.Until(t, "all ends are told", func() bool {
		return number(t, d, "SELECT count(*) FROM audit WHERE action = 'app.console_close'") == len(all)
	})
	return len(all)
}

// pastes sends so many bytes in one message, and wants each to be shown in its place.
func (c *console) pastes(t *testing.T, size int) {
	t.Helper()
	var text strings.Builder
	for i := 0; text.Len() < size; i++ {
		fmt.Fprintf(&text, "%07d ", i)
	}
	sent := make(chan error, 1)
	go func() { sent <- c.types(t.Context(), text.String()) }()
	if err := c.shows(t.Context(), text.String()); err != nil {
		t.Fatalf("what was pasted is not shown as it is: %.200s", err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if err := c.types(t.Context(), "\r"); err != nil {
		t.Fatal(err)
	}
	if err := c.shows(t.Context(), "$ "); err != nil {
		t.Fatalf("the prompt after what was pasted: %.200s", err)
	}
}

// cats has so many bytes shown, each in its place.
func (c *console) cats(t *testing.T, size int) {
	t.Helper()
	c.beginCat(t, size)
	want := &consoletest.Output{}
	for got := 0; got < size; {
		got += c.next(t, want, size-got)
	}
}

func (c *console) beginCat(t *testing.T, size int) {
	t.Helper()
	if err := c.types(t.Context(), fmt.Sprintf("cat %d\r", size)); err != nil {
		t.Fatal(err)
	}
	if err := c.shows(t.Context(), fmt.Sprintf("cat %d\r\n", size)); err != nil {
		t.Fatal(err)
	}
}

// next reads a message of at most so many bytes of output, which is to be the next of want, and gives its length. What comes after the
// output is forgotten.
func (c *console) next(t *testing.T, want io.Reader, most int) int {
	t.Helper()
	data := c.shown
	if c.shown = nil; len(data) == 0 {
		var err error
		if _, data, err = c.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	data = data[:min(len(data), most)]
	block := make([]byte, len(data))
	if _, err := io.ReadFull(want, block); err != nil || string(block) != string(data) {
		t.Fatalf("what is shown is not what comes next: %.100q", data)
	}
	return len(data)
}
