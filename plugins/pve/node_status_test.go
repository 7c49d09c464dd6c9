package pve_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestNodeStatusTellsWhatThereIs(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: 4})
	host := w.host(t, endpoint.Monitoring)
	for _, node := range w.NodeNames() {
		w.ResetStats()
		s, err := host.NodeStatus(t.Context(), node)
		must(t, "reading the node", err)
		if got, want := w.Stats().Requests, map[string]int64{"GET /nodes/{node}/status": 1}; !maps.Equal(got, want) {
			t.Errorf("requests are %v, want %v", got, want)
		}
		if s.Name != node || time.Since(s.At).Abs() > time.Hour || *s.Uptime < 3600 || len(s.Load) != 3 || s.Load[0] <= 0 || *s.CPU <= 0 ||
			*s.CPUs != 16 || *s.Cores != 16 || *s.Sockets != 1 || !strings.Contains(s.CPUModel, "EPYC") || *s.Memory <= 0 ||
			*s.MemoryTotal != 64<<30 ||
			*s.Swap != 0 || *s.SwapTotal != 8<<30 || *s.Disk <= 0 || *s.DiskTotal != 400<<30 || *s.KSMShared != 0 ||
			s.Kernel != "6.17.13-2-pve" || !strings.HasPrefix(s.Version, "9.") || s.BootMode != hypervisor.BootBIOS || s.SecureBoot != nil {
			t.Errorf("status of %s is %+v", node, s)
		}
	}
}

// TestNodeStatusOfNamesThatNoNodeHas: one that could be a node's is looked up, the rest never leaves.
func TestNodeStatusOfNamesThatNoNodeHas(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: 1})
	host := w.host(t, endpoint.Monitoring)
	for name, c := range map[string]struct {
		kind  plugin.ErrorKind
		asked int64
	}{
		"pve9": {plugin.NotFound, 1}, "PVE1": {plugin.NotFound, 1}, strings.Repeat("p", 63): {plugin.NotFound, 1},
		"localhost": {plugin.NotFound, 0}, "": {plugin.Invalid, 0}, "..": {plugin.Invalid, 0}, "pve1/": {plugin.Invalid, 0},
		"pve1%2F..": {plugin.Invalid, 0}, "pve1\x00": {plugin.Invalid, 0}, "pve1\n": {plugin.Invalid, 0}, "pve1.lan": {plugin.Invalid, 0},
		"-pve1": {plugin.Invalid, 0}, "pve1?a=b": {plugin.Invalid, 0}, strings.Repeat("p", 64): {plugin.Invalid, 0},
	} {
		w.ResetStats()
		_, err := host.NodeStatus(t.Context(), name)
		if e := wantKind(t, err, c.kind); c.kind == plugin.Invalid && e.Field != "node" || len(e.Message) > 200 {
			t.Errorf("%.80q: field %q, %s", name, e.Field, e.Message)
		}
		if n := w.Stats().Requests["GET /nodes/{node}/status"]; n > c.asked {
			t.Errorf("%.80q: asked for %d times", name, n)
		}
	}
}

func TestNodeStatusOfANodeThatIsOff(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for what does not come: make check runs it")
	}
	t.Parallel()
	for _, status := range []int{595, 596} {
		w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 3, Guests: 1, OfflineStatus: status})
		host := w.host(t, endpoint.Monitoring)
		must(t, "switching it off", w.SetNodeOnline("pve3", false))
		_, err := host.NodeStatus(t.Context(), "pve3")
		if e := wantKind(t, err, plugin.Unreachable); !strings.Contains(e.Message, "pve3 is offline") {
			t.Errorf("%d: %v", status, err)
		}
		_, err = host.NodeStatus(t.Context(), "pve2")
		must(t, "reading another node", err)
		must(t, "switching it on", w.SetNodeOnline("pve3", true))
		_, err = host.NodeStatus(t.Context(), "pve3")
		must(t, "reading it again", err)
	}
}

func TestNodeStatusFaults(t *testing.T) {
	t.Parallel()
	only := pvesim.Match{Path: "/nodes/{node}/status"}
	for name, c := range map[string]struct {
		fault pvesim.Fault
		kind  plugin.ErrorKind // empty: the status comes
	}{
		"refuse":         {pvesim.Fault{Kind: pvesim.FaultRefuse}, plugin.Unreachable},
		"cut":            {pvesim.Fault{Kind: pvesim.FaultCut}, plugin.Unreachable},
		"cut once":       {pvesim.Fault{Kind: pvesim.FaultCut, Times: 1}, ""},
		"hang":           {pvesim.Fault{Kind: pvesim.FaultHang}, plugin.Timeout},
		"half an answer": {pvesim.Fault{Kind: pvesim.FaultTruncate, Match: only}, plugin.Unreachable},
		"away though it is online": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 596, Reason: "Connection timed out", Match: only},
			plugin.Timeout},
		"no route though it is online": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 595, Reason: "No route to host", Match: only},
			plugin.Unreachable},
		"everything away": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 596, Reason: "Connection timed out"}, plugin.Timeout},
		"another name's certificate": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 596, Reason: "certificate verify failed",
			Match: only}, plugin.Unreachable},
		"no data": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 200, Match: only}, plugin.Protocol},
		"a release that has no status": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 501,
			Reason: "Method 'GET /nodes/pve1/status' not implemented", Match: only}, plugin.Unsupported},
		"a name that cannot be resolved": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 500, Reason: "hostname lookup 'pve1' failed",
			Match: only}, plugin.Unreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, pvesim.Options{Guests: 1})
			w.fault(t, c.fault)
			s, err := w.host(t, endpoint.Monitoring).NodeStatus(t.Context(), w.NodeNames()[0])
			switch {
			case c.kind != "":
				wantKind(t, err, c.kind)
			case err != nil || s.Uptime == nil:
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

func TestNodeStatusNeedsSysAudit(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: 1})
	host := w.open(t, w.target(endpoint.Monitoring, w.token("/nodes/pve2", true, "Sys.Audit")))
	_, err := host.NodeStatus(t.Context(), "pve2")
	must(t, "reading the node of the right", err)
	_, err = host.NodeStatus(t.Context(), "pve1")
	if e := wantKind(t, err, plugin.Denied); e.Path != "/nodes/pve1" || len(e.Missing) != 1 || e.Missing[0] != "Sys.Audit" {
		t.Errorf("error is %+v", e)
	}
}
