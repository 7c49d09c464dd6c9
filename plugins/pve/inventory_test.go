package pve_test

import (
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// TestInventoryNeedsTwoRequests whatever the number of guests, and three with detail.
func TestInventoryNeedsTwoRequests(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]pvesim.Options{
		"alone": {Guests: -1}, "thousand": {Nodes: 10, Guests: 1000}, "many": {Nodes: 10, Guests: 5000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, opts)
			host := w.host(t, endpoint.Monitoring)
			for _, detail := range []bool{false, true} {
				w.ResetStats()
				all := gather(t, host, hypervisor.InventoryQuery{Detail: detail, Since: time.Now().Add(-5 * time.Minute)})
				want := map[string]int64{"GET /cluster/resources": 1, "GET /cluster/status": 1}
				if detail {
					want["GET /cluster/metrics/export"] = 1
				}
				if got := w.Stats().Requests; !maps.Equal(got, want) {
					t.Errorf("requests are %v, want %v", got, want)
				}
				if len(all.Guests) != len(w.Cluster.Guests()) || len(all.Nodes) != len(w.NodeNames()) {
					t.Errorf("%d guests, %d nodes", len(all.Guests), len(all.Nodes))
				}
				if n := w.Stats().ConnectionsOpen; n > 2 {
					t.Errorf("%d connections are open", n)
				}
			}
		})
	}
}

func TestInventoryTellsWhatThereIs(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 3, Guests: -1, ClusterName: "berlin"})
	w.AddPool("customers", "")
	w.AddStorage(pvesim.StorageSpec{ID: "nas", Plugin: "nfs", Shared: true, Content: "iso,backup", Size: 1 << 40})
	running := w.guest(t, pvesim.GuestSpec{Name: "web", Status: "running", Tags: "prod;web", Pool: "customers", Cores: 4, Memory: 8 << 30})
	template := w.guest(t, pvesim.GuestSpec{Name: "base", Template: true, Node: "pve2"})
	locked := w.guest(t, pvesim.GuestSpec{Name: "ct", Type: pvesim.LXC, Lock: "backup", Node: "pve3"})
	asleep := w.guest(t, pvesim.GuestSpec{Name: "asleep", Status: pvesim.StatusSuspended})

	all := gather(t, w.host(t, endpoint.Monitoring), hypervisor.InventoryQuery{})
	c := *all.Cluster
	if c.ClockAhead == nil || math.Abs(*c.ClockAhead) > 4 {
		t.Errorf("the clock is ahead by %v", c.ClockAhead)
	}
	if c.ClockAhead = nil; c != (hypervisor.Cluster{Name: "berlin", Quorate: true, Entry: w.NodeNames()[0]}) {
		t.Errorf("cluster is %+v", c)
	}
	w.Advance(90 * time.Second)
	if later := gather(t, w.host(t, endpoint.Monitoring), hypervisor.InventoryQuery{}).Cluster.ClockAhead; later == nil ||
		math.Abs(*later-90) > 4 {
		t.Errorf("the clock is ahead by %v", later)
	}
	byID := map[hypervisor.GuestID]hypervisor.Guest{}
	for _, g := range all.Guests {
		byID[g.ID] = g
	}
	g := byID[running.ID]
	if g.GuestRef != running || g.Number == nil || *g.Number != int64(vmid(t, running)) || g.Name != "web" ||
		g.Status != hypervisor.GuestRunning || g.Pool != "customers" ||
		!slices.Equal(g.Tags, []string{"prod", "web"}) || g.Template || *g.CPUs != 4 || *g.MemoryTotal != 8<<30 || g.CPU == nil ||
		g.Memory == nil || g.Disk == nil || *g.Disk != 0 || g.DiskTotal == nil || g.NetIn == nil || g.NetOut == nil || g.DiskRead == nil ||
		g.DiskWrite == nil || g.Uptime == nil {
		t.Errorf("running guest is %+v", g)
	}
	if g := byID[template.ID]; !g.Template || g.Status != hypervisor.GuestStopped || g.Node != "pve2" {
		t.Errorf("template is %+v", g)
	}
	if g := byID[locked.ID]; g.Lock != "backup" || g.Kind != hypervisor.Container || g.Disk == nil {
		t.Errorf("locked container is %+v", g)
	}
	if g := byID[asleep.ID]; g.Status != hypervisor.GuestSuspended {
		t.Errorf("guest on disk is %+v", g)
	}
	for _, n := range all.Nodes {
		if n.Status != hypervisor.NodeOnline || n.Address == "" || n.CPU == nil || n.CPUs == nil || n.Memory == nil || n.MemoryTotal == nil ||
			n.Disk == nil || n.DiskTotal == nil || n.Uptime == nil {
			t.Errorf("node is %+v", n)
		}
	}
	seen := 0
	for _, s := range all.Storages {
		if s.Name == "nas" {
			seen++
			if !s.Shared || s.Type != "nfs" || s.Status != "available" || !slices.Equal(s.Content, []string{"iso", "backup"}) || s.Total == nil ||
				s.Used == nil {
				t.Errorf("storage is %+v", s)
			}
		}
	}
	if seen != 3 {
		t.Errorf("the shared storage is told for %d nodes", seen)
	}
}

func TestInventoryOfAMachineAlone(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{})
	all := gather(t, w.host(t, endpoint.Monitoring), hypervisor.InventoryQuery{})
	if c := all.Cluster; c.Name != "" || !c.Quorate || c.Partial || c.Entry != w.NodeNames()[0] || len(all.Nodes) != 1 {
		t.Errorf("cluster is %+v with %d nodes", c, len(all.Nodes))
	}
}

func TestInventoryWithANodeThatIsOff(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 3, Guests: 30})
	must(t, "switching a node off", w.SetNodeOnline("pve3", false))
	all := gather(t, w.host(t, endpoint.Monitoring), hypervisor.InventoryQuery{})
	if len(all.Guests) != 30 {
		t.Fatalf("%d guests: those of the node are lost", len(all.Guests))
	}
	away := 0
	for _, g := range all.Guests {
		if g.Node == "pve3" {
			away++
			if g.Status != hypervisor.GuestUnknown || g.CPU != nil || g.Memory != nil || g.Uptime != nil {
				t.Errorf("guest of the node is %+v", g)
			}
		} else if g.Status == hypervisor.GuestUnknown {
			t.Errorf("guest of another node is %+v", g)
		}
	}
	if away == 0 {
		t.Error("no guest was on the node")
	}
	for _, n := range all.Nodes {
		if want := n.Name != "pve3"; (n.Status == hypervisor.NodeOnline) != want {
			t.Errorf("node is %+v", n)
		}
	}
	for _, s := range all.Storages {
		if s.Node == "pve3" && s.Status != "unknown" {
			t.Errorf("storage is %+v", s)
		}
	}
}

func TestInventorySaysWhenItIsPartial(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Nodes: 3, Guests: 9})
	w.AddPool("mine", "")
	inside := w.guest(t, pvesim.GuestSpec{Pool: "mine"})
	for name, c := range map[string]struct {
		token  pvesim.Token
		guests int
	}{
		"nothing":       {w.token("/", true), 0},
		"a pool":        {w.token("/pool/mine", true, "VM.Audit", "Sys.Audit", "Pool.Audit", "Datastore.Audit"), 1},
		"guests only":   {w.token("/", true, "VM.Audit"), 10},
		"only on /":     {w.token("/", false, "Sys.Audit"), 0},
		"only the rest": {w.token("/nodes", true, "Sys.Audit"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			all := gather(t, w.open(t, w.target(endpoint.Monitoring, c.token)), hypervisor.InventoryQuery{Detail: true})
			if !all.Cluster.Partial || len(all.Guests) != c.guests || len(all.Nodes) != 3 {
				t.Errorf("cluster %+v, %d guests, %d nodes", all.Cluster, len(all.Guests), len(all.Nodes))
			}
			if c.guests == 1 && all.Guests[0].GuestRef != inside {
				t.Errorf("the guest is %+v", all.Guests[0])
			}
		})
	}
}

// TestTheOnlyNodeIsTheEntry, even when the token may not ask for it.
func TestTheOnlyNodeIsTheEntry(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Guests: 3})
	all := gather(t, w.open(t, w.target(endpoint.Monitoring, w.token("/vms", true, "VM.Audit"))), hypervisor.InventoryQuery{})
	if c := all.Cluster; !c.Partial || c.Entry != w.NodeNames()[0] || len(all.Guests) != 3 {
		t.Errorf("cluster %+v, %d guests", c, len(all.Guests))
	}
}

func TestSamplesFillGaps(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: 10})
	host := w.host(t, endpoint.Monitoring)
	since := time.Now().Add(-5 * time.Minute)
	all := gather(t, host, hypervisor.InventoryQuery{Detail: true, Since: since})
	metrics, guests := map[string]int{}, map[hypervisor.GuestRef]int{}
	known := map[hypervisor.GuestRef]bool{}
	for _, g := range all.Guests {
		known[g.GuestRef] = true
	}
	for _, s := range all.Samples {
		metrics[s.Metric]++
		if s.At.Before(since.Add(-time.Second)) || s.At.After(time.Now().Add(time.Minute)) {
			t.Fatalf("sample of another time: %+v", s)
		}
		if s.Guest != nil {
			if !known[*s.Guest] {
				t.Fatalf("sample of a guest that is not there: %+v", s)
			}
			guests[*s.Guest]++
		}
	}
	for _, m := range []string{"cpu", "memory", "memory_total", "disk", "disk_total", "net_in", "net_out", "disk_read", "disk_write",
		"load"} {
		if metrics[m] == 0 {
			t.Errorf("no sample of %s", m)
		}
		delete(metrics, m)
	}
	if len(metrics) > 0 {
		t.Errorf("samples of %v", metrics)
	}
	if len(guests) != 10 {
		t.Errorf("samples of %d guests", len(guests))
	}
}

func TestInventoryWithoutMetricsIsWhole(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]pvesim.Fault{
		"501": {Kind: pvesim.FaultStatus, Status: 501, Reason: "Method 'GET /cluster/metrics/export' not implemented"},
		"403": {Kind: pvesim.FaultStatus, Status: 403, Reason: "Permission check failed (/, Sys.Audit)"},
		"500": {Kind: pvesim.FaultStatus, Status: 500, Reason: "no"}, "cut": {Kind: pvesim.FaultCut}, "hang": {Kind: pvesim.FaultHang},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, pvesim.Options{Guests: 5})
			fault.Match.Path = "/cluster/metrics/export"
			w.fault(t, fault)
			all := gather(t, w.host(t, endpoint.Monitoring), hypervisor.InventoryQuery{Detail: true, Since: time.Now().Add(-time.Hour)})
			if len(all.Guests) != 5 || len(all.Samples) != 0 {
				t.Errorf("%d guests, %d samples", len(all.Guests), len(all.Samples))
			}
		})
	}
}

func TestInventoryFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault pvesim.Fault
		kind  plugin.ErrorKind // empty: the inventory comes
	}{
		"cut":         {pvesim.Fault{Kind: pvesim.FaultCut}, plugin.Unreachable},
		"cut once":    {pvesim.Fault{Kind: pvesim.FaultCut, Times: 1}, ""},
		"hang":        {pvesim.Fault{Kind: pvesim.FaultHang}, plugin.Timeout},
		"slow":        {pvesim.Fault{Kind: pvesim.FaultDelay, DelayMS: 200}, ""},
		"refuse":      {pvesim.Fault{Kind: pvesim.FaultRefuse}, plugin.Unreachable},
		"refuse once": {pvesim.Fault{Kind: pvesim.FaultRefuse, Times: 1}, ""},
		"596":         {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 596, Reason: "Connection timed out"}, plugin.Timeout},
		"595 once":    {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 595, Reason: "Connection refused", Times: 1}, ""},
		"401":         {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 401, Reason: "Authentication failed!"}, plugin.TokenRejected},
		"status refused": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 500, Reason: "x",
			Match: pvesim.Match{Path: "/cluster/status"}}, ""},
		"list refused": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 500, Reason: "x",
			Match: pvesim.Match{Path: "/cluster/resources"}}, plugin.Refused},
		"nothing in the list": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 200, Match: pvesim.Match{Path: "/cluster/resources"}},
			plugin.Protocol},
		"an empty list": {pvesim.Fault{Kind: pvesim.FaultEmpty, Match: pvesim.Match{Path: "/cluster/resources"}}, plugin.Protocol},
		"no status": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 200, Match: pvesim.Match{Path: "/cluster/status"}},
			plugin.Protocol},
		"an empty status":        {pvesim.Fault{Kind: pvesim.FaultEmpty, Match: pvesim.Match{Path: "/cluster/status"}}, plugin.Protocol},
		"only the proxy answers": {pvesim.Fault{Kind: pvesim.FaultDaemon}, plugin.Unreachable},
		"no cluster file system": {pvesim.Fault{Kind: pvesim.FaultFileSystem}, plugin.Unreachable},
		"list of another method": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 501,
			Reason: "Method 'GET /cluster/resources' not implemented", Match: pvesim.Match{Path: "/cluster/resources"}}, plugin.Unsupported},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, pvesim.Options{Guests: 5})
			w.fault(t, c.fault)
			guests := 0
			err := w.host(t, endpoint.Monitoring).Inventory(t.Context(), hypervisor.InventoryQuery{}, func(p hypervisor.Page) error {
				guests += len(p.Guests)
				return nil
			})
			switch {
			case c.kind != "":
				wantKind(t, err, c.kind)
			case err != nil || guests != 5:
				t.Errorf("%d guests, %v", guests, err)
			}
		})
	}
}

func TestChangedCertificateAndRevokedToken(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{})
	host := w.host(t, endpoint.Monitoring)
	gather(t, host, hypervisor.InventoryQuery{})
	renewed, err := w.RenewCertificate("")
	must(t, "renewing the certificate", err)
	_, err = host.Version(t.Context())
	if e := wantKind(t, err, plugin.Untrusted); e.Fingerprint != renewed {
		t.Errorf("seen is %s, want %s", e.Fingerprint, renewed)
	}
	host = w.host(t, endpoint.Monitoring)
	gather(t, host, hypervisor.InventoryQuery{})
	w.SetAuthDelay(100 * time.Millisecond)
	must(t, "revoking", w.RevokeToken(w.Tokens()["monitoring"].ID))
	err = host.Inventory(t.Context(), hypervisor.InventoryQuery{}, func(hypervisor.Page) error { return nil })
	wantKind(t, err, plugin.TokenRejected)
	if n := w.Stats().Requests["GET /cluster/status"]; n != 3 {
		t.Errorf("a refused token was tried again: %d requests", n)
	}
}

func TestAddressesMayBeIPv6(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{})
	u, err := url.Parse(w.URL(""))
	must(t, "reading the address", err)
	target := w.target(endpoint.Monitoring, w.Tokens()["monitoring"])
	target.Address = "[::ffff:127.0.0.1]:" + u.Port()
	if v, err := w.open(t, target).Version(t.Context()); err != nil || !strings.HasPrefix(v.Version, "9.") {
		t.Errorf("%+v, %v", v, err)
	}
}
