package pvesim_test

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvetest"
)

// TestEveryEndpointIsDocumented holds the table of endpoints against the schema: path, method, and that each documented
// parameter is known and no other.
func TestEveryEndpointIsDocumented(t *testing.T) {
	t.Parallel()
	schema := pvetest.LoadSchema(t)
	for _, served := range pvesim.Endpoints() {
		m, _ := schema.Find(served.Method, served.Path)
		if served.Path == "/" {
			continue // the root listing is not in the schema
		}
		name := served.Method + " " + served.Path
		if m == nil || m.Path != served.Path {
			t.Errorf("%s is not in the schema", name)
			continue
		}
		for _, p := range served.Parameters {
			if m.Parameters[p] == nil {
				t.Errorf("%s: parameter %s is not in the schema", name, p)
			}
		}
		for p := range m.Parameters {
			if !slices.Contains(served.Parameters, p) {
				t.Errorf("%s: parameter %s is missing", name, p)
			}
		}
		if served.Daemon != bool(m.Protected) {
			t.Errorf("%s: daemon is %v, the schema says %v", name, served.Daemon, m.Protected)
		}
		if served.OnNode != (m.ProxyTo == "node") {
			t.Errorf("%s: on node is %v, the schema says %q", name, served.OnNode, m.ProxyTo)
		}
	}
}

// TestAnswersFitTheSchema asks everything that can be read, on a cluster and on a standalone host.
func TestAnswersFitTheSchema(t *testing.T) {
	t.Parallel()
	schema := pvetest.LoadSchema(t)
	for _, nodes := range []int{1, 3} {
		c := newScenario(t, nodes)
		noError(t, c.SetGuestStatus(101, pvesim.StatusPaused))
		root := as(t, c, c.AdminToken())
		backup, err := c.AddBackup(pvesim.BackupSpec{
			VMID: 100, Notes: "before\nupgrade", Protected: true, Verified: "ok", Encrypted: "a1:b2",
		})
		noError(t, err)
		upid := root.post("/nodes/pve1/qemu/100/status/stop", "")
		fill := strings.NewReplacer("{node}", "pve1", "{upid}", upid, "{userid}", "service@pve", "{tokenid}", "monitoring",
			"{roleid}", "ServiceAudit", "{storage}", "local", "{groupid}", "ops", "{snapname}", "before", "{pos}", "0", "{iface}", "vmbr0",
			"{name}", "office", "{cidr}", "10.0.0.0%2F8", "{group}", "web",
			"{volume}", url.PathEscape(backup), "/extractconfig", "/extractconfig?volume="+url.QueryEscape(backup),
			"/query-url-metadata", "/query-url-metadata?url="+url.QueryEscape("https://files.example.com/a.iso"))
		root.decode("POST", "/access/groups", "groupid=ops", nil)
		rule := pvesim.FirewallRule{
			Type: "in", Action: "ACCEPT", Enable: true, Macro: "SSH", Source: "10.0.0.0/8", Log: "info", Comment: "a b",
		}
		for _, scope := range []pvesim.FirewallScope{pvesim.FirewallCluster, pvesim.FirewallNode("pve1"), pvesim.FirewallGuest(100)} {
			noError(t, c.SetFirewallRules(scope, rule))
		}
		ct, _ := strconv.Atoi(lxcOn(t, c, "pve1"))
		noError(t, c.SetFirewallRules(pvesim.FirewallGuest(ct), rule))
		noError(t, c.SetFirewallRules(pvesim.FirewallGroup("web"), rule))
		for _, scope := range []pvesim.FirewallScope{pvesim.FirewallCluster, pvesim.FirewallGuest(100), pvesim.FirewallGuest(ct)} {
			noError(t, c.SetFirewallAlias(scope, "office", "10.0.0.0/8"))
			noError(t, c.SetFirewallIPSet(scope, "office", "10.0.0.0/8", "!10.1.0.0/16", "office"))
		}
		for _, vmid := range []int{100, ct} {
			noError(t, c.AddSnapshot(vmid, pvesim.SnapshotSpec{Name: "before", Memory: vmid == 100}))
			noError(t, c.AddSnapshot(vmid, pvesim.SnapshotSpec{Name: "after", Description: "a\nb"}))
		}
		_, err = c.AddGuest(pvesim.GuestSpec{
			VMID: 9000, Node: "pve1", Status: pvesim.StatusRunning, Agent: true,
			Interfaces: []pvesim.GuestInterface{
				{Name: "eth0", MAC: "BC:24:11:00:00:01", Addresses: []string{"10.0.0.5/24", "fe80::1/64"}},
			},
		})
		noError(t, err)
		for _, served := range pvesim.Endpoints() {
			path := strings.Replace(served.Path, "{vmid}/agent/", "9000/agent/", 1)
			if served.Method != "GET" || path == "/" {
				continue
			}
			path = fill.Replace(path)
			if path = strings.ReplaceAll(path, "/qemu/{vmid}", "/qemu/100"); strings.Contains(path, "{vmid}") {
				path = strings.ReplaceAll(path, "{vmid}", lxcOn(t, c, "pve1"))
			}
			if program, ok := strings.CutSuffix(path, "/vncwebsocket"); ok {
				var made struct{ Port, Ticket string }
				root.decode("POST", program+"/termproxy", "", &made)
				path += "?port=" + made.Port + "&vncticket=" + url.QueryEscape(made.Ticket)
			}
			ans := root.raw("GET", path, "")
			if ans.status != 200 {
				t.Errorf("GET %s: %d %s", path, ans.status, ans.reason)
				continue
			}
			path, _, _ = strings.Cut(path, "?")
			for _, fault := range schema.CheckAnswer("GET", path, ans.body) {
				t.Error(fault)
			}
		}
	}
}
