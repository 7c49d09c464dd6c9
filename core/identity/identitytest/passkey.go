package identitytest

import (
	"crypto/rand"
	"testing"

	"github.com/hostler/hostler/core/identity"
)

// Passkey gives the account a passkey by which nobody can log in, for what only looks at it.
func Passkey(t testing.TB, s *identity.Store, account *Account) *identity.Passkey {
	t.Helper()
	p := &identity.Passkey{Name: "Laptop", Credential: []byte(rand.Text()), PublicKey: []byte{}}
	if _, err := s.AddPasskey(t.Context(), callerOf(account), p); err != nil {
		t.Fatalf("adding a passkey: %v", err)
	}
	return p
}
