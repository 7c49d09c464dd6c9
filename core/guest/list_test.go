package guest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// inventory is two clusters, one of the default team and one of team 2.
const inventory = `
INSERT INTO teams (id, name, slug) VALUES (2, 'Two', 'two');
INSERT INTO clusters (team_id, name) VALUES (1, 'prod'), (2, 'lab');
INSERT INTO hosts (team_id, cluster_id, driver, name, address, entry_node) VALUES
	(1, 1, 'mem', 'a', 'a:8006', 'n1'), (1, 1, 'mem', 'b', 'b:8006', 'n2'), (2, 2, 'mem', 'c', 'c:8006', 'n1');
INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, node, name, status, tags, template) VALUES
	(1, 1, 'vm', 100, '100', 'n1', 'web_1', 'running', '{prod,web}', false),
	(1, 2, 'vm', 101, '101', 'n2', 'web%2', 'stopped', '{}', false),
	(1, 1, 'container', 102, '102', 'n1', 'wiki', 'running', '{}', false),
	(1, 1, 'container', 103, '103', 'n1', 'base', 'stopped', '{}', true),
	(2, 3, 'vm', 100, '100', 'n1', 'other', 'running', '{}', false),
	(2, 3, 'container', 105, '105', 'n1', 'mail', 'running', '{}', false);
INSERT INTO apps (host_id, cluster_id, guest_id, guest_ref, vmid, name) SELECT 1, 1, id, ref, vmid, 'wiki' FROM guests WHERE name = 'wiki';
INSERT INTO jobs (kind, status, target_kind, target_id, target_name, exclusive) VALUES
	('vm.start', 'queued', 'vm', 2, 'web%2', 'guest:2'), ('vm.stop', 'succeeded', 'vm', 1, 'web_1', 'guest:1');
`

func newStore(t *testing.T) (*guest.Store, *db.DB) {
	t.Helper()
	d := dbtest.New(t)
	if _, err := d.Pool.Exec(t.Context(), inventory); err != nil {
		t.Fatal(err)
	}
	return &guest.Store{DB: d, Self: &guest.Self{DB: d, Hostname: "WIKI"}}, d
}

func TestList(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	all := identity.VisibleTeams{All: true, Teams: []int64{}}
	for _, c := range []struct {
		name    string
		filter  guest.Filter
		visible identity.VisibleTeams
		want    []string
	}{
		{"VMs", guest.Filter{Kind: guest.VM}, all, []string{"web_1", "web%2", "other"}},
		{"of a team", guest.Filter{Kind: guest.VM}, identity.VisibleTeams{Teams: []int64{2}}, []string{"other"}},
		{"of no team", guest.Filter{}, identity.VisibleTeams{Teams: []int64{}}, nil},
		{"of a host", guest.Filter{Kind: guest.VM, HostID: 2}, all, []string{"web%2"}},
		{"of a foreign host", guest.Filter{HostID: 1}, identity.VisibleTeams{Teams: []int64{2}}, nil},
		{"pending", guest.Filter{Status: guest.StatusPending}, all, []string{"web%2"}},
		{"stopped and not pending", guest.Filter{Kind: guest.VM, Status: "stopped"}, all, nil},
		{"running", guest.Filter{Kind: guest.VM, Status: "running"}, all, []string{"web_1", "other"}},
		{"a name with a sign of LIKE", guest.Filter{Query: "%"}, all, []string{"web%2"}},
		{"another sign of LIKE", guest.Filter{Query: "_"}, all, []string{"web_1"}},
		{"a tag in another case", guest.Filter{Query: "PROD"}, all, []string{"web_1"}},
		{"an id", guest.Filter{Query: "101"}, all, []string{"web%2"}},
		{"a text for SQL", guest.Filter{Query: `'; DROP TABLE guests; --\`}, all, nil},
		{"containers that are no apps", guest.Filter{Kind: guest.Container, Unadopted: true}, all, []string{"base", "mail"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := store.List(t.Context(), c.filter, c.visible)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, g := range got {
				names = append(names, g.Name)
			}
			if !slices.Equal(names, c.want) {
				t.Errorf("got %q, want %q", names, c.want)
			}
		})
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	g, err := store.Get(t.Context(), guest.VM, 2)
	if err != nil {
		t.Fatal(err)
	}
	if g.Status != guest.StatusPending || g.JobID == nil || *g.JobID != 1 || g.Host != "b" || g.Cluster != "prod" {
		t.Errorf("%+v", g)
	}
	if _, err := store.Get(t.Context(), guest.VM, 3); problem.CodeOf(err) != problem.CodeNotFound {
		t.Errorf("a container asked for as a VM: %v", err)
	}
}

// Guests with names come after those with numbers, and are found by their names at the hypervisor.
func TestListOfNames(t *testing.T) {
	t.Parallel()
	store, d := newStore(t)
	dbtest.Exec(t, d, `INSERT INTO guests (cluster_id, host_id, kind, ref, uid, node, name, status) VALUES
		(1, 1, 'vm', 'customers/b', 'u1', 'n1', 'beta', 'running'), (1, 1, 'vm', 'customers/a', 'u2', 'n1', 'alpha', 'running')`)
	all := identity.VisibleTeams{All: true, Teams: []int64{}}
	for query, want := range map[string]string{"": "100 101 customers/a customers/b 100", "CUSTOMERS/": "customers/a customers/b"} {
		vms, err := store.List(t.Context(), guest.Filter{Kind: guest.VM, Query: query}, all)
		if err != nil {
			t.Fatal(err)
		}
		entries, err := store.Entries(t.Context(), guest.Filter{Kind: guest.VM, Query: query}, all)
		if err != nil || len(entries) != len(vms) {
			t.Fatalf("%d entries, %d VMs, %v", len(entries), len(vms), err)
		}
		var refs []string
		for i, g := range vms {
			refs = append(refs, g.Ref)
			if (g.VMID == nil) != strings.HasPrefix(g.Ref, "customers") || entries[i].Ref != g.Ref {
				t.Errorf("%+v, %+v", g, entries[i])
			}
		}
		if got := strings.Join(refs, " "); got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
}

// The guest that the service runs in is known by its host's cluster and its name, or by the container's id alone.
func TestSelf(t *testing.T) {
	t.Parallel()
	store, d := newStore(t)
	self := func(name string, container hypervisor.GuestID) []int64 {
		t.Helper()
		ids, err := (&guest.Self{DB: d, Hostname: name, Container: container}).Guests(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	if ids := self("wiki", ""); ids != nil {
		t.Errorf("without the setting: %v", ids)
	}
	if _, err := d.Pool.Exec(t.Context(), `INSERT INTO settings (key, value) VALUES ('self.host_id', '2')`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		container hypervisor.GuestID
		want      []int64
	}{
		{"wiki", "", []int64{3}},
		{"WIKI", "", []int64{3}}, // through another member of the cluster, in another case
		{"wiki", "105", nil},     // the id is of another cluster
		{"else", "102", []int64{3}},
		{"other", "", nil},
		{"", "", nil},
	} {
		if got := self(c.name, c.container); !slices.Equal(got, c.want) {
			t.Errorf("%q, container %q: %v, want %v", c.name, c.container, got, c.want)
		}
		nodes, err := (&guest.Self{DB: d, Hostname: c.name, Container: c.container}).Nodes(t.Context())
		if err != nil || len(nodes) != len(c.want) || len(nodes) == 1 && nodes[0] != "n1" {
			t.Errorf("%q, container %q: nodes %v, error %v", c.name, c.container, nodes, err)
		}
	}
	g, err := store.Get(t.Context(), guest.Container, 3)
	if err != nil || !g.IsSelf {
		t.Errorf("our own container is not marked: %+v, %v", g, err)
	}
}

func TestVerb(t *testing.T) {
	t.Parallel()
	for action, want := range map[hypervisor.Action]string{hypervisor.Start: "start", hypervisor.Shutdown: "shut down",
		hypervisor.Reset: "reset"} {
		if got := guest.Verb(action); got != want {
			t.Errorf("%s: %q, want %q", action, got, want)
		}
	}
}
