package processtest

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
)

// The plugin, and then the service, are killed after an apply of a node's network has reached the hypervisor and before its answer. The
// job finds out what has become of it, and asks once.
func TestKilledWhileANetworkIsApplied(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "one", "--guests", "1", "--auth-delay", "100ms", "--task-duration", "100ms")
	s := startService(t, options{})
	owner := setUp(t, s)
	host := owner.enrol(t, cluster, "lab", "lifecycle")
	const apply = "PUT /nodes/{node}/network"
	for n, c := range []struct {
		name string
		kill func()
	}{
		{"plugin", func() {
			for _, pid := range pluginsOf(t, s) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}},
		{"service", func() { s.kill(); s.start(t) }},
	} {
		bridge := fmt.Sprintf("vmbr%d", 5+n)
		var list struct{ Nodes []struct{ Node string } }
		waittest.Succeeds(t, "the node is listed", func() error {
			owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/network/bridges", nil, &list)
			if len(list.Nodes) != 1 {
				return fmt.Errorf("%d nodes", len(list.Nodes))
			}
			return nil
		})
		node := list.Nodes[0].Node
		owner.must(t, http.StatusCreated, http.MethodPost, "/api/v1/network/bridges", map[string]any{"host_id": host, "node": node,
			"iface": bridge, "config": map[string]any{"cidr": fmt.Sprintf("10.5.%d.1/24", n), "autostart": true}}, nil)
		cluster.fault(t, map[string]any{"kind": "delay", "delay_ms": 20000, "times": 1, "after": true,
			"match": map[string]any{"method": "PUT", "path": "/nodes/{node}/network"}})
		job := started(t, owner, fmt.Sprintf("/api/v1/network/%d/%s/apply", host, node), map[string]any{"confirm": node})
		waittest.Succeeds(t, "the hypervisor has the request", func() error {
			if struck(t, cluster) == 0 {
				return fmt.Errorf("it has not")
			}
			return nil
		})
		c.kill()
		cluster.healFaults(t)
		end := ended(t, owner, job.ID)
		text := transcript(t, owner, job.ID)
		if end.Status != "succeeded" || !strings.Contains(text, "found the task") || !strings.Contains(text, bridge+": bridge, active") {
			t.Errorf("%s: the job ended %s: %s\n%s", c.name, end.Status, end.Error, text)
		}
		if asked := cluster.stats(t).Requests[apply]; asked != n+1 {
			t.Errorf("%s: the hypervisor was asked %d times to apply", c.name, asked)
		}
	}
}
