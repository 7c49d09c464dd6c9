package identity

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// ResetTOTP removes the second factor of a user who has lost it: the
// authenticator app, all passkeys and the recovery codes. The password and the
// sessions stay. Problems: forbidden for a user with a higher role than the
// caller, invalid_state if there is none and for the caller's own (DisableTOTP
// and DeletePasskey do that, with the password), not_found.
func (s *Store) ResetTOTP(ctx context.Context, caller *Caller, id int64) error {
	return s.db.Tx(ctx, func(tx *db.Tx) error {
		u, err := governUser(ctx, tx, caller, id)
		if err != nil {
			return err
		}
		if id == caller.UserID {
			return problem.New(problem.CodeInvalidState, "you can only disable your own second factor with your password")
		}
		updated, err := tx.Pgx.Exec(ctx, `
			UPDATE users SET totp_secret = NULL, totp_confirmed_at = NULL, totp_last_step = NULL, passkeys = 0, updated_at = now()
			WHERE id = $1 AND (totp_secret IS NOT NULL OR passkeys > 0)`, id)
		if err != nil {
			return fmt.Errorf("disabling the second factor: %w", err)
		}
		if updated.RowsAffected() == 0 {
			return problem.New(problem.CodeInvalidState, "the user has no second factor")
		}
		if _, err := tx.Pgx.Exec(ctx, "DELETE FROM passkeys WHERE user_id = $1", id); err != nil {
			return fmt.Errorf("deleting the user's passkeys: %w", err)
		}
		if err := forgetFactor(ctx, tx, id); err != nil {
			return err
		}
		u.describe(ctx, nil)
		return audit.Write(ctx, tx)
	})
}
