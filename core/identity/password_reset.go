package identity

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
)

// ResetPassword gives a user a new password without the old one and ends all the user's sessions; it says how many. The
// second factor stays as it is, and wrong log-in tries of the account are forgotten. Problems: forbidden for a user with
// a higher role than the caller, invalid at body.password, not_found.
func (s *Store) ResetPassword(ctx context.Context, caller *Caller, id int64, password string) (ended int64, err error) {
	u, err := s.regard(ctx, caller, id)
	if err != nil {
		return 0, err
	}
	var email Email
	if u != nil {
		if email, err = ParseEmail(u.email); err != nil {
			return 0, fmt.Errorf("reading the user's e-mail address: %w", err)
		}
	}
	if err := CheckPassword(password, email, "body", "password"); err != nil {
		return 0, err
	}
	if u == nil {
		return 0, noUser()
	}
	hash, err := s.hasher.hash(ctx, preparePassword(password))
	if err != nil {
		return 0, err
	}
	err = s.db.Tx(ctx, func(tx *db.Tx) error {
		ended, err = s.resetPassword(ctx, tx, caller, u, hash)
		return err
	})
	return ended, err
}

func (s *Store) resetPassword(ctx context.Context, tx *db.Tx, caller *Caller, u *subject, hash string) (ended int64, err error) {
	// Before the user's row, in the order in which a log-in locks them.
	if err := forgive(ctx, tx, s.accountBucket(u.emailKey)); err != nil {
		return 0, err
	}
	if u, err = governUser(ctx, tx, caller, u.id); err != nil {
		return 0, err
	}
	if _, err := tx.Pgx.Exec(ctx, "UPDATE users SET password_hash = $2, updated_at = now() WHERE id = $1", u.id, hash); err != nil {
		return 0, fmt.Errorf("storing the password: %w", err)
	}
	if ended, err = lockOut(tx, u.id); err != nil {
		return 0, err
	}
	u.describe(ctx, map[string]any{"sessions_revoked": ended})
	return ended, audit.Write(ctx, tx)
}
