package identity

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// DeleteUser removes an account with its sessions and roles. What the user did stays: rows of the trail and jobs keep the
// e-mail address, and jobs, settings and apps lose the link to the account. Problems: forbidden for a user with a higher
// role than the caller, not_found, self_delete, last_owner.
func (s *Store) DeleteUser(ctx context.Context, caller *Caller, id int64) error {
	if err := s.MayManage(ctx, caller, id); err != nil {
		return err
	}
	return s.db.Tx(ctx, func(tx *db.Tx) error {
		u, err := governUser(ctx, tx, caller, id)
		if err != nil {
			return err
		}
		if caller != nil && caller.UserID == id {
			return problem.New(problem.CodeSelfDelete, "nobody deletes their own account; another admin can")
		}
		if err := loseOwner(ctx, tx, u); err != nil {
			return err
		}
		ended, err := lockOut(ctx, tx, id)
		if err != nil {
			return err
		}
		if _, err := tx.Pgx.Exec(ctx, "DELETE FROM users WHERE id = $1", id); err != nil {
			return fmt.Errorf("deleting the user: %w", err)
		}
		u.describe(ctx, map[string]any{"sessions_revoked": ended})
		return audit.Write(ctx, tx)
	})
}
