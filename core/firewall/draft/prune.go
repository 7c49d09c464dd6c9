package draft

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/setting"
)

// Prune deletes one batch of drafts that were applied or undone longer ago than
// ended jobs are kept (setting.JobsKeep). It returns their number, 0 when
// nothing is left.
func (s *Store) Prune(ctx context.Context) (int64, error) {
	days, err := setting.Get(ctx, s.DB, setting.JobsKeep)
	if err != nil {
		return 0, err
	}
	tag, err := s.DB.Pool.Exec(ctx, `DELETE FROM firewall_drafts WHERE id IN (SELECT id FROM firewall_drafts
		WHERE status IN ($1, $2) AND updated_at < now() - $3::int * interval '24 hours' ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED)`,
		applied, undone, days)
	if err != nil {
		return 0, db.Problem(fmt.Errorf("deleting ended drafts: %w", err))
	}
	return tag.RowsAffected(), nil
}
