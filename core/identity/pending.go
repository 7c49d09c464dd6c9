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

// These bound a log-in that waits for its second factor. An account has at most
// maxPending of one origin; the oldest end beyond that, so that one client
// cannot push out those of another.
const (
	pendingLife  = 5 * time.Minute
	pendingTries = 5
	maxPending   = 100
)

// suspend ends the first step of a log-in with a second factor: the password
// was correct, and there is no session yet.
func (s *Store) suspend(ctx context.Context, p *proven) (*LoginResult, error) {
	in := &LoginResult{User: &p.account.User, Pending: newToken()}
	err := s.db.Tx(ctx, func(tx *db.Tx) error {
		if err := p.budget.settle(ctx, tx); err != nil {
			return err
		}
		updated, err := tx.Pgx.Exec(ctx, `UPDATE users SET password_hash = COALESCE(NULLIF($1, ''), password_hash)
			WHERE id = $2 AND is_active AND password_hash = $3 AND second_factor`, p.rehashed, p.account.ID, p.account.PasswordHash)
		if err != nil {
			return fmt.Errorf("recording the first step of a log-in: %w", err)
		}
		if updated.RowsAffected() == 0 {
			return invalidCredentials()
		}
		if err := insertPending(ctx, tx, p.account.ID, in.Pending, p.budget.origin(), nil); err != nil {
			return err
		}
		describeTarget(ctx, p.account.ID)
		audit.Describe(ctx, func(e *audit.Entry) { e.Action, e.TargetName = "auth.login_password", p.account.Email })
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return in, nil
}

// insertPending stores a pending log-in. external is the provider's answer; nil
// after a password. The mark of the password makes it end when the password
// changes.
func insertPending(ctx context.Context, tx *db.Tx, userID int64, token, origin string, external *ExternalLogin) error {
	_, err := tx.Pgx.Exec(ctx, `
		INSERT INTO pending_logins (token_hash, user_id, password_mark, expires_at, origin, external)
		SELECT $1, id, sha256(convert_to(password_hash, 'UTF8')), now() + $3, $4, $5 FROM users WHERE id = $2`, hashToken(token), userID,
		pendingLife, origin, external)
	if err != nil {
		return fmt.Errorf("storing the log-in: %w", err)
	}
	_, err = tx.Pgx.Exec(ctx, `
		DELETE FROM pending_logins WHERE user_id = $1 AND token_hash IN (
			SELECT token_hash FROM pending_logins WHERE user_id = $1 AND origin = $2 ORDER BY created_at DESC, token_hash OFFSET $3)`,
		userID, origin, maxPending)
	if err != nil {
		return fmt.Errorf("ending the oldest log-ins: %w", err)
	}
	return nil
}

// LogInTOTP completes a pending log-in by a code of the second factor or a
// recovery code, and opens a session. Problems: invalid_credentials with the
// member tries_left for a wrong or used code; the same with tries_left 0 for a
// log-in that has ended, after which the password is needed again; rate_limited
// after too many wrong codes over all log-ins, counted as by LogIn.
func (s *Store) LogInTOTP(ctx context.Context, pending, code string, from Client) (*LoginResult, error) {
	return s.logInFactor(ctx, &factorTry{pending: pending}, from, func(t *factorTry) (err error) {
		if t.recovery = recoveryHash(code); t.recovery != nil {
			return nil
		}
		t.step = noStep
		if t.own.TOTPConfirmedAt != nil {
			if t.step, err = s.stepOf(t.own, code); err != nil {
				s.giveBackLater(ctx, t.budget.buckets()...)
				return err
			}
		}
		if t.step == noStep {
			return wrongCode(t.left)
		}
		return nil
	})
}

// logInFactor completes a pending log-in. check compares the factor with the
// account.
func (s *Store) logInFactor(ctx context.Context, t *factorTry, from Client, check func(*factorTry) error) (*LoginResult, error) {
	if err := s.chargePending(ctx, t, from); err != nil {
		return nil, err
	}
	describeTarget(ctx, t.userID)
	own, err := s.account(ctx, "id = ?", t.userID)
	if err != nil {
		s.giveBackLater(ctx, t.budget.buckets()...)
		return nil, err
	}
	if own == nil || !own.IsActive || !own.SecondFactor {
		return nil, loginOver()
	}
	t.own = own
	if err := check(t); err != nil {
		return nil, err
	}
	in := &LoginResult{User: &own.User, Token: newToken()}
	if err := s.db.Tx(ctx, func(tx *db.Tx) error { return s.complete(ctx, tx, t, in, from) }); err != nil {
		return nil, err
	}
	return in, nil
}

// factorTry is one code or one passkey, given for one pending log-in.
type factorTry struct {
	pending string
	userID  int64
	own     *account
	budget  budget
	// external is what a provider has said of the log-in; nil after a password.
	external *ExternalLogin
	// left is how many codes this log-in still takes.
	left int
	// passkey is set where it was one; recovery is the hash of what has the
	// form of a recovery code; else step is that of the right code.
	passkey  *PasskeyUse
	recovery []byte
	step     int64
}

// chargePending counts the attempt for the address, the account and the log-in
// before the code is looked at: a crash in between then costs an attempt and
// gives none away.
func (s *Store) chargePending(ctx context.Context, t *factorTry, from Client) error {
	over := false
	err := s.db.Tx(ctx, func(tx *db.Tx) error {
		over = false
		hash := hashToken(t.pending)
		err := pgx.ErrNoRows
		if isToken(t.pending) {
			err = tx.Pgx.QueryRow(ctx, `SELECT user_id, external FROM pending_logins
				WHERE token_hash = $1 AND expires_at > now() AND tries < $2`, hash, pendingTries).Scan(&t.userID, &t.external)
		}
		if errors.Is(err, pgx.ErrNoRows) {
			over = true // the try stays counted
			return s.chargeOne(ctx, tx, s.addressBucket(from.Address))
		}
		if err != nil {
			return fmt.Errorf("reading the log-in: %w", err)
		}
		if t.budget, err = s.budgetOf(ctx, tx.Pgx, "totp", "id", t.userID, from, s.totpBucket(t.userID)); err != nil {
			return err
		}
		if err := s.chargeAll(ctx, tx, t.budget.buckets()); err != nil {
			return err
		}
		var used int
		err = tx.Pgx.QueryRow(ctx, "UPDATE pending_logins SET tries = tries + 1 WHERE token_hash = $1 AND tries < $2 RETURNING tries",
			hash, pendingTries).Scan(&used)
		if errors.Is(err, pgx.ErrNoRows) {
			over = true
			return nil
		}
		if err != nil {
			return fmt.Errorf("counting the try: %w", err)
		}
		t.left = pendingTries - used
		return nil
	})
	if err == nil && over {
		return loginOver()
	}
	return err
}

// complete opens the session, if at this moment the account is active, its
// password and its second factor are still the verified ones, and the code is
// unused.
func (s *Store) complete(ctx context.Context, tx *db.Tx, t *factorTry, in *LoginResult, from Client) error {
	if t.external != nil {
		if err := t.external.begin(ctx, tx); err != nil {
			return err
		}
	}
	if err := giveBack(ctx, tx, t.budget.buckets()...); err != nil {
		return err
	}
	// The row's lock puts two uses of one code one after the other, and the
	// second finds the step taken.
	updated, err := tx.Pgx.Exec(ctx, `
		UPDATE users SET last_login_at = now(), totp_last_step = COALESCE($3, totp_last_step)
		WHERE id = $1 AND is_active AND second_factor AND totp_confirmed_at IS NOT DISTINCT FROM $2
			AND ($3::bigint IS NULL OR COALESCE(totp_last_step, 0) < $3)`,
		t.own.ID, t.own.TOTPConfirmedAt, t.usedStep())
	if err != nil {
		return fmt.Errorf("recording the log-in: %w", err)
	}
	if updated.RowsAffected() == 0 {
		return wrongCode(t.left)
	}
	ended, err := tx.Pgx.Exec(ctx, `
		DELETE FROM pending_logins p USING users u
		WHERE p.token_hash = $1 AND p.expires_at > now() AND u.id = p.user_id AND p.password_mark = sha256(convert_to(u.password_hash, 'UTF8'))`,
		hashToken(t.pending))
	if err != nil {
		return fmt.Errorf("ending the log-in's first step: %w", err)
	}
	if ended.RowsAffected() == 0 {
		return loginOver()
	}
	came := arrival{factor: FactorTOTP}
	details := map[string]any{"second_factor": "totp"}
	if t.passkey != nil {
		if err := t.passkey.use(ctx, tx); err != nil {
			return err
		}
		came.factor = FactorPasskey
		details = map[string]any{"second_factor": "passkey", "passkey": t.passkey.Passkey.Name}
	}
	if t.recovery != nil {
		left, err := useRecovery(ctx, tx, t.own.ID, t.recovery)
		if err != nil {
			return err
		}
		if left < 0 {
			return wrongCode(t.left)
		}
		came.factor = FactorRecovery
		details = map[string]any{"second_factor": "recovery code", "recovery_left": left}
	}
	if t.external != nil {
		came.provider = t.external.Provider
		if err := t.external.settle(ctx, tx, t.own.ID); err != nil {
			return err
		}
	}
	if err := s.insertSession(ctx, tx, t.own.ID, in.Token, came, from); err != nil {
		return err
	}
	if in.Devices, err = s.welcome(ctx, tx, in.User, came, from); err != nil {
		return err
	}
	describeActor(ctx, in.User)
	audit.Describe(ctx, func(e *audit.Entry) {
		for name, value := range details {
			addDetail(e, name, value)
		}
	})
	return audit.Write(ctx, tx)
}

// usedStep returns the TOTP step that the attempt uses up, or nil if it used
// another factor. A code must not work twice (RFC 6238 section 5.2).
func (t *factorTry) usedStep() *int64 {
	if t.recovery != nil || t.passkey != nil {
		return nil
	}
	return &t.step
}

// wrongCode returns the problem of a wrong second factor, with the number of
// attempts that are left.
func wrongCode(left int) error {
	// The count is shown, because a user who mistypes needs to know it, and an
	// attacker can count as well.
	return problem.New(problem.CodeInvalidCredentials, "the code is wrong or was already used").With("tries_left", left)
}

// loginOver returns the problem of a pending log-in that has ended.
func loginOver() error {
	return problem.New(problem.CodeInvalidCredentials, "this log-in has expired; start again").With("tries_left", 0)
}
