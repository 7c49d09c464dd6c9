package processtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
)

// ruleView is what the tests read of a firewall rule.
type ruleView struct {
	Pos    int
	Type   string
	Action string
	Enable int
	Macro  string
	Iface  string
	Source string
	Proto  string
	Dport  string
	Log    string
	Digest string
}

// Firewall rules at every scope over real processes, as the simulator has them: some for the cluster, one for each node and three for
// every fourth guest.
func firewallRules(t *testing.T, owner *client) {
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "2", "--guests", "9", "--auth-delay", "100ms")
	host := owner.enrol(t, cluster, "with firewalls")
	rules := func(what, path string, want ...ruleView) {
		t.Helper()
		var got []ruleView
		owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/"+path+"/rules", nil, &got)
		digests := map[string]bool{}
		for i := range got {
			digests[got[i].Digest] = true
			got[i].Digest = ""
		}
		if len(got) > 0 && len(digests) != 1 || digests[""] {
			t.Errorf("%s: the digests of the rules are %v", what, digests)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%+v, want\n%+v", what, got, want)
		}
	}
	rules("the cluster", fmt.Sprintf("firewall/cluster/%d", host),
		ruleView{Type: "in", Action: "ACCEPT", Enable: 1, Macro: "SSH", Source: "+management"},
		ruleView{Pos: 1, Type: "in", Action: "ACCEPT", Enable: 1, Proto: "tcp", Dport: "8006", Source: "+management"},
		ruleView{Pos: 2, Type: "in", Action: "DROP", Log: "info"})
	exporter := ruleView{Type: "in", Action: "ACCEPT", Enable: 1, Proto: "tcp", Dport: "9100", Source: "monitoring"}
	for _, node := range []string{"pve1", "pve2"} {
		rules(node, fmt.Sprintf("firewall/nodes/%d/%s", host, node), exporter)
		rules(node+", by its other path", fmt.Sprintf("firewall/node/%d/%s", host, node), exporter)
	}

	vms, apps := map[int64]int64{}, map[int64]int64{}
	for _, vm := range listVMs(t, owner, host) {
		vms[vm.VMID] = vm.ID
	}
	var containers []guestView
	owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/apps/discovered", nil, &containers)
	for _, ct := range containers {
		if ct.HostID != host {
			continue
		}
		var made []struct{ ID int64 }
		owner.must(t, http.StatusOK, http.MethodPost, "/api/v1/apps/adopt",
			map[string]any{"items": []any{map[string]any{"host_id": host, "vmid": ct.VMID}}}, &made)
		apps[ct.VMID] = made[0].ID
	}
	seen := map[string]int{}
	for i, vmid := range slices.Sorted(slices.Values(slices.AppendSeq(slices.Collect(maps.Keys(vms)), maps.Keys(apps)))) {
		kind, id := "vm", vms[vmid]
		if id == 0 {
			kind, id = "app", apps[vmid]
		}
		var want []ruleView
		if i%4 == 0 {
			seen[kind]++
			want = []ruleView{
				{Type: "in", Action: "ACCEPT", Enable: 1, Macro: "HTTP", Iface: "net0"},
				{Pos: 1, Type: "in", Action: "ACCEPT", Enable: 1, Macro: "HTTPS", Iface: "net0"},
				{Pos: 2, Type: "out", Action: "REJECT", Macro: "SMTP", Log: "warning"},
			}
		}
		rules(fmt.Sprint(kind, " ", vmid), fmt.Sprintf("%ss/%d/firewall", kind, id), want...)
	}
	if seen["vm"] == 0 || seen["app"] == 0 {
		t.Errorf("guests with rules were %v", seen)
	}

	node := func(name string) string { return fmt.Sprintf("/api/v1/firewall/nodes/%d/%s/rules", host, name) }
	for _, name := range []string{"pve9", "..%2Fpve1", "pve1%00"} {
		if a := owner.do(t, http.MethodGet, node(name), nil); a.Status != http.StatusNotFound || a.problem() != "not_found" {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	cluster.control(t, http.MethodPost, "/node", map[string]any{"name": "pve2", "online": false}, nil)
	if a := owner.do(t, http.MethodGet, node("pve2"), nil); a.Status != http.StatusBadGateway || a.problem() != "hypervisor_error" {
		t.Errorf("a node that is off: %d %s", a.Status, a.Body)
	}
}
