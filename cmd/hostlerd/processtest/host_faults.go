package processtest

import (
	"fmt"
	"net/http"
	"testing"
)

// What a hypervisor can do to us, and what the API says of it.
func hypervisorFaults(t *testing.T, owner *client) {
	for _, fault := range []struct {
		name   string
		start  func(t *testing.T, cluster *sim)
		heal   func(t *testing.T, cluster *sim)
		status int
		error  string
		reason string
		// blind is true when the guests are unknown meanwhile.
		blind bool
	}{
		{
			name:   "cut",
			start:  func(t *testing.T, c *sim) { c.fault(t, map[string]any{"kind": "cut"}) },
			status: http.StatusBadGateway, error: "hypervisor_error", reason: "unreachable", blind: true,
		},
		{
			name:   "refused",
			start:  func(t *testing.T, c *sim) { c.fault(t, map[string]any{"kind": "refuse"}) },
			status: http.StatusBadGateway, error: "hypervisor_error", reason: "unreachable", blind: true,
		},
		{
			name:   "hung",
			start:  func(t *testing.T, c *sim) { c.fault(t, map[string]any{"kind": "hang"}) },
			status: http.StatusGatewayTimeout, error: "timeout", blind: true,
		},
		{
			name:   "slow",
			start:  func(t *testing.T, c *sim) { c.fault(t, map[string]any{"kind": "delay", "delay_ms": 1200}) },
			status: http.StatusOK,
		},
		{
			name:   "another certificate",
			start:  func(t *testing.T, c *sim) { c.control(t, http.MethodPost, "/certificate", map[string]any{}, nil) },
			status: http.StatusBadGateway, error: "hypervisor_error", reason: "tls_fingerprint", blind: true,
		},
		{
			name: "token revoked",
			start: func(t *testing.T, c *sim) {
				c.control(t, http.MethodPost, "/token", map[string]any{"id": c.Tokens["monitoring"].ID, "op": "revoke"}, nil)
			},
			status: http.StatusBadGateway, error: "hypervisor_error", reason: "auth", blind: true,
		},
	} {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			cluster := startSim(t, "--scenario", "cluster", "--nodes", "2", "--guests", "6", "--auth-delay", "100ms")
			host := owner.enrol(t, cluster, "faulty: "+fault.name)
			before := listVMs(t, owner, host)

			fault.start(t, cluster)
			a := owner.do(t, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", host), nil)
			var said struct{ Error, Reason string }
			if a.Status >= 300 {
				a.into(t, &said)
			}
			if a.Status != fault.status || said.Error != fault.error || said.Reason != fault.reason {
				t.Errorf("sync: %d %s", a.Status, a.Body)
			}
			during := listVMs(t, owner, host)
			if len(during) != len(before) {
				t.Errorf("%d guests are listed, %d were", len(during), len(before))
			}
			if fault.blind {
				for _, g := range during {
					if g.Status != "unknown" {
						t.Errorf("%s is %s", g.Name, g.Status)
					}
				}
			}
			if fault.name == "another certificate" || fault.name == "token revoked" {
				return // a person has to look at these
			}
			cluster.healFaults(t)
			owner.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", host), nil, nil)
			after := listVMs(t, owner, host)
			for i, g := range after {
				if g.Status != before[i].Status || g.ID != before[i].ID {
					t.Errorf("%s was %s and is %s", g.Name, before[i].Status, g.Status)
				}
			}
		})
	}
}
