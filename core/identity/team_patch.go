package identity

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// TeamChange lists the new values of a team; nil leaves a value unchanged. The
// slug cannot change, because links and scripts contain it.
type TeamChange struct {
	Name *string
	// Description "" clears it.
	Description *string
}

// PatchTeam changes a team, also the default one. Problems: invalid, not_found.
func (s *Store) PatchTeam(ctx context.Context, caller *Caller, id int64, in TeamChange) (*Team, error) {
	var nameErr error
	if in.Name != nil {
		var name string
		name, nameErr = checkTeamName(*in.Name)
		in.Name = &name
	}
	description, descriptionErr := checkTeamDescription(in.Description)
	if err := allFaults(nameErr, descriptionErr); err != nil {
		return nil, err
	}
	if in == (TeamChange{}) {
		return nil, problem.InvalidField("nothing to change", "nothing_to_change", "body")
	}
	err := s.db.Tx(ctx, func(tx *db.Tx) error {
		if _, err := govern(ctx, tx, caller, Owner); err != nil {
			return err
		}
		name, err := teamName(ctx, tx, id)
		if err != nil {
			return err
		}
		if in.Name != nil {
			name = *in.Name
		}
		_, err = tx.Pgx.Exec(ctx, "UPDATE teams SET name = $2, description = CASE WHEN $3 THEN $4 ELSE description END WHERE id = $1",
			id, name, in.Description != nil, description)
		if err != nil {
			return fmt.Errorf("changing the team: %w", err)
		}
		describeTeam(ctx, id, name, map[string]any{"changed": in.changed()})
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return s.Team(ctx, id)
}

// changed lists the given fields for the audit entry.
func (in TeamChange) changed() []any {
	var names []any
	if in.Name != nil {
		names = append(names, "name")
	}
	if in.Description != nil {
		names = append(names, "description")
	}
	return names
}
