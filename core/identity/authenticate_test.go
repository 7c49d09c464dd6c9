package identity_test

import (
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
)

// BenchmarkAuthenticate is what every request pays: one query.
func BenchmarkAuthenticate(b *testing.B) {
	d := dbtest.New(b)
	s := identitytest.New(d)
	r := with(identitytest.User(b, s,
		identitytest.In{identity.DefaultTeam: identity.Viewer, identitytest.Team(b, d, "blue"): identity.Admin}).Cookie)
	for b.Loop() {
		if _, err := s.Authenticate(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLogIn is a log-in at the real cost of a hash.
func BenchmarkLogIn(b *testing.B) {
	s := identity.New(dbtest.New(b), identity.Config{})
	user := identitytest.User(b, s, nil)
	for b.Loop() {
		identitytest.LogIn(b, s, user.User)
	}
}
