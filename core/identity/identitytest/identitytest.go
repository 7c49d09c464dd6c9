// Package identitytest makes users, teams, sessions and API keys for tests, through the real store with a cheap password hash.
package identitytest

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/proxy"
)

// Password is the password of every account that this package makes.
const Password = "canary-Zu7-mehlwurm-9"

// CheapHash is the cost of a hash in tests: a fraction of a millisecond.
var CheapHash = identity.Argon2{Memory: 64, Time: 1, Threads: 1}

// New makes a store with cheap hashes and otherwise the real limits.
func New(d *db.DB) *identity.Store { return identity.New(d, identity.Config{Argon2: CheapHash}) }

// numbered returns a name of its own. Lists sorted by names have them in the order in which they were made.
func numbered(prefix string) string { return fmt.Sprintf("%s%04d", prefix, number.Add(1)) }

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
	email := numbered("user") + "@example.com"
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
	plain, secure := identity.Cookie(in.Token, proxy.Site{Path: "/"}), identity.Cookie(in.Token, proxy.Site{Secure: true, Path: "/"})
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

// KeySpec says what a key of Key may.
type KeySpec struct {
	// Scopes narrow the key; nil means all that the user may.
	Scopes []string
	// ExpiresAt is nil for a key without an end. A time that has passed already makes a key that is over.
	ExpiresAt *time.Time
}

// APIKey is a key of an account.
type APIKey struct {
	ID int64
	// Header is the value of the header Authorization.
	Header string
}

// Set makes r come with the key.
func (k *APIKey) Set(r *http.Request) { r.Header.Set("Authorization", k.Header) }

// Key makes an API key of the account.
func Key(t testing.TB, s *identity.Store, account *Account, spec KeySpec) *APIKey {
	t.Helper()
	in := identity.NewKey{Name: numbered("key"), Scopes: spec.Scopes, ExpiresAt: spec.ExpiresAt}
	over := spec.ExpiresAt != nil && !spec.ExpiresAt.After(time.Now())
	var key *identity.Key
	var text string
	var err error
	for moment := 10 * time.Millisecond; ; moment *= 4 {
		if over { // none is made like that; it lives for a moment
			in.ExpiresAt = new(time.Now().Add(moment))
		}
		key, text, err = s.CreateKey(t.Context(), &identity.Caller{UserID: account.ID, Email: account.Email}, in)
		if err == nil {
			break
		}
		if !over || moment > time.Minute { // else the moment may have been over before the key was made
			t.Fatalf("making an API key: %v", err)
		}
	}
	for over && time.Now().Before(key.ExpiresAt.Add(5*time.Millisecond)) {
		time.Sleep(time.Millisecond)
	}
	return &APIKey{ID: key.ID, Header: "Bearer " + text}
}
