package identity

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/db"
)

// RevocationCounts counts what a new password ended, and what still gives access.
type RevocationCounts struct {
	Sessions int64
	// Keys are the API keys that were revoked, ValidKeys those that still are good for the account.
	Keys, ValidKeys int64
	// Passkeys and Identities are what else logs in to the account and stays:
	// its passkeys, and its identities at providers.
	Passkeys, Identities int64
}

// keys revokes the user's API keys if asked to, and counts the ways in that
// remain. The caller holds the user's row: a key that is being made is counted
// or comes after.
func (r *RevocationCounts) keys(ctx context.Context, tx *db.Tx, userID int64, revoke bool) error {
	if revoke {
		gone, err := tx.Pgx.Exec(ctx, "DELETE FROM api_keys WHERE user_id = $1", userID)
		if err != nil {
			return fmt.Errorf("revoking the user's API keys: %w", err)
		}
		r.Keys = gone.RowsAffected()
	}
	err := tx.Pgx.QueryRow(ctx, `SELECT (SELECT count(*) FROM api_keys WHERE user_id = $1 AND (expires_at IS NULL OR expires_at > now())),
		(SELECT count(*) FROM passkeys WHERE user_id = $1), (SELECT count(*) FROM user_identities WHERE user_id = $1)`, userID).
		Scan(&r.ValidKeys, &r.Passkeys, &r.Identities)
	if err != nil {
		return fmt.Errorf("counting the account's credentials: %w", err)
	}
	return nil
}

// details returns the counts for the audit log.
func (r *RevocationCounts) details() map[string]any {
	return map[string]any{"sessions_revoked": r.Sessions, "keys_revoked": r.Keys, "keys_valid": r.ValidKeys, "passkeys_valid": r.Passkeys,
		"identities_valid": r.Identities}
}
