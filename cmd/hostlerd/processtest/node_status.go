package processtest

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"testing"

	"github.com/hostler/hostler/core/guest"
)

// A node's status over real processes, and whether the service knows on which node it runs.
func nodeStatus(t *testing.T, owner *client) {
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "3", "--guests", "3")
	// A guest that looks like the machine of this test, on another node than the entry. The first inventory finds it.
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	twin := map[string]any{"op": "create", "type": "lxc", "node": "pve3", "name": name}
	if id, err := strconv.Atoi(string(guest.DetectSelf(nil).Container)); err == nil {
		twin["vmid"] = id
	}
	cluster.control(t, http.MethodPost, "/guest", twin, nil)
	host := owner.enrol(t, cluster, "ours")
	path := func(node string) string { return fmt.Sprintf("/api/v1/hosts/%d/nodes/%s/status", host, node) }
	ours := func(what, own string) {
		t.Helper()
		for _, node := range []string{"pve1", "pve2", "pve3"} {
			var got struct {
				Node    string
				IsSelf  bool      `json:"is_self"`
				Load    []float64 `json:"load_average"`
				Memory  int64     `json:"memory_total_bytes"`
				Version string
			}
			owner.must(t, http.StatusOK, http.MethodGet, path(node), nil, &got)
			if got.Node != node || got.IsSelf != (node == own) || len(got.Load) != 3 || got.Memory != 64<<30 || got.Version == "" {
				t.Errorf("%s: %+v", what, got)
			}
		}
	}
	ours("nobody said where the service runs", "")
	owner.must(t, http.StatusOK, http.MethodPut, "/api/v1/hosts/self", map[string]any{"host_id": host}, nil)
	ours("its host is known, and so its guest", "pve3")

	for _, node := range []string{"pve9", "PVE1", "localhost", "..%2Fpve1", "pve1%00", "pve1.lan"} {
		if a := owner.do(t, http.MethodGet, path(node), nil); a.Status != http.StatusNotFound || a.problem() != "not_found" {
			t.Errorf("%s: %d %s", node, a.Status, a.Body)
		}
	}
	cluster.control(t, http.MethodPost, "/node", map[string]any{"name": "pve2", "online": false}, nil)
	a := owner.do(t, http.MethodGet, path("pve2"), nil)
	var said struct{ Error, Reason, Detail string }
	a.into(t, &said)
	if a.Status != http.StatusBadGateway || said.Error != "hypervisor_error" || said.Reason != "unreachable" ||
		said.Detail != "node pve2 is offline" {
		t.Errorf("a node that is off: %d %s", a.Status, a.Body)
	}
}
