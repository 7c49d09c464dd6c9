package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hostler/hostler/core/cluster"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/metric"
)

// Storages of 1000 GB that grow by a number of GB an hour: the soonest are listed, a shared one once, and those of other teams are not.
func TestSummaryListsStoragesThatFillUp(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	const gb = 1_000_000_000
	storage := func(node, name string, used int64, shared bool) inventorytest.Storage {
		return inventorytest.Storage{Node: node, Name: name, Used: used * gb, Total: 1000 * gb, Shared: shared}
	}
	inventorytest.Write(t, d,
		inventorytest.Cluster{Name: "one", Hosts: []inventorytest.Host{{Name: "a", Node: "n1"}}, Storages: []inventorytest.Storage{
			storage("n1", "soon", 760, false), storage("n1", "later", 520, false), storage("n1", "nas", 640, true), storage("n2", "nas", 640, true),
			storage("n1", "never", 500, false),
		}},
		inventorytest.Cluster{Name: "two", Team: 2, Hosts: []inventorytest.Host{{Name: "b", Node: "n1"}}, Storages: []inventorytest.Storage{
			storage("n1", "other", 880, false),
		}})
	now := time.Now().UTC()
	for _, month := range []time.Time{now, now.AddDate(0, 0, -14)} {
		if err := metric.EnsurePartitions(t.Context(), d, month); err != nil {
			t.Fatal(err)
		}
	}
	dbtest.Exec(t, d, `INSERT INTO metric_1h (at, target_kind, target_id, samples, disk, disk_total)
		SELECT date_trunc('hour', now()) - n * interval '1 hour', 'storage', id, 120, used - n * 1e9, total
		FROM storages, generate_series(0, 300) n WHERE name <> 'never'`)
	store := &cluster.Store{DB: d}
	list := func(visible identity.VisibleTeams) (text string) {
		t.Helper()
		found, err := store.Summary(t.Context(), visible)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found.Filling {
			node := "shared"
			if f.Node != nil {
				node = *f.Node
			}
			text += fmt.Sprintf("%s %s %s %v; ", f.Host, f.Storage, node, f.DaysUntilFull)
		}
		return text
	}
	if got, want := list(everything), "b other n1 5; a soon n1 10; a nas shared 15; a later n1 20; "; got != want {
		t.Errorf("all: %s, want %s", got, want)
	}
	if got, want := list(identity.VisibleTeams{Teams: []int64{1}}), "a soon n1 10; a nas shared 15; a later n1 20; "; got != want {
		t.Errorf("team 1: %s, want %s", got, want)
	}
	if got := list(identity.VisibleTeams{Teams: []int64{}}); got != "" {
		t.Errorf("no team: %s", got)
	}
}
