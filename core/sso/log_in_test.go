package sso_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/core/sso"
	"github.com/hostler/hostler/core/sso/ssotest"
)

func secretText(text string) secret.String { return secret.New(text) }

func TestFirstLogInMakesAnAccount(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	in := f.must()
	if in.User.Email != "anna@example.com" || in.User.DisplayName == nil || *in.User.DisplayName != "Anna Lee" || in.Devices == "" {
		t.Errorf("%+v", in)
	}
	sessions, err := f.users.Sessions(t.Context(), in.User.ID)
	if err != nil || len(sessions) != 1 || sessions[0].Provider == nil || *sessions[0].Provider != "Company" ||
		sessions[0].SecondFactor != nil || sessions[0].Address != client.Address {
		t.Errorf("%+v %v", sessions, err)
	}
	// It is the same account with another address, and nobody logs in to it with a password.
	f.at.Person["email"] = "anna@example.org"
	if again := f.must(); again.User.ID != in.User.ID || again.User.Email != "anna@example.com" {
		t.Errorf("%+v", again.User)
	}
	for _, password := range []string{"", "x"} {
		if _, err := f.users.LogIn(t.Context(), "anna@example.com", password, client); problem.CodeOf(err) != problem.CodeInvalidCredentials {
			t.Errorf("%v", err)
		}
	}
	p, err := f.users.Profile(t.Context(), in.User.ID)
	if err != nil || p.HasPassword || strings.Join(p.Providers, ",") != "Company" || p.Role != identity.NoRole {
		t.Errorf("%+v %v", p, err)
	}
	// Another person with her old address is not her.
	f.at.Person = map[string]any{"sub": "person-2", "email": "anna@example.com", "email_verified": true}
	_, err = f.logIn()
	refusedFor(t, err, problem.CodeInvalidCredentials, "is linked to someone else")
}

func TestWhoComesInByWhichAddress(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(p *sso.Provider) { p.Accounts = sso.Invited })
	_, err := f.logIn()
	refusedFor(t, err, problem.CodeInvalidCredentials, "no account has your email address")
	invited := f.account("Anna@Example.com", identity.Operator)
	for name, said := range map[string]any{"not said": nil, "not": false, "a number": 1, "a text": "false"} {
		delete(f.at.Person, "email_verified")
		if said != nil {
			f.at.Person["email_verified"] = said
		}
		if _, err := f.logIn(); problem.CodeOf(err) != problem.CodeInvalidCredentials {
			t.Errorf("%s: %v", name, err)
		}
	}
	// An address that is trusted is still not taken where the provider says that it is not verified.
	trust := func(p *sso.Provider) { p.TrustEmail = true }
	if _, err := f.Update(t.Context(), f.id, trust, nil); err != nil {
		t.Fatal(err)
	}
	f.at.Person["email_verified"] = false
	if _, err := f.logIn(); problem.CodeOf(err) != problem.CodeInvalidCredentials {
		t.Errorf("%v", err)
	}
	delete(f.at.Person, "email_verified")
	if in := f.must(); in.User.ID != invited.ID {
		t.Errorf("%+v", in.User)
	}
	// Only the endpoint for that tells the address.
	f.at.Person, f.at.Info = map[string]any{"sub": "person-3"}, map[string]any{"email": "berta@example.com", "email_verified": true}
	berta := f.account("berta@example.com", identity.Viewer)
	if in := f.must(); in.User.ID != berta.ID {
		t.Errorf("%+v", in.User)
	}
	f.at.Lie(ssotest.Lies{Info: func(told map[string]any) { told["sub"] = "person-1" }})
	if _, err := f.logIn(); problem.CodeOf(err) != problem.CodeInvalidCredentials {
		t.Errorf("what is told of someone else: %v", err)
	}
	f.at.Lie(ssotest.Lies{})
	if _, err := f.users.PatchUser(t.Context(), nil, berta.ID, identity.UserChange{Active: new(false)}); err != nil {
		t.Fatal(err)
	}
	_, err = f.logIn()
	refusedFor(t, err, problem.CodeInvalidCredentials, "inactive")
}

func TestRulesSetRoles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	blue, red := identitytest.Team(t, f.DB, "blue"), identitytest.Team(t, f.DB, "red")
	rules := []sso.Rule{{Group: "staff", TeamID: 1, Role: "viewer"}, {Group: "ops", TeamID: 1, Role: "admin"},
		{Group: sso.Everybody, TeamID: blue, Role: "operator"}}
	if _, err := f.Update(t.Context(), f.id, func(p *sso.Provider) { p.Rules, p.GroupsClaim = rules, "realm.groups" }, nil); err != nil {
		t.Fatal(err)
	}
	in := f.must()
	if got, want := f.roles(in.User.ID), fmt.Sprintf("%d operator", blue); got != want {
		t.Errorf("without groups: %s", got)
	}
	f.Exec("INSERT INTO team_members (team_id, user_id, role) VALUES ($1, $2, 'owner')", red, in.User.ID)
	for _, step := range []struct {
		groups any
		role   string
	}{
		{[]any{"staff", 7, nil}, "1 viewer, "}, {[]any{"staff", "ops"}, "1 admin, "}, {"staff", "1 viewer, "}, {[]any{"Staff", "*"}, ""},
		{[]any{"ops"}, "1 admin, "}, {map[string]any{"ops": true}, ""}, {nil, ""},
	} {
		f.at.Person["realm"] = map[string]any{"groups": step.groups}
		f.must()
		if got, want := f.roles(in.User.ID), fmt.Sprintf("%s%d operator, %d owner", step.role, blue, red); got != want {
			t.Errorf("%v: %s, want %s", step.groups, got, want)
		}
	}
	// A team that goes takes its rules along, and those of others may hold.
	f.Exec("DELETE FROM teams WHERE id = $1", blue)
	if p, err := f.Get(t.Context(), f.id); err != nil || len(p.Rules) != 2 {
		t.Errorf("%+v %v", p, err)
	}
	f.must()
}

// No rule locks everybody out: an owner with a password stays one.
func TestLastLocalOwnerStays(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(p *sso.Provider) { p.Rules = []sso.Rule{{Group: "owners", TeamID: 1, Role: "owner"}} })
	f.at.Person["groups"] = []string{"owners"}
	// An owner who has no password is made by a rule, and counts for nothing here.
	another := f.must().User
	if got := f.roles(another.ID); got != "1 owner" {
		t.Fatal(got)
	}
	local := f.account("local@example.com", identity.Owner)
	factor := identitytest.TOTP(t, f.users, local)
	f.at.Person = map[string]any{"sub": "person-2", "email": "local@example.com", "email_verified": true}
	in, err := f.logIn()
	if err != nil || in.Pending == "" {
		t.Fatalf("%+v %v", in, err)
	}
	if _, err := f.users.LogInTOTP(t.Context(), in.Pending, factor.Code(t, 1), client); err != nil {
		t.Fatal(err)
	}
	if got := f.roles(local.ID); got != "1 owner" {
		t.Errorf("the last owner with a password is %q now", got)
	}
	err = f.users.DeleteUser(t.Context(), nil, local.ID)
	refusedFor(t, err, problem.CodeLastOwner, "with a password")
	f.account("second@example.com", identity.Owner)
	f.at.Person["amr"] = []string{"pwd", "mfa"}
	f.must()
	if got := f.roles(local.ID); got != "" {
		t.Errorf("with another owner: %q", got)
	}
}

func TestSecondFactor(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(p *sso.Provider) { p.Rules = []sso.Rule{{Group: sso.Everybody, TeamID: 1, Role: "viewer"}} })
	mine := f.account("anna@example.com", identity.Owner)
	f.account("other@example.com", identity.Owner)
	_, err := f.logIn()
	refusedFor(t, err, problem.CodeInvalidCredentials, "enable a second factor first")
	factor := identitytest.TOTP(t, f.users, mine)
	// What the provider says of its own factor does not count where the account is joined.
	f.at.Person["amr"] = []string{"mfa"}
	in, err := f.logIn()
	if err != nil || in.Pending == "" || in.Token != "" || in.Devices != "" {
		t.Fatalf("%+v %v", in, err)
	}
	if joined := f.Value("SELECT count(*) FROM user_identities"); joined != "0" || f.roles(mine.ID) != "1 owner" {
		t.Errorf("joined %s, %s before the second factor", joined, f.roles(mine.ID))
	}
	if _, err := f.users.LogInTOTP(t.Context(), in.Pending, "000000", client); problem.CodeOf(err) != problem.CodeInvalidCredentials {
		t.Errorf("%v", err)
	}
	done, err := f.users.LogInTOTP(t.Context(), in.Pending, factor.Code(t, 1), client)
	if err != nil || done.Token == "" || f.roles(mine.ID) != "1 viewer" {
		t.Fatalf("%+v %v %s", done, err, f.roles(mine.ID))
	}
	how := func() string {
		return f.Value("SELECT (provider_id IS NOT NULL) || ' ' || coalesce(second_factor, '') FROM sessions ORDER BY id DESC LIMIT 1")
	}
	if got := how(); got != "true totp" {
		t.Error(got)
	}
	f.must() // from then on it does
	if got := how(); got != "true provider" {
		t.Error(got)
	}
	f.at.Person["amr"] = "pwd"
	if in, err := f.logIn(); err != nil || in.Pending == "" {
		t.Fatalf("%+v %v", in, err)
	} else if _, err := f.users.LogInTOTP(t.Context(), in.Pending, factor.RecoveryCodes[0], client); err != nil {
		t.Fatal(err)
	}
	if got := how(); got != "true recovery_code" {
		t.Error(got)
	}
	// A provider that is switched off meanwhile lets nobody finish.
	in, err = f.logIn()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Update(t.Context(), f.id, func(p *sso.Provider) { p.Enabled = false }, nil); err != nil {
		t.Fatal(err)
	}
	_, err = f.users.LogInTOTP(t.Context(), in.Pending, factor.RecoveryCodes[1], client)
	refusedFor(t, err, problem.CodeInvalidCredentials, "")
}

func TestProvidersThatChange(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if strings.Contains(f.Value("SELECT encode(client_secret, 'escape') FROM identity_providers"), ssotest.ClientSecret) {
		t.Error("the secret is not sealed")
	}
	f.must()
	off := f.begin()
	sessions := func() string { return f.Value("SELECT count(*) FROM sessions") }
	change := func(edit func(*sso.Provider), given *secret.String) *sso.Provider {
		t.Helper()
		p, err := f.Update(t.Context(), f.id, edit, given)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	change(func(p *sso.Provider) { p.Name = "Firm" }, nil)
	if sessions() != "1" {
		t.Error("another name ends sessions")
	}
	change(func(p *sso.Provider) { p.Enabled = false }, nil)
	if sessions() != "0" {
		t.Error("sessions go on by a provider that is disabled")
	}
	_, _, err := f.Complete(t.Context(), f.id, off, client)
	refusedFor(t, err, problem.CodeInvalidState, "disabled")
	_, err = f.Begin(t.Context(), f.id, "/")
	refusedFor(t, err, problem.CodeInvalidState, "disabled")
	if offers, err := f.Offers(t.Context()); err != nil || len(offers) != 0 {
		t.Errorf("%v %v", offers, err)
	}
	change(func(p *sso.Provider) { p.Enabled = true }, nil)
	f.must()
	// With another issuer nobody is known, and the secret is not sent there.
	other := ssotest.New(t)
	move := func(p *sso.Provider) { p.Issuer, p.Fingerprint = other.URL, other.Fingerprint }
	if _, err := f.Update(t.Context(), f.id, move, nil); problem.CodeOf(err) != problem.CodeInvalid {
		t.Errorf("%v", err)
	}
	late := f.begin()
	change(move, new(secretText(ssotest.ClientSecret)))
	if sessions() != "0" || f.Value("SELECT count(*) FROM user_identities") != "0" {
		t.Error("who was known at the issuer before is known")
	}
	_, _, err = f.Complete(t.Context(), f.id, late, client)
	refusedFor(t, err, problem.CodeInvalidCredentials, "was changed in the meantime")
	f.at = other
	f.must()
	if err := f.Delete(t.Context(), f.id); err != nil || sessions() != "0" || f.Value("SELECT count(*) FROM users") != "1" {
		t.Errorf("%v, %s sessions", err, sessions())
	}
	if err := f.Delete(t.Context(), f.id); problem.CodeOf(err) != problem.CodeNotFound {
		t.Errorf("%v", err)
	}
}

func TestWhatCannotBeStored(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for name, edit := range map[string]func(*sso.Provider){
		"http": func(p *sso.Provider) { p.Issuer = "http://id.example.com" }, "query": func(p *sso.Provider) { p.Issuer += "?a=b" },
		"fragment": func(p *sso.Provider) { p.Issuer += "#a" }, "password": func(p *sso.Provider) { p.Issuer = "https://a:b@id.example.com" },
		"NUL": func(p *sso.Provider) { p.Issuer += "\x00" }, "no name": func(p *sso.Provider) { p.Name = " " },
		"client": func(p *sso.Provider) { p.ClientID = "a b" }, "scope": func(p *sso.Provider) { p.Scopes = []string{"a b"} },
		"role": func(p *sso.Provider) { p.Rules = []sso.Rule{{Group: "a", TeamID: 1, Role: "root"}} },
		"team": func(p *sso.Provider) { p.Rules = []sso.Rule{{Group: "a", TeamID: 99, Role: "viewer"}} },
		"pin":  func(p *sso.Provider) { p.Fingerprint = "text" }, "group": func(p *sso.Provider) { p.GroupsClaim = "a\x00" },
	} {
		if _, err := f.Update(t.Context(), f.id, edit, new(secretText("x"))); problem.CodeOf(err) != problem.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := f.Create(t.Context(), sso.Provider{Name: "COMPANY", Issuer: f.at.URL, ClientID: "x", Accounts: sso.Create}, secret.String{})
	refusedFor(t, err, problem.CodeConflict, "this name")
}

// Who begins at one instance may end at another, and one that does not know its address lets nobody begin.
func TestTwoInstances(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	second := f.Config
	second.DB = dbtest.Open(t, f.url)
	if _, _, err := sso.New(second).Complete(t.Context(), f.id, f.begin(), client); err != nil {
		t.Error(err)
	}
	second.BaseURL = ""
	nowhere := sso.New(second)
	_, err := nowhere.Begin(t.Context(), f.id, "/")
	refusedFor(t, err, problem.CodeInvalidState, "HOSTLER_BASE_URL")
	if offers, err := nowhere.Offers(t.Context()); err != nil || len(offers) != 0 {
		t.Errorf("%v %v", offers, err)
	}
	// A log-in that takes too long is over.
	late := f.Config
	late.Now = func() time.Time { return time.Now().Add(identity.SignOnLife) }
	_, _, err = sso.New(late).Complete(t.Context(), f.id, f.begin(), client)
	refusedFor(t, err, problem.CodeInvalidCredentials, "this log-in has expired")
}

func TestTriesAreLimited(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.users = identity.New(f.DB, identity.Config{Argon2: identitytest.CheapHash, AddressTries: 3})
	f.Users = f.users
	for range 5 {
		f.must() // those that succeed do not count
	}
	for range 3 {
		_, _, err := f.Complete(t.Context(), f.id, sso.Callback{State: "none", Code: "none"}, client)
		refusedFor(t, err, problem.CodeInvalidCredentials, "this log-in has expired")
	}
	a := f.begin()
	_, _, err := f.Complete(t.Context(), f.id, a, client)
	refusedFor(t, err, problem.CodeRateLimited, "")
	if _, _, err := f.Complete(t.Context(), f.id, a, identity.Client{Address: "192.0.2.99"}); err != nil {
		t.Errorf("another address: %v", err)
	}
}

func TestLogOutAtTheProvider(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	caller := func(user int64) *identity.Caller {
		return &identity.Caller{UserID: user, SessionID: dbtest.Value[int64](t, f.DB, "SELECT max(id) FROM sessions WHERE user_id = $1", user)}
	}
	in := f.must()
	url, err := f.LogOut(t.Context(), caller(in.User.ID))
	want := f.at.URL + "/logout?client_id=hostler&post_logout_redirect_uri=https%3A%2F%2Fhostler.example%2F"
	if err != nil || url != want || f.Value("SELECT count(*) FROM sessions") != "0" {
		t.Errorf("%s %v", url, err)
	}
	local := f.account("local@example.com", identity.Viewer)
	if url, err := f.LogOut(t.Context(), caller(local.ID)); err != nil || url != "" {
		t.Errorf("%q %v", url, err)
	}
	f.at.Lie(ssotest.Lies{Discovery: func(said map[string]any) { delete(said, "end_session_endpoint") }})
	f.Store = sso.New(f.Config)
	if url, err := f.LogOut(t.Context(), caller(f.must().User.ID)); err != nil || url != "" {
		t.Errorf("%q %v", url, err)
	}
}

func TestTryTellsWhatAProviderSays(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tried, err := f.Probe(t.Context(), f.id)
	if err != nil || !tried.OK || tried.Keys != 1 || tried.TokenEndpoint == nil || *tried.TokenEndpoint != f.at.URL+"/token" ||
		len(tried.Notices) != 0 {
		t.Errorf("%+v %v", tried, err)
	}
	f.at.Lie(ssotest.Lies{Discovery: func(said map[string]any) {
		said["code_challenge_methods_supported"], said["scopes_supported"] = []string{"plain"}, []string{"openid"}
		delete(said, "end_session_endpoint")
	}})
	if tried, err = f.Probe(t.Context(), f.id); err != nil || !tried.OK || len(tried.Notices) != 4 {
		t.Errorf("%+v %v", tried, err)
	}
	if _, err := f.Probe(t.Context(), 99); problem.CodeOf(err) != problem.CodeNotFound {
		t.Errorf("%v", err)
	}
}
