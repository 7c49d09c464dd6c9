package identity_test

import (
	"crypto/sha256"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/proxy"
)

// with is a plain request that carries the cookies.
func with(cookies ...*http.Cookie) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "http://hostler.example/", nil)
	for _, c := range cookies {
		r.AddCookie(c)
	}
	return r
}

func overTLS(r *http.Request) *http.Request {
	r.TLS = &tls.ConnectionState{}
	return r
}

func TestAuthenticateYieldsTheCallerWithAllRoles(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	blue := identitytest.Team(t, d, "blue")
	held := identitytest.In{identity.DefaultTeam: identity.Viewer, blue: identity.Admin}
	user := identitytest.User(t, s, held)
	c, err := s.Authenticate(t.Context(), with(user.Cookie))
	if err != nil {
		t.Fatal(err)
	}
	if c.UserID != user.ID || c.Email != user.Email || c.SessionID == 0 || c.KeyID != 0 || c.Scopes != nil ||
		!reflect.DeepEqual(c.Teams, map[int64]identity.Role(held)) {
		t.Errorf("%+v", c)
	}
	none, err := s.Authenticate(t.Context(), with(identitytest.User(t, s, nil).Cookie))
	if err != nil || len(none.Teams) != 0 || none.Teams == nil {
		t.Errorf("a user without roles: %+v, %v", none, err)
	}
	// A role given or taken now counts at the next request.
	dbtest.Exec(t, d, "UPDATE team_members SET role = 'owner' WHERE user_id = $1 AND team_id = 1", user.ID)
	dbtest.Exec(t, d, "DELETE FROM team_members WHERE user_id = $1 AND team_id = $2", user.ID, blue)
	if c, err = s.Authenticate(t.Context(), with(user.Cookie)); err != nil || c.Instance() != identity.Owner || len(c.Teams) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestOnlyTheHashOfASessionIsKept(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	user := identitytest.As(t, identitytest.New(d), identity.Viewer)
	if len(user.Cookie.Value) != 43 {
		t.Errorf("the token has %d characters, want 43 for 256 bits", len(user.Cookie.Value))
	}
	var hash []byte
	var row string
	if err := d.Pool.QueryRow(t.Context(), "SELECT token_hash, sessions::text FROM sessions").Scan(&hash, &row); err != nil {
		t.Fatal(err)
	}
	if want := sha256.Sum256([]byte(user.Cookie.Value)); string(hash) != string(want[:]) || strings.Contains(row, user.Cookie.Value) {
		t.Errorf("the row is %s", row)
	}
}

func TestRequestsWithoutAValidSessionAreUnauthenticated(t *testing.T) {
	t.Parallel()
	s := identitytest.New(dbtest.New(t))
	user, other := identitytest.As(t, s, identity.Owner), identitytest.As(t, s, identity.Owner)
	cookie := func(name, value string) *http.Cookie { return &http.Cookie{Name: name, Value: value} }
	bearer := with(user.Cookie)
	bearer.Header.Set("Authorization", "bearer svc_abcdefgh")
	for name, r := range map[string]*http.Request{
		"no cookie":                   with(),
		"empty":                       with(cookie("service_session", "")),
		"unknown":                     with(cookie("service_session", strings.Repeat("A", 43))),
		"the hash itself":             with(cookie("service_session", "qL8R4QIcQ_ZsRqOAbeRfcZhilN_MksRtDaErMA-fDuA")),
		"cut":                         with(cookie("service_session", user.Cookie.Value[:42])),
		"padded":                      with(cookie("service_session", user.Cookie.Value+"=")),
		"huge":                        with(cookie("service_session", strings.Repeat("A", 1<<20))),
		"SQL":                         with(cookie("service_session", "' OR 1=1 --")),
		"other name":                  with(cookie("session", user.Cookie.Value)),
		"two cookies":                 with(user.Cookie, other.Cookie),
		"plain cookie over TLS":       overTLS(with(user.Cookie)),
		"secure cookie without TLS":   with(user.SecureCookie),
		"API key that does not exist": bearer,
	} {
		if c, err := s.Authenticate(t.Context(), r); code(err) != problem.CodeUnauthenticated {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	basic := with(user.Cookie) // a proxy in front may have its own log-in
	basic.Header.Set("Authorization", "Basic YTpi")
	for name, r := range map[string]*http.Request{"plain": with(user.Cookie), "TLS": overTLS(with(user.SecureCookie)), "proxy": basic} {
		if _, err := s.Authenticate(t.Context(), r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCookieAttributes(t *testing.T) {
	t.Parallel()
	site, overTLS, below := proxy.Site{Path: "/"}, proxy.Site{Secure: true, Path: "/"}, proxy.Site{Secure: true, Path: "/hostler"}
	plain, secure, gone := identity.Cookie("x", site), identity.Cookie("x", overTLS), identity.NoCookie(overTLS)
	device, secureDevice := identity.DeviceCookie("x.y", site), identity.DeviceCookie("x.y", overTLS)
	inner, plainInner := identity.Cookie("x", below), identity.Cookie("x", proxy.Site{Path: "/hostler"})
	for got, want := range map[string]string{
		plain.String():  "service_session=x; Path=/; HttpOnly; SameSite=Lax",
		secure.String(): "__Host-service_session=x; Path=/; HttpOnly; Secure; SameSite=Lax",
		gone.String():   "__Host-service_session=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax",

		device.String():       "service_device=x.y; Path=/; Max-Age=7776000; HttpOnly; SameSite=Lax",
		inner.String():        "__Secure-service_session=x; Path=/hostler; HttpOnly; Secure; SameSite=Lax",
		plainInner.String():   "service_session=x; Path=/hostler; HttpOnly; SameSite=Lax",
		secureDevice.String(): "__Host-service_device=x.y; Path=/; Max-Age=7776000; HttpOnly; Secure; SameSite=Lax",
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	for name, statement := range map[string]string{
		"idle for 12 hours":   "UPDATE sessions SET last_seen_at = now() - interval '12 hours 1 second' WHERE user_id = $1",
		"7 days old":          "UPDATE sessions SET expires_at = now() - interval '1 second' WHERE user_id = $1",
		"user deactivated":    "UPDATE users SET is_active = false WHERE id = $1",
		"user deleted":        "DELETE FROM users WHERE id = $1",
		"all of user revoked": "DELETE FROM sessions WHERE user_id = $1",
	} {
		user := identitytest.As(t, s, identity.Owner)
		if _, err := s.Authenticate(t.Context(), with(user.Cookie)); err != nil {
			t.Fatal(err)
		}
		dbtest.Exec(t, d, statement, user.ID)
		if _, err := s.Authenticate(t.Context(), with(user.Cookie)); code(err) != problem.CodeUnauthenticated {
			t.Errorf("%s: %v", name, err)
		}
		if list, err := s.Sessions(t.Context(), user.ID); name != "user deactivated" && (err != nil || len(list) != 0) {
			t.Errorf("%s: still lists %v, %v", name, list, err)
		}
	}
	var life time.Duration
	identitytest.As(t, s, identity.Owner)
	if err := d.Pool.QueryRow(t.Context(), "SELECT max(expires_at - created_at) FROM sessions").Scan(&life); err != nil ||
		life != 7*24*time.Hour {
		t.Errorf("a session lives for %v, %v", life, err)
	}
}

// Use keeps a session alive, is written at most once a minute, and does not move its last moment.
func TestUseOfASessionIsNotedOnceAMinute(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	user := identitytest.As(t, s, identity.Owner)
	seen := func() (at time.Time, expires time.Time) {
		if err := d.Pool.QueryRow(t.Context(), "SELECT last_seen_at, expires_at FROM sessions").Scan(&at, &expires); err != nil {
			t.Fatal(err)
		}
		return at, expires
	}
	use := func() {
		t.Helper()
		if _, err := s.Authenticate(t.Context(), with(user.Cookie)); err != nil {
			t.Fatal(err)
		}
	}
	first, expires := seen()
	use()
	if at, _ := seen(); !at.Equal(first) {
		t.Error("a use within the first minute was written")
	}
	dbtest.Exec(t, d, "UPDATE sessions SET last_seen_at = now() - interval '11 hours'")
	use()
	noted, same := seen()
	if time.Since(noted) > time.Hour || !same.Equal(expires) {
		t.Errorf("last seen %v, expires %v and before %v", noted, same, expires)
	}
	use()
	if at, _ := seen(); !at.Equal(noted) {
		t.Error("the next use was written again")
	}
}

func TestSessionsAreListedAndRevoked(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	a, stranger := identitytest.As(t, s, identity.Viewer), identitytest.As(t, s, identity.Owner)
	b := identitytest.LogIn(t, s, a.User)
	if a.Cookie.Value == b.Cookie.Value {
		t.Fatal("two log-ins have one session")
	}
	list, err := s.Sessions(t.Context(), a.ID)
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	callerB, err := s.Authenticate(t.Context(), with(b.Cookie))
	if err != nil {
		t.Fatal(err)
	}
	for name, id := range map[string]int64{"none": 999, "negative": -1} {
		if err := s.RevokeSession(t.Context(), a.ID, id); code(err) != problem.CodeNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.RevokeSession(t.Context(), stranger.ID, callerB.SessionID); code(err) != problem.CodeNotFound {
		t.Errorf("someone else's: %v", err)
	}
	if err := s.RevokeSession(t.Context(), a.ID, callerB.SessionID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Authenticate(t.Context(), with(b.Cookie)); code(err) != problem.CodeUnauthenticated {
		t.Errorf("the revoked session: %v", err)
	}
	if _, err := s.Authenticate(t.Context(), with(a.Cookie)); err != nil {
		t.Errorf("the other session: %v", err)
	}
	if err := s.LogOut(t.Context(), callerB); code(err) != problem.CodeUnauthenticated {
		t.Errorf("log-out of a revoked session: %v", err)
	}
	if err := s.LogOut(t.Context(), &identity.Caller{UserID: a.ID, KeyID: 3}); code(err) != problem.CodeInvalidState {
		t.Errorf("log-out of an API key: %v", err)
	}
}

func TestSessionsDoNotGatherWithoutBound(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	user, stranger := identitytest.As(t, s, identity.Viewer), identitytest.As(t, s, identity.Viewer)
	var last *identitytest.Account
	for range 101 {
		last = identitytest.LogIn(t, s, user.User)
	}
	if list, err := s.Sessions(t.Context(), user.ID); err != nil || len(list) != 100 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
	for name, want := range map[*identitytest.Account]bool{user: false, last: true, stranger: true} {
		if _, err := s.Authenticate(t.Context(), with(name.Cookie)); (err == nil) != want {
			t.Errorf("%v", err)
		}
	}
	dbtest.Exec(t, d, "UPDATE sessions SET expires_at = now() - interval '1 second' WHERE user_id = $1", user.ID)
	dbtest.Exec(t, d, "INSERT INTO login_failures VALUES ('account:old', 3, now() - interval '1 hour'), ('account:new', 3, now() + "+
		"interval '1 hour')")
	if n, err := s.Prune(t.Context()); err != nil || n == 0 {
		t.Fatal(err)
	}
	var sessions, failures int
	err := d.Pool.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM login_failures WHERE bucket LIKE "+
		"'account:%')").Scan(&sessions, &failures)
	if err != nil || sessions != 1 || failures != 1 {
		t.Errorf("%d sessions and %d counters are left, want 1 and 1, %v", sessions, failures, err)
	}
}

func TestSessionsKeepWhatTheClientSaysAsPlainText(t *testing.T) {
	t.Parallel()
	s := identitytest.New(dbtest.New(t))
	user := identitytest.As(t, s, identity.Viewer)
	from := identity.Client{Address: "198.51.100.1", UserAgent: "x\x00\r\n\xff" + strings.Repeat("ü", 10_000)}
	if _, err := s.LogIn(t.Context(), user.Email, identitytest.Password, from); err != nil {
		t.Fatal(err)
	}
	list, err := s.Sessions(t.Context(), user.ID)
	if err != nil || len(list) != 2 || len(list[0].UserAgent) > 300 || strings.ContainsAny(list[0].UserAgent, "\x00\r\n") {
		t.Errorf("%+v, %v", list, err)
	}
}

// change is from one password to another, and keeps the keys.
func change(current, next string) identity.PasswordChange {
	return identity.PasswordChange{Current: current, NewPassword: identity.NewPassword{Password: next}}
}

func TestChangePassword(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	user := identitytest.As(t, s, identity.Viewer)
	elsewhere := identitytest.LogIn(t, s, user.User)
	caller, err := s.Authenticate(t.Context(), with(user.Cookie))
	if err != nil {
		t.Fatal(err)
	}
	const next = "mehlwurm-zebra-19"
	for name, test := range map[string]struct{ current, next, fault string }{
		"wrong":     {wrong, next, "wrong_password"},
		"empty":     {"", next, "wrong_password"},
		"short":     {identitytest.Password, "short", "too_short"},
		"common":    {identitytest.Password, "password1234", "too_common"},
		"the same":  {identitytest.Password, identitytest.Password, "unchanged"},
		"the email": {identitytest.Password, user.Email, "same_as_email"},
	} {
		_, err := s.ChangePassword(t.Context(), caller, change(test.current, test.next), from("198.51.100.1"))
		if p := problem.From(err); err == nil || len(p.Faults) != 1 || p.Faults[0].Type != test.fault {
			t.Errorf("%s: %v", name, err)
		}
	}
	done, err := s.ChangePassword(t.Context(), caller, change(identitytest.Password, next), from("198.51.100.1"))
	if err != nil || done.Token == "" || done.Sessions != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	renewed := identity.Cookie(done.Token, proxy.Site{Path: "/"})
	for name, test := range map[string]struct {
		cookie *http.Cookie
		want   problem.Code
	}{
		"the old token of this session": {user.Cookie, problem.CodeUnauthenticated},
		"the other session":             {elsewhere.Cookie, problem.CodeUnauthenticated},
		"the new token":                 {&renewed, ""},
	} {
		if _, err := s.Authenticate(t.Context(), with(test.cookie)); code(err) != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for password, want := range map[string]problem.Code{identitytest.Password: problem.CodeInvalidCredentials, next: ""} {
		if _, err := s.LogIn(t.Context(), user.Email, password, from("198.51.100.1")); code(err) != want {
			t.Errorf("%s: %v", password, err)
		}
	}
}

func TestGuessesAtThePresentPasswordAreLimited(t *testing.T) {
	t.Parallel()
	s := identitytest.New(dbtest.New(t))
	user := identitytest.As(t, s, identity.Viewer)
	caller, err := s.Authenticate(t.Context(), with(user.Cookie))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[problem.Code]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 25 {
		wg.Go(func() {
			_, err := s.ChangePassword(t.Context(), caller, change(wrong, "mehlwurm-zebra-19"), from("198.51.100.1"))
			mu.Lock()
			defer mu.Unlock()
			counts[code(err)]++
		})
	}
	wg.Wait()
	if counts[problem.CodeInvalid] != 10 || counts[problem.CodeRateLimited] != 15 {
		t.Errorf("%v", counts)
	}
	// Log-in is counted apart.
	identitytest.LogIn(t, s, user.User)
}

// Two changes at once: one wins, and its session is the only one that is left.
func TestTwoPasswordChangesAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("lets requests race: make check runs it")
	}
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	user := identitytest.As(t, s, identity.Viewer)
	accounts := []*identitytest.Account{user, identitytest.LogIn(t, s, user.User), identitytest.LogIn(t, s, user.User)}
	callers := make([]*identity.Caller, len(accounts))
	for i, account := range accounts {
		var err error
		if callers[i], err = s.Authenticate(t.Context(), with(account.Cookie)); err != nil {
			t.Fatal(err)
		}
	}
	results := make([]error, len(callers))
	var wg sync.WaitGroup
	for i, caller := range callers {
		wg.Go(func() {
			_, results[i] = s.ChangePassword(t.Context(), caller, change(identitytest.Password, "mehlwurm-zebra-19"), from("198.51.100.1"))
		})
	}
	wg.Wait()
	won := 0
	for _, err := range results {
		if err == nil {
			won++
		}
	}
	list, err := s.Sessions(t.Context(), user.ID)
	if won != 1 || len(list) != 1 || err != nil {
		t.Errorf("%d won (%v), %d sessions are left, %v", won, results, len(list), err)
	}
}
