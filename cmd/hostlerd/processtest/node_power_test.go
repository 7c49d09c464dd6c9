package processtest

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
)

// The plugin, and then the service, are killed after a node was told to reboot and before its answer. The job follows the node down and up
// again, and tells it once; the host that is connected to the node is polled again at once.
func TestKilledWhileANodeReboots(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "2", "--loopbacks", "--guests", "4", "--auth-delay", "0",
		"--reboot-time", "8s")
	s := startService(t, options{})
	owner := setUp(t, s)
	host := owner.enrol(t, cluster, "lab", "node_power")
	var peers []peerView
	owner.must(t, http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/hosts/%d/peers", host), nil, &peers)
	node := peers[0].Node
	var enrolled []struct {
		HostID int64 `json:"host_id"`
	}
	owner.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/peers", host), map[string]any{"nodes": []string{node}},
		&enrolled)
	peer := fmt.Sprintf("/api/v1/hosts/%d", enrolled[0].HostID)
	owner.must(t, http.StatusOK, http.MethodPost, peer+"/sync", nil, nil)

	const power = "POST /nodes/{node}/status"
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
		cluster.fault(t, map[string]any{"kind": "delay", "delay_ms": 20000, "times": 1, "after": true,
			"match": map[string]any{"method": "POST", "path": "/nodes/{node}/status"}})
		strikes := struck(t, cluster)
		job := started(t, owner, fmt.Sprintf("%s/nodes/%s/power", peer, node), map[string]any{"command": "reboot", "confirm": node})
		waittest.Succeeds(t, "the hypervisor has the request", func() error {
			if struck(t, cluster) == strikes {
				return fmt.Errorf("it has not")
			}
			return nil
		})
		c.kill()
		cluster.healFaults(t)
		end := ended(t, owner, job.ID)
		text := transcript(t, owner, job.ID)
		if end.Status != "succeeded" || end.Kind != "node.power" || !strings.Contains(text, "the node is back") &&
			!strings.Contains(text, "the node was restarted") {
			t.Errorf("%s: the job ended %s: %s\n%s", c.name, end.Status, end.Error, text)
		}
		if asked := cluster.stats(t).Requests[power]; asked != n+1 {
			t.Errorf("%s: the node was told %d times", c.name, asked)
		}
		var after struct{ Status string }
		owner.must(t, http.StatusOK, http.MethodGet, peer, nil, &after)
		if after.Status != "online" {
			t.Errorf("%s: the host of the node is %s\n%s", c.name, after.Status, text)
		}
	}
}
