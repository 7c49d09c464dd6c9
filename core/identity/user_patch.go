package identity

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// UserChange lists the new values of a user; nil leaves a value unchanged.
type UserChange struct {
	// DisplayName "" clears the name.
	DisplayName *string
	// Active false also ends all sessions of the user at once.
	Active *bool
}

// Check returns the faults of the fields.
func (in UserChange) Check() error {
	_, err := checkDisplayName(in.DisplayName)
	return err
}

// PatchUser changes a user. Problems: forbidden for a user with a higher role
// than the caller, invalid, not_found, self_deactivate, last_owner.
func (s *Store) PatchUser(ctx context.Context, caller *Caller, id int64, in UserChange) (*Profile, error) {
	if err := s.MayManage(ctx, caller, id); err != nil {
		return nil, err
	}
	name, err := checkDisplayName(in.DisplayName)
	if err != nil {
		return nil, err
	}
	if in == (UserChange{}) {
		return nil, problem.InvalidField("nothing to change", "nothing_to_change", "body")
	}
	err = s.db.Tx(ctx, func(tx *db.Tx) error { return patchUser(ctx, tx, caller, id, in, name) })
	if err != nil {
		return nil, err
	}
	return s.Profile(ctx, id)
}

// patchUser changes a user in the given transaction. A deactivation also ends
// everything by which the user is logged in.
func patchUser(ctx context.Context, tx *db.Tx, caller *Caller, id int64, in UserChange, name *string) error {
	u, err := governUser(ctx, tx, caller, id)
	if err != nil {
		return err
	}
	details := map[string]any{}
	if in.Active != nil && !*in.Active {
		if caller != nil && caller.UserID == id {
			return problem.New(problem.CodeSelfDeactivate, "you cannot deactivate your own account; ask another admin")
		}
		if err := loseOwner(ctx, tx, u); err != nil {
			return err
		}
		if details["sessions_revoked"], err = lockOut(ctx, tx, id); err != nil {
			return err
		}
	}
	_, err = tx.Pgx.Exec(ctx, `UPDATE users SET display_name = CASE WHEN $2 THEN $3 ELSE display_name END, is_active = COALESCE($4,
		is_active),
		updated_at = now() WHERE id = $1`, id, in.DisplayName != nil, name, in.Active)
	if err != nil {
		return fmt.Errorf("changing the user: %w", err)
	}
	details["changed"] = in.changed()
	u.describe(ctx, details)
	return audit.Write(ctx, tx)
}

// changed lists the given fields for the audit entry.
func (in UserChange) changed() []any {
	var names []any
	if in.DisplayName != nil {
		names = append(names, "display_name")
	}
	if in.Active != nil {
		names = append(names, "is_active")
	}
	return names
}

// governUser begins every change of one user: it takes the lock, checks the
// caller's present right and locks the user.
func governUser(ctx context.Context, tx *db.Tx, caller *Caller, id int64) (*subject, error) {
	held, err := govern(ctx, tx, caller, Admin)
	if err != nil {
		return nil, err
	}
	u, err := lockSubject(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	return u, u.manageable(caller, held)
}

// lockOut ends the sessions, the pending log-ins and the known browsers of a
// user, and returns the number of sessions. The caller holds the user's row: a
// log-in at the same moment waits for it and then finds the user changed.
func lockOut(ctx context.Context, tx *db.Tx, id int64) (int64, error) {
	if _, err := tx.Pgx.Exec(ctx, "DELETE FROM pending_logins WHERE user_id = $1", id); err != nil {
		return 0, fmt.Errorf("ending log-ins that wait for their second factor: %w", err)
	}
	if err := forgetDevices(ctx, tx, id); err != nil {
		return 0, err
	}
	return RevokeOthers(ctx, tx, id, 0)
}
