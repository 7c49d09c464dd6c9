package host

import (
	"context"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
)

// RecordSync writes the audit entry of a poll that a user asked for, and returns
// the host. The poll itself changes only the cache.
func (s *Store) RecordSync(ctx context.Context, id int64) (Host, error) {
	if err := s.db.Tx(ctx, func(tx *db.Tx) error { return audit.Write(ctx, tx) }); err != nil {
		return Host{}, err
	}
	return s.Get(ctx, id)
}
