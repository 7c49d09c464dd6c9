package scenarios

import (
	"fmt"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service/servicetest"
)

// clusterInventory is a cluster of three nodes with two enrolled members, another cluster of the same node names whose host is away, a
// machine alone of team 2, and a host that was not polled yet.
func clusterInventory() []inventorytest.Cluster {
	node := func(name string, cpu float64) inventorytest.Node {
		return inventorytest.Node{Name: name, Address: "192.0.2.1", CPU: cpu, CPUs: 8, Memory: 10, MemoryTotal: 100, Uptime: 60}
	}
	disk := func(node, name string, shared bool, used, total int64) inventorytest.Storage {
		return inventorytest.Storage{Node: node, Name: name, Shared: shared, Used: used, Total: total}
	}
	return []inventorytest.Cluster{
		{
			Name:  "prod",
			Hosts: []inventorytest.Host{{Name: "rack1", Node: "n1", Status: "online"}, {Name: "rack2", Node: "n2", Status: "online"}},
			Nodes: []inventorytest.Node{node("n3", 0.25), node("n1", 0.5), node("n2", 0.25)},
			Storages: []inventorytest.Storage{
				disk("n1", "local", false, 1, 10), disk("n2", "local", false, 2, 10), disk("n3", "local", false, 3, 10),
				disk("n1", "ceph", true, 40, 400), disk("n2", "ceph", true, 40, 400), disk("n3", "ceph", true, 0, 0),
			},
			Guests: []inventorytest.Guest{
				{VMID: 100, Node: "n1", Name: "web"}, {VMID: 101, Node: "n2", Name: "db", Status: "stopped"}, {VMID: 102, Node: "n3", Name: "third"},
				{VMID: 103, Node: "n1", Name: "base", Status: "stopped", Template: true},
				{Container: true, VMID: 110, Node: "n2", Name: "wiki", App: "The wiki"}, {Container: true, VMID: 111, Node: "n2", Name: "plain"},
			},
		},
		{
			Name: "away", Hosts: []inventorytest.Host{{Name: "rack3", Node: "n1", Status: "unreachable"}},
			Nodes:    []inventorytest.Node{{Name: "n1", Status: "unknown"}},
			Storages: []inventorytest.Storage{{Node: "n1", Name: "ceph", Shared: true, Status: "unknown"}},
			Guests:   []inventorytest.Guest{{VMID: 100, Node: "n1", Name: "far", Status: "unknown"}},
		},
		{
			Team: 2, Hosts: []inventorytest.Host{{Name: "alone", Status: "online"}}, Nodes: []inventorytest.Node{node("m1", 1)},
			Storages: []inventorytest.Storage{disk("m1", "ceph", true, 5, 50)},
			Guests:   []inventorytest.Guest{{Container: true, VMID: 100, Node: "m1", Name: "theirs", App: "theirs"}},
		},
		{Name: "new", Unseen: true, Hosts: []inventorytest.Host{{Name: "rack4"}}},
	}
}

func newClusterInventory(t *testing.T) *servicetest.Resource {
	t.Helper()
	r := servicetest.NewResource(t, registerCluster)
	inventorytest.Write(t, r.DB, clusterInventory()...)
	r.Exec("INSERT INTO apps (guest_ref, vmid, name) VALUES ('5', 5, 'homeless')")
	return r
}

func TestNodesOfClusters(t *testing.T) {
	t.Parallel()
	r := newClusterInventory(t)
	type node struct {
		Host, Cluster, Node, Status string
		IsEntry                     bool `json:"is_entry"`
		Apps, VMs                   int
		Disk                        *int64 `json:"disk_bytes"`
		DiskTotal                   *int64 `json:"disk_total_bytes"`
	}
	list := func(as *apitest.Caller, query string) (lines []string) {
		t.Helper()
		var nodes []node
		r.Expect(t, "GET", "cluster/nodes"+query, "", as, 200, "").Decode(t, &nodes)
		for _, n := range nodes {
			disk := "?"
			if n.Disk != nil && n.DiskTotal != nil {
				disk = fmt.Sprint(*n.Disk, "/", *n.DiskTotal)
			}
			entry := ""
			if n.IsEntry {
				entry = " entry"
			}
			lines = append(lines, fmt.Sprintf("%s %s %s %s%s: %d apps, %d VMs, %s", n.Cluster, n.Host, n.Node, n.Status, entry, n.Apps, n.VMs,
				disk))
		}
		return lines
	}
	text := func(as *apitest.Caller) []string { return list(as, "") }
	// n3 has nobody registered at it and is the first host's; the other cluster's n1 is another node.
	theirs := " alone m1 online entry: 1 apps, 0 VMs, 5/50"
	all := []string{
		theirs,
		"away rack3 n1 unknown entry: 0 apps, 1 VMs, ?",
		"prod rack1 n1 online entry: 0 apps, 3 VMs, 41/410", "prod rack2 n2 online entry: 1 apps, 1 VMs, 42/410",
		"prod rack1 n3 online: 0 apps, 3 VMs, 3/10",
	}
	for _, c := range []struct {
		as   *apitest.Caller
		want []string
	}{{apitest.Viewer, all}, {apitest.In(2, identity.Viewer), []string{theirs}}, {apitest.In(3, identity.Owner), nil}} {
		if got := text(c.as); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.as, got, c.want)
		}
	}
	host := r.Value("SELECT id FROM hosts WHERE name = 'rack1'")
	if got := list(apitest.Viewer, "?host="+host); fmt.Sprint(got) != fmt.Sprint([]string{all[2], all[4]}) {
		t.Errorf("of a host: %q", got)
	}
	if got := list(apitest.In(2, identity.Viewer), "?host="+host); len(got) != 0 {
		t.Errorf("of another team's host: %q", got)
	}
	// A host that does not say which node it is, or whose node is gone, has one entry all the same.
	r.Exec("UPDATE hosts SET entry_node = '' WHERE name = 'rack1'")
	if got := text(apitest.Viewer); fmt.Sprint(got) != fmt.Sprint(all) {
		t.Errorf("without an entry: %q", got)
	}
	r.Exec("DELETE FROM nodes WHERE name = 'n1' AND cluster_id = 1")
	if got := text(apitest.Viewer); len(got) != 4 || got[3] != "prod rack1 n3 online entry: 0 apps, 3 VMs, 3/10" &&
		got[2] != "prod rack1 n3 online entry: 0 apps, 3 VMs, 3/10" {
		t.Errorf("without its node: %q", got)
	}
}

func TestSummaryOfClusters(t *testing.T) {
	t.Parallel()
	r := newClusterInventory(t)
	for _, c := range []struct {
		as   *apitest.Caller
		want string
	}{
		{apitest.Viewer, `{"hosts":5,"hosts_online":3,"clusters":4,"nodes":5,"nodes_online":4,"vms":4,"vms_running":2,"containers":3,` +
			`"containers_running":3,"apps":3,` +
			`"templates":1,"unknown":1,"cpus_used":16,"cpus":32,"memory_bytes":40,"memory_total_bytes":400,"disk_bytes":51,` +
			`"disk_total_bytes":480,`},
		{apitest.In(2, identity.Viewer), `{"hosts":1,"hosts_online":1,"clusters":1,"nodes":1,"nodes_online":1,"vms":0,"vms_running":0,` +
			`"containers":1,"containers_running":1,"apps":1,` +
			`"templates":0,"unknown":0,"cpus_used":8,"cpus":8,"memory_bytes":10,"memory_total_bytes":100,"disk_bytes":5,"disk_total_bytes":50,`},
		{apitest.In(3, identity.Owner), `{"hosts":0,"hosts_online":0,"clusters":0,"nodes":0,"nodes_online":0,"vms":0,"vms_running":0,` +
			`"containers":0,"containers_running":0,"apps":0,` +
			`"templates":0,"unknown":0,"cpus_used":0,"cpus":0,"memory_bytes":0,"memory_total_bytes":0,"disk_bytes":0,"disk_total_bytes":0,`},
	} {
		r.Run(t, apitest.Scenario{Name: c.as.String(), Method: "GET", URL: "/api/v1/cluster/summary", As: c.as, Status: 200,
			Contains: []string{c.want}})
	}
	// What clusters use is what all use together.
	type usage struct {
		CPUs      float64 `json:"cpus_used"`
		Memory    int64   `json:"memory_bytes"`
		Disk      int64   `json:"disk_bytes"`
		DiskTotal int64   `json:"disk_total_bytes"`
	}
	var told struct {
		usage
		ByCluster []usage `json:"by_cluster"`
	}
	r.Get(t, "cluster/summary", &told)
	var sum usage
	for _, c := range told.ByCluster {
		sum.CPUs, sum.Memory, sum.Disk, sum.DiskTotal = sum.CPUs+c.CPUs, sum.Memory+c.Memory, sum.Disk+c.Disk, sum.DiskTotal+c.DiskTotal
	}
	if sum != told.usage || len(told.ByCluster) != 4 {
		t.Errorf("the clusters use %+v, all together %+v", told.ByCluster, told.usage)
	}
	for _, path := range []string{"/api/v1/cluster/summary", "/api/v1/cluster/nodes"} {
		r.Run(t,
			apitest.Scenario{Name: "nobody", Method: "GET", URL: path, Status: 401, Error: "unauthenticated"},
			apitest.Scenario{Name: "no role", Method: "GET", URL: path, As: apitest.NoRole, Status: 403, Error: "forbidden"})
	}
}
