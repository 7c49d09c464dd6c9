package host

import (
	"context"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
)

// Synced gives the host after a poll that somebody asked for, and records that in the trail. The poll itself changes
// caches only.
func (s *Store) Synced(ctx context.Context, id int64) (Host, error) {
	if err := s.db.Tx(ctx, func(tx *db.Tx) error { return audit.Write(ctx, tx) }); err != nil {
		return Host{}, err
	}
	return s.Get(ctx, id)
}
