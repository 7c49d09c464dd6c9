package sso_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/core/sso"
	"github.com/hostler/hostler/core/sso/ssotest"
)

// fixture is a store with one provider.
type fixture struct {
	*sso.Store
	dbtest.SQL
	t     *testing.T
	users *identity.Store
	at    *ssotest.Provider
	id    int64
	url   string
	log   *strings.Builder
}

var client = identity.Client{Address: "192.0.2.7", UserAgent: "a browser"}

func newFixture(t *testing.T, edits ...func(*sso.Provider)) *fixture {
	t.Helper()
	url := dbtest.URL(t)
	d, keys := dbtest.Open(t, url), identitytest.Keys(t)
	f := &fixture{url: url, SQL: dbtest.On(t, d), t: t, at: ssotest.New(t), log: &strings.Builder{},
		users: identity.New(d, identity.Config{Argon2: identitytest.CheapHash, Keys: keys, AddressTries: 1000})}
	f.Store = sso.New(sso.Config{DB: d, Users: f.users, Keys: keys, AllowLocal: true, BaseURL: "https://hostler.example",
		Logger: hclog.New(&hclog.LoggerOptions{Output: f.log, Level: hclog.Trace})})
	f.id = f.add("Company", f.at, edits...).ID
	return f
}

// add makes a provider at which everybody gets an account.
func (f *fixture) add(name string, at *ssotest.Provider, edits ...func(*sso.Provider)) *sso.Provider {
	f.t.Helper()
	p := sso.Provider{Name: name, Issuer: at.URL, ClientID: ssotest.ClientID, Scopes: []string{"openid", "email", "profile"},
		GroupsClaim: "groups", Accounts: sso.Create, Fingerprint: at.Fingerprint, Enabled: true}
	for _, edit := range edits {
		edit(&p)
	}
	made, err := f.Create(f.t.Context(), p, secret.New(ssotest.ClientSecret))
	if err != nil {
		f.t.Fatal(err)
	}
	return made
}

// begin begins a log-in, and gives the answer of the provider to it.
func (f *fixture) begin() sso.Callback {
	f.t.Helper()
	begun, err := f.Begin(f.t.Context(), f.id, "/guests?filter=web")
	if err != nil {
		f.t.Fatal(err)
	}
	return answer(begun, f.at.Authorize(f.t, begun.URL))
}

func answer(begun *sso.LoginStart, came url.Values) sso.Callback {
	return sso.Callback{Cookie: begun.Cookie, State: came.Get("state"), Code: came.Get("code"), Issuer: came.Get("iss")}
}

// logIn is a whole log-in.
func (f *fixture) logIn() (*identity.LoginResult, error) {
	f.t.Helper()
	in, _, err := f.Complete(f.t.Context(), f.id, f.begin(), client)
	return in, err
}

// must is a log-in that ends in a session.
func (f *fixture) must() *identity.LoginResult {
	f.t.Helper()
	in, err := f.logIn()
	if err != nil {
		f.t.Fatalf("%v\n%s", err, f.log)
	}
	if in.Token == "" {
		f.t.Fatal("the second factor is due")
	}
	return in
}

// roles are those of a user by team, as text.
func (f *fixture) roles(user int64) string {
	return f.Value(`SELECT coalesce(string_agg(team_id || ' ' || role, ', ' ORDER BY team_id), '') FROM team_members
		WHERE user_id = $1`, user)
}

// refusedFor checks a refusal and what it tells.
func refusedFor(t *testing.T, err error, code problem.Code, contains string) {
	t.Helper()
	if err == nil || problem.CodeOf(err) != code || !strings.Contains(problem.From(err).Detail, contains) {
		t.Errorf("got %v, want %s with %q", err, code, contains)
	}
}

// account makes an account with a password and a role.
func (f *fixture) account(email string, role identity.Role) *identitytest.Account {
	f.t.Helper()
	user, err := f.users.CreateUser(f.t.Context(), identity.NewUser{Email: email, Password: identitytest.Password,
		Roles: map[int64]identity.Role{identity.DefaultTeam: role}})
	if err != nil {
		f.t.Fatal(err)
	}
	return identitytest.LogIn(f.t, f.users, user)
}
