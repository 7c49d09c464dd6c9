package host_test

import (
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/waittest"
)

// Of two changes that were both checked on the same state, one must not undo the other: it could bring an old
// certificate or an old team back.
func TestChangesAtTheSameTime(t *testing.T) {
	t.Parallel()
	s, d := pair(t)
	holder, err := d.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Rollback(t.Context()) }()
	if _, err := holder.Exec(t.Context(), "SELECT FROM hosts WHERE id = 1 FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	shell, team := true, int64(2)
	errs := make(chan error, 2)
	for _, change := range []host.Change{{NodeShell: &shell}, {TeamID: &team}} {
		go func() {
			_, err := s.Patch(t.Context(), 1, change)
			errs <- err
		}()
	}
	waittest.Until(t, "the changes wait for the host", func() bool {
		return dbtest.Value[int](t, d,
			"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 2
	})
	if err := holder.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for range 2 {
		if err := <-errs; err != nil {
			if refused++; problem.CodeOf(err) != problem.CodeConflict {
				t.Error(err)
			}
		}
	}
	h, err := s.Get(t.Context(), 1)
	if err != nil || refused != 1 || h.NodeShell == (h.TeamID == 2) {
		t.Errorf("%d refused, shell %v, team %d, %v", refused, h.NodeShell, h.TeamID, err)
	}
}
