package identity_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/internal/waittest"
)

// between makes the change in a transaction that is open while act runs, commits it when act waits for it or is done, and
// returns what act made of it.
func between(t *testing.T, d *db.DB, change string, id int64, act func(context.Context) error) error {
	t.Helper()
	ctx := t.Context()
	tx, err := d.Pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := tx.Exec(ctx, change, id); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- act(ctx) }()
	waittest.Until(t, "it waits for the change, or is done", func() bool {
		return len(done) > 0 || dbtest.Value[bool](t, d,
			"SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')")
	})
	if len(done) > 0 {
		return <-done
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	return <-done
}

// A log-in whose account got a second factor after its password was checked does not get in by the password alone.
func TestASecondFactorSwitchedOnDuringALogIn(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.NewSealing(t, d)
	user := identitytest.As(t, s, identity.Owner)
	identitytest.Enrol(t, s, user)
	err := between(t, d, "UPDATE users SET totp_confirmed_at = now() WHERE id = $1", user.ID, func(ctx context.Context) error {
		_, err := s.LogIn(ctx, user.Email, identitytest.Password, from("192.0.2.1"))
		return err
	})
	if code(err) != problem.CodeInvalidCredentials {
		t.Errorf("%v", err)
	}
}

// And one whose factor was switched off or replaced after the first step has to begin again.
func TestASecondFactorReplacedDuringALogIn(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"off":         "UPDATE users SET totp_confirmed_at = NULL, totp_secret = NULL WHERE id = $1",
		"replaced":    "UPDATE users SET totp_confirmed_at = now() WHERE id = $1",
		"deactivated": "UPDATE users SET is_active = false WHERE id = $1",
		"password":    "UPDATE users SET password_hash = password_hash || 'x' WHERE id = $1",
		"used":        "UPDATE users SET totp_last_step = 9000000000 WHERE id = $1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFactored(t)
			pending, now := f.pending(), f.fresh()
			err := between(t, f.db, change, f.user.ID, func(ctx context.Context) error {
				_, err := f.users.LogInTOTP(ctx, pending, now, from("192.0.2.1"))
				return err
			})
			if code(err) != problem.CodeInvalidCredentials {
				t.Errorf("%v", err)
			}
		})
	}
}

// A log-in that has one code left takes one, however many come at the same moment and from however many addresses.
func TestTheLastCodeIsTakenOnce(t *testing.T) {
	t.Parallel()
	f := newFactored(t)
	pending := f.pending()
	dbtest.Exec(t, f.db, "UPDATE pending_logins SET tries = 4")
	// All of them have seen that a try is left when they come to the account's counter.
	const name = "totp:%d"
	dbtest.Exec(t, f.db, "INSERT INTO login_failures VALUES ($1, 1, now() + interval '1 hour')", fmt.Sprintf(name, f.user.ID))
	ctx := t.Context()
	tx, err := f.db.Pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := tx.Exec(ctx, "SELECT FROM login_failures WHERE bucket = $1 FOR UPDATE", fmt.Sprintf(name, f.user.ID)); err != nil {
		t.Fatal(err)
	}
	details := make(chan string, 6)
	for n := range cap(details) {
		go func() {
			_, err := f.users.LogInTOTP(ctx, pending, "000000", strange(n))
			details <- problem.From(err).Detail
		}()
	}
	waiting := "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
	waittest.Until(t, "all tries meet", func() bool { return dbtest.Value[int](t, f.db, waiting) >= cap(details) })
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	answers := map[string]int{}
	for range cap(details) {
		answers[<-details]++
	}
	if tries := dbtest.Value[int](f.t, f.db, "SELECT tries FROM pending_logins"); len(answers) != 2 ||
		answers["the code is wrong or was already used"] != 1 || tries != 5 {
		t.Errorf("%v, %d tries are counted", answers, tries)
	}
}

// Keys are counted one creation after the other.
func TestTheLastKeyIsMadeOnce(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	user := identitytest.As(t, s, identity.Viewer)
	err := between(t, d, `WITH held AS MATERIALIZED (SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE)
		INSERT INTO api_keys (user_id, name, key_hash, prefix) SELECT id, 'x', sha256(i::text::bytea), 'svc_'
		FROM held, generate_series(1, 100) i`,
		user.ID, func(ctx context.Context) error {
			_, _, err := s.CreateKey(ctx, callerOf(user), identity.NewKey{Name: "x"})
			return err
		})
	if code(err) != problem.CodeConflict {
		t.Errorf("%v", err)
	}
}

// hooked keys do something when a secret was opened.
type hooked struct {
	secret.Keys
	opened func()
}

func (h hooked) Open(sealed []byte, place secret.Binding) (secret.String, error) {
	defer h.opened()
	return h.Keys.Open(sealed, place)
}

// A confirmation counts for the secret whose code was given, not for one that was enrolled a moment later.
func TestAnEnrolmentReplacedDuringItsConfirmation(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	keys := identitytest.Keys(t)
	s := identity.New(d, identity.Config{Argon2: identitytest.CheapHash, Keys: keys})
	user := identitytest.As(t, s, identity.Viewer)
	f := identitytest.Enrol(t, s, user)
	replacing := identity.New(d, identity.Config{Argon2: identitytest.CheapHash, Keys: hooked{keys, func() {
		identitytest.Enrol(t, s,
			user)
	}}})
	if err := replacing.ConfirmTOTP(t.Context(), callerOf(user), f.Code(t, 0), from("192.0.2.1")); code(err) != problem.CodeInvalidState {
		t.Errorf("%v", err)
	}
	if u, err := s.User(t.Context(), user.ID); err != nil || u.TOTPEnabled {
		t.Errorf("%+v, %v", u, err)
	}
}
