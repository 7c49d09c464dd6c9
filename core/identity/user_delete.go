package identity

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
)

// DeleteUser deletes an account with its sessions and roles. The records of its
// work stay: audit entries and jobs keep the e-mail address, and jobs, settings
// and apps lose the link to the account. Problems: forbidden for a user with a
// higher role than the caller, not_found, self_delete, last_owner.
func (s *Store) DeleteUser(ctx context.Context, caller *Caller, id int64) error {
	if err := s.MayManage(ctx, caller, id); err != nil {
		return err
	}
	return s.db.Tx(ctx, func(tx *db.Tx) error {
		u, err := governUser(ctx, tx, caller, id)
		if err != nil {
			return err
		}
		draft := plan.Begin(ctx)
		if caller != nil && caller.UserID == id {
			self := problem.New(problem.CodeSelfDelete, "you cannot delete your own account; ask another admin")
			if err := draft.Refuse(self); err != nil {
				return err
			}
		}
		if err := draft.Refuse(loseOwner(ctx, tx, u)); err != nil {
			return err
		}
		err = draft.Finish(ctx, plan.Confirmation{}, func(ctx context.Context, p *plan.Plan) error { return u.tellDeletion(ctx, tx, p) })
		if err != nil {
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

// tellDeletion writes into a plan what ends with the account.
func (u *subject) tellDeletion(ctx context.Context, tx *db.Tx, p *plan.Plan) error {
	var sessions, keys, teams int
	var schedules []string
	err := tx.Pgx.QueryRow(ctx, `SELECT (SELECT count(*) FROM sessions WHERE user_id = $1),
		(SELECT count(*) FROM api_keys WHERE user_id = $1),
		(SELECT count(*) FROM team_members WHERE user_id = $1),
		(SELECT coalesce(array_agg(name ORDER BY name), '{}') FROM schedules WHERE writer_id = $1 AND enabled)`, u.id).
		Scan(&sessions, &keys, &teams, &schedules)
	if err != nil {
		return fmt.Errorf("planning a user's deletion: %w", err)
	}
	p.Add(plan.KindAccess, u.email, "The account of %s is deleted, with %s, %s and %s.", u.email,
		plan.Plural(sessions, "1 session", "%d sessions"), plan.Plural(keys, "1 API key", "%d API keys"),
		plan.Plural(teams, "a role in 1 team", "roles in %d teams"))
	for _, name := range schedules {
		p.Add(plan.KindSchedule, name, "The schedule %s runs with the rights of this user, and will no longer run.", name)
	}
	return nil
}
