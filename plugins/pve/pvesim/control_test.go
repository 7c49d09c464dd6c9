package pvesim_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

// control calls the control interface; body is JSON or empty.
func control(t *testing.T, h http.Handler, method, path, body string, want int) map[string]any {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	if w.Code != want {
		t.Fatalf("%s %s %s: %d %s", method, path, body, w.Code, w.Body)
	}
	var out map[string]any
	if bytes.HasPrefix(bytes.TrimSpace(w.Body.Bytes()), []byte("{")) {
		noError(t, json.Unmarshal(w.Body.Bytes(), &out))
	}
	return out
}

func TestControl(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	h := c.ControlHandler()
	root := as(t, c, c.AdminToken())
	root.get("/version", nil)
	if n := control(t, h, "GET", "/stats", "", 200)["requests"].(map[string]any)["GET /version"]; n != 1.0 {
		t.Errorf("counted %v requests", n)
	}
	control(t, h, "POST", "/stats/reset", "", 200)
	if n := control(t, h, "GET", "/stats", "", 200)["total"]; n != 0.0 {
		t.Errorf("after the reset %v", n)
	}

	control(t, h, "POST", "/fault", `{"match":{"method":"GET","path":"/version"},"kind":"status","status":502,"reason":"away","times":1}`,
		200)
	root.refused("GET", "/version", "", 502, "away")
	control(t, h, "GET", "/fault", "", 200)
	control(t, h, "DELETE", "/fault", "", 200)
	control(t, h, "DELETE", "/fault?id=1", "", 200)

	before := c.Now()
	control(t, h, "POST", "/clock", `{"advance_s":3600}`, 200)
	if d := c.Now().Sub(before); d < time.Hour {
		t.Errorf("the clock went on by %s", d)
	}

	control(t, h, "POST", "/guest", `{"op":"create","vmid":900,"type":"lxc","node":"pve2","name":"new","status":"running"}`, 200)
	control(t, h, "POST", "/guest", `{"op":"rename","vmid":900,"name":"newer"}`, 200)
	control(t, h, "POST", "/guest", `{"op":"migrate","vmid":900,"node":"pve3"}`, 200)
	control(t, h, "POST", "/guest", `{"op":"status","vmid":900,"status":"stopped"}`, 200)
	control(t, h, "POST", "/guest", `{"op":"lock","vmid":900,"lock":"backup"}`, 200)
	control(t, h, "POST", "/guest",
		`{"op":"set","vmid":900,"tags":"z,a","memory_mb":64,"cores":3,"pool":"production","ignore_shutdown":true}`, 200)
	g, ok := c.Guest(900)
	want := pvesim.GuestSpec{VMID: 900, Type: "lxc", Node: "pve3", Name: "newer", Status: "stopped", Lock: "backup", Tags: "a;z",
		Memory: 64 << 20, Cores: 3, Pool: "production"}
	if !ok || g.Name != want.Name || g.Node != want.Node || g.Status != want.Status || g.Lock != want.Lock || g.Tags != want.Tags ||
		g.Memory != want.Memory || g.Cores != want.Cores || g.Pool != want.Pool || !g.IgnoreShutdown {
		t.Errorf("guest %+v", g)
	}
	control(t, h, "POST", "/guest", `{"op":"delete","vmid":900}`, 200)
	if _, ok := c.Guest(900); ok {
		t.Error("the guest is still there")
	}

	control(t, h, "POST", "/node", `{"name":"pve2","online":false}`, 200)
	root.refused("GET", "/nodes/pve2/status", "", 596, "Connection timed out")
	control(t, h, "POST", "/node", `{"name":"pve2","online":true}`, 200)

	control(t, h, "POST", "/token", `{"id":"service@pve!backup","op":"revoke"}`, 200)
	control(t, h, "POST", "/token", `{"id":"service@pve!console","expire":true}`, 200)
	for _, key := range []string{"backup", "console"} {
		as(t, c, c.Tokens()[key]).refused("GET", "/version", "", 401, "Authentication failed!")
	}
	old := c.Fingerprint("")
	if fp := control(t, h, "POST", "/certificate", "", 200)["fingerprint"]; fp == old || fp != c.Fingerprint("") {
		t.Errorf("fingerprint %v", fp)
	}
	control(t, h, "POST", "/certificate", `{"node":"pve2"}`, 200)
	control(t, h, "POST", "/option", `{"resources_lag_ms":5000,"latency_ms":1,"task_ms":10,"auth_delay_ms":1}`, 200)
}

// A past task stands behind all that ended later, and is seen by whose it is.
func TestControlPastTask(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	_, err := c.StartTask("pve1", pvesim.ServiceUser+"!backup", "vzdump", "100", 0, "OK")
	noError(t, err)
	for _, user := range []string{"root@pam", pvesim.ServiceUser + "!backup"} {
		control(t, c.ControlHandler(), "POST", "/task", `{"node":"pve1","user":"`+user+`","type":"startall","ago_s":86400}`, 200)
	}
	var rows []struct {
		Type      string
		Starttime int64
	}
	as(t, c, c.Tokens()["backup"]).get("/nodes/pve1/tasks?source=archive", &rows)
	if len(rows) != 2 || rows[0].Type != "vzdump" || rows[1].Type != "startall" || rows[0].Starttime-rows[1].Starttime < 86000 {
		t.Errorf("the tasks are %+v", rows)
	}
}

func TestControlRefuses(t *testing.T) {
	t.Parallel()
	h := newHost(t).ControlHandler()
	for _, tc := range [][2]string{
		{"/fault", `{"kind":"cutt"}`}, {"/fault", `{"kid":"cut"}`}, {"/fault", `x`}, {"/clock", `{"advance_s":-1}`},
		{"/clock", `{"advance_s":1e300}`},
		{"/guest", `{"op":"dance"}`}, {"/guest", `{"op":"delete","vmid":4}`}, {"/guest", `{"op":"create","vmid":4}`},
		{"/guest", `{"op":"create","name":"a\"b"}`},
		{"/guest", `{"op":"create","node":"nope"}`}, {"/node", `{"name":"pve1"}`}, {"/node", `{"name":"nope","online":true}`},
		{"/token", `{"id":"x@pve!y","op":"revoke"}`}, {"/token", `{"id":"root@pam!admin"}`}, {"/certificate", `{"node":"nope"}`},
		{"/option", `{"speed":1}`}, {"/task", `{"node":"nope","user":"root@pam","type":"x"}`}, {"/task", `{"node":"pve1","type":"x"}`},
		{"/task", `{"node":"pve1","user":"root@pam","type":"x","ago_s":-1}`},
	} {
		out := control(t, h, "POST", tc[0], tc[1], 400)
		if out["error"] == "" {
			t.Errorf("%v: %v", tc, out)
		}
	}
	control(t, h, "DELETE", "/fault?id=x", "", 400)
}

func TestFleet(t *testing.T) {
	t.Parallel()
	f, err := pvesim.NewFleet(pvesim.Options{Scenario: pvesim.ScenarioFleet, Nodes: 8, Guests: 80, AuthDelay: -1})
	noError(t, err)
	defer f.Close()
	noError(t, f.Start("127.0.0.1:0"))
	nodes, guests := 0, 0
	secrets := map[string]bool{}
	for _, c := range f.Hosts {
		nodes += len(c.NodeNames())
		guests += len(c.Guests())
		secrets[c.Tokens()["monitoring"].Secret] = true
		as(t, c, c.Tokens()["monitoring"]).get("/cluster/status", nil)
	}
	if nodes != 8 || guests != 80 || len(f.Hosts) != 4 || len(secrets) != 4 {
		t.Errorf("%d hosts with %d nodes, %d guests and %d secrets", len(f.Hosts), nodes, guests, len(secrets))
	}
	as(t, f.Hosts[0], f.Hosts[1].Tokens()["monitoring"]).refused("GET", "/version", "", 401, "Authentication failed!")
	h := f.ControlHandler()
	if n := control(t, h, "GET", "/stats?host=1", "", 200)["total"]; n != 1.0 {
		t.Errorf("host 1 counted %v", n)
	}
	control(t, h, "GET", "/stats?host=9", "", 400)
}

func TestFleetOfEqualClusters(t *testing.T) {
	t.Parallel()
	f, err := pvesim.NewFleet(pvesim.Options{Scenario: pvesim.ScenarioFleet, Nodes: 8, FleetNodes: 3, Guests: 80})
	noError(t, err)
	defer f.Close()
	for i, want := range []struct{ nodes, guests int }{{3, 30}, {3, 30}, {2, 20}} {
		if i >= len(f.Hosts) {
			t.Fatalf("there are %d clusters", len(f.Hosts))
		}
		if nodes, guests := len(f.Hosts[i].NodeNames()), len(f.Hosts[i].Guests()); nodes != want.nodes || guests != want.guests {
			t.Errorf("cluster %d has %d nodes and %d guests, want %+v", i, nodes, guests, want)
		}
	}
}

func TestScenariosAreRepeatable(t *testing.T) {
	t.Parallel()
	describe := func(seed uint64) string {
		c, err := pvesim.New(pvesim.Options{Nodes: 3, Guests: 20, Seed: seed})
		noError(t, err)
		var b strings.Builder
		for _, id := range c.Guests() {
			g, _ := c.Guest(id)
			b.WriteString(g.Name + g.Status + g.Tags)
		}
		return b.String() + c.AdminToken().Secret
	}
	first, again := describe(1), describe(1)
	if first != again || first == describe(2) {
		t.Error("the seed does not decide the scenario")
	}
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []pvesim.Options{
		{Scenario: "x"}, {Scenario: "one", Nodes: 2}, {Nodes: 1000}, {Guests: 1 << 30}, {FirstVMID: 1}, {OfflineStatus: 500},
		{Scenario: "fleet"},
	} {
		if _, err := pvesim.New(o); err == nil {
			t.Errorf("options %+v were accepted", o)
		}
	}
}
