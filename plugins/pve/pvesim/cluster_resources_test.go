package pvesim_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
)

func guests(a caller) []row {
	var rows []row
	a.get("/cluster/resources?type=vm", &rows)
	return rows
}

func TestResourcesLag(t *testing.T) {
	t.Parallel()
	c := pvesimtest.Start(t, pvesim.Options{Nodes: 2, Guests: 4, ResourcesLag: time.Hour})
	root := as(t, c, c.AdminToken())
	old := rowWith(guests(root), "vmid", 100.0)
	noError(t, c.SetGuestStatus(100, pvesim.StatusStopped))
	noError(t, c.MigrateGuest(101, "pve1"))
	noError(t, c.RemoveGuest(102))
	addGuest(t, c, pvesim.GuestSpec{VMID: 500, Node: "pve2"})
	rows := guests(root)
	if r := rowWith(rows, "vmid", 100.0); r["status"] != "running" || r["cpu"] != old["cpu"] {
		t.Errorf("within the lag the stopped guest is %v", r)
	}
	if r := rowWith(rows, "vmid", 101.0); r["node"] != "pve1" {
		t.Errorf("the moved guest is on %v", r["node"])
	}
	if rowWith(rows, "vmid", 102.0) == nil {
		t.Error("within the lag the removed guest is gone")
	}
	if r := rowWith(rows, "vmid", 500.0); r["status"] != "unknown" || r["name"] != nil || r["maxmem"] != nil {
		t.Errorf("the new guest is %v", r)
	}
	c.Advance(time.Hour)
	rows = guests(root)
	if r := rowWith(rows, "vmid", 100.0); r["status"] != "stopped" {
		t.Errorf("after the lag the stopped guest is %v", r)
	}
	if rowWith(rows, "vmid", 102.0) != nil {
		t.Error("after the lag the removed guest is there")
	}
	if r := rowWith(rows, "vmid", 500.0); r["status"] != "stopped" || r["name"] != "vm500" {
		t.Errorf("after the lag the new guest is %v", r)
	}
}

func TestResourcesWithoutLagFollowAtOnce(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	root := as(t, c, c.AdminToken())
	for _, status := range []string{pvesim.StatusStopped, pvesim.StatusRunning} {
		noError(t, c.SetGuestStatus(100, status))
		if r := rowWith(guests(root), "vmid", 100.0); r["status"] != status {
			t.Errorf("guest is %v, want %s", r["status"], status)
		}
	}
	noError(t, c.ChangeGuest(100, func(s *pvesim.GuestSpec) { s.Name, s.Tags = "renamed", "B;a,a" }))
	if r := rowWith(guests(root), "vmid", 100.0); r["name"] != "renamed" || r["tags"] != "a;b" {
		t.Errorf("after the change %v", r)
	}
}

func TestOfflineNode(t *testing.T) {
	t.Parallel()
	for status, reason := range map[int]string{595: "No route to host", 596: "Connection timed out"} {
		c := pvesimtest.Start(t, pvesim.Options{Nodes: 3, Guests: 15, OfflineStatus: status, TaskDuration: time.Hour})
		root := as(t, c, c.AdminToken())
		upid := root.post("/nodes/pve2/qemu/101/status/start", "")
		noError(t, c.SetNodeOnline("pve2", false))
		root.refused("GET", "/nodes/pve2/status", "", status, reason)
		root.refused("GET", "/nodes/pve2/tasks/"+upid+"/status", "", status, reason)
		var rows []row
		root.get("/cluster/resources", &rows)
		if r := rowWith(rows, "id", "node/pve2"); r["status"] != "offline" || r["cpu"] != nil {
			t.Errorf("node row %v", r)
		}
		if r := rowWith(rows, "vmid", 101.0); r["status"] != "unknown" || r["node"] != "pve2" {
			t.Errorf("guest row %v", r)
		}
		if r := rowWith(rows, "id", "storage/pve2/local"); r["status"] != "unknown" || r["disk"] != nil {
			t.Errorf("storage row %v", r)
		}
		root.get("/cluster/status", &rows)
		if r := rowWith(rows, "name", "pve2"); r["online"] != 0.0 || rows[0]["quorate"] != 1.0 {
			t.Errorf("cluster status %v", rows)
		}
		_, do := client(c, c.AdminToken())
		noError(t, c.SetNodeOnline("pve1", false))
		if _, err := do("GET", "/version"); err == nil {
			t.Error("an offline node answers at its own address")
		}
		var others []row
		root.on(c, "pve3").get("/cluster/status", &others)
		if others[0]["quorate"] != 0.0 || rowWith(others, "name", "pve3")["local"] != 1.0 {
			t.Errorf("cluster status of the last node %v", others)
		}
		noError(t, c.SetNodeOnline("pve1", true))
		noError(t, c.SetNodeOnline("pve2", true))
		if end := root.taskEnd(upid); end != "unexpected status" {
			t.Errorf("the lost task ended with %q", end)
		}
	}
}

func TestUnknownNodeName(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	root := as(t, c, c.AdminToken())
	for _, name := range []string{"PVE1", "pve1.lan", "nope"} {
		ans := root.refused("GET", "/nodes/"+name+"/qemu", "", 596, "tls_process_server_certificate: certificate verify failed")
		if ans.header.Get("Content-Type") != "" {
			t.Errorf("596 of type %q", ans.header.Get("Content-Type"))
		}
	}
	var status row
	root.on(c, "pve3").get("/nodes/pve2/status", &status)
	if status["uptime"] == nil {
		t.Errorf("through another node: %v", status)
	}
}

func TestStandaloneHostHasNoClusterRow(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	var rows []row
	as(t, c, c.AdminToken()).get("/cluster/status", &rows)
	if len(rows) != 1 || rows[0]["type"] != "node" || rows[0]["nodeid"] != 0.0 {
		t.Errorf("rows %v", rows)
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	root := as(t, c, c.Tokens()["monitoring"])
	read := func(query string) []row {
		var out struct{ Data []row }
		root.get("/cluster/metrics/export?"+query, &out)
		return out.Data
	}
	all := read("")
	if rowWith(all, "id", "node/pve3") == nil || rowWith(all, "id", "qemu/100") == nil || rowWith(all, "id", "storage/pve2/local") == nil {
		t.Errorf("%d metrics", len(all))
	}
	if local := read("local-only=1"); rowWith(local, "id", "node/pve3") != nil || rowWith(local, "id", "node/pve1") == nil {
		t.Errorf("%d local metrics", len(local))
	}
	if two := read("node-list=pve2,pve3"); rowWith(two, "id", "node/pve1") != nil || rowWith(two, "id", "node/pve2") == nil {
		t.Errorf("%d metrics of two nodes", len(two))
	}
	newest := int64(all[0]["timestamp"].(float64))
	if n := len(read("start-time=9999999999")); n != 0 {
		t.Errorf("%d metrics of the future", n)
	}
	times := map[int64]bool{}
	for _, m := range read("history=1&start-time=" + jsonNumber(newest-40)) {
		times[int64(m["timestamp"].(float64))] = true
	}
	if len(times) < 3 || len(times) > 6 {
		t.Errorf("history of 40 seconds has %d rounds", len(times))
	}
}

// TestTenThousandGuests holds the size that benchmarks use.
func TestTenThousandGuests(t *testing.T) {
	t.Parallel()
	c := pvesimtest.Start(t, pvesim.Options{Nodes: 10, Guests: 10_000})
	rows := guests(as(t, c, c.Tokens()["monitoring"]))
	if len(rows) != 10_000 {
		t.Errorf("%d guests", len(rows))
	}
}

// BenchmarkResources is the cost of an answer of 10,000 guests: as it is repeated, and after a change.
func BenchmarkResources(b *testing.B) {
	c, err := pvesim.New(pvesim.Options{Nodes: 10, Guests: 10_000, ResourcesLag: -1})
	if err != nil {
		b.Fatal(err)
	}
	token := c.Tokens()["monitoring"]
	h := c.Node("pve1")
	ask := func(b *testing.B) {
		r := httptest.NewRequest("GET", "/api2/json/cluster/resources", nil)
		r.Header.Set("Authorization", "PVEAPIToken="+token.ID+"="+token.Secret)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 200 {
			b.Fatal(w.Code)
		}
		b.SetBytes(int64(w.Body.Len()))
	}
	b.Run("repeated", func(b *testing.B) {
		for b.Loop() {
			ask(b)
		}
	})
	b.Run("changed", func(b *testing.B) {
		for b.Loop() {
			if err := c.SetGuestStatus(100, pvesim.StatusRunning); err != nil {
				b.Fatal(err)
			}
			ask(b)
		}
	})
}
