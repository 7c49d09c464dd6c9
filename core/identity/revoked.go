package identity

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/db"
)

// Revoked counts what a new password ended, and what it left.
type Revoked struct {
	Sessions int64
	// Keys are the API keys that were revoked, ValidKeys those that still are good for the account.
	Keys, ValidKeys int64
}

// keys revokes the user's API keys if so asked, and counts those that are left, within the transaction. The user's row must be
// locked: a key that is being made is counted, or made after.
func (r *Revoked) keys(ctx context.Context, tx *db.Tx, userID int64, revoke bool) error {
	if revoke {
		gone, err := tx.Pgx.Exec(ctx, "DELETE FROM api_keys WHERE user_id = $1", userID)
		if err != nil {
			return fmt.Errorf("revoking the user's API keys: %w", err)
		}
		r.Keys = gone.RowsAffected()
	}
	err := tx.Pgx.QueryRow(ctx, "SELECT count(*) FROM api_keys WHERE user_id = $1 AND (expires_at IS NULL OR expires_at > now())",
		userID).Scan(&r.ValidKeys)
	if err != nil {
		return fmt.Errorf("counting the user's API keys: %w", err)
	}
	return nil
}

// details are for the trail.
func (r *Revoked) details() map[string]any {
	return map[string]any{"sessions_revoked": r.Sessions, "keys_revoked": r.Keys, "keys_valid": r.ValidKeys}
}
