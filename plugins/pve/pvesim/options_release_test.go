package pvesim_test

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
)

func TestOlderReleases(t *testing.T) {
	t.Parallel()
	old := pvesimtest.Start(t, pvesim.Options{Version: "7.4-16"})
	root := as(t, old, old.AdminToken())
	var v row
	root.get("/version", &v)
	if v["version"] != "7.4-16" || v["release"] != "7.4" {
		t.Errorf("version %v", v)
	}
	root.refused("GET", "/cluster/metrics/export", "", 501, "Method 'GET /cluster/metrics/export' not implemented")
	ans := root.refused("POST", "/nodes/pve1/qemu/100/status/stop", "overrule-shutdown=1", 400, "Parameter verification failed.")
	if body := string(ans.body); strings.Contains(body, "message") || !strings.Contains(body, "overrule-shutdown") {
		t.Errorf("body %s", body)
	}
	as(t, old, pvesim.Token{ID: "root@pam!nope", Secret: "x"}).refused("GET", "/version", "", 401, "no such token 'nope' for user 'root@pam'")
	as(t, old, pvesim.Token{ID: old.AdminToken().ID, Secret: "x"}).refused("GET", "/version", "", 401, "invalid token value!")
	root.decode("POST", "/access/roles", "roleid=Monitor&privs=VM.Monitor", nil)
	root.refused("POST", "/access/roles", "roleid=Agent&privs=VM.GuestAgent.Audit", 400, "Parameter verification failed.")
	for _, r := range guests(root) {
		if r["memhost"] != nil {
			t.Fatalf("row %v", r)
		}
	}
	var rows []row
	root.get("/cluster/resources", &rows)
	if rowWith(rows, "type", "sdn") == nil || rowWith(rows, "type", "network") != nil {
		t.Error("the zone row is that of a newer release")
	}

	now := newHost(t)
	as(t, now, now.AdminToken()).refused("POST", "/access/roles", "roleid=Monitor&privs=VM.Monitor", 400, "Parameter verification failed.")
	for _, bad := range []string{"9", "x.y", "1.2.3.4", "9.-1"} {
		if _, err := pvesim.New(pvesim.Options{Version: bad}); err == nil {
			t.Errorf("version %q was accepted", bad)
		}
	}
}
