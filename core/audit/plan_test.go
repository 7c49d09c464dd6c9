package audit_test

import (
	"testing"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
)

// However long the audit log is, what was done to one thing is found by its index: neither the count nor the page walks all rows.
func TestOneThingIsFoundByItsIndex(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	for _, sql := range []string{
		`INSERT INTO audit (actor_type, action, target_kind, target_id, result, at)
			SELECT 'user', 'vm.start', 'vm', (i % 2000)::text, 'ok', now() - i * interval '1 second' FROM generate_series(1, 20000) i`,
		"ANALYZE audit",
	} {
		if _, err := d.Pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	rows, total, err := audit.List(t.Context(), d, audit.Filter{TargetKind: "vm", TargetID: "11", AllTeams: true, Limit: 5})
	if err != nil || total != 10 || len(rows) != 5 {
		t.Fatalf("%d of %d rows, %v", len(rows), total, err)
	}
	// A connection tells its figures within a second or so.
	waittest.Until(t, "the index was used for the count and for the page", func() bool {
		var used, read int
		if err := d.Pool.QueryRow(t.Context(), `SELECT idx_scan, idx_tup_read FROM pg_stat_user_indexes
			WHERE indexrelname = 'audit_target'`).Scan(&used, &read); err != nil {
			t.Fatal(err)
		}
		return used == 2 && read <= 20
	})
}
