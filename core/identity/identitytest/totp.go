package identitytest

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/secret"
)

// Keys is a new key file's box.
func Keys(t testing.TB) *secret.Box {
	t.Helper()
	none := func(context.Context) ([]secret.KeyID, error) { return nil, nil }
	box, err := secret.Load(t.Context(), filepath.Join(t.TempDir(), "keys", "secret.key"), none)
	if err != nil {
		t.Fatalf("making a key file: %v", err)
	}
	return box
}

// NewSealing is New with keys, so that second factors can be enrolled.
func NewSealing(t testing.TB, d *db.DB) *identity.Store {
	t.Helper()
	return identity.New(d, identity.Config{Argon2: CheapHash, Keys: Keys(t)})
}

// Factor is an account's second factor.
type Factor struct{ *identity.Enrolment }

// Code is the authenticator's code so many steps of 30 s from now; those of -1, 0 and 1 hold.
func (f *Factor) Code(t testing.TB, ahead int) string {
	t.Helper()
	code, err := totp.GenerateCode(f.Secret, time.Now().Add(time.Duration(ahead)*30*time.Second))
	if err != nil {
		t.Fatalf("making a code: %v", err)
	}
	return code
}

// TOTP switches a second factor on. The code of the present step is used up by it; the next one is good.
func TOTP(t testing.TB, s *identity.Store, account *Account) *Factor {
	t.Helper()
	f := Enrol(t, s, account)
	if err := s.ConfirmTOTP(t.Context(), callerOf(account), f.Code(t, 0), identity.Client{Address: "192.0.2.1"}); err != nil {
		t.Fatalf("confirming a second factor: %v", err)
	}
	return f
}

// Enrol begins a second factor and does not confirm it.
func Enrol(t testing.TB, s *identity.Store, account *Account) *Factor {
	t.Helper()
	e, err := s.EnrollTOTP(t.Context(), callerOf(account))
	if err != nil {
		t.Fatalf("enrolling a second factor: %v", err)
	}
	return &Factor{e}
}

func callerOf(a *Account) *identity.Caller {
	return &identity.Caller{UserID: a.ID, Email: a.Email, SessionID: 1}
}
