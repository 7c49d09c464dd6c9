package processtest

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
)

// The service is asked to end with a job at work: it ends in time, the hypervisor's task goes on, and the next start
// follows it to its end.
func TestStopWithARunningJob(t *testing.T) {
	t.Parallel()
	for _, point := range []struct {
		name  string
		hold  func(t *testing.T, cluster *sim)
		there func(t *testing.T, cluster *sim, c *client, job int64) bool
	}{
		{
			name: "while its task runs",
			hold: func(t *testing.T, cluster *sim) {
				cluster.control(t, http.MethodPost, "/option", map[string]any{"task_ms": 3000}, nil)
			},
			there: func(t *testing.T, _ *sim, c *client, job int64) bool { return progress(t, c, job).TaskID != "" },
		},
		{
			name: "before its task was sent",
			hold: func(t *testing.T, cluster *sim) {
				cluster.fault(t, map[string]any{"kind": "hang", "match": map[string]any{"path": "/nodes/{node}/qemu/{vmid}/status/current"}})
			},
			there: func(t *testing.T, cluster *sim, _ *client, _ int64) bool { return struck(t, cluster) > 0 },
		},
	} {
		t.Run(point.name, func(t *testing.T) {
			t.Parallel()
			cluster := startSim(t, "--scenario", "one", "--guests", "6")
			s := startService(t, options{})
			owner := setUp(t, s)
			owner.enrol(t, cluster, "lab", "lifecycle")
			vm := find(t, owner, "/api/v1/vms", "running")
			point.hold(t, cluster)
			job := act(t, owner, fmt.Sprintf("/api/v1/vms/%d/stop", vm.ID))
			waittest.Succeeds(t, "the job is there", func() error {
				if !point.there(t, cluster, owner, job.ID) {
					return fmt.Errorf("it is not")
				}
				return nil
			})
			s.stop(t) // fails beyond its time
			cluster.healFaults(t)
			s.start(t)
			end := ended(t, owner, job.ID)
			text := transcript(t, owner, job.ID)
			if end.Status != "succeeded" || strings.Count(text, "log: TASK OK") != 1 {
				t.Errorf("the job ended %s: %s\n%s", end.Status, end.Error, text)
			}
			if n := cluster.sent(t, "stop"); n != 1 {
				t.Errorf("the hypervisor was asked %d times\n%s", n, text)
			}
		})
	}
}

// The whole service on its private cluster is killed and started again, twice: all is there, and nothing is left running.
func TestPrivateClusterOutlivesKills(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "one", "--guests", "12")
	s := startService(t, options{DB: privateDatabase})
	owner := setUp(t, s)
	host := owner.enrol(t, cluster, "lab", "lifecycle")
	vms := slices.DeleteFunc(listVMs(t, owner), func(g guestView) bool { return g.Status != "running" })
	for _, vm := range vms[:2] {
		job := act(t, owner, fmt.Sprintf("/api/v1/vms/%d/stop", vm.ID))
		s.kill()
		s.start(t)
		if end := ended(t, owner, job.ID); end.Status != "succeeded" {
			t.Errorf("the job ended %s: %s\n%s", end.Status, end.Error, transcript(t, owner, job.ID))
		}
		owner.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", host), nil, nil)
	}
	if n := cluster.sent(t, "stop"); n != 2 {
		t.Errorf("the hypervisor was asked %d times for 2 jobs", n)
	}
	text, err := os.ReadFile(filepath.Join(s.State, "postgresql", "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(strings.SplitN(string(text), "\n", 2)[0]))
	if err != nil || !alive(pid) {
		t.Errorf("PostgreSQL's process %d: %v", pid, err)
	}
	s.stop(t)
	noPostgres(t, s.State)
	if alive(pid) {
		t.Errorf("PostgreSQL's process %d outlives the service", pid)
	}
}
