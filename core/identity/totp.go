package identity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
)

// SealedTable is the column with the secrets of second factors, for the rotation of
// keys.
var SealedTable = secret.Table{Name: "users", Column: "totp_secret", Key: []string{"id"}}

// These are the parameters of codes (RFC 6238): six digits, valid for 30 s and
// for one step before and after, because clocks differ.
const (
	issuer     = "Hostler"
	stepLength = 30
	stepSkew   = 1
	// noStep says that a code is right for no step.
	noStep int64 = -1
)

// Enrolment is a second factor before its confirmation. All of it is secret and
// is shown once.
type Enrolment struct {
	// Secret is the shared secret in base32, URI the same for an authenticator
	// app, QR the URI as an SVG picture.
	Secret, URI, QR string
	RecoveryCodes   []string
}

// EnrollTOTP begins a second factor for the caller. It has no effect until
// ConfirmTOTP, and another call replaces it. The problem is invalid_state if an
// authenticator app or a passkey is active, because a session alone must
// neither replace recovery codes that somebody keeps nor weaken the second
// factor; and for an API key, because whoever finds a key must not lock its
// user out.
func (s *Store) EnrollTOTP(ctx context.Context, caller *Caller) (*Enrolment, error) {
	if err := sessionOnly(caller); err != nil {
		return nil, err
	}
	if s.config.Keys == nil {
		return nil, errors.New("enrolling a second factor: the store has no keys to encrypt its secret")
	}
	key, err := totp.Generate(totp.GenerateOpts{
		Issuer: issuer, AccountName: caller.Email, Period: stepLength, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1,
	})
	if err != nil {
		return nil, fmt.Errorf("generating the secret of a second factor: %w", err)
	}
	picture, err := qrSVG(key.URL())
	if err != nil {
		return nil, err
	}
	e := &Enrolment{Secret: key.Secret(), URI: key.URL(), QR: picture, RecoveryCodes: newRecoveryCodes()}
	err = s.db.Tx(ctx, func(tx *db.Tx) error {
		sealed, err := s.config.Keys.Seal(secret.New(e.Secret), seedPlace(caller.UserID))
		if err != nil {
			return fmt.Errorf("encrypting the secret of a second factor: %w", err)
		}
		updated, err := tx.Pgx.Exec(ctx, `UPDATE users SET totp_secret = $2, totp_last_step = NULL, updated_at = now()
			WHERE id = $1 AND is_active AND NOT second_factor`, caller.UserID, sealed)
		if err != nil {
			return fmt.Errorf("storing the secret of a second factor: %w", err)
		}
		if updated.RowsAffected() == 0 {
			return problem.New(problem.CodeInvalidState, "a second factor is already enabled; disable it first")
		}
		if err := replaceRecovery(ctx, tx, caller.UserID, e.RecoveryCodes); err != nil {
			return err
		}
		return writeOwn(ctx, tx, caller)
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// ConfirmTOTP activates the enrolled second factor by one of its codes.
// Problems: invalid at body.code for a wrong code (the session is valid, so it
// is not unauthenticated), invalid_state without an enrolment, with an active
// one and for an API key, rate_limited after too many wrong codes.
func (s *Store) ConfirmTOTP(ctx context.Context, caller *Caller, code string, from Client) error {
	if err := sessionOnly(caller); err != nil {
		return err
	}
	own, err := s.ownAccount(ctx, caller)
	if err != nil {
		return err
	}
	if own.SecondFactor || own.TOTPSecret == nil {
		return problem.New(problem.CodeInvalidState, "no second factor to confirm; enrol one first")
	}
	address, tries := s.addressBucket(from.Address), s.confirmBucket(own.ID)
	if err := s.charge(ctx, address, tries); err != nil {
		return err
	}
	step, err := s.stepOf(own, code)
	if err != nil {
		s.giveBackLater(ctx, address, tries)
		return err
	}
	if step == noStep {
		return problem.InvalidField("is not the code that the authenticator shows now", "wrong_code", "body", "code")
	}
	return s.db.Tx(ctx, func(tx *db.Tx) error {
		if err := giveBack(ctx, tx, address); err != nil {
			return err
		}
		if err := forgive(ctx, tx, tries); err != nil {
			return err
		}
		// The secret is compared too: another enrolment may have replaced it.
		// Its step is used up with it.
		updated, err := tx.Pgx.Exec(ctx, `UPDATE users SET totp_confirmed_at = now(), totp_last_step = $3, updated_at = now()
			WHERE id = $1 AND is_active AND NOT second_factor AND totp_secret = $2`, own.ID, own.TOTPSecret, step)
		if err != nil {
			return fmt.Errorf("enabling the second factor: %w", err)
		}
		if updated.RowsAffected() == 0 {
			return problem.New(problem.CodeInvalidState, "the second factor was changed at the same time")
		}
		return writeOwn(ctx, tx, caller)
	})
}

// DisableTOTP removes the caller's authenticator app and its secret, and the
// recovery codes if no passkey remains for which they could stand. Pending
// log-ins end. Problems: invalid at body.password for a wrong password,
// invalid_state without an authenticator app.
func (s *Store) DisableTOTP(ctx context.Context, caller *Caller, password string) error {
	own, err := s.ownAccount(ctx, caller)
	if err != nil {
		return err
	}
	tries, err := s.checkPresent(ctx, own, password, "password")
	if err != nil {
		return err
	}
	return s.db.Tx(ctx, func(tx *db.Tx) error {
		if err := forgive(ctx, tx, tries); err != nil {
			return err
		}
		updated, err := tx.Pgx.Exec(ctx, `
			UPDATE users SET totp_secret = NULL, totp_confirmed_at = NULL, totp_last_step = NULL, updated_at = now()
			WHERE id = $1 AND is_active AND password_hash = $2 AND totp_secret IS NOT NULL`, own.ID, own.PasswordHash)
		if err != nil {
			return fmt.Errorf("disabling the second factor: %w", err)
		}
		if updated.RowsAffected() == 0 {
			return problem.New(problem.CodeInvalidState, "no second factor to disable")
		}
		if err := forgetCodes(ctx, tx, own.ID); err != nil {
			return err
		}
		return writeOwn(ctx, tx, caller)
	})
}

// forgetCodes deletes the recovery codes if no second factor remains, and ends
// pending log-ins.
func forgetCodes(ctx context.Context, tx *db.Tx, userID int64) error {
	var left bool
	if err := tx.Pgx.QueryRow(ctx, "SELECT second_factor FROM users WHERE id = $1", userID).Scan(&left); err != nil {
		return fmt.Errorf("counting the remaining second factors: %w", err)
	}
	if !left {
		return forgetFactor(ctx, tx, userID)
	}
	return endPending(ctx, tx, userID)
}

// forgetFactor deletes the recovery codes and ends pending log-ins.
func forgetFactor(ctx context.Context, tx *db.Tx, userID int64) error {
	if err := replaceRecovery(ctx, tx, userID, nil); err != nil {
		return err
	}
	return endPending(ctx, tx, userID)
}

// endPending ends the user's log-ins that wait for a second factor, because it
// has changed.
func endPending(ctx context.Context, tx *db.Tx, userID int64) error {
	if _, err := tx.Pgx.Exec(ctx, "DELETE FROM pending_logins WHERE user_id = $1", userID); err != nil {
		return fmt.Errorf("ending log-ins that wait for a code: %w", err)
	}
	return nil
}

// sessionOnly refuses an API key. A key that could enrol a second factor could
// lock its owner out.
func sessionOnly(caller *Caller) error {
	if caller.SessionID == 0 {
		return problem.New(problem.CodeInvalidState, "a second factor can only be enrolled in a session, not with an API key")
	}
	return nil
}

// ownAccount reads the caller's account as it is now. The problem is
// unauthenticated if it has ended.
func (s *Store) ownAccount(ctx context.Context, caller *Caller) (*account, error) {
	own, err := s.account(ctx, "id = ?", caller.UserID)
	if err != nil {
		return nil, err
	}
	if own == nil || !own.IsActive {
		return nil, unauthenticated()
	}
	return own, nil
}

// writeOwn writes the audit entry of a change of the caller's own account.
func writeOwn(ctx context.Context, tx *db.Tx, caller *Caller) error {
	describeTarget(ctx, caller.UserID)
	audit.Describe(ctx, func(e *audit.Entry) { e.TargetName = caller.Email })
	return audit.Write(ctx, tx)
}

// seedPlace is the binding of a sealed TOTP secret.
func seedPlace(userID int64) secret.Binding {
	return secret.Binding{Table: SealedTable.Name, Column: SealedTable.Column, Row: secret.Row(userID)}
}

// stepOf returns the step for which the code is correct, within stepSkew of
// now; noStep for a wrong code. It compares with all steps in any case, so that
// the time does not show which one matched. The error means that the secret
// cannot be opened; without the key nobody gets in by a code.
func (s *Store) stepOf(own *account, code string) (int64, error) {
	seed, err := s.openSeed(own)
	if err != nil {
		s.log.Error("cannot check a second factor: its secret cannot be decrypted", "user_id", own.ID, "error", err)
		return noStep, problem.New(problem.CodeInternal, "the second factor cannot be checked; "+
			"see the service's log for the reason").WithCause(err)
	}
	code = plainCode(code)
	found, now := noStep, time.Now().Unix()/stepLength
	for step := now - stepSkew; step <= now+stepSkew; step++ {
		ok, err := hotp.ValidateCustom(code, uint64(step), seed.Reveal(), hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if ok && err == nil { // the only error is a code of another length
			found = step
		}
	}
	return found, nil
}

// openSeed opens the sealed TOTP secret of an account.
func (s *Store) openSeed(own *account) (secret.String, error) {
	if s.config.Keys == nil {
		return secret.String{}, errors.New("the store has no keys")
	}
	return s.config.Keys.Open(own.TOTPSecret, seedPlace(own.ID))
}
