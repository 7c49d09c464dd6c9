package host

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
)

var _ identity.Assets = (*Store)(nil)

// Reassign implements identity.Assets. Hosts change their team together with
// their clusters, guests, apps and jobs, which keep their ids. A cluster that
// both teams know exists twice in the new team until the next poll merges the
// two; that poll is made due at once.
func (s *Store) Reassign(ctx context.Context, tx *db.Tx, from, to int64) error {
	// Hosts first: a poll that is being written holds its host's row and may
	// still add a cluster to the old team.
	for _, statement := range []string{
		"UPDATE hosts SET team_id = $2, updated_at = now() WHERE team_id = $1",
		"UPDATE clusters SET team_id = $2, next_poll_at = now() WHERE team_id = $1",
		"UPDATE jobs SET team_id = $2 WHERE team_id = $1",
		"UPDATE alerts SET team_id = $2 WHERE team_id = $1",
	} {
		if _, err := tx.Pgx.Exec(ctx, statement, from, to); err != nil {
			return fmt.Errorf("changing the team of the host's objects: %w", err)
		}
	}
	return nil
}
