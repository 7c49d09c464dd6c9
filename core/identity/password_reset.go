package identity

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
)

// NewPassword is a new password, and the wish about API keys.
type NewPassword struct {
	Password string
	// RevokeKeys ends the API keys of the user too, all of them.
	RevokeKeys bool
}

// ResetPassword gives a user a new password without the old one, and ends all
// sessions of the user. The second factor stays. The wrong attempts of
// strangers are forgotten, because a locked account is a common reason for a
// reset. Problems: forbidden for a user with a higher role than the caller,
// invalid at body.password, not_found.
func (s *Store) ResetPassword(ctx context.Context, caller *Caller, id int64, in NewPassword) (*RevocationCounts, error) {
	u, err := s.regard(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	var email Email
	if u != nil {
		if email, err = ParseEmail(u.email); err != nil {
			return nil, fmt.Errorf("reading the user's email address: %w", err)
		}
	}
	if err := CheckPassword(in.Password, email, "body", "password"); err != nil {
		return nil, err
	}
	if u == nil {
		return nil, noUser()
	}
	hash, err := s.hasher.hash(ctx, preparePassword(in.Password))
	if err != nil {
		return nil, err
	}
	var ended *RevocationCounts
	err = s.db.Tx(ctx, func(tx *db.Tx) error {
		ended, err = s.resetPassword(ctx, tx, caller, u, hash, in.RevokeKeys)
		return err
	})
	if err != nil {
		return nil, err
	}
	return ended, nil
}

// resetPassword stores a new password that an admin has set, and ends all
// sessions of the user.
func (s *Store) resetPassword(ctx context.Context, tx *db.Tx, caller *Caller, u *subject, hash string, revokeKeys bool) (*RevocationCounts,
	error) {
	// Before the user's row, in the order in which a log-in locks them.
	if err := forgive(ctx, tx, s.accountBucket(u.emailKey)); err != nil {
		return nil, err
	}
	u, err := governUser(ctx, tx, caller, u.id)
	if err != nil {
		return nil, err
	}
	if _, err := tx.Pgx.Exec(ctx, "UPDATE users SET password_hash = $2, updated_at = now() WHERE id = $1", u.id, hash); err != nil {
		return nil, fmt.Errorf("storing the password: %w", err)
	}
	ended := &RevocationCounts{}
	if ended.Sessions, err = lockOut(ctx, tx, u.id); err != nil {
		return nil, err
	}
	if err := ended.keys(ctx, tx, u.id, revokeKeys); err != nil {
		return nil, err
	}
	u.describe(ctx, ended.details())
	return ended, audit.Write(ctx, tx)
}
