package identity

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// loseOwner is called before a user is deactivated, deleted, or loses the role
// owner in the default team. The problem is last_owner if no other active owner
// with a password would remain. Owners without a password do not count: a
// provider that fails, or gives other roles than before, must not lock
// everybody out. The caller holds govern's lock; without it two owners could
// each rely on the other.
func loseOwner(ctx context.Context, tx *db.Tx, u *subject) error {
	if !u.active || u.home < Owner {
		return nil
	}
	var another bool
	err := tx.Pgx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM team_members m JOIN users u ON u.id = m.user_id
		WHERE m.team_id = $1 AND m.role = 'owner' AND u.is_active AND u.has_password AND u.id <> $2)`, DefaultTeam, u.id).Scan(&another)
	if err != nil {
		return fmt.Errorf("reading the other owners: %w", err)
	}
	if !another {
		return problem.New(problem.CodeLastOwner, "this is the only active owner of the instance with a password; make another user an "+
			"owner first")
	}
	return nil
}
