package identity

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// ChangePassword gives the caller a new password and ends all their other sessions. The caller's own session goes on
// under a new token, which is returned for the cookie; it is "" for a caller without a session.
//
// A wrong present password is a 422 at body.current and not a 401: the session is good and nobody has to log in again.
// Too many of them are rate_limited.
func (s *Store) ChangePassword(ctx context.Context, caller *Caller, current, replacement string) (token string, err error) {
	own, err := s.account(ctx, "id = ?", caller.UserID)
	if err != nil {
		return "", err
	}
	if own == nil || !own.IsActive {
		return "", unauthenticated()
	}
	if err := checkReplacement(own, current, replacement); err != nil {
		return "", err
	}
	tries, err := s.checkPresent(ctx, own, current, "current")
	if err != nil {
		return "", err
	}
	hash, err := s.hasher.hash(ctx, preparePassword(replacement))
	if err != nil {
		return "", err
	}
	if caller.SessionID != 0 {
		token = newToken()
	}
	err = s.db.Tx(ctx, func(tx *db.Tx) error { return replacePassword(ctx, tx, caller, own, hash, token, tries) })
	if err != nil {
		return "", err
	}
	return token, nil
}

// checkPresent proves the present password of a logged-in user; the fault of a wrong one is at that field of the body.
// tries is what the transaction that follows is to forgive.
func (s *Store) checkPresent(ctx context.Context, own *account, password, field string) (tries bucket, err error) {
	tries = s.passwordBucket(own.ID)
	if err := s.charge(ctx, tries); err != nil {
		return tries, err
	}
	ok, _, err := s.hasher.verify(ctx, own.PasswordHash, preparePassword(password))
	if err != nil {
		s.giveBackLater(ctx, tries)
		return tries, err
	}
	if !ok {
		return tries, problem.InvalidField("is not the present password", "wrong_password", "body", field)
	}
	return tries, nil
}

func checkReplacement(own *account, current, replacement string) error {
	email, err := ParseEmail(own.Email)
	if err != nil {
		return fmt.Errorf("reading the account's own e-mail address: %w", err)
	}
	if err := CheckPassword(replacement, email, "body", "new"); err != nil {
		return err
	}
	if preparePassword(current) == preparePassword(replacement) {
		return problem.InvalidField("must differ from the present password", "unchanged", "body", "new")
	}
	return nil
}

func replacePassword(ctx context.Context, tx *db.Tx, caller *Caller, own *account, hash, token string, tries bucket) error {
	if err := forgive(ctx, tx, tries); err != nil {
		return err
	}
	// The row's lock is taken here: a log-in with the old password either committed before, and loses its session
	// below, or finds another hash than the one it checked.
	updated := tx.Exec("UPDATE users SET password_hash = ?, updated_at = now() WHERE id = ? AND is_active AND password_hash = ?",
		hash, own.ID, own.PasswordHash)
	if updated.Error != nil {
		return fmt.Errorf("storing the password: %w", updated.Error)
	}
	if updated.RowsAffected == 0 {
		return problem.New(problem.CodeConflict, "the account was changed at the same time; try again")
	}
	ended, err := RevokeOthers(tx, own.ID, caller.SessionID)
	if err != nil {
		return err
	}
	if token != "" {
		renewed := tx.Exec("UPDATE sessions SET token_hash = ? WHERE id = ? AND user_id = ?", hashToken(token), caller.SessionID, own.ID)
		if renewed.Error != nil {
			return fmt.Errorf("renewing the session: %w", renewed.Error)
		}
		if renewed.RowsAffected == 0 {
			return unauthenticated() // it was revoked while the password was checked
		}
	}
	describeTarget(ctx, own.ID)
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetName = own.Email
		addDetail(e, "sessions_revoked", ended)
	})
	return audit.Write(ctx, tx)
}
