package cluster_test

import (
	"testing"

	"github.com/hostler/hostler/core/cluster"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
)

// A guest whose backups nobody has listed is unknown, and not covered.
func TestSummaryCountsGuestsByTheirBackups(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	inventorytest.Write(t, d,
		inventorytest.Cluster{Name: "one", Hosts: []inventorytest.Host{{Name: "a", Node: "n1"}}, Guests: []inventorytest.Guest{
			{VMID: 1, Node: "n1", Name: "new"}, {VMID: 2, Node: "n1", Name: "old"}, {VMID: 3, Node: "n1", Name: "never"},
			{VMID: 4, Node: "n1", Name: "template", Template: true},
		}},
		inventorytest.Cluster{Name: "two", Team: 2, Hosts: []inventorytest.Host{{Name: "b", Node: "n1"}}, Guests: []inventorytest.Guest{
			{VMID: 1, Node: "n1", Name: "unlisted"},
		}})
	dbtest.Exec(t, d, `INSERT INTO backup_storages (cluster_id, host_id, node, name, as_of) VALUES (1, 1, '', 'nas', now())`)
	dbtest.Exec(t, d, `INSERT INTO backups (cluster_id, storage_id, ref, node, kind, guest_ref, guest_id, taken_at)
		SELECT 1, s.id, g.ref, 'n1', 'vm', g.ref, g.id, now() - CASE g.name WHEN 'new' THEN interval '1 hour' ELSE interval '90 days' END
		FROM guests g, backup_storages s WHERE g.name IN ('new', 'old')`)
	store := &cluster.Store{DB: d}
	for _, test := range []struct {
		visible identity.VisibleTeams
		want    cluster.Coverage
	}{
		{everything, cluster.Coverage{Covered: 1, Stale: 2, Unknown: 1, Exempt: 1}},
		{identity.VisibleTeams{Teams: []int64{2}}, cluster.Coverage{Unknown: 1}},
		{identity.VisibleTeams{Teams: []int64{}}, cluster.Coverage{}},
	} {
		found, err := store.Summary(t.Context(), test.visible)
		if err != nil || found.Backups != test.want {
			t.Errorf("%v: %+v, error %v", test.visible, found.Backups, err)
		}
	}
}
