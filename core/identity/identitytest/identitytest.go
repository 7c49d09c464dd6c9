// Package identitytest makes users, teams and sessions for tests, through the real store with a cheap password hash.
package identitytest

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
)

// Password is the password of every account that this package makes.
const Password = "canary-Zu7-mehlwurm-9"

// Cheap is the cost of a hash in tests: a fraction of a millisecond.
var Cheap = identity.Argon2{Memory: 64, Time: 1, Threads: 1}

// New makes a store with cheap hashes and otherwise the real limits.
func New(d *db.DB) *identity.Store { return identity.New(d, identity.Config{Argon2: Cheap}) }

// In maps team id to role.
type In map[int64]identity.Role

// Account is a user who is logged in.
type Account struct {
	*identity.User
	// Cookie is that of a session over plain HTTP.
	Cookie *http.Cookie
	// SecureCookie is that of the same session over TLS.
	SecureCookie *http.Cookie
}

var number atomic.Int64

// As makes a user with the role in the default team and logs in.
func As(t testing.TB, s *identity.Store, role identity.Role) *Account {
	t.Helper()
	return User(t, s, In{identity.DefaultTeam: role})
}

// User makes a user with roles in teams, NoRole entries left out, and logs in.
func User(t testing.TB, s *identity.Store, roles In) *Account {
	t.Helper()
	held := map[int64]identity.Role{}
	for team, role := range roles {
		if role > identity.NoRole {
			held[team] = role
		}
	}
	email := "user" + strconv.FormatInt(number.Add(1), 10) + "@example.com"
	user, err := s.CreateUser(t.Context(), identity.NewUser{Email: email, Password: Password, Roles: held})
	if err != nil {
		t.Fatalf("making a user: %v", err)
	}
	return LogIn(t, s, user)
}

// LogIn opens a further session of the user, from an address of its own so that no limit is met.
func LogIn(t testing.TB, s *identity.Store, user *identity.User) *Account {
	t.Helper()
	in, err := s.LogIn(t.Context(), user.Email, Password, identity.Client{Address: "192.0.2.1", UserAgent: "identitytest"})
	if err != nil {
		t.Fatalf("logging in: %v", err)
	}
	plain, secure := identity.Cookie(in.Token, false), identity.Cookie(in.Token, true)
	return &Account{User: in.User, Cookie: &plain, SecureCookie: &secure}
}

// Team makes a team and returns its id.
func Team(t testing.TB, d *db.DB, slug string) int64 {
	t.Helper()
	var id int64
	err := d.Pool.QueryRow(t.Context(), "INSERT INTO teams (name, slug) VALUES ($1, $1) RETURNING id", slug).Scan(&id)
	if err != nil {
		t.Fatalf("making a team: %v", err)
	}
	return id
}
