package pvesim_test

import (
	"errors"
	"io"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
)

const startPath = "/nodes/{node}/qemu/{vmid}/status/start"

func addFault(t *testing.T, c *pvesim.Cluster, f pvesim.Fault) int {
	t.Helper()
	id, err := c.AddFault(f)
	noError(t, err)
	return id
}

func TestFaultStatus(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	root := as(t, c, c.AdminToken())
	addFault(t, c, pvesim.Fault{Kind: pvesim.FaultStatus, Status: 599, Reason: "Too many redirections",
		Match: pvesim.Match{Path: "/nodes/pve2/"}, Times: 2})
	root.get("/nodes/pve1/status", nil)
	for range 2 {
		root.refused("GET", "/nodes/pve2/status", "", 599, "Too many redirections")
	}
	root.get("/nodes/pve2/status", nil)
	id := addFault(t, c, pvesim.Fault{Kind: pvesim.FaultStatus, Status: 503, Match: pvesim.Match{Method: "GET", Path: "/version"}})
	root.refused("GET", "/version", "", 503, "Service Unavailable")
	c.ClearFaults(id)
	root.get("/version", nil)
	if f := c.Faults(); len(f) != 1 || f[0].Struck != 2 {
		t.Errorf("faults %+v", f)
	}
}

func TestFaultAfterTheEffect(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{pvesim.FaultCut, pvesim.FaultStatus} {
		for _, after := range []bool{false, true} {
			c := pvesimtest.Start(t, pvesim.Options{Bare: true})
			addGuest(t, c, pvesim.GuestSpec{VMID: 100})
			addFault(t, c, pvesim.Fault{Kind: kind, Status: 596, Reason: "Connection timed out", After: after, Times: 1,
				Match: pvesim.Match{Method: "POST", Path: startPath}})
			_, do := client(c, c.AdminToken())
			resp, err := do("POST", "/nodes/pve1/qemu/100/status/start")
			if kind == pvesim.FaultCut && err == nil || kind == pvesim.FaultStatus && (err != nil || resp.StatusCode != 596) {
				t.Errorf("%s: answer %v, error %v", kind, resp, err)
			}
			want := pvesim.StatusStopped
			if after {
				want = pvesim.StatusRunning
			}
			if g, _ := c.Guest(100); g.Status != want || len(c.Tasks()) > 1 != after { // one made the guest
				t.Errorf("%s, after %v: guest is %s with %d tasks", kind, after, g.Status, len(c.Tasks()))
			}
		}
	}
}

func TestFaultTruncate(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	addFault(t, c, pvesim.Fault{Kind: pvesim.FaultTruncate, Times: 1})
	_, do := client(c, c.AdminToken())
	if _, err := do("GET", "/cluster/resources"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half an answer was read with %v", err)
	}
	_, err := do("GET", "/cluster/resources")
	noError(t, err)
}

func TestFaultDelayAndHang(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for what does not come: make check runs it")
	}
	t.Parallel()
	c := newHost(t)
	addFault(t, c, pvesim.Fault{Kind: pvesim.FaultDelay, DelayMS: 200, Times: 1})
	start := time.Now()
	as(t, c, c.AdminToken()).get("/version", nil)
	if took := time.Since(start); took < 200*time.Millisecond {
		t.Errorf("the delayed answer took %s", took)
	}
	addFault(t, c, pvesim.Fault{Kind: pvesim.FaultHang})
	h, do := client(c, c.AdminToken())
	h.Timeout = 100 * time.Millisecond
	_, err := do("GET", "/version")
	var timeout interface{ Timeout() bool }
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("the hanging request ended with %v", err)
	}
}

func TestFaultRefuse(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	h, do := client(c, c.AdminToken())
	defer h.CloseIdleConnections()
	_, err := do("GET", "/version") // leaves a connection behind
	noError(t, err)
	addFault(t, c, pvesim.Fault{Kind: pvesim.FaultRefuse, Match: pvesim.Match{Node: "pve1"}})
	if _, err := do("GET", "/version"); err == nil {
		t.Error("the refused node answers")
	}
	as(t, c, c.AdminToken()).on(c, "pve2").get("/version", nil)
	c.ClearFaults()
	_, err = do("GET", "/version")
	noError(t, err)
}

func TestBadFaults(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	for _, f := range []pvesim.Fault{
		{}, {Kind: "explode"}, {Kind: pvesim.FaultStatus}, {Kind: pvesim.FaultDelay},
		{Kind: pvesim.FaultRefuse, Match: pvesim.Match{Path: "/version"}},
	} {
		if _, err := c.AddFault(f); err == nil {
			t.Errorf("fault %+v was accepted", f)
		}
	}
}

func TestStatistics(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	root := as(t, c, c.AdminToken())
	root.get("/nodes/pve1/status", nil)
	root.get("/nodes/pve2/status", nil)
	root.post("/nodes/pve1/qemu/100/status/stop", "timeout=5")
	root.refused("GET", "/nope", "", 501, "Method 'GET /nope' not implemented")
	s := c.Stats()
	want := map[string]int64{"GET /nodes/{node}/status": 2, "POST /nodes/{node}/qemu/{vmid}/status/stop": 1, "GET (unknown)": 1}
	for k, n := range want {
		if s.Requests[k] != n {
			t.Errorf("%s: %d, want %d", k, s.Requests[k], n)
		}
	}
	if s.Total != 4 || s.BytesIn != 9 || s.BytesOut < 1000 || s.ConnectionsTotal != 4 {
		t.Errorf("statistics %+v", s)
	}
	waittest.Until(t, "connections to close", func() bool { return c.Stats().ConnectionsOpen == 0 })
	c.ResetStats()
	if s := c.Stats(); s.Total != 0 || len(s.Requests) != 0 || s.ConnectionsTotal != 0 {
		t.Errorf("after the reset %+v", s)
	}
}

func TestHandlerWithoutListener(t *testing.T) {
	t.Parallel()
	c, err := pvesim.New(pvesim.Options{Bare: true, AuthDelay: -1})
	noError(t, err)
	if c.Node("nope") != nil {
		t.Error("an unknown node has a handler")
	}
	for auth, want := range map[string]int{"PVEAPIToken=" + c.AdminToken().ID + "=" + c.AdminToken().Secret: 200, "": 401} {
		r := httptest.NewRequest("GET", "/api2/json/version", nil)
		r.Header.Set("Authorization", auth)
		w := httptest.NewRecorder()
		c.Node("pve1").ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("status %d, want %d", w.Code, want)
		}
	}
}
