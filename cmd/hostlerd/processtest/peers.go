package processtest

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
)

// peerView is what the test reads of a peer.
type peerView struct {
	Node                string
	Reachable, Enrolled bool
	HostID              *int64 `json:"host_id"`
	Reason, Error       *string
}

// The other nodes of a cluster are looked at and enrolled, over connections with the certificates that the first one tells. All are
// members of one cluster then, and each of its guests is there once.
func peers(t *testing.T, owner *client) {
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "3", "--loopbacks", "--guests", "6", "--auth-delay", "0")
	first := owner.enrol(t, cluster, "peered", "lifecycle")
	path := fmt.Sprintf("/api/v1/hosts/%d/peers", first)
	look := func() (all []peerView) {
		t.Helper()
		owner.must(t, http.StatusOK, http.MethodGet, path, nil, &all)
		return all
	}
	before := look()
	if len(before) != 2 || slices.ContainsFunc(before, func(p peerView) bool { return !p.Reachable || p.Enrolled }) {
		t.Fatalf("the peers are %+v", before)
	}
	nodes := []string{before[0].Node, before[1].Node, "none"}
	var rows []struct {
		Node         string
		HostID       *int64 `json:"host_id"`
		Capabilities []string
		Error        *string
	}
	owner.must(t, http.StatusOK, http.MethodPost, path, map[string]any{"nodes": nodes}, &rows)
	if len(rows) != 3 || rows[2].Error == nil || *rows[2].Error != "not_found" {
		t.Fatalf("%+v", rows)
	}
	for _, r := range rows[:2] {
		if r.Error != nil || r.HostID == nil || !slices.Equal(r.Capabilities, []string{"monitoring", "lifecycle"}) {
			t.Fatalf("%+v", r)
		}
		owner.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", *r.HostID), nil, nil)
	}
	waittest.Succeeds(t, "all are members of one cluster", func() error {
		seen := map[string]int{}
		for _, vm := range listVMs(t, owner) {
			if vm.HostID == first || vm.HostID == *rows[0].HostID || vm.HostID == *rows[1].HostID {
				seen[fmt.Sprint(vm.VMID)]++
			}
		}
		for id, n := range seen {
			if n > 1 {
				return fmt.Errorf("the VM %s is there %d times", id, n)
			}
		}
		for _, p := range look() {
			if !p.Enrolled || p.HostID == nil {
				return fmt.Errorf("%s is told to be no host", p.Node)
			}
		}
		return nil
	})
	again := owner.must(t, http.StatusOK, http.MethodPost, path, map[string]any{"nodes": nodes[:1]}, &rows)
	if len(rows) != 1 || rows[0].Error == nil || *rows[0].Error != "already_enrolled" {
		t.Errorf("again: %s", again.Body)
	}
}
