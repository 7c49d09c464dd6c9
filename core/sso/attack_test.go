package sso_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/sso"
	"github.com/hostler/hostler/core/sso/ssotest"
)

// at is a time as tokens have it.
func at(ahead time.Duration) int64 { return time.Now().Add(ahead).Unix() }

// claim is a lie in one claim of the token.
func claim(name string, value any) ssotest.Lies {
	return ssotest.Lies{Token: func(c map[string]any) { c[name] = value }}
}

func TestTokensThatAreNotBelieved(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	half := sha256.Sum256([]byte("another access token"))
	for name, lies := range map[string]ssotest.Lies{
		"no token":    {NoToken: true},
		"no JWT":      {Sign: func([]byte) string { return "text" }},
		"unsigned":    {Sign: ssotest.Unsigned},
		"cut":         {Sign: func(p []byte) string { return strings.TrimRight(ssotest.Unsigned(p), ".") }},
		"another key": {Sign: func(p []byte) string { return ssotest.Signed(t, jose.RS256, ssotest.Stranger(), p) }},
		"client secret": {Sign: func(p []byte) string {
			return ssotest.Signed(t, jose.HS256, []byte(strings.Repeat(ssotest.ClientSecret, 2)), p)
		}},
		"nonce":          claim("nonce", "another"),
		"no nonce":       claim("nonce", ""),
		"audience":       claim("aud", "someone"),
		"no audience":    claim("aud", []string{}),
		"two audiences":  claim("aud", []string{ssotest.ClientID, "someone"}),
		"another party":  claim("azp", "someone"),
		"issuer":         claim("iss", "https://id.invalid"),
		"issuer's slash": claim("iss", f.at.URL+"/"),
		"expired":        claim("exp", at(-time.Second)),
		"no end":         claim("exp", 0),
		"not yet":        claim("nbf", at(time.Hour)),
		"in the future":  claim("iat", at(time.Hour)),
		"nobody":         claim("sub", ""),
		"NUL":            claim("sub", "a\x00b"),
		"long name":      claim("sub", strings.Repeat("x", 256)),
		"access token":   claim("at_hash", base64.RawURLEncoding.EncodeToString(half[:16])),
	} {
		f.at.Lie(lies)
		_, err := f.logIn()
		if err == nil || problem.CodeOf(err) != problem.CodeInvalidCredentials {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.at.Lie(ssotest.Lies{Token: func(c map[string]any) { c["aud"], c["azp"] = []string{ssotest.ClientID, "someone"}, ssotest.ClientID }})
	f.must()
	if n := f.Value("SELECT count(*) FROM users"); n != "1" {
		t.Errorf("%s accounts", n)
	}
	for _, canary := range []string{ssotest.ClientSecret, "canary-access-token", "eyJ"} {
		if strings.Contains(f.log.String(), canary) {
			t.Errorf("%s is in the log: %s", canary, f.log)
		}
	}
}

func TestAnswersThatAreNotTaken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.add("Other", ssotest.New(t))
	for name, edit := range map[string]func(*sso.Callback){
		"no cookie":            func(a *sso.Callback) { a.Cookie = "" },
		"no such cookie":       func(a *sso.Callback) { a.Cookie = base64.RawURLEncoding.EncodeToString(make([]byte, 200)) },
		"garbage":              func(a *sso.Callback) { a.Cookie = strings.Repeat("%", 100) },
		"a huge cookie":        func(a *sso.Callback) { a.Cookie = strings.Repeat("A", 1<<20) },
		"another browser":      func(a *sso.Callback) { a.Cookie = f.begin().Cookie },
		"another state":        func(a *sso.Callback) { a.State = f.begin().State },
		"no state":             func(a *sso.Callback) { a.State = "" },
		"an error":             func(a *sso.Callback) { a.Failure = "access_denied" },
		"no code":              func(a *sso.Callback) { a.Code = "" },
		"an unknown code":      func(a *sso.Callback) { a.Code = "none" },
		"another log-in's":     func(a *sso.Callback) { a.Code = f.begin().Code }, // its challenge is another one
		"of another provider":  func(a *sso.Callback) { a.Issuer = other.Issuer },
		"of a look-alike":      func(a *sso.Callback) { a.Issuer = f.at.URL + "/" },
		"a changed cookie":     func(a *sso.Callback) { a.Cookie = a.Cookie[:60] + "AAAA" + a.Cookie[64:] },
		"a cut cookie":         func(a *sso.Callback) { a.Cookie = a.Cookie[:100] },
		"NUL in the code":      func(a *sso.Callback) { a.Code = "a\x00b" },
		"a code with a query":  func(a *sso.Callback) { a.Code = "a&client_id=x" },
		"a failure with lines": func(a *sso.Callback) { a.Failure = "denied\r\nSet-Cookie: x=y" },
	} {
		a := f.begin()
		edit(&a)
		if _, _, err := f.Complete(t.Context(), f.id, a, client); err == nil || problem.CodeOf(err) != problem.CodeInvalidCredentials {
			t.Errorf("%s: %v", name, err)
		} else if strings.ContainsAny(problem.From(err).Detail, "\r\n\x00") {
			t.Errorf("%s: %q", name, problem.From(err).Detail)
		}
	}
	// Another provider's callback page has the answer.
	if _, _, err := f.Complete(t.Context(), other.ID, f.begin(), client); problem.CodeOf(err) != problem.CodeInvalidCredentials {
		t.Errorf("at another provider: %v", err)
	}
	if n := f.Value("SELECT count(*) FROM sessions"); n != "0" {
		t.Errorf("%s sessions", n)
	}
}

func TestAnswersAreTakenOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a := f.begin()
	if _, _, err := f.Complete(t.Context(), f.id, a, client); err != nil {
		t.Fatal(err)
	}
	visits := f.at.Visits("/token")
	_, _, err := f.Complete(t.Context(), f.id, a, client)
	refusedFor(t, err, problem.CodeInvalidCredentials, "already answered")
	// Its state is used up also by an answer that is not taken, and on another instance.
	b := f.begin()
	denied := b
	denied.Code, denied.Failure = "", "access_denied"
	if _, _, err := f.Complete(t.Context(), f.id, denied, client); err == nil {
		t.Error("an error is a log-in")
	}
	second := sso.New(f.Config)
	_, _, err = second.Complete(t.Context(), f.id, b, client)
	refusedFor(t, err, problem.CodeInvalidCredentials, "already answered")
	if now := f.at.Visits("/token"); now != visits {
		t.Errorf("codes were tried %d times more", now-visits)
	}
	// A code with a state of its own that is good.
	c := f.begin()
	c.Code = a.Code
	_, _, err = f.Complete(t.Context(), f.id, c, client)
	refusedFor(t, err, problem.CodeInvalidCredentials, "rejected the code")
	if n := f.Value("SELECT count(*) FROM sessions"); n != "1" {
		t.Errorf("%s sessions", n)
	}
}

// A provider that is hostile has somebody log in at an honest one, and wants to be given the code of it (RFC 9700 section 4.4).
func TestMixUpOfTwoProviders(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hostile := ssotest.New(t)
	evil := f.add("Hostile", hostile)
	hostile.Lie(ssotest.Lies{Discovery: func(said map[string]any) { said["authorization_endpoint"] = f.at.URL + "/auth" }})
	begun, err := f.Begin(t.Context(), evil.ID, "/")
	if err != nil {
		t.Fatal(err)
	}
	came := f.at.Authorize(t, begun.URL) // were its redirect URI not refused there: the honest client has another one
	if !strings.Contains(begun.URL, "callback%2F2") {
		t.Errorf("both have one redirect URI: %s", begun.URL)
	}
	a := answer(begun, came)
	// The honest provider sends the browser to the page of its own client.
	if _, _, err := f.Complete(t.Context(), f.id, a, client); problem.CodeOf(err) != problem.CodeInvalidCredentials {
		t.Errorf("%v", err)
	}
	// And one that took any redirect URI would say who it is.
	a.Issuer = f.at.URL
	if _, _, err := f.Complete(t.Context(), evil.ID, a, client); problem.CodeOf(err) != problem.CodeInvalidCredentials {
		t.Errorf("%v", err)
	}
	if hostile.Visits("/token") != 0 {
		t.Error("the hostile provider was given the code")
	}
	// Who says that it tells its name must do so.
	f.at.Lie(ssotest.Lies{Discovery: func(said map[string]any) { said["authorization_response_iss_parameter_supported"] = true }})
	f.Store = sso.New(f.Config)
	b := f.begin()
	_, _, err = f.Complete(t.Context(), f.id, b, client)
	refusedFor(t, err, problem.CodeInvalidCredentials, "a different provider")
	b = f.begin()
	b.Issuer = f.at.URL
	if _, _, err := f.Complete(t.Context(), f.id, b, client); err != nil {
		t.Errorf("with its name: %v", err)
	}
}

func TestReturnsToOwnPathsOnly(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for to, want := range map[string]string{
		"/guests?filter=a#b": "/guests?filter=a#b", "/": "/", "": "/",
		"https://evil.example": "/", "//evil.example": "/", `/\evil.example`: "/", `\\evil.example`: "/", "///evil.example": "/",
		"/%2Fevil.example": "/", "/%5Cevil.example": "/", "javascript:alert(1)": "/", " //evil.example": "/", "/\t/evil.example": "/",
		"/\n/evil.example": "/", "guests": "/", "http:/evil.example": "/", "/" + strings.Repeat("a", 2000): "/", "/login/callback/1": "/",
	} {
		begun, err := f.Begin(t.Context(), f.id, to)
		if err != nil {
			t.Fatal(err)
		}
		_, got, err := f.Complete(t.Context(), f.id, answer(begun, f.at.Authorize(t, begun.URL)), client)
		if err != nil || got != want {
			t.Errorf("%q leads to %q, want %q: %v", to, got, want, err)
		}
	}
}

func TestDiscoveryIsNotBelieved(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	says := func(name string, value any) ssotest.Lies {
		return ssotest.Lies{Discovery: func(said map[string]any) { said[name] = value }}
	}
	serves := func(serve http.HandlerFunc) ssotest.Lies { return ssotest.Lies{Serve: serve} }
	for name, test := range map[string]struct {
		lies ssotest.Lies
		told string
	}{
		"garbage":     {serves(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("\x00\xff{")) }), "cannot be read"},
		"empty":       {serves(func(http.ResponseWriter, *http.Request) {}), "cannot be read"},
		"500":         {serves(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }), "500"},
		"a list":      {serves(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("[]")) }), "cannot be read"},
		"a redirect":  {serves(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/keys", http.StatusFound) }), "302"},
		"huge":        {serves(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 2<<20)) }), "too large"},
		"slow":        {serves(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), "cannot be reached"},
		"issuer":      {says("issuer", "https://id.invalid"), "has the issuer https://id.invalid"},
		"no issuer":   {says("issuer", nil), "has the issuer"},
		"plain token": {says("token_endpoint", "http://"+strings.TrimPrefix(f.at.URL, "https://")+"/token"), "token_endpoint"},
		"a script":    {says("authorization_endpoint", "javascript:alert(1)"), "authorization_endpoint"},
		"a password":  {says("authorization_endpoint", "https://a:b@evil.example"), "authorization_endpoint"},
		"no keys":     {says("jwks_uri", ""), "jwks_uri"},
		"log-out":     {says("end_session_endpoint", "javascript:alert(1)"), "end_session_endpoint"},
		"a number":    {says("token_endpoint", 7), "cannot be read"},
	} {
		f.at.Lie(test.lies)
		config := f.Config
		if name == "slow" { // which may take as long as it likes
			config.RequestTime = 300 * time.Millisecond
		}
		tried, err := sso.New(config).Probe(t.Context(), f.id)
		if err != nil || tried.OK || tried.Error == nil || !strings.Contains(*tried.Error, test.told) || len(*tried.Error) > 500 {
			t.Errorf("%s: %v %+v", name, err, tried)
			if tried != nil && tried.Error != nil {
				t.Log(*tried.Error)
			}
		}
		_, err = sso.New(config).Begin(t.Context(), f.id, "/")
		refusedFor(t, err, problem.CodeInvalidState, "is not available at the moment")
		if strings.Contains(err.Error(), "id.invalid") {
			t.Errorf("%s: who is not logged in is told: %v", name, err)
		}
	}
	// A failure is remembered for a moment, and a success for long.
	f.at.Lie(ssotest.Lies{})
	before := f.at.Visits("/.well-known/openid-configuration")
	for range 3 {
		f.must()
	}
	if asked := f.at.Visits("/.well-known/openid-configuration") - before; asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	if f.at.Visits("/keys") != 1 {
		t.Errorf("the keys were asked for %d times", f.at.Visits("/keys"))
	}
}

// What a provider says of itself leads nowhere that the rules forbid.
func TestEndpointsAreHeldToTheRules(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for name, url := range map[string]string{"multicast": "https://224.0.0.1/token", "private": "https://10.0.0.1/token"} {
		f.at.Lie(ssotest.Lies{Discovery: func(said map[string]any) { said["token_endpoint"] = url }})
		f.Store = sso.New(f.Config)
		_, err := f.logIn()
		refusedFor(t, err, problem.CodeInvalidState, "is not available at the moment")
		if !strings.Contains(f.log.String(), "an address to which it refers") {
			t.Errorf("%s: %s", name, f.log)
		}
	}
	strict := f.Config
	strict.AllowLocal = false
	tried, err := sso.New(strict).Probe(t.Context(), f.id)
	if err != nil || tried.OK {
		t.Errorf("loopback: %v %+v", err, tried)
	}
	p := sso.Provider{Name: "Local", Issuer: "https://10.1.2.3", ClientID: "x", Accounts: sso.Invited}
	_, err = f.Create(t.Context(), p, secretText("x"))
	if problem.CodeOf(err) != problem.CodeInvalid {
		t.Errorf("a private network: %v", err)
	}
	p.AllowPrivate = true
	if _, err := f.Create(t.Context(), p, secretText("x")); err != nil {
		t.Errorf("a private network that is allowed: %v", err)
	}
	// Another certificate than the one that is pinned.
	if _, err := f.Update(t.Context(), f.id, func(p *sso.Provider) { p.Fingerprint = strings.Repeat("ab", 32) },
		new(secretText(ssotest.ClientSecret))); err != nil {
		t.Fatal(err)
	}
	if tried, err := f.Probe(t.Context(), f.id); err != nil || tried.OK {
		t.Errorf("another certificate: %v %+v", err, tried)
	}
}

// Letters that look like those of somebody's address lead to nobody's account.
func TestAddressesThatLookAlikeJoinNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.account("anna@coco.com", identity.Viewer)
	for _, email := range []string{"anna@\u0441\u043e\u0441\u043e.com", "\uff41nna@coco.com"} {
		f.at.Person = map[string]any{"sub": "stranger", "email": email, "email_verified": true}
		_, err := f.logIn()
		refusedFor(t, err, problem.CodeInvalidCredentials, "resembles")
	}
	if n := f.Value("SELECT count(*) FROM user_identities"); n != "0" {
		t.Errorf("%s were joined", n)
	}
	f.at.Person["email"] = "ANNA@coco.com"
	f.must()
}

// Somebody who knows the password that an admin chose for an account does not become an owner by the rules of a provider.
func TestRulesMakeNoOwnerWithAPassword(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	blue := identitytest.Team(t, f.DB, "blue")
	rules := []sso.Rule{{Group: "owners", TeamID: 1, Role: "owner"}, {Group: "owners", TeamID: blue, Role: "owner"},
		{Group: "staff", TeamID: 1, Role: "admin"}}
	if _, err := f.Update(t.Context(), f.id, func(p *sso.Provider) { p.Rules = rules }, nil); err != nil {
		t.Fatal(err)
	}
	account := f.account("anna@example.com", identity.Viewer)
	for group, want := range map[string]string{"owners": "1 viewer", "staff": "1 admin"} {
		f.Exec("UPDATE team_members SET role = 'viewer' WHERE user_id = $1", account.ID)
		f.at.Person["groups"] = []string{group}
		if in := f.must(); in.User.ID != account.ID || f.roles(account.ID) != want {
			t.Errorf("%s: %s, want %s", group, f.roles(account.ID), want)
		}
	}
}

// What a provider vouched for does not count after its settings have changed.
func TestProviderChangesBeforeTheSecondFactor(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	account := f.account("anna@example.com", identity.Viewer)
	factor := identitytest.TOTP(t, f.users, account)
	in, err := f.logIn()
	if err != nil || in.Pending == "" {
		t.Fatalf("%+v %v", in, err)
	}
	if _, err := f.Update(t.Context(), f.id, func(p *sso.Provider) { p.TrustEmail = true }, nil); err != nil {
		t.Fatal(err)
	}
	_, err = f.users.LogInTOTP(t.Context(), in.Pending, factor.Code(t, 1), client)
	refusedFor(t, err, problem.CodeInvalidCredentials, "changed in the meantime")
}

// The endpoint that tells of people says nothing of how they logged in, and is asked whether an address is verified.
func TestWhatUserInfoMayAdd(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(p *sso.Provider) { p.TrustEmail = true })
	account := f.account("anna@example.com", identity.Viewer)
	delete(f.at.Person, "email_verified")
	f.at.Info = map[string]any{"email": "anna@example.com", "email_verified": false}
	if _, err := f.logIn(); problem.CodeOf(err) != problem.CodeInvalidCredentials {
		t.Errorf("an address that is not verified: %v", err)
	}
	f.at.Info = map[string]any{"email": "anna@example.com", "email_verified": true, "amr": []string{"mfa"}}
	f.must()
	identitytest.TOTP(t, f.users, account)
	if in, err := f.logIn(); err != nil || in.Pending == "" {
		t.Errorf("the second factor was skipped: %+v %v", in, err)
	}
}
