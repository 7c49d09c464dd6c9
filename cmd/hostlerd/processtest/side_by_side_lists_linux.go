package processtest

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// Both kinds stand in every list, each with ids of its own form, and filters tell them apart.
func (s *sideBySide) lists(t *testing.T) {
	lxd := fmt.Sprintf("?host=%d", s.lxdHost)
	all := s.guests(t, "")
	ours := []string{"customers/deaf-too", "customers/web", "deaf", "idle", "spare", "web"}
	if got := refs(s.guests(t, lxd)); !slices.Equal(got, ours) {
		t.Errorf("the LXD host has %q", got)
	}
	if n := len(s.guests(t, fmt.Sprintf("?host=%d", s.pveHost))); n != len(all)-len(ours) || n < 8 {
		t.Errorf("%d guests are there, %d of the cluster", len(all), n)
	}
	for _, g := range all {
		numbered := g.VMID != nil && g.Ref == fmt.Sprint(*g.VMID)
		switch {
		case g.HostID == s.pveHost && (!numbered || g.Host != "rack"),
			g.HostID == s.lxdHost && (g.VMID != nil || g.Kind != "container" || g.Host != "edge" || g.Node != s.node),
			g.HostID != s.pveHost && g.HostID != s.lxdHost:
			t.Errorf("%+v", g)
		}
	}
	for query, want := range map[string][]string{
		lxd + "&kind=vm":                    {},
		lxd + "&kind=container":             ours,
		lxd + "&kind=app":                   {"customers/deaf-too", "customers/web", "deaf", "idle", "web"},
		lxd + "&status=stopped":             {"idle", "spare"},
		lxd + "&q=customers":                {"customers/deaf-too", "customers/web"},
		lxd + "&status=running&q=CUSTOMERS": {"customers/deaf-too", "customers/web"},
		"?q=deaf":                           {"customers/deaf-too", "deaf"},
	} {
		if got := refs(s.guests(t, query)); !slices.Equal(got, want) {
			t.Errorf("%s: %q", query, got)
		}
	}
	s.otherLists(t)
}

// otherLists are those beside that of all guests.
func (s *sideBySide) otherLists(t *testing.T) {
	t.Helper()
	if vms := listVMs(t, s.owner, s.lxdHost); len(vms) != 0 {
		t.Errorf("VMs of the LXD host: %+v", vms)
	}
	var discovered []sideGuest
	s.owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/apps/discovered", nil, &discovered)
	kinds := map[int64]int{}
	for _, g := range discovered {
		kinds[g.HostID]++
	}
	if kinds[s.lxdHost] != 1 || kinds[s.pveHost] == 0 {
		t.Errorf("containers that are no apps, by host: %v", kinds)
	}
	var apps []sideGuest
	s.owner.must(t, http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/apps?host=%d&status=running", s.lxdHost), nil, &apps)
	if got := refs(apps); !slices.Equal(got, []string{"customers/deaf-too", "customers/web", "deaf", "web"}) {
		t.Errorf("apps that run: %q", got)
	}
	var hosts []struct {
		ID                            int64
		Driver, Status, Name, Version string
		Counts                        struct{ Nodes, VMs, Containers, Apps int }
	}
	s.owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/hosts", nil, &hosts)
	for _, h := range hosts {
		driver := map[int64]string{s.pveHost: "pve", s.lxdHost: "lxd"}[h.ID]
		if h.Driver != driver || h.Status != "online" || h.Version == "" {
			t.Errorf("%+v", h)
		}
		if h.ID == s.lxdHost && (h.Counts.Nodes != 1 || h.Counts.VMs != 0 || h.Counts.Containers != 6 || h.Counts.Apps != 5) {
			t.Errorf("the LXD host has %+v", h.Counts)
		}
	}
	var nodes []struct {
		Node, Status string
		HostID       int64    `json:"host_id"`
		CPUs         *float64 `json:"cpus"`
		Memory       *int64   `json:"memory_total_bytes"`
	}
	s.owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/cluster/nodes", nil, &nodes)
	names := map[string]int64{}
	for _, n := range nodes {
		names[n.Node] = n.HostID
		if n.Status != "online" || n.CPUs == nil || n.Memory == nil {
			t.Errorf("%+v", n)
		}
	}
	if len(hosts) != 2 || len(nodes) != 3 || names[s.node] != s.lxdHost || names["pve1"] != s.pveHost || names["pve2"] != s.pveHost {
		t.Errorf("%+v, %v", hosts, names)
	}
	var sum struct {
		Hosts      int
		Online     int `json:"hosts_online"`
		Containers int
		Apps       int
		Unknown    int
	}
	s.owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/cluster/summary", nil, &sum)
	if sum.Hosts != 2 || sum.Online != 2 || sum.Containers != len(s.guests(t, "?kind=container")) || sum.Apps != 5 || sum.Unknown != 0 {
		t.Errorf("%+v", sum)
	}
}
