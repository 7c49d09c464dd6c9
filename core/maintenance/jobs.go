package maintenance

import (
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/setting"
)

type jobs struct{ db *db.DB }

func (j jobs) prune(ctx context.Context, p *progress) error {
	days, err := setting.Get(ctx, j.db, setting.JobsKeep)
	if err != nil {
		return err
	}
	before, err := before(ctx, j.db, days)
	if err != nil {
		return err
	}
	n, err := p.drain(ctx, func(ctx context.Context) (int64, error) { return j.batch(ctx, before) })
	p.run.Note("deleted %s that ended before %s, with their transcripts", plural(n, "job", "jobs"), before.Format(time.RFC3339))
	return err
}

// batch deletes up to 500 jobs, fewer where their transcripts have more than 50,000 lines together.
func (j jobs) batch(ctx context.Context, before time.Time) (int64, error) {
	tag, err := j.db.Pool.Exec(ctx, `
		WITH ended AS (
			SELECT id, finished_at, event_count FROM jobs WHERE finished_at < $1 AND status NOT IN ('queued', 'running')
			ORDER BY finished_at, id LIMIT 500 FOR UPDATE SKIP LOCKED
		), weighed AS (
			SELECT id, sum(event_count) OVER (ORDER BY finished_at, id) - event_count AS lines_before FROM ended
		)
		DELETE FROM jobs WHERE id IN (SELECT id FROM weighed WHERE lines_before < 50000)`, before)
	if err != nil {
		return 0, db.Problem(fmt.Errorf("deleting ended jobs: %w", err))
	}
	return tag.RowsAffected(), nil
}
