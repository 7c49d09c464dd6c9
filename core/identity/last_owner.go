package identity

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// loseOwner is asked before a user is deactivated, deleted, or loses the role owner in the default team: it is a problem
// of code last_owner when no other active owner with a password would be left: a provider of identities that is away, or that says
// something else than yesterday, must lock nobody out for ever. It must be called under govern's lock, or two owners
// could each count on the other.
func loseOwner(ctx context.Context, tx *db.Tx, u *subject) error {
	if !u.active || u.home < Owner {
		return nil
	}
	var another bool
	err := tx.Pgx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM team_members m JOIN users u ON u.id = m.user_id
		WHERE m.team_id = $1 AND m.role = 'owner' AND u.is_active AND u.has_password AND u.id <> $2)`, DefaultTeam, u.id).Scan(&another)
	if err != nil {
		return fmt.Errorf("looking for another owner: %w", err)
	}
	if !another {
		return problem.New(problem.CodeLastOwner, "this is the only active owner of the instance with a password; make another one first")
	}
	return nil
}
