package identity

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
)

// DeleteTeam deletes a team and returns the number of its hosts. The hosts move
// to the default team with everything that belongs to them, and the members
// lose their role. Audit entries keep the team's id, so that only readers of
// the whole instance see them from then on. Problems: not_found, invalid_state
// for the default team.
func (s *Store) DeleteTeam(ctx context.Context, caller *Caller, id int64) (hosts int64, err error) {
	err = s.db.Tx(ctx, func(tx *db.Tx) error {
		if _, err := govern(ctx, tx, caller, Owner); err != nil {
			return err
		}
		hosts, err = s.deleteTeam(ctx, tx, id)
		return err
	})
	return hosts, err
}

// deleteTeam moves the hosts of a team to the default team and deletes the
// team. It returns how many hosts were moved.
func (s *Store) deleteTeam(ctx context.Context, tx *db.Tx, id int64) (hosts int64, err error) {
	draft := plan.Begin(ctx)
	if id == DefaultTeam {
		kept := problem.New(problem.CodeInvalidState, "the default team belongs to the instance and cannot be deleted")
		if err := draft.Refuse(kept); err != nil {
			return 0, err
		}
	}
	name, err := lockTeam(ctx, tx, id)
	if err != nil {
		return 0, err
	}
	var members int64
	err = tx.Pgx.QueryRow(ctx, "SELECT (SELECT count(*) FROM hosts WHERE team_id = $1), (SELECT count(*) FROM team_members WHERE team_id "+
		"= $1)", id).Scan(&hosts, &members)
	if err != nil {
		return 0, fmt.Errorf("counting the team's hosts and members: %w", err)
	}
	err = draft.Finish(ctx, plan.Confirmation{}, func(_ context.Context, p *plan.Plan) error {
		p.Add(plan.KindHost, "", "%s to the default team, with all guests, apps and jobs.",
			plan.Plural(hosts, "1 host of the team moves", "%d hosts of the team move"))
		p.Add(plan.KindAccess, name, "%s in %s.", plan.Plural(members, "1 member loses the role", "%d members lose their role"), name)
		return nil
	})
	if err != nil {
		return 0, err
	}
	if s.config.Assets != nil {
		if err := s.config.Assets.Reassign(ctx, tx, id, DefaultTeam); err != nil {
			return 0, fmt.Errorf("moving the team's hosts to the default team: %w", err)
		}
	}
	if _, err := tx.Pgx.Exec(ctx, "DELETE FROM teams WHERE id = $1", id); err != nil {
		return 0, fmt.Errorf("deleting the team: %w", err)
	}
	describeTeam(ctx, id, name, map[string]any{"hosts": hosts, "members": members})
	return hosts, audit.Write(ctx, tx)
}
