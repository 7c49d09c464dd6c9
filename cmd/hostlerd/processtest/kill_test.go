package processtest

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
)

// The service is killed at each point of a job. The next start ends the job, and the hypervisor was asked once.
func TestKillAtEachPointOfAJob(t *testing.T) {
	t.Parallel()
	const stop = "/nodes/{node}/qemu/{vmid}/status/stop"
	for _, point := range []struct {
		name string
		// fault holds the job at the point; reached reports that it is there.
		fault   map[string]any
		taskMS  int
		reached func(t *testing.T, cluster *sim, c *client, job int64) bool
	}{
		{
			name:  "before the task was sent",
			fault: map[string]any{"kind": "hang", "match": map[string]any{"path": "/nodes/{node}/qemu/{vmid}/status/current"}},
			reached: func(t *testing.T, cluster *sim, _ *client, _ int64) bool {
				return struck(t, cluster) > 0
			},
		},
		{
			name:  "as the request is under way and arrives late",
			fault: map[string]any{"kind": "delay", "delay_ms": 1500, "times": 1, "match": map[string]any{"method": "POST", "path": stop}},
			reached: func(t *testing.T, cluster *sim, _ *client, _ int64) bool {
				return struck(t, cluster) > 0
			},
		},
		{
			name: "after it was sent and before its UPID was stored",
			fault: map[string]any{"kind": "delay", "delay_ms": 20000, "times": 1, "after": true,
				"match": map[string]any{"method": "POST", "path": stop}},
			reached: func(t *testing.T, cluster *sim, _ *client, _ int64) bool {
				return struck(t, cluster) > 0
			},
		},
		{
			name:   "while waiting",
			taskMS: 4000,
			reached: func(t *testing.T, _ *sim, c *client, job int64) bool {
				return progress(t, c, job).TaskID != ""
			},
		},
	} {
		t.Run(point.name, func(t *testing.T) {
			t.Parallel()
			cluster := startSim(t, "--scenario", "cluster", "--nodes", "2", "--guests", "8")
			s := startService(t, options{})
			owner := setUp(t, s)
			owner.enrol(t, cluster, "lab", "lifecycle")
			vm := find(t, owner, "/api/v1/vms", "running")
			if point.taskMS > 0 {
				cluster.control(t, http.MethodPost, "/option", map[string]any{"task_ms": point.taskMS}, nil)
			}
			if point.fault != nil {
				cluster.fault(t, point.fault)
			}
			job := act(t, owner, fmt.Sprintf("/api/v1/vms/%d/stop", vm.ID))
			waittest.Succeeds(t, "the job is at the point", func() error {
				if !point.reached(t, cluster, owner, job.ID) {
					return fmt.Errorf("it is not")
				}
				return nil
			})
			s.kill()
			cluster.healFaults(t)
			s.start(t)

			end := ended(t, owner, job.ID)
			text := transcript(t, owner, job.ID)
			if end.Status != "succeeded" {
				t.Errorf("the job ended %s: %s\n%s", end.Status, end.Error, text)
			}
			if n := cluster.sent(t, "stop"); n != 1 {
				t.Errorf("the hypervisor was asked %d times\n%s", n, text)
			}
			if n := strings.Count(text, "log: TASK OK"); n != 1 {
				t.Errorf("the transcript has the task's last line %d times:\n%s", n, text)
			}
		})
	}
}

// A job on which the service was killed twice in a row ends, with what is known of its task. A stop in order between two kills is enough
// for it to go on.
func TestKilledTwiceWhileAJobRuns(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "2", "--guests", "8")
	s := startService(t, options{})
	owner := setUp(t, s)
	owner.enrol(t, cluster, "lab", "lifecycle")
	cluster.control(t, http.MethodPost, "/option", map[string]any{"task_ms": 3_600_000}, nil)
	job := act(t, owner, fmt.Sprintf("/api/v1/vms/%d/stop", find(t, owner, "/api/v1/vms", "running").ID))
	runs := func(n int) {
		t.Helper()
		waittest.Succeeds(t, fmt.Sprintf("run %d of the job waits for its task", n), func() error {
			text := transcript(t, owner, job.ID)
			if progress(t, owner, job.ID).TaskID == "" || n > 1 && !strings.Contains(text, fmt.Sprintf("continues (run %d)", n)) {
				return fmt.Errorf("it has the transcript\n%s", text)
			}
			return nil
		})
	}
	runs(1)
	s.kill()
	s.start(t)
	runs(2)
	s.stop(t)
	s.start(t)
	runs(3)
	s.kill()
	s.start(t)
	runs(4)
	s.kill()
	s.start(t)
	end := ended(t, owner, job.ID)
	if end.Status != "unknown" || end.TaskID == "" || !strings.HasPrefix(end.Error, "the service crashed 2 times in a row") ||
		!strings.Contains(end.Error, "its task "+end.TaskID+" may still be running; the state on the hypervisor is unknown") {
		t.Errorf("the job ended %s with the task %q: %s\n%s", end.Status, end.TaskID, end.Error, transcript(t, owner, job.ID))
	}
	if n := cluster.sent(t, "stop"); n != 1 {
		t.Errorf("the hypervisor was asked %d times", n)
	}
}

// A killed service leaves no plugin process behind, and the next one works.
func TestKilledServiceLeavesNoPlugin(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "one")
	s := startService(t, options{})
	owner := setUp(t, s)
	owner.enrol(t, cluster, "lab")
	plugins := pluginsOf(t, s)
	if len(plugins) == 0 {
		t.Fatal("the service has no plugin process")
	}
	s.kill()
	waittest.Succeeds(t, "no plugin is left", func() error {
		for _, pid := range plugins {
			if alive(pid) {
				return fmt.Errorf("process %d lives", pid)
			}
		}
		return nil
	})
	s.start(t)
	owner.must(t, http.StatusOK, http.MethodPost, "/api/v1/hosts/1/sync", nil, nil)
	plugins = pluginsOf(t, s)
	s.stop(t)
	for _, pid := range plugins {
		if alive(pid) {
			t.Errorf("plugin process %d lives on after a stop", pid)
		}
	}
}

// A plugin that dies in the middle of a call fails that call at once, and calls work again once it is back.
func TestPluginKilledInTheMiddleOfACall(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "one")
	s := startService(t, options{})
	owner := setUp(t, s)
	host := owner.enrol(t, cluster, "lab")
	cluster.fault(t, map[string]any{"kind": "hang", "match": map[string]any{"path": "/nodes/{node}/tasks"}})
	cluster.fault(t, map[string]any{"kind": "hang", "match": map[string]any{"path": "/cluster/tasks"}})
	got := make(chan answer, 1)
	go func() {
		a, err := owner.try(t.Context(), http.MethodGet, fmt.Sprintf("/api/v1/hosts/%d/tasks", host), nil)
		if err != nil {
			t.Error(err)
		}
		got <- a
	}()
	waittest.Succeeds(t, "the call hangs in the plugin", func() error {
		if struck(t, cluster) == 0 {
			return fmt.Errorf("it has not arrived")
		}
		return nil
	})
	for _, pid := range pluginsOf(t, s) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if a := <-got; a.Status != http.StatusServiceUnavailable || a.problem() != "plugin_unavailable" {
		t.Errorf("the call that was cut: %d %s", a.Status, a.Body)
	}
	cluster.healFaults(t)
	owner.answered(t, http.MethodGet, fmt.Sprintf("/api/v1/hosts/%d/tasks", host))
}
