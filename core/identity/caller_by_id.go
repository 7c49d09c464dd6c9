package identity

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// CallerOf returns a user with the roles at this moment, for work in the name
// of a user who is not present, such as a schedule. Problems: not_found,
// forbidden for a deactivated user.
func (s *Store) CallerOf(ctx context.Context, userID int64) (*Caller, error) {
	rows, err := s.db.Pool.Query(ctx, `
		SELECT u.email, COALESCE(u.display_name, ''), u.is_active, m.team_id, m.role
		FROM users u LEFT JOIN team_members m ON m.user_id = u.id WHERE u.id = $1`, userID)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the user: %w", err))
	}
	defer rows.Close()
	c := &Caller{UserID: userID, Teams: map[int64]Role{}}
	found, active := false, false
	for rows.Next() {
		found = true
		var team *int64
		var role *string
		if err := rows.Scan(&c.Email, &c.DisplayName, &active, &team, &role); err != nil {
			return nil, fmt.Errorf("reading the user: %w", err)
		}
		if team != nil && role != nil {
			if c.Teams[*team], err = ParseRole(*role); err != nil {
				return nil, fmt.Errorf("reading the user's roles: %w", err)
			}
		}
	}
	switch err := rows.Err(); {
	case err != nil:
		return nil, db.Problem(fmt.Errorf("reading the user: %w", err))
	case !found:
		return nil, problem.New(problem.CodeNotFound, "user not found")
	case !active:
		return nil, problem.New(problem.CodeForbidden, "the user is not active")
	}
	return c, nil
}
