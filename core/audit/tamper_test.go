package audit_test

import (
	"testing"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db/dbtest"
)

// Somebody with the database and without the key makes a row look old, or moves its place to an old row: the retention must
// not remove the traces and sign for it.
func TestRetentionDoesNotCoverTampering(t *testing.T) {
	t.Parallel()
	before := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		statements []string
		kind       string
		removed    int64
	}{
		"made old":         {[]string{"UPDATE audit SET at = '2000-01-01' WHERE id = 15"}, audit.BreakAltered, 10},
		"several made old": {[]string{"UPDATE audit SET at = '2000-01-01' WHERE id IN (15, 16, 20)"}, audit.BreakAltered, 10},
		"place of a newer row": {[]string{"DELETE FROM audit_links WHERE seq = 3", "DELETE FROM audit WHERE id = 15",
			"UPDATE audit_links SET audit_id = 3 WHERE seq = 15"}, audit.BreakRemoved, 9},
		"made old with a hash": {[]string{"UPDATE audit SET at = '2000-01-01' WHERE id = 15",
			"UPDATE audit_links SET hash = (SELECT previous FROM audit_links WHERE seq = 16) WHERE seq = 15"}, audit.BreakAltered, 10},
		"old row altered":   {[]string{"UPDATE audit SET action = 'x' WHERE id = 4"}, audit.BreakAltered, 9},
		"short hash before": {[]string{"UPDATE audit_links SET previous = '' WHERE seq = 4"}, audit.BreakReordered, 9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			remove := map[string]func(tr *trail) (int64, error){
				"prune": func(tr *trail) (int64, error) { return tr.chain.Prune(t.Context(), before) },
				"clear": func(tr *trail) (int64, error) { return tr.chain.Clear(t.Context(), &before, audit.ClearPhrase) },
			}
			for how, remove := range remove {
				tr := newTrail(t, 0)
				tr.write(30)
				// before they have a place
				dbtest.Exec(tr.t, tr.db, "UPDATE audit SET at = '2025-01-01'::timestamptz + id * interval '1 second' WHERE id <= 10")
				tr.seal()
				for _, statement := range test.statements {
					dbtest.Exec(tr.t, tr.db, statement)
				}
				if n, err := remove(tr); err != nil || n != test.removed {
					t.Errorf("%s: %d removed, %v", how, n, err)
				}
				tr.seal()
				if b := tr.verify().Break; b == nil || b.Kind != test.kind {
					t.Errorf("%s has covered it: %+v", how, b)
				}
				if how == "prune" && dbtest.Value[int64](tr.t, tr.db,
					"SELECT count(*) FROM audit WHERE action = 'audit.prune' AND details ? 'altered_kept'") != 1 {
					t.Error("the audit log does not tell of what was kept")
				}
				if _, err := tr.chain.Clear(t.Context(), nil, audit.ClearPhrase); err != nil {
					t.Fatal(err)
				}
				if b := tr.verify().Break; b != nil {
					t.Errorf("after clearing all: %+v", b)
				}
			}
		})
	}
}
