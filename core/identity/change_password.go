package identity

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// PasswordChange is the input of ChangePassword.
type PasswordChange struct {
	// Current is the present password.
	Current string
	NewPassword
}

// PasswordChangeResult is the result of ChangePassword.
type PasswordChangeResult struct {
	// Token is the session's new secret for the cookie, Devices the value for
	// the device cookie; both are "" for a caller without a session.
	Token, Devices string
	RevocationCounts
}

// ChangePassword gives the caller a new password, ends all other sessions of
// the user and forgets all other browsers. The caller's own session continues
// with a new token, because somebody may have copied the old one.
//
// A wrong present password is invalid at body.current and not unauthenticated:
// the session is valid, and clients log out on the latter. The problem is
// rate_limited after too many wrong ones.
func (s *Store) ChangePassword(ctx context.Context, caller *Caller, in PasswordChange, from Client) (*PasswordChangeResult, error) {
	own, err := s.account(ctx, "id = ?", caller.UserID)
	if err != nil {
		return nil, err
	}
	if own == nil || !own.IsActive {
		return nil, unauthenticated()
	}
	if err := checkReplacement(own, in.Current, in.Password); err != nil {
		return nil, err
	}
	r := replacement{caller: caller, own: own, from: from, revokeKeys: in.RevokeKeys}
	if r.tries, err = s.checkPresent(ctx, own, in.Current, "current"); err != nil {
		return nil, err
	}
	if r.hash, err = s.hasher.hash(ctx, preparePassword(in.Password)); err != nil {
		return nil, err
	}
	var done *PasswordChangeResult
	err = s.db.Tx(ctx, func(tx *db.Tx) error {
		done, err = s.replacePassword(ctx, tx, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}

// replacement is a new password, after the present one was verified.
type replacement struct {
	caller     *Caller
	own        *account
	from       Client
	hash       string
	tries      bucket
	revokeKeys bool
}

// checkPresent verifies the present password of a logged-in user. The fault of
// a wrong one is at the named field of the body. The caller forgives tries in
// the transaction that follows.
func (s *Store) checkPresent(ctx context.Context, own *account, password, field string) (tries bucket, err error) {
	tries = s.passwordBucket(own.ID)
	if err := s.charge(ctx, tries); err != nil {
		return tries, err
	}
	ok, _, err := s.hasher.verify(ctx, own.PasswordHash, preparePassword(password), true)
	if err != nil {
		s.giveBackLater(ctx, tries)
		return tries, err
	}
	if !ok {
		return tries, problem.InvalidField("is not the current password", "wrong_password", "body", field)
	}
	return tries, nil
}

// checkReplacement returns invalid for a new password that is too weak or equal
// to the present one.
func checkReplacement(own *account, current, replacement string) error {
	email, err := ParseEmail(own.Email)
	if err != nil {
		return fmt.Errorf("reading the account's own email address: %w", err)
	}
	if err := CheckPassword(replacement, email, "body", "new"); err != nil {
		return err
	}
	if preparePassword(current) == preparePassword(replacement) {
		return problem.InvalidField("must differ from the current password", "unchanged", "body", "new")
	}
	return nil
}

// replacePassword stores the new password and ends the other sessions of the
// account.
func (s *Store) replacePassword(ctx context.Context, tx *db.Tx, r replacement) (*PasswordChangeResult, error) {
	if err := forgive(ctx, tx, r.tries); err != nil {
		return nil, err
	}
	own := r.own
	// The row's lock is taken here: a log-in with the old password either
	// committed before, and loses its session below, or finds another hash than
	// the one it checked.
	updated, err := tx.Pgx.Exec(ctx, `UPDATE users SET password_hash = $1, updated_at = now()
		WHERE id = $2 AND is_active AND password_hash = $3`, r.hash, own.ID, own.PasswordHash)
	if err != nil {
		return nil, fmt.Errorf("storing the password: %w", err)
	}
	if updated.RowsAffected() == 0 {
		return nil, problem.New(problem.CodeConflict, "the account was changed at the same time; try again")
	}
	var done PasswordChangeResult
	if done.Sessions, err = RevokeOthers(ctx, tx, own.ID, r.caller.SessionID); err != nil {
		return nil, err
	}
	if err := forgetDevices(ctx, tx, own.ID); err != nil {
		return nil, err
	}
	if err := done.keys(ctx, tx, own.ID, r.revokeKeys); err != nil {
		return nil, err
	}
	if r.caller.SessionID != 0 {
		if err := s.renew(ctx, tx, r, &done); err != nil {
			return nil, err
		}
	}
	describeTarget(ctx, own.ID)
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetName = own.Email
		for name, value := range done.details() {
			addDetail(e, name, value)
		}
	})
	return &done, audit.Write(ctx, tx)
}

// renew gives the caller's session and browser new secrets.
func (s *Store) renew(ctx context.Context, tx *db.Tx, r replacement, done *PasswordChangeResult) (err error) {
	done.Token = newToken()
	renewed, err := tx.Pgx.Exec(ctx, "UPDATE sessions SET token_hash = $1 WHERE id = $2 AND user_id = $3", hashToken(done.Token),
		r.caller.SessionID, r.own.ID)
	if err != nil {
		return fmt.Errorf("renewing the session: %w", err)
	}
	if renewed.RowsAffected() == 0 {
		return unauthenticated() // it was revoked while the password was checked
	}
	done.Devices, _, err = s.remember(ctx, tx, r.own.ID, r.from)
	return err
}
