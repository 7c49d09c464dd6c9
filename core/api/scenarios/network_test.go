package scenarios

import (
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/hosts"
	"github.com/hostler/hostler/core/api/jobs"
	"github.com/hostler/hostler/core/api/network"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	corenetwork "github.com/hostler/hostler/core/network"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// networkFixture has a hypervisor in memory with host 1 and two nodes. The first has the address at which the service reaches it on br0.
type networkFixture struct {
	*servicetest.Resource
	t        *testing.T
	cluster  *memdriver.Cluster
	networks *corenetwork.Store
	// config makes what all instances on the fixture's database have.
	config func(*service.Config)
}

func newNetwork(t *testing.T, tokens ...endpoint.Capability) *networkFixture {
	t.Helper()
	driver := memdriver.New()
	f := &networkFixture{t: t, cluster: driver.Add("net.mem:8006", memdriver.Spec{Nodes: 2})}
	url, key := dbtest.URL(t), filepath.Join(t.TempDir(), "secret.key")
	f.config = func(c *service.Config) {
		keys, err := secret.Load(t.Context(), key, func(context.Context) ([]secret.KeyID, error) { return nil, nil })
		if err != nil {
			t.Fatal(err)
		}
		c.DB, c.Keys, c.Drivers = dbtest.Open(t, url), keys, servicetest.Drivers{Driver: driver}
		c.Loops = []service.Loop{service.Jobs}
		c.Jobs = job.Config{ResumeEvery: 100 * time.Millisecond, StopLimit: 300 * time.Millisecond}
	}
	f.Resource = servicetest.NewResource(t, func(a *op.API, d api.Deps) {
		hosts.Register(a, d.Hosts)
		jobs.Register(a, d.Jobs)
		d.Network.Networks.Resolve = func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("10.0.0.10")}, nil
		}
		f.networks = d.Network.Networks
		d.Network.Networks.AnswerLimit, d.Network.Networks.SteadyTime = 2*time.Minute, 50*time.Millisecond
		network.Register(a, d.Network)
	}, f.config)
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	inventorytest.Team(t, f.DB, 2)
	f.cluster.SetNetwork("node1",
		hypervisor.Interface{Name: "eno1", Type: hypervisor.InterfaceNIC, Active: true},
		hypervisor.Interface{Name: "eno2", Type: hypervisor.InterfaceNIC, Active: true},
		hypervisor.Interface{Name: "eno3", Type: hypervisor.InterfaceNIC, Active: true, AltNames: []string{"enp3s0"}},
		hypervisor.Interface{Name: "br0", Type: hypervisor.InterfaceBridge, Active: true, Autostart: true, CIDR: "10.0.0.10/24",
			Gateway: "10.0.0.1", Ports: []string{"eno1"}},
		hypervisor.Interface{Name: "br1", Type: hypervisor.InterfaceBridge, Active: true, Autostart: true, Ports: []string{"eno2"},
			Options: map[string]string{"bridge_ageing": "300"}})
	f.Enrol(t, "lab", f.cluster, tokens...)
	return f
}

// However many nodes are silent, the list comes, and says of each that it did not answer or was not asked in time.
func TestSilentNodesFailNoListOfBridges(t *testing.T) {
	t.Parallel()
	f := newNetwork(t)
	f.cluster.SetFault("nodenetwork", memdriver.Fault{Block: true})
	f.networks.NodeLimit = 50 * time.Millisecond
	got := f.Expect(t, "GET", "network/bridges", "", apitest.Viewer, 200, "", `"nodes":[]`, `"error":"timeout"`, "did not answer within 50ms")
	if n := strings.Count(string(got.Body), `"error":"timeout"`); n != 2 {
		t.Errorf("%d errors of two nodes", n)
	}
	dbtest.Exec(t, f.DB, `INSERT INTO nodes (cluster_id, host_id, name, status, seen_at)
		SELECT 1, 1, 'silent' || i, 'online', now() FROM generate_series(1, 98) i`)
	f.networks.NodeLimit, f.networks.ListLimit = time.Hour, 100*time.Millisecond
	got = f.Expect(t, "GET", "network/bridges", "", apitest.Viewer, 200, "", `"nodes":[]`, "was not queried in time")
	if n := strings.Count(string(got.Body), `"error":"timeout"`); n != 100 {
		t.Errorf("%d errors of a hundred nodes", n)
	}
}

// attach puts a guest on a bridge, as the reader of details would.
func (f *networkFixture) attach(name, bridge string) {
	f.t.Helper()
	ref := f.cluster.NewGuest(hypervisor.VM, hypervisor.GuestStopped)
	f.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Name, g.Node = name, "node1" })
	f.Expect(f.t, "POST", "hosts/1/sync", "", apitest.Admin, 200, "")
	dbtest.Exec(f.t, f.DB, `INSERT INTO guest_details (guest_id, as_of) SELECT id, now() FROM guests WHERE name = $1
		ON CONFLICT (guest_id) DO UPDATE SET as_of = now()`, name)
	dbtest.Exec(f.t, f.DB, "INSERT INTO guest_nics (guest_id, key, bridge, mac) SELECT id, 'net0', $2, '' FROM guests WHERE name = $1",
		name, bridge)
}

func (f *networkFixture) create(name, config string, status int, code string, contains ...string) *apitest.Response {
	f.t.Helper()
	kind := "bridge"
	if strings.HasPrefix(name, "bond") {
		kind = "bond"
	}
	return f.Expect(f.t, "POST", "network/bridges", fmt.Sprintf(`{"host_id":1,"node":"node1","iface":%q,"type":%q,"config":%s}`, name, kind,
		config), apitest.Admin, status, code, contains...)
}

// ended waits for the job of an answer, and gives it with its events.
func (f *networkFixture) ended(answer *apitest.Response, status string, contains ...string) {
	f.t.Helper()
	var started struct {
		Job struct{ ID int64 }
	}
	answer.Decode(f.t, &started)
	waittest.Until(f.t, "the job has ended", func() bool {
		return dbtest.Value[bool](f.t, f.DB, "SELECT status NOT IN ('queued', 'running') FROM jobs WHERE id = $1", started.Job.ID)
	})
	f.Expect(f.t, "GET", fmt.Sprintf("jobs/%d", started.Job.ID), "", apitest.Viewer, 200, "", `"status":"`+status+`"`)
	f.Expect(f.t, "GET", fmt.Sprintf("jobs/%d/events", started.Job.ID), "", apitest.Viewer, 200, "", contains...)
}

func TestListOfBridges(t *testing.T) {
	t.Parallel()
	f := newNetwork(t, endpoint.Lifecycle)
	f.attach("web", "br1")
	f.cluster.Stage("node1", hypervisor.Interface{Name: "br7", Type: hypervisor.InterfaceBridge, CIDR: "10.7.0.1/24"})
	f.Expect(t, "GET", "network/bridges", "", apitest.Viewer, 200, "", `"node":"node1"`, `"node":"node2"`, `"staged":"added"`, `"name":"br7"`,
		`"staged_by":[]`, `"bridge":"br1"`, `"name":"web"`, `"errors":[]`, `"alt_names":["enp3s0"]`, `"bridge_ageing":"300"`)
	f.cluster.SetFault("nodenetwork", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no route")})
	f.Expect(t, "GET", "network/bridges?host=1", "", apitest.Viewer, 200, "", `"nodes":[]`, `"reason":"unreachable"`, `"node":"node2"`)
	denied := plugin.Errorf(plugin.Denied, "not shown")
	denied.Missing, denied.Path, denied.Remedy = []string{"Node.Audit"}, "/nodes/node1", "grant it"
	f.cluster.SetFault("nodenetwork", memdriver.Fault{Err: denied})
	f.Expect(t, "GET", "network/bridges", "", apitest.Viewer, 200, "", `"reason":"permission"`, `"remedy":"grant it"`,
		`"missing":["Node.Audit"]`)
	f.Expect(t, "GET", "network/bridges", "", &apitest.Caller{Role: identity.Viewer, Team: 2}, 200, "", `"nodes":[]`,
		`"errors":[]`, `"attachments":[]`)
}

func TestStageBridges(t *testing.T) {
	t.Parallel()
	f := newNetwork(t, endpoint.Lifecycle)
	f.create("br2", `{"cidr":"10.2.0.1/24","cidr6":"fd00::1/64","gateway6":"fe80::1","mtu":9000,"ports":["enp3s0"],"comment":"a\nb"}`,
		201, "",
		`"action":"create"`, `"staged":"`)
	f.create("br2", `{}`, 409, "conflict")
	for config, want := range map[string]string{
		`{"cidr":"10.2.0.1"}`: "with a prefix length", `{"cidr":"fd00::2/64"}`: "with a prefix length",
		`{"cidr":"10.9.0.0/24"}`: "cannot be assigned", `{"cidr":"10.9.0.255/24"}`: "cannot be assigned",
		`{"cidr":"127.0.0.1/8"}`:  "cannot be assigned",
		`{"cidr":"10.0.0.10/24"}`: "br0 already has this address", `{"cidr":7}`: "must be a string",
		`{"gateway":"10.0.0.1"}`: "a gateway requires cidr", `{"cidr":"10.9.0.1/24","gateway":"10.8.0.1"}`: "must be in the network",
		`{"cidr":"10.9.0.1/24","gateway":"10.9.0.1"}`: "own address",
		`{"cidr":"10.9.0.1/24","gateway":"10.9.0.2"}`: "one per address family",
		`{"cidr6":"fd00::9/64","gateway6":"fd00::1"}`: "one per address family", `{"mtu":1279}`: "1280", `{"mtu":65521}`: "65520",
		`{"mtu":1e99}`: "whole number", `{"ports":["eno9"]}`: "does not have the interface", `{"ports":["eno1"]}`: "port of br0",
		`{"ports":"eno3"}`: "port of br2", `{"ports":["br1"]}`: "cannot be a port of", `{"ports":["../x"]}`: "does not have the interface",
		`{"ports":7}`:        "list of interface names",
		`{"vlans":"2-4094"}`: "vlan_aware", `{"vlan_aware":true,"vlans":"1-9999"}`: "tags from 2", `{"autostart":"yes"}`: "true or false",
		`{"comment":"a\u0007b"}`: "without control characters", `{"bond_mode":"802.3ad"}`: "does not have this setting",
		`{"nope":1}`: "does not have this setting",
	} {
		f.create("br9", config, 422, "invalid", want)
	}
	for config, want := range map[string]string{
		`{}`: "needs at least one port", `{"ports":["br1"]}`: "cannot be a port of",
		`{"ports":["eno1"],"bond_mode":"fast"}`:    "one of balance-rr",
		`{"ports":["eno1"],"bond_primary":"eno2"}`: "one of the ports", `{"ports":["eno1"],"bond_hash":"layer2"}`: "requires the mode",
	} {
		f.create("bond9", config, 422, "invalid", want)
	}
	for _, name := range []string{"br0.5", "-x", "a b", "averylongbridge", "br\x00", "../br"} {
		f.create(name, `{}`, 422, "invalid")
	}
	vlan := func(name, config string, status int, contains ...string) {
		t.Helper()
		f.Expect(t, "POST", "network/bridges", fmt.Sprintf(`{"host_id":1,"node":"node1","iface":%q,"type":"vlan","config":%s}`, name, config),
			apitest.Admin, status, map[int]string{422: "invalid"}[status], contains...)
	}
	vlan("eno1.20", `{}`, 201, `"action":"create"`)
	vlan("v20", `{"device":"eno1","vlan":20}`, 422, "eno1.20 already has this tag")
	vlan("v21", `{"device":"eno1","vlan":4095}`, 422, "1 to 4094")
	vlan("eno9.20", `{}`, 422, "the node does not have this interface")
	vlan("eno1.4095", `{}`, 422, "must be device, dot and tag")

	f.attach("web", "br1")
	f.Expect(t, "PUT", "network/bridges/1/node1/br1", `{"config":{"ports":null}}`, apitest.Admin, 409, "bridge_in_use", `"name":"web"`,
		`"confirm_phrase":"br1"`)
	f.Expect(t, "PUT", "network/bridges/1/node1/br1", `{"config":{"comment":"ours","cidr":"10.1.0.1/24"}}`, apitest.Admin, 200, "",
		"bridge_ageing", "eno2", "10.1.0.1/24")
	f.Expect(t, "PUT", "network/bridges/1/node1/br1?confirm=br1", `{"config":{"ports":null}}`, apitest.Admin, 200, "")
	f.Expect(t, "PUT", "network/bridges/1/node1/br1", `{}`, apitest.Admin, 422, "invalid", "nothing to change")
	f.Expect(t, "PUT", "network/bridges/1/node1/none", `{"config":{"mtu":1500}}`, apitest.Admin, 404, "not_found")
	f.Expect(t, "DELETE", "network/bridges/1/node1/br1", "", apitest.Admin, 409, "bridge_in_use", `"name":"web"`)
	f.Expect(t, "DELETE", "network/bridges/1/node1/eno1", "", apitest.Admin, 409, "invalid_state")
	f.Expect(t, "DELETE", "network/bridges/1/node1/br2", "", apitest.Admin, 200, "", `"action":"delete"`)
	f.Expect(t, "DELETE", "network/bridges/1/nowhere/br2", "", apitest.Admin, 404, "not_found")
	f.Expect(t, "DELETE", "network/bridges/1/node1/br1?confirm=br1", "", apitest.Operator, 403, "forbidden")
	f.Expect(t, "GET", "network/bridges", "", apitest.Viewer, 200, "", `"action":"edit"`, `"interface":"eno1.20"`)
	// A guest of which nothing was read yet may be on any bridge in force.
	dbtest.Exec(t, f.DB, "UPDATE guest_details SET as_of = NULL; DELETE FROM guest_nics")
	f.Expect(t, "DELETE", "network/bridges/1/node1/br1", "", apitest.Admin, 409, "bridge_in_use", "for 1 guest of the node, the bridges",
		`"guests":[]`, `"unknown":1`)
	f.create("br6", `{}`, 201, "")
	f.Expect(t, "DELETE", "network/bridges/1/node1/br6", "", apitest.Admin, 200, "")
	if list := f.Expect(t, "GET", "network/bridges", "", apitest.Viewer, 200, ""); strings.Contains(string(list.Body), "br6") {
		t.Errorf("what was added and removed again is staged by someone: %s", list.Body)
	}

	f.cluster.Stage("node1", hypervisor.Interface{Name: "foreign", Type: hypervisor.InterfaceBridge})
	f.Expect(t, "POST", "network/1/node1/revert", "", apitest.Admin, 200, "", `"reverted":true`, `"others":["foreign"]`,
		`"interface":"eno1.20"`)
	f.Expect(t, "POST", "network/1/node1/revert", "", apitest.Admin, 200, "", `"reverted":false`, `"diff":null`)
	if n := dbtest.Value[int](t, f.DB, "SELECT count(*) FROM network_staged"); n != 0 {
		t.Errorf("%d changes are noted after a revert", n)
	}
}

// An address from the network ends with any change of its interface, so it is asked what shall be there instead.
func TestStageOfDynamicAddresses(t *testing.T) {
	t.Parallel()
	f := newNetwork(t, endpoint.Lifecycle)
	f.cluster.SetNetwork("node1",
		hypervisor.Interface{Name: "eno1", Type: hypervisor.InterfaceNIC, Active: true, Dynamic: true},
		hypervisor.Interface{Name: "eno2", Type: hypervisor.InterfaceNIC, Active: true, AltNames: []string{"enp4s0"}},
		hypervisor.Interface{Name: "sw0", Type: hypervisor.InterfaceOVS, Active: true},
		hypervisor.Interface{Name: "br0", Type: hypervisor.InterfaceBridge, Active: true, Dynamic: true, Dynamic6: true})
	const br0 = "network/bridges/1/node1/br0"
	f.Expect(t, "GET", "network/bridges", "", apitest.Viewer, 200, "", `"dynamic":true,"dynamic6":true`)
	f.Expect(t, "PUT", br0, `{"config":{"mtu":1400}}`, apitest.Admin, 422, "invalid", `"cidr"`, `"cidr6"`,
		"currently gets this address from the network")
	f.Expect(t, "PUT", br0, `{"config":{"mtu":1400,"cidr":"10.0.0.9/24"}}`, apitest.Admin, 422, "invalid", `"cidr6"`)
	f.Expect(t, "PUT", br0, `{"config":{"mtu":1400,"cidr":"10.0.0.9/24","cidr6":null}}`, apitest.Admin, 200, "", "10.0.0.9/24")
	f.create("br1", `{"ports":["eno1"]}`, 422, "invalid", "has an address, so it cannot be")
	f.create("br1", `{"ports":["enp4s0"]}`, 201, "", "eno2") // as the configuration calls it
	f.Expect(t, "POST", "network/bridges", `{"host_id":1,"node":"node1","iface":"v5","type":"vlan","config":{"device":"sw0","vlan":5}}`,
		apitest.Admin, 422, "invalid", "a VLAN must be on a NIC, a bridge, a bond")
}

// TestStageBridgesAnswersLost are changes of which the answer was lost: the network tells whether they were staged, and nothing is sent
// again.
func TestStageBridgesAnswersLost(t *testing.T) {
	if testing.Short() {
		t.Skip("loses responses: make check runs it")
	}
	t.Parallel()
	f := newNetwork(t, endpoint.Lifecycle)
	f.cluster.SetFault("stageinterface", memdriver.Fault{Err: lostApply, Late: true})
	f.create("br2", `{}`, 201, "")
	f.cluster.SetFault("stageinterface", memdriver.Fault{Err: lostApply})
	f.create("br3", `{}`, 502, "hypervisor_error", "nothing was sent again")
	if strings.Contains(f.cluster.StagedDiff("node1"), "br3") {
		t.Error("br3 is staged")
	}
}

func TestNetworkWithoutToken(t *testing.T) {
	t.Parallel()
	f := newNetwork(t)
	f.create("br2", `{}`, 409, "capability_missing")
	f.Expect(t, "POST", "network/1/node1/revert", "", apitest.Admin, 409, "capability_missing")
	f.Expect(t, "POST", "network/1/node1/apply", `{"confirm":"node1"}`, apitest.Admin, 409, "capability_missing")
	f.Expect(t, "POST", "network/1/node1/apply?plan=true", "", apitest.Admin, 200, "", `"blockers":[{"error":"capability_missing"`)
}

func TestApplyNetwork(t *testing.T) {
	t.Parallel()
	f := newNetwork(t, endpoint.Lifecycle)
	f.Expect(t, "POST", applyPath, `{"confirm":"node1"}`, apitest.Admin, 409, "invalid_state", "has no staged changes")
	f.create("br2", `{"cidr":"10.2.0.1/24"}`, 201, "")
	f.Expect(t, "POST", applyPath, "", apitest.Admin, 409, "confirm_required", `"confirm_phrase":"node1"`, "does not affect the path", "br2")
	f.Expect(t, "POST", applyPath, `{"confirm":"node2"}`, apitest.Admin, 409, "confirm_required")
	f.Expect(t, "POST", applyPath+"?plan=true", "", apitest.Admin, 200, "", `"is_self":false`, "The interface br2 is added.",
		"does not affect the path")
	f.Expect(t, "POST", applyPath, `{"confirm":"node1"}`, apitest.Operator, 403, "forbidden")
	f.ended(f.Expect(t, "POST", applyPath, `{"confirm":"node1"}`, apitest.Admin, 202, ""), "succeeded",
		"all staged changes are active", "br2: bridge")

	f.attach("web", "br1")
	f.Expect(t, "DELETE", "network/bridges/1/node1/br1?confirm=br1", "", apitest.Admin, 200, "")
	f.Expect(t, "POST", applyPath+"?plan=true", "", apitest.Admin, 200, "", "web loses its bridge br1.", `"is_self":false`)
	f.Expect(t, "POST", "network/1/node1/revert", "", apitest.Admin, 200, "")

	// What is below a bridge carries its guests too.
	const below = "network/bridges/1/node1/eno2"
	f.Expect(t, "PUT", below, `{"config":{"mtu":9000}}`, apitest.Admin, 409, "bridge_in_use", `"name":"web"`, `"confirm_phrase":"eno2"`,
		"on the bridge br1, which depends on eno2")
	f.Expect(t, "PUT", "network/bridges/1/node1/eno3", `{"config":{"mtu":9000}}`, apitest.Admin, 200, "")
	f.Expect(t, "PUT", below+"?confirm=eno2", `{"config":{"mtu":9000}}`, apitest.Admin, 200, "")
	f.Expect(t, "POST", applyPath+"?plan=true", "", apitest.Admin, 200, "", "web is on the bridge br1, whose interface eno2 is changed.",
		`"is_self":false`)
	// A host that is connected to another node reaches this one by the address that the cluster tells.
	dbtest.Exec(t, f.DB, `INSERT INTO hosts (driver, name, address, cluster_id, entry_node)
		SELECT driver, 'other', '10.0.0.10:8006', cluster_id, entry_node FROM hosts`)
	dbtest.Exec(t, f.DB, "UPDATE hosts SET entry_node = 'node2' WHERE id = 1")
	dbtest.Exec(t, f.DB, "UPDATE nodes SET address = '10.0.0.99' WHERE name = 'node1'")
	f.Expect(t, "POST", applyPath+"?plan=true", "", apitest.Admin, 200, "", "the address 10.0.0.99, at which the service reaches the node",
		`"is_self":true`)
	dbtest.Exec(t, f.DB, "UPDATE hosts SET entry_node = 'node1' WHERE id = 1")
	dbtest.Exec(t, f.DB, "DELETE FROM hosts WHERE id <> 1")
	f.Expect(t, "POST", "network/1/node1/revert", "", apitest.Admin, 200, "")

	f.cluster.Stage("node1", hypervisor.Interface{Name: "br0", Type: hypervisor.InterfaceBridge, Autostart: true, CIDR: "10.0.0.10/24",
		Gateway: "10.0.0.1"})
	f.Expect(t, "POST", applyPath, "", apitest.Admin, 409, "self_target", `"confirm_phrase":"node1"`, "br0 is changed", "may cut it",
		"was not staged through this service")
	f.cluster.CutByApply("node1", true)
	f.networks.AnswerLimit = time.Second
	started := f.Expect(t, "POST", applyPath, `{"confirm":"node1"}`, apitest.Admin, 202, "", `"is_self":true`)
	f.ended(started, "failed", "the node has not answered", "restore the network of node1")
}

var (
	lostApply    = plugin.Errorf(plugin.Unreachable, "connection reset")
	refusedApply = plugin.Errorf(plugin.Refused, "no reload here")
)

// TestApplyNetworkAnswersLost are applies of which the answer was lost: one that arrived is found by its task, one that did not is not
// sent again.
func TestApplyNetworkAnswersLost(t *testing.T) {
	if testing.Short() {
		t.Skip("loses responses: make check runs it")
	}
	t.Parallel()
	f := newNetwork(t, endpoint.Lifecycle)
	f.create("br2", `{}`, 201, "")
	f.cluster.SetFault("applynetwork", memdriver.Fault{Err: lostApply})
	f.ended(f.Expect(t, "POST", applyPath, `{"confirm":"node1"}`, apitest.Admin, 202, ""), "unknown", "all changes are still staged")
	f.cluster.SetFault("applynetwork", memdriver.Fault{Err: lostApply, Late: true})
	f.ended(f.Expect(t, "POST", applyPath, `{"confirm":"node1"}`, apitest.Admin, 202, ""), "succeeded", "found the task", "are active")
	f.create("br3", `{}`, 201, "")
	// The task of the apply before is not taken for that of one which did not arrive.
	f.cluster.SetFault("applynetwork", memdriver.Fault{Err: lostApply})
	f.ended(f.Expect(t, "POST", applyPath, `{"confirm":"node1"}`, apitest.Admin, 202, ""), "unknown",
		"no matching task is known; all changes are still staged")
	f.cluster.SetFault("applynetwork", memdriver.Fault{Err: refusedApply})
	f.ended(f.Expect(t, "POST", applyPath, `{"confirm":"node1"}`, apitest.Admin, 202, ""), "failed")
	if !strings.Contains(f.cluster.StagedDiff("node1"), "br3") {
		t.Error("what was refused is not staged any more")
	}
}

// A task that lasts is asked for again and again, and its log comes once.
func TestApplyNetworkThatLasts(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a slow host: make check runs it")
	}
	t.Parallel()
	f := newNetwork(t, endpoint.Lifecycle)
	f.create("br2", `{}`, 201, "")
	f.cluster.SetFault("waittask", memdriver.Fault{Err: plugin.Errorf(plugin.Timeout, "it lasts"), Late: true})
	f.ended(f.Expect(t, "POST", "network/1/node1/apply", `{"confirm":"node1"}`, apitest.Admin, 202, ""), "succeeded", "are active")
	const line = "applying the network of node1"
	if n := dbtest.Value[int](t, f.DB, "SELECT count(*) FROM job_events WHERE text LIKE '%' || $1 || '%'", line); n != 1 {
		t.Errorf("the line %q of its log is there %d times", line, n)
	}
}
