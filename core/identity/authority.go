package identity

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// govern begins every change of users, teams or members. It takes one lock that
// all such changes hold until their transaction ends, and reads the caller's
// instance role again, because the caller may have lost it since the request
// began. Problems: forbidden for a role below least, unauthenticated if the
// account has ended. A nil caller is the system, which may do everything.
//
// The lock is the row of the default team, in the mode FOR NO KEY UPDATE:
// foreign keys to that row take FOR KEY SHARE, so that adding hosts or members
// to the team does not wait.
func govern(ctx context.Context, tx *db.Tx, caller *Caller, least Role) (Role, error) {
	if _, err := tx.Pgx.Exec(ctx, "SELECT FROM teams WHERE id = $1 FOR NO KEY UPDATE", DefaultTeam); err != nil {
		return NoRole, fmt.Errorf("waiting for other changes of users and teams: %w", err)
	}
	if caller == nil {
		return Owner, nil
	}
	var name *string
	err := tx.Pgx.QueryRow(ctx, `SELECT m.role FROM users u LEFT JOIN team_members m ON m.user_id = u.id AND m.team_id = $2
		WHERE u.id = $1 AND u.is_active`, caller.UserID, DefaultTeam).Scan(&name)
	if errors.Is(err, pgx.ErrNoRows) {
		return NoRole, unauthenticated()
	}
	if err != nil {
		return NoRole, fmt.Errorf("reading the caller's role: %w", err)
	}
	held := NoRole
	if name != nil {
		if held, err = ParseRole(*name); err != nil {
			return NoRole, fmt.Errorf("reading the caller's role: %w", err)
		}
	}
	if held < least {
		return held, tooLow(least)
	}
	return held, nil
}

// mayGive refuses to give a role above the caller's own. The caller could not
// take it back.
func mayGive(held, given Role) error {
	if given > held {
		return tooLow(given)
	}
	return nil
}

// tooLow returns the problem of a caller whose instance role is not high
// enough.
func tooLow(needed Role) *problem.Error {
	return problem.New(problem.CodeForbidden, "this requires the role %s", needed).With("role", needed.String())
}

// instance returns the caller's instance role at the beginning of the request,
// Owner for the system.
func instance(caller *Caller) Role {
	if caller == nil {
		return Owner
	}
	return caller.Instance()
}

// subject is the user whom a change concerns.
type subject struct {
	id       int64
	email    string
	emailKey string
	active   bool
	// highest is the user's highest role in any team, home the one in the default team.
	highest, home Role
}

// rower is a pool or a transaction.
type rower interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// selectSubject selects the user $1 with all roles, and the role in the team
// $2.
const selectSubject = `SELECT id, email, email_key, is_active, ARRAY(SELECT role FROM team_members m WHERE m.user_id = u.id),
	(SELECT role FROM team_members m WHERE m.user_id = u.id AND m.team_id = $2) FROM users u WHERE id = $1`

// readSubject reads a user. lock is appended to the statement. The problem is
// not_found.
func readSubject(ctx context.Context, from rower, id int64, lock string) (*subject, error) {
	u := &subject{}
	var roles []string
	var home *string
	err := from.QueryRow(ctx, selectSubject+lock, id, DefaultTeam).Scan(&u.id, &u.email, &u.emailKey, &u.active, &roles, &home)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, noUser()
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the user: %w", err))
	}
	for _, name := range roles {
		role, err := ParseRole(name)
		if err != nil {
			return nil, fmt.Errorf("reading the user's roles: %w", err)
		}
		u.highest = max(u.highest, role)
		if home != nil && *home == name {
			u.home = role
		}
	}
	return u, nil
}

// lockSubject reads the user and keeps the row from changing until the
// transaction ends. govern goes before it: the roles are then those that hold.
func lockSubject(ctx context.Context, tx *db.Tx, id int64) (*subject, error) {
	return readSubject(ctx, tx.Pgx, id, " FOR UPDATE OF u")
}

// manageable refuses a caller to change a user who has, in whatever team, a
// higher role than the caller in the instance: a new password would make that
// role the caller's. One's own account is no exception to anything but this.
func (u *subject) manageable(caller *Caller, held Role) error {
	if caller != nil && caller.UserID == u.id {
		return nil
	}
	if u.highest > held {
		return problem.New(problem.CodeForbidden, "the user has a higher role than you in the instance; this requires the role %s",
			u.highest).
			With("role", u.highest.String())
	}
	return nil
}

// describe makes the user the target of the audit entry.
func (u *subject) describe(ctx context.Context, details map[string]any) {
	describeTarget(ctx, u.id)
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetName = u.email
		addDetails(e, details)
	})
}

// addDetails adds details and keeps those that the entry has, such as the API
// key of the caller.
func addDetails(e *audit.Entry, details map[string]any) {
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	for key, value := range details {
		e.Details[key] = value
	}
}

// MayManage returns the problem forbidden if the user has a higher role than
// the caller. It is called before the input is checked, so that a caller
// without the right learns nothing from faults. An unknown user is no error
// here; the change itself reports it.
func (s *Store) MayManage(ctx context.Context, caller *Caller, id int64) error {
	_, err := s.regard(ctx, caller, id)
	return err
}

// regard is MayManage and returns the user too, nil if unknown.
func (s *Store) regard(ctx context.Context, caller *Caller, id int64) (*subject, error) {
	u, err := readSubject(ctx, s.db.Pool, id, "")
	if err != nil {
		if problem.CodeOf(err) == problem.CodeNotFound {
			return nil, nil
		}
		return nil, err
	}
	u.describe(ctx, nil)
	return u, u.manageable(caller, instance(caller))
}

// noUser returns the problem of an unknown user.
func noUser() error { return problem.New(problem.CodeNotFound, "user not found") }
