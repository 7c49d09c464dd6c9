package processtest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor/consoletest"
)

// Consoles over whole processes, on a simulated Proxmox VE: fifty at once, much output, and whatever ends them tells why at once.
func TestConsoles(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "one", "--recommended")
	s := startService(t, options{})
	owner := setUp(t, s)
	host := owner.enrol(t, cluster, "lab", "console")
	app, _ := owner.running(t, host)
	ctx := t.Context()

	// A person has sixteen at most: five people have ten each.
	var opening sync.WaitGroup
	for i := range 5 {
		email := fmt.Sprintf("operator%d@example.com", i)
		owner.must(t, http.StatusCreated, http.MethodPost, "/api/v1/users",
			map[string]any{"email": email, "password": ownerPassword, "role": "operator"}, nil)
		person := newClient(s)
		person.logIn(t, email, ownerPassword)
		for j := range 10 {
			c := person.console(t, app)
			opening.Go(func() {
				word := fmt.Sprintf("echo word-%d-%d", i, j)
				if err := c.types(ctx, word+"\r"); err != nil {
					t.Error(err)
				} else if err := c.shows(ctx, word+"\r\n"+strings.TrimPrefix(word, "echo ")+"\r\n"); err != nil {
					t.Error(err)
				}
				_ = c.Close(websocket.StatusNormalClosure, "")
			})
		}
	}
	opening.Wait()

	c := owner.console(t, app)
	const size = 100 << 20
	if err := c.types(ctx, fmt.Sprintf("cat %d\r", size)); err != nil {
		t.Fatal(err)
	}
	if err := c.shows(ctx, fmt.Sprintf("cat %d\r\n", size)); err != nil {
		t.Fatal(err)
	}
	want, block := &consoletest.Output{}, make([]byte, 0, 1<<20)
	for got := 0; got < size; {
		data := c.shown
		if c.shown = nil; len(data) == 0 {
			var err error
			if _, data, err = c.Read(ctx); err != nil {
				t.Fatal(err)
			}
		}
		data = data[:min(len(data), size-got)]
		block = block[:len(data)]
		_, _ = io.ReadFull(want, block)
		if string(block) != string(data) {
			t.Fatalf("what is shown differs after %d bytes", got)
		}
		got += len(data)
	}
	begun := time.Now()
	for _, pid := range pluginsOf(t, s) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if end := c.closed(ctx); end.Code != 4503 || !strings.Contains(end.Reason, "plugin is not running") {
		t.Errorf("the killed plugin: %v", end)
	}
	t.Logf("a killed plugin was told after %s", time.Since(begun))

	waittest.Until(t, "the plugin is back", func() bool {
		return owner.do(t, http.MethodPost, fmt.Sprintf("/api/v1/apps/%d/console/tickets", app), nil).Status == http.StatusOK
	})
	c = owner.console(t, app)
	ended := make(chan websocket.CloseError, 1)
	go func() { ended <- c.closed(ctx) }()
	begun = time.Now()
	s.stop(t)
	if end := <-ended; end.Code != 4503 || end.Reason != "the service is stopping" {
		t.Errorf("the stopped service: %v", end)
	}
	t.Logf("a service that stops was through after %s", time.Since(begun))
	s.start(t)
	var trail []struct{ Details map[string]any }
	owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/audit?action=app.console_close&per_page=100", nil, &trail)
	if len(trail) != 52 {
		t.Errorf("%d ends are in the trail, want 52", len(trail))
	}
}
