package processtest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Scenarios that concern a hypervisor of their own each share one service and its plugin: what befalls one host must not be felt by the
// others.
func TestHosts(t *testing.T) {
	t.Parallel()
	owner := setUp(t, startService(t, options{}))
	for name, scenario := range map[string]func(*testing.T, *client){
		"faults":                               hypervisorFaults,
		"a changed certificate is accepted":    changedCertificateIsAccepted,
		"a daemon is down":                     daemonIsDown,
		"a template is listed and not adopted": templateIsNotAdopted,
		"the status of nodes":                  nodeStatus,
		"firewall rules":                       firewallRules,
		"firewall changes":                     firewallChanges,
		"snapshots":                            snapshots,
		"migrations":                           migrations,
		"peers":                                peers,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(t, owner)
		})
	}
}

// A changed certificate is shown by the host's test and accepted by a patch.
func changedCertificateIsAccepted(t *testing.T, owner *client) {
	cluster := startSim(t, "--scenario", "one", "--auth-delay", "100ms")
	host := owner.enrol(t, cluster, "renewed")
	var renewed struct{ Fingerprint string }
	cluster.control(t, http.MethodPost, "/certificate", map[string]any{}, &renewed)
	path := fmt.Sprintf("/api/v1/hosts/%d", host)
	if a := owner.do(t, http.MethodPost, path+"/test", nil); !strings.Contains(string(a.Body), renewed.Fingerprint) {
		t.Errorf("the test does not show the new fingerprint: %d %s", a.Status, a.Body)
	}
	owner.must(t, http.StatusOK, http.MethodPatch, path, map[string]any{"tls_fingerprint": renewed.Fingerprint}, nil)
	owner.must(t, http.StatusOK, http.MethodPost, path+"/sync", nil, nil)
}

// Only the proxy of the hypervisor's API answers: a test says that the host cannot be reached.
func daemonIsDown(t *testing.T, owner *client) {
	cluster := startSim(t, "--scenario", "one", "--guests", "4", "--auth-delay", "100ms")
	host := owner.enrol(t, cluster, "half down", "lifecycle")
	test := func() (check struct {
		Reachable bool
		Reason    string
		Error     string
	}) {
		t.Helper()
		owner.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/test", host), nil, &check)
		return check
	}
	if got := test(); !got.Reachable {
		t.Errorf("%+v", got)
	}
	cluster.fault(t, map[string]any{"kind": "pvedaemon"})
	if got := test(); got.Reachable || got.Reason != "unreachable" || !strings.Contains(got.Error, "daemon") ||
		strings.Contains(got.Error, "cluster") {
		t.Errorf("%+v", got)
	}
	cluster.healFaults(t)
	cluster.fault(t, map[string]any{"kind": "pmxcfs"})
	if got := test(); got.Reachable || got.Reason != "unreachable" {
		t.Errorf("%+v", got)
	}
	cluster.healFaults(t)
	if got := test(); !got.Reachable {
		t.Errorf("%+v", got)
	}
}

// A container that is a template is listed as one, and nobody makes an app of it.
func templateIsNotAdopted(t *testing.T, owner *client) {
	cluster := startSim(t, "--scenario", "one", "--guests", "2", "--auth-delay", "100ms")
	var made struct{ VMID int64 }
	cluster.control(t, http.MethodPost, "/guest", map[string]any{"op": "create", "type": "lxc", "name": "base", "template": true}, &made)
	host := owner.enrol(t, cluster, "with template")
	if g := guestsOf(t, owner, host)[made.VMID]; g.Name != "base" || !g.Template {
		t.Errorf("%+v", g)
	}
	a := owner.do(t, http.MethodPost, "/api/v1/apps/adopt",
		map[string]any{"items": []any{map[string]any{"host_id": host, "vmid": made.VMID}}})
	if a.Status != http.StatusConflict || a.problem() != "invalid_state" || !strings.Contains(string(a.Body), "template") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}
