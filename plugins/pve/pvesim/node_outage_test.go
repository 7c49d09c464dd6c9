package pvesim_test

import (
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
)

const accessList = "RPCEnvironment init request failed: Unable to load access control list: Connection refused"

func TestTheDaemonOfANodeIsDown(t *testing.T) {
	t.Parallel()
	c := pvesimtest.Start(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: -1})
	addGuest(t, c, pvesim.GuestSpec{VMID: 100, Node: "pve1"})
	addGuest(t, c, pvesim.GuestSpec{VMID: 101, Node: "pve2"})
	before := len(c.Tasks())
	root := as(t, c, c.AdminToken())
	addFault(t, c, pvesim.Fault{Kind: pvesim.FaultDaemon, Match: pvesim.Match{Node: "pve1"}})
	for _, path := range []string{"/version", "/access/permissions", "/nodes", "/nodes/pve1/status", "/nodes/pve1/tasks",
		"/cluster/resources", "/nodes/pve2/qemu/101/status/current"} {
		root.get(path, nil)
	}
	for _, path := range []string{"/cluster/status", "/nodes/pve1/qemu/100/status/current", "/nodes/pve1/qemu"} {
		root.refused("GET", path, "", 595, "Connection refused")
	}
	root.refused("POST", "/nodes/pve1/qemu/100/status/start", "", 595, "Connection refused")
	if g, _ := c.Guest(100); g.Status != pvesim.StatusStopped || len(c.Tasks()) != before {
		t.Errorf("it was started all the same: %s", g.Status)
	}
	c.ClearFaults()
	addFault(t, c, pvesim.Fault{Kind: pvesim.FaultDaemon, Match: pvesim.Match{Node: "pve2"}})
	root.get("/cluster/status", nil)
	root.refused("GET", "/nodes/pve2/qemu/101/status/current", "", 595, "Connection refused")
	if _, err := c.AddFault(pvesim.Fault{Kind: pvesim.FaultDaemon, Match: pvesim.Match{Path: "/version"}}); err == nil {
		t.Error("a daemon that is down for one path only was taken")
	}
}

func TestTheClusterFileSystemOfANodeIsDown(t *testing.T) {
	t.Parallel()
	c := pvesimtest.Start(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: -1})
	root := as(t, c, c.AdminToken())
	addFault(t, c, pvesim.Fault{Kind: pvesim.FaultFileSystem, Match: pvesim.Match{Node: "pve1"}})
	for _, path := range []string{"/version", "/nodes", "/cluster/status", "/nodes/pve2/status"} {
		root.refused("GET", path, "", 500, accessList)
	}
	c.ClearFaults()
	addFault(t, c, pvesim.Fault{Kind: pvesim.FaultFileSystem, Match: pvesim.Match{Node: "pve2"}})
	root.get("/nodes/pve1/status", nil)
	root.refused("GET", "/nodes/pve2/status", "", 500, accessList)
}

func TestANodeThatDoesNotResolve(t *testing.T) {
	t.Parallel()
	c := pvesimtest.Start(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: -1, ResourcesLag: -1})
	addGuest(t, c, pvesim.GuestSpec{VMID: 100, Node: "pve1", Status: pvesim.StatusRunning})
	root := as(t, c, c.AdminToken())
	h := c.ControlHandler()
	control(t, h, "POST", "/node", `{"name":"pve2","resolves":false}`, 200)
	const text = "hostname lookup 'pve2' failed - failed to get address info for: pve2: Name or service not known"
	root.refused("GET", "/nodes/pve2/status", "", 500, text)
	root.get("/nodes", nil)
	control(t, h, "POST", "/node", `{"name":"pve2","resolves":true}`, 200)
	root.get("/nodes/pve2/status", nil)
	control(t, h, "POST", "/node", `{"name":"pve2"}`, 400)

	control(t, h, "POST", "/guest", `{"op":"strand","vmid":100,"node":"pve2"}`, 400)
	control(t, h, "POST", "/guest", `{"op":"strand","vmid":100,"node":"gone"}`, 200)
	control(t, h, "POST", "/node", `{"name":"gone","resolves":false}`, 200)
	root.refused("GET", "/nodes/gone/qemu/100/status/current", "", 500,
		"hostname lookup 'gone' failed - failed to get address info for: gone: Name or service not known")
	var rows []struct{ Node, Status string }
	root.get("/cluster/resources?type=vm", &rows)
	if len(rows) != 1 || rows[0].Node != "gone" || rows[0].Status != "unknown" {
		t.Errorf("%+v", rows)
	}
}

func TestControlChangesRights(t *testing.T) {
	t.Parallel()
	c := pvesimtest.Start(t, pvesim.Options{Guests: 3})
	h := c.ControlHandler()
	token := c.Tokens()["monitoring"]
	guests := func() int {
		var rows []struct{}
		as(t, c, token).get("/cluster/resources?type=vm", &rows)
		return len(rows)
	}
	entry := `{"path":"/vms/100","subject":"` + token.ID + `","role":"NoAccess"`
	control(t, h, "POST", "/acl", entry+`}`, 200)
	if n := guests(); n != 2 {
		t.Errorf("%d guests with one hidden", n)
	}
	control(t, h, "POST", "/acl", entry+`,"delete":true}`, 200)
	if n := guests(); n != 3 {
		t.Errorf("%d guests with none hidden", n)
	}
	control(t, h, "POST", "/role", `{"id":"ServiceAudit","privileges":["Sys.Audit"]}`, 200)
	if n := guests(); n != 0 {
		t.Errorf("%d guests without the right", n)
	}
	control(t, h, "POST", "/acl", `{"path":"nowhere","subject":"a@pve","role":"x"}`, 400)
	control(t, h, "POST", "/role", `{"privileges":[]}`, 400)
}
