package job_test

import (
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// A job that was begun comes before those that were not when both are taken up again.
func TestBegunJobIsTakenUpFirst(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
		i := w.add(t, nil)
		fresh, begun := i.enqueue(t, w.spec(w.endless(), hypervisor.Stop)), i.enqueue(t, w.spec(w.endless(), hypervisor.Stop))
		i.exec(t, "UPDATE jobs SET status = 'running', runs = 1, started_at = now() WHERE id = $1", begun)
		i.exec(t, "UPDATE river_job SET state = 'discarded', finalized_at = now()")
		i.run(t)
		priority := func(id int64) int {
			return dbtest.Value[int](t, i.db, `SELECT coalesce(max(r.priority), 0) FROM jobs j JOIN river_job r ON r.id = j.river_id
			WHERE j.id = $1 AND r.state <> 'discarded'`, id)
		}
		waittest.Until(t, "both are handed out again", func() bool { return priority(fresh) > 0 && priority(begun) > 0 })
		if first, second := priority(begun), priority(fresh); first >= second {
			t.Errorf("the job that was begun has the priority %d, the one that was not %d; the lower goes first", first, second)
		}
	})
}
