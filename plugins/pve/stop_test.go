package pve_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// A shutdown that somebody else began holds the guest's lock until the guest gives in.
func TestStopWhileAShutdownHoldsTheLock(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{pvesim.QEMU, pvesim.LXC} {
		for name, c := range map[string]struct {
			release string
			change  func(w *fixture)
			// ended says that the shutdown is, and writes is how many requests that takes.
			ended  bool
			writes int
		}{
			"a release that can": {release: "9.2.11", ended: true, writes: 1},
			"the first that can": {release: "8.2", ended: true, writes: 1},
			"an older one":       {release: "8.1", writes: 2},
			"a very old one":     {release: "7.4", writes: 2},
			"a token that may not end others' tasks": {release: "9.2.11", writes: 1, change: func(w *fixture) {
				w.SetRole("ServiceLifecycle", "VM.PowerMgmt")
			}},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newFixture(t, pvesim.Options{Version: c.release, Guests: -1})
				if c.change != nil {
					c.change(w)
				}
				ref := w.guest(t, pvesim.GuestSpec{Type: kind, Status: pvesim.StatusRunning, IgnoreShutdown: true})
				somebody := w.open(t, w.target(endpoint.Lifecycle, w.AdminToken()))
				down, err := somebody.Act(t.Context(), ref, hypervisor.Shutdown)
				must(t, "shutdown", err)
				w.ResetStats()
				host := w.host(t, endpoint.Lifecycle)
				stop, err := host.Act(t.Context(), ref, hypervisor.Stop)
				must(t, "stop", err)
				writes := 0
				for request, n := range w.Stats().Requests {
					if strings.HasPrefix(request, "POST ") {
						writes += int(n)
					}
				}
				if writes != c.writes {
					t.Errorf("%d requests were written, want %d", writes, c.writes)
				}
				if !c.ended {
					w.Advance(11 * time.Second)
				}
				_, result, err := follow(t, host, stop, 0)
				must(t, "waiting", err)
				if c.ended != result.OK() || !c.ended &&
					(!strings.Contains(result.Message, "can't lock file") || !strings.HasSuffix(result.Message, "got timeout")) {
					t.Errorf("the stop ended as %+v", result)
				}
				running := false
				for _, task := range w.Tasks() {
					if running = running || task.UPID == down && task.Running; strings.Contains(task.Type, "stop") && task.UPID != stop {
						t.Errorf("there is another stop: %+v", task)
					}
				}
				if running == c.ended {
					t.Errorf("the shutdown runs: %v", running)
				}
				// Who looks for what is in the way finds it with the monitoring token.
				if !c.ended {
					list, err := w.host(t, endpoint.Monitoring).Tasks(t.Context(), hypervisor.TaskQuery{Guest: &ref, Limit: 25})
					must(t, "listing tasks", err)
					if text := fmt.Sprint(list.Tasks); !strings.Contains(text, down) {
						t.Errorf("the shutdown is not among %s", text)
					}
				}
			})
		}
	}
}
