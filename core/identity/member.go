package identity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// TeamMember is a user in one team.
type TeamMember struct {
	UserID      int64
	Email       string
	DisplayName *string
	IsActive    bool
	Role        Role
	AddedAt     time.Time
}

// selectMembers selects the members of a team.
const selectMembers = `SELECT u.id, u.email, u.display_name, u.is_active, m.role, m.added_at
	FROM team_members m JOIN users u ON u.id = m.user_id WHERE m.team_id = $1 `

// Members returns one page of the team's members, by e-mail address, and the
// number of all. The problem is not_found for an unknown team.
func (s *Store) Members(ctx context.Context, teamID int64, offset, limit int) ([]TeamMember, int, error) {
	var total *int
	err := s.db.Pool.QueryRow(ctx, "SELECT (SELECT count(*) FROM team_members WHERE team_id = $1) FROM teams WHERE id = $1",
		teamID).Scan(&total)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, 0, noTeam()
	}
	if err != nil {
		return nil, 0, db.Problem(fmt.Errorf("counting members: %w", err))
	}
	page, err := members(s.db.Pool.Query(ctx, selectMembers+"ORDER BY u.email_key, u.id OFFSET $2 LIMIT $3", teamID, offset, limit))
	return page, *total, err
}

// members reads the rows of selectMembers.
func members(rows pgx.Rows, err error) ([]TeamMember, error) {
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading members: %w", err))
	}
	found, err := db.CollectRows(rows, func(row pgx.CollectableRow) (m TeamMember, err error) {
		var role string
		if err := row.Scan(&m.UserID, &m.Email, &m.DisplayName, &m.IsActive, &role, &m.AddedAt); err != nil {
			return m, err
		}
		m.Role, err = ParseRole(role)
		return m, err
	})
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading members: %w", err))
	}
	return found, nil
}

// SetMember gives a user a role in a team, or changes it. It takes effect with
// the user's next request. Problems: forbidden for a role above the caller's
// own, not_found for the team and the user, last_owner.
func (s *Store) SetMember(ctx context.Context, caller *Caller, teamID, userID int64, role Role) (*TeamMember, error) {
	if role < Viewer || role > Owner {
		return nil, problem.InvalidField("must be viewer, operator, admin or owner", "enum", "body", "role")
	}
	var set *TeamMember
	err := s.db.Tx(ctx, func(tx *db.Tx) error {
		u, _, err := governMember(ctx, tx, caller, teamID, userID, role)
		if err != nil {
			return err
		}
		if teamID == DefaultTeam && role < Owner {
			if err := loseOwner(ctx, tx, u); err != nil {
				return err
			}
		}
		_, err = tx.Pgx.Exec(ctx, `INSERT INTO team_members (team_id, user_id, role) VALUES ($1, $2, $3)
			ON CONFLICT (team_id, user_id) DO UPDATE SET role = excluded.role`, teamID, userID, role.String())
		if err != nil {
			return fmt.Errorf("assigning the role: %w", err)
		}
		found, err := members(tx.Pgx.Query(ctx, selectMembers+"AND u.id = $2", teamID, userID))
		if err != nil {
			return err
		}
		set = &found[0]
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return set, nil
}

// RemoveMember removes a user from a team. Problems: not_found for the team,
// the user, and a user who is not a member; last_owner.
func (s *Store) RemoveMember(ctx context.Context, caller *Caller, teamID, userID int64) error {
	return s.db.Tx(ctx, func(tx *db.Tx) error {
		u, before, err := governMember(ctx, tx, caller, teamID, userID, NoRole)
		if err != nil {
			return err
		}
		if before == NoRole {
			return problem.New(problem.CodeNotFound, "the user is not a member of this team")
		}
		if teamID == DefaultTeam {
			if err := loseOwner(ctx, tx, u); err != nil {
				return err
			}
		}
		if _, err := tx.Pgx.Exec(ctx, "DELETE FROM team_members WHERE team_id = $1 AND user_id = $2", teamID, userID); err != nil {
			return fmt.Errorf("removing the role: %w", err)
		}
		return audit.Write(ctx, tx)
	})
}

// governMember begins every change of a member: it takes the lock, checks the
// caller's right, and reads team, user and present role. Lock order is always
// govern, team, user.
func governMember(ctx context.Context, tx *db.Tx, caller *Caller, teamID, userID int64, given Role) (*subject, Role, error) {
	held, err := govern(ctx, tx, caller, Owner)
	if err != nil {
		return nil, NoRole, err
	}
	if err := mayGive(held, given); err != nil {
		return nil, NoRole, err
	}
	team, err := teamName(ctx, tx, teamID)
	if err != nil {
		return nil, NoRole, err
	}
	describeTeam(ctx, teamID, team, map[string]any{"user_id": userID})
	u, err := lockSubject(ctx, tx, userID)
	if err != nil {
		return nil, NoRole, err
	}
	before, err := roleIn(ctx, tx, teamID, userID)
	if err != nil {
		return nil, NoRole, err
	}
	audit.Describe(ctx, func(e *audit.Entry) {
		addDetails(e, map[string]any{"user_email": u.email, "old_role": roleName(before), "new_role": roleName(given)})
	})
	return u, before, u.manageable(caller, held)
}

// roleIn returns the user's role in a team; NoRole if the user is not a member.
func roleIn(ctx context.Context, tx *db.Tx, teamID, userID int64) (Role, error) {
	var name string
	err := tx.Pgx.QueryRow(ctx, "SELECT role FROM team_members WHERE team_id = $1 AND user_id = $2", teamID, userID).Scan(&name)
	if errors.Is(err, pgx.ErrNoRows) {
		return NoRole, nil
	}
	if err != nil {
		return NoRole, fmt.Errorf("reading the user's role: %w", err)
	}
	return ParseRole(name)
}
