package identity

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/notify"
	"github.com/hostler/hostler/core/problem"
)

// Limits of passkeys.
const (
	// MaxPasskeys is how many passkeys an account may have.
	MaxPasskeys = 20
	// MaxPasskeyName is how long the name of one may be, in characters.
	MaxPasskeyName = 100
	// handleBytes is how long an account's handle is: the most that WebAuthn
	// allows (section 5.4.3), so that it tells nothing.
	handleBytes = 64
)

// Passkey is the public half of a WebAuthn key pair with which its user logs
// in. Package passkey implements the protocol; this package only stores.
type Passkey struct {
	ID   int64
	User int64
	Name string
	// Credential is by what the authenticator knows it.
	Credential []byte
	// PublicKey is in the form of COSE.
	PublicKey []byte
	// SignCount is how often it was used, as the authenticator says; 0 for ever
	// where copies are kept on several devices.
	SignCount  uint32
	Transports []string
	// UserVerified says that the authenticator has asked for a finger, a face
	// or a PIN when it was made.
	UserVerified bool
	// BackupEligible says that copies of it may be kept, BackedUp that there
	// was one when it was used last.
	BackupEligible, BackedUp bool
	CreatedAt                time.Time
	LastUsedAt               *time.Time
}

// passkeyColumns are those of a Passkey, in its order.
const passkeyColumns = `id, user_id, name, credential_id, public_key, sign_count, transports, user_verified, backup_eligible, backed_up,
	created_at, last_used_at`

// Passkeys returns the passkeys of a user, the oldest first.
func (s *Store) Passkeys(ctx context.Context, userID int64) ([]Passkey, error) {
	rows, err := s.db.Pool.Query(ctx, "SELECT "+passkeyColumns+" FROM passkeys WHERE user_id = $1 ORDER BY id", userID)
	var all []Passkey
	if err == nil {
		all, err = db.CollectRows(rows, pgx.RowToStructByPos[Passkey])
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing passkeys: %w", err))
	}
	return all, nil
}

// PasskeyOwner is an account with its passkeys and the handle by which
// authenticators know it.
type PasskeyOwner struct {
	User     User
	Handle   []byte
	Passkeys []Passkey
}

// PasskeyOwnerOf finds the account of a passkey by the authenticator's id of
// it; nil if there is none.
func (s *Store) PasskeyOwnerOf(ctx context.Context, credential []byte) (*PasskeyOwner, error) {
	return s.passkeyOwner(ctx, "id = (SELECT user_id FROM passkeys WHERE credential_id = $1)", credential)
}

// PasskeyOwnerPending finds the account of a pending log-in; nil if there is
// none or it has ended.
func (s *Store) PasskeyOwnerPending(ctx context.Context, pending string) (*PasskeyOwner, error) {
	if !isToken(pending) {
		return nil, nil
	}
	return s.passkeyOwner(ctx, `id = (SELECT user_id FROM pending_logins WHERE token_hash = $1 AND expires_at > now() AND tries < $2)`,
		hashToken(pending), pendingTries)
}

// passkeyOwner returns the active account that meets the condition; nil for
// none.
func (s *Store) passkeyOwner(ctx context.Context, where string, args ...any) (*PasskeyOwner, error) {
	o := &PasskeyOwner{}
	err := s.db.Pool.QueryRow(ctx, "SELECT id, email, display_name, has_password, passkey_handle FROM users WHERE is_active AND "+where,
		args...).Scan(&o.User.ID, &o.User.Email, &o.User.DisplayName, &o.User.HasPassword, &o.Handle)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the passkey's owner: %w", err))
	}
	o.Passkeys, err = s.Passkeys(ctx, o.User.ID)
	return o, err
}

// PreparePasskey verifies the caller's password, if the account has one, and
// gives the account its handle. The password is needed because a stolen session
// must not add a way in that outlives it. Problems: invalid at body.password
// for a wrong one, rate_limited after ten within 15 minutes, invalid_state for
// an API key and for an account with MaxPasskeys.
func (s *Store) PreparePasskey(ctx context.Context, caller *Caller, password string) (*PasskeyOwner, error) {
	if caller.SessionID == 0 {
		return nil, problem.New(problem.CodeInvalidState, "a passkey can only be added in a session, not with an API key")
	}
	if err := s.proveOwn(ctx, caller, password); err != nil {
		return nil, err
	}
	_, err := s.db.Pool.Exec(ctx, "UPDATE users SET passkey_handle = $2 WHERE id = $1 AND passkey_handle IS NULL", caller.UserID,
		randomBytes(handleBytes))
	if err != nil {
		return nil, db.Problem(fmt.Errorf("creating the account's handle: %w", err))
	}
	o, err := s.passkeyOwner(ctx, "id = $1", caller.UserID)
	switch {
	case err != nil:
		return nil, err
	case o == nil:
		return nil, unauthenticated()
	case len(o.Passkeys) >= MaxPasskeys:
		return nil, tooManyPasskeys()
	}
	return o, nil
}

// proveOwn verifies the caller's present password. An account without a
// password has nothing to verify.
func (s *Store) proveOwn(ctx context.Context, caller *Caller, password string) error {
	own, err := s.ownAccount(ctx, caller)
	if err != nil || !own.HasPassword {
		return err
	}
	tries, err := s.checkPresent(ctx, own, password, "password")
	if err != nil {
		return err
	}
	return s.db.Tx(ctx, func(tx *db.Tx) error { return forgive(ctx, tx, tries) })
}

// tooManyPasskeys returns the problem of an account with MaxPasskeys passkeys.
func tooManyPasskeys() error {
	return problem.New(problem.CodeInvalidState, "the account already has %d passkeys; delete one first", MaxPasskeys)
}

// AddPasskeyResult is kept for the answer to a repeated AddPasskey.
type AddPasskeyResult struct {
	Passkey Passkey
	Codes   []string
}

// AddPasskey stores a verified passkey for the caller's account. If it is the
// first second factor, it returns recovery codes, which are shown only now;
// else nil. The problem is invalid_state for a passkey that is stored already,
// and for an account with MaxPasskeys. The user gets a message, because a
// passkey is a new way in.
func (s *Store) AddPasskey(ctx context.Context, caller *Caller, p *Passkey) (codes []string, err error) {
	if p.Name, err = checkPasskeyName(p.Name); err != nil {
		return nil, err
	}
	err = s.db.Tx(ctx, func(tx *db.Tx) error {
		codes = nil
		user, err := lockUser(ctx, tx, "is_active AND id = $1", caller.UserID)
		if errors.Is(err, pgx.ErrNoRows) {
			return unauthenticated()
		}
		if err != nil {
			return err
		}
		if user.Passkeys >= MaxPasskeys {
			return tooManyPasskeys()
		}
		err = tx.Pgx.QueryRow(ctx, `INSERT INTO passkeys (user_id, name, credential_id, public_key, sign_count, transports, user_verified,
				backup_eligible, backed_up) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id, created_at`, user.ID, p.Name,
			p.Credential, p.PublicKey, p.SignCount, append([]string{}, p.Transports...), p.UserVerified, p.BackupEligible, p.BackedUp).
			Scan(&p.ID, &p.CreatedAt)
		if db.IsDuplicate(err, "passkeys_credential") {
			return problem.New(problem.CodeInvalidState, "this passkey is already registered")
		}
		if err != nil {
			return fmt.Errorf("storing a passkey: %w", err)
		}
		p.User = user.ID
		if _, err := tx.Pgx.Exec(ctx, "UPDATE users SET passkeys = passkeys + 1, updated_at = now() WHERE id = $1", user.ID); err != nil {
			return fmt.Errorf("counting passkeys: %w", err)
		}
		if !user.SecondFactor {
			codes = newRecoveryCodes()
			if err := replaceRecovery(ctx, tx, user.ID, codes); err != nil {
				return err
			}
		}
		if err := idempotency.SaveData(ctx, AddPasskeyResult{*p, codes}); err != nil {
			return err
		}
		err = notify.Write(ctx, tx.Pgx, notify.Event{Kind: notify.NewLogin, State: notify.OneTime, Severity: "warning", UserID: &user.ID,
			Title: "New passkey for your account", Link: "/account",
			Body: fmt.Sprintf("The passkey %q was added to %s: whoever has it can log in.\n\nIf this was not you, change your "+
				"password, end all sessions and delete the passkey.", p.Name, user.Email)})
		if err != nil {
			return err
		}
		return writePasskey(ctx, tx, caller, p.ID, p.Name)
	})
	if err != nil {
		return nil, err
	}
	return codes, nil
}

// writePasskey writes the audit entry of a change of one of the caller's
// passkeys.
func writePasskey(ctx context.Context, tx *db.Tx, caller *Caller, id int64, name string) error {
	describeTarget(ctx, caller.UserID)
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetName = caller.Email
		addDetail(e, "passkey", strconv.FormatInt(id, 10)+" "+name)
	})
	return audit.Write(ctx, tx)
}

// checkPasskeyName returns the cleaned name of a passkey, or invalid.
func checkPasskeyName(name string) (string, error) {
	name = line(name)
	if name == "" || utf8.RuneCountInString(name) > MaxPasskeyName {
		return "", problem.InvalidField(fmt.Sprintf("must have 1 to %d characters", MaxPasskeyName), "length", "body", "name")
	}
	return name, nil
}

// RenamePasskey renames one of the caller's passkeys. The problem is not_found,
// also for a passkey of another user.
func (s *Store) RenamePasskey(ctx context.Context, caller *Caller, id int64, name string) (*Passkey, error) {
	name, err := checkPasskeyName(name)
	if err != nil {
		return nil, err
	}
	var p Passkey
	err = s.db.Tx(ctx, func(tx *db.Tx) error {
		rows, err := tx.Pgx.Query(ctx, "UPDATE passkeys SET name = $3 WHERE user_id = $1 AND id = $2 RETURNING "+passkeyColumns,
			caller.UserID, id, name)
		if err == nil {
			p, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Passkey])
		}
		if errors.Is(err, pgx.ErrNoRows) {
			return noPasskey()
		}
		if err != nil {
			return fmt.Errorf("renaming a passkey: %w", err)
		}
		return writePasskey(ctx, tx, caller, id, name)
	})
	if err != nil {
		return nil, err
	}
	return &p, nil
}

// DeletePasskey deletes one of the caller's passkeys. The recovery codes go
// with the last second factor. Problems: invalid at body.password for a wrong
// password (an account without one needs none), invalid_state for an API key,
// not_found, also for a passkey of another user.
func (s *Store) DeletePasskey(ctx context.Context, caller *Caller, id int64, password string) error {
	if err := s.proveOwn(ctx, caller, password); err != nil {
		return err
	}
	return s.db.Tx(ctx, func(tx *db.Tx) error {
		if _, err := lockUser(ctx, tx, "id = $1", caller.UserID); err != nil {
			return err
		}
		var name string
		err := tx.Pgx.QueryRow(ctx, "DELETE FROM passkeys WHERE id = $2 AND user_id = $1 RETURNING name", caller.UserID, id).Scan(&name)
		if errors.Is(err, pgx.ErrNoRows) {
			return noPasskey()
		}
		if err != nil {
			return fmt.Errorf("deleting a passkey: %w", err)
		}
		if caller.SessionID == 0 {
			return problem.New(problem.CodeInvalidState, "a passkey can only be deleted in a session, not with an API key")
		}
		if _, err := tx.Pgx.Exec(ctx, "UPDATE users SET passkeys = passkeys - 1, updated_at = now() WHERE id = $1", caller.UserID); err != nil {
			return fmt.Errorf("counting passkeys: %w", err)
		}
		if err := forgetCodes(ctx, tx, caller.UserID); err != nil {
			return err
		}
		return writePasskey(ctx, tx, caller, id, name)
	})
}

// noPasskey returns the problem of an unknown passkey.
func noPasskey() error { return problem.New(problem.CodeNotFound, "passkey not found") }

// PasskeyUse is one use of a passkey, after its signature was verified.
type PasskeyUse struct {
	Passkey *Passkey
	// SignCount and BackedUp are as the authenticator says now.
	SignCount uint32
	BackedUp  bool
}

// use stores the use. It fails if the passkey is gone, or if another log-in has
// reached the same count: of two log-ins with one signature, or with a copied
// key, only one succeeds (WebAuthn, section 6.1.1). A count of zero for ever is
// allowed, because synchronised passkeys do not count.
func (u *PasskeyUse) use(ctx context.Context, tx *db.Tx) error {
	used, err := tx.Pgx.Exec(ctx, `UPDATE passkeys SET sign_count = $2, backed_up = $3, last_used_at = now()
		WHERE id = $1 AND (sign_count < $2 OR sign_count = 0 AND $2 = 0)`, u.Passkey.ID, int64(u.SignCount), u.BackedUp)
	if err != nil {
		return fmt.Errorf("recording the use of a passkey: %w", err)
	}
	if used.RowsAffected() == 0 {
		return refused("this passkey is no longer registered, or was used at the same time; start again")
	}
	return nil
}

// LogInPasskey opens a session by a passkey alone, verified together with a
// finger, a face or a PIN. The problem is invalid_credentials for an inactive
// account, and for one without a password: its provider decides whether the
// user may still come in.
func (s *Store) LogInPasskey(ctx context.Context, use PasskeyUse, from Client) (*LoginResult, error) {
	in := &LoginResult{Token: newToken()}
	describeTarget(ctx, use.Passkey.User)
	err := s.db.Tx(ctx, func(tx *db.Tx) error {
		user, err := lockUser(ctx, tx, "id = $1", use.Passkey.User)
		if errors.Is(err, pgx.ErrNoRows) {
			return refused("this passkey is not registered here")
		}
		if err != nil {
			return err
		}
		switch {
		case !user.IsActive:
			return refused("the account is inactive")
		case !user.HasPassword:
			return refused("the account has no password: log in with its provider, where the passkey is the second factor")
		}
		if err := use.use(ctx, tx); err != nil {
			return err
		}
		in.User = user
		if _, err := tx.Pgx.Exec(ctx, "UPDATE users SET last_login_at = now() WHERE id = $1", user.ID); err != nil {
			return fmt.Errorf("recording the log-in: %w", err)
		}
		came := arrival{factor: FactorPasskey, alone: true}
		if err := s.insertSession(ctx, tx, user.ID, in.Token, came, from); err != nil {
			return err
		}
		if in.Devices, err = s.welcome(ctx, tx, user, came, from); err != nil {
			return err
		}
		describeActor(ctx, user)
		audit.Describe(ctx, func(e *audit.Entry) { addDetail(e, "passkey", use.Passkey.Name) })
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	s.pruneQuietly(ctx)
	return in, nil
}

// LogInPasskeyPending completes a pending log-in by a verified passkey. Its
// problems are those of LogInTOTP.
func (s *Store) LogInPasskeyPending(ctx context.Context, pending string, use PasskeyUse, from Client) (*LoginResult, error) {
	return s.logInFactor(ctx, &factorTry{pending: pending, passkey: &use}, from, func(t *factorTry) error {
		if t.own.ID != use.Passkey.User {
			return refused("this passkey belongs to another account")
		}
		return nil
	})
}
