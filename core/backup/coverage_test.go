package backup_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/backup"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
)

var everything = identity.VisibleTeams{All: true, Teams: []int64{}}

// fill makes guests in one cluster, each with so many backups, one an hour.
func fill(t testing.TB, d *db.DB, guests, each int) {
	t.Helper()
	dbtest.Exec(t, d, "INSERT INTO clusters (team_id, name) VALUES (1, 'prod')")
	dbtest.Exec(t, d, "INSERT INTO hosts (cluster_id, driver, name, address) VALUES (1, 'mem', 'rack1', 'rack1:8006')")
	dbtest.Exec(t, d, `INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, node, name, status)
		SELECT 1, 1, 'vm', 100 + i, (100 + i)::text, 'n1', 'vm-' || i, 'running' FROM generate_series(1, $1::int) i`, guests)
	dbtest.Exec(t, d, "INSERT INTO backup_storages (cluster_id, host_id, node, name, as_of) VALUES (1, 1, '', 'nas', now())")
	dbtest.Exec(t, d, `INSERT INTO backups (cluster_id, storage_id, ref, node, kind, guest_ref, guest_id, name, taken_at)
		SELECT 1, 1, g.ref || '-' || i, 'n1', 'vm', g.ref, g.id, g.name, now() - i * interval '1 hour'
		FROM generate_series(1, $1::int) i, guests g`, each)
	dbtest.Exec(t, d, "ANALYZE")
}

// The newest backup of each guest comes from the index, however many there are.
func TestCoverageUsesTheIndex(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	fill(t, d, 1000, 20)
	for name, sql := range backup.Queries {
		rows, err := d.Pool.Query(t.Context(), "EXPLAIN "+sql.Text, sql.Args...)
		if err != nil {
			t.Fatal(name, err)
		}
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(name, err)
		}
		text := strings.Join(plan, "\n")
		if !strings.Contains(text, sql.Index) || strings.Contains(text, "Seq Scan on backups ") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

// BenchmarkCoverage judges 10,000 guests with 100,000 backups.
func BenchmarkCoverage(b *testing.B) {
	d := dbtest.New(b)
	fill(b, d, 10_000, 10)
	store := &backup.Store{DB: d}
	for name, filter := range map[string]backup.CoverageFilter{"all": {}, "stale": {Stale: true}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				all, total, err := store.Coverage(b.Context(), filter, everything, 0, 50)
				if err != nil || !filter.Stale && (len(all) != 50 || total != 10_000) {
					b.Fatal(len(all), total, err)
				}
			}
		})
	}
}
