package api_test

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/proxy"
)

// serverFixture is the whole API behind a real server, as an attacker meets it.
type serverFixture struct {
	*fixture
	server *httptest.Server
	secure bool
}

// attacked runs the test against a plain server and one with TLS.
func attacked(t *testing.T, run func(t *testing.T, f *serverFixture)) {
	t.Helper()
	for _, secure := range []bool{false, true} {
		t.Run(map[bool]string{false: "plain", true: "TLS"}[secure], func(t *testing.T) {
			t.Parallel()
			f := &serverFixture{fixture: newFixture(t), secure: secure}
			start := httptest.NewServer
			if secure {
				start = httptest.NewTLSServer
			}
			f.server = start(f.Handler)
			t.Cleanup(f.server.Close)
			run(t, f)
		})
	}
}

// reply is an answer with its body read.
type reply struct {
	*http.Response
	text string
}

// problem is the identifier in a problem document.
func (r reply) problem() string {
	var p struct{ Error string }
	_ = json.Unmarshal([]byte(r.text), &p) // no document has no identifier
	return p.Error
}

// cookie is the session's cookie that the answer sets; nil when it sets none.
func (r reply) cookie() *http.Cookie {
	for _, c := range r.Cookies() {
		if strings.HasSuffix(c.Name, identity.CookieName) {
			return c
		}
	}
	return nil
}

// send makes one request without a browser's help; header are names and values in turn.
func (f *serverFixture) send(t *testing.T, client *http.Client, method, path, body string, cookie *http.Cookie, header ...string) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, f.server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if cookie != nil {
		r.AddCookie(cookie)
	}
	if client == nil {
		client = f.server.Client()
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{answer, string(text)}
}

func (f *serverFixture) cookieOf(a *identitytest.Account) *http.Cookie {
	if f.secure {
		return a.SecureCookie
	}
	return a.Cookie
}

func (f *serverFixture) newCookie(value string) *http.Cookie {
	c := identity.Cookie(value, proxy.Site{Secure: f.secure, Path: "/"})
	return &c
}

const (
	loginPath = "/api/v1/auth/login"
	totpPath  = "/api/v1/auth/totp"
	mePath    = "/api/v1/auth/me"
	keysPath  = "/api/v1/api-keys"
)

func credentials(email, password string) string {
	return fmt.Sprintf(`{"email":%q,"password":%q}`, email, password)
}

// Session fixation: a session is always new, after the first step and after the second, whatever the browser brought.
func TestAttackSessionFixation(t *testing.T) {
	t.Parallel()
	attacked(t, func(t *testing.T, f *serverFixture) {
		victim, attacker := identitytest.As(t, f.users, identity.Owner), identitytest.As(t, f.users, identity.Viewer)
		guarded := identitytest.As(t, f.users, identity.Owner)
		factor := identitytest.TOTP(t, f.users, guarded)
		planted := map[string]*http.Cookie{"chosen": f.newCookie(strings.Repeat("A", 43)), "the attacker's own": f.cookieOf(attacker)}
		for name, cookie := range planted {
			answer := f.send(t, nil, "POST", loginPath, credentials(victim.Email, identitytest.Password), cookie)
			if got := answer.cookie(); answer.StatusCode != 200 || got == nil || got.Value == cookie.Value || got.Name != cookie.Name {
				t.Errorf("%s: %d %s", name, answer.StatusCode, answer.text)
			}
			if me := f.send(t, nil, "GET", mePath, "", cookie); strings.Contains(me.text, victim.Email) {
				t.Errorf("%s is the victim's session now", name)
			}
		}
		// With two steps: the first gives no session, its token is none, and the second gives a new one.
		step := f.send(t, nil, "POST", loginPath, credentials(guarded.Email, identitytest.Password), planted["the attacker's own"])
		var first struct{ Pending string }
		if err := json.Unmarshal([]byte(step.text), &first); err != nil || step.StatusCode != 200 || step.cookie() != nil ||
			first.Pending == "" {
			t.Fatalf("%d %s", step.StatusCode, step.text)
		}
		if me := f.send(t, nil, "GET", mePath, "", f.newCookie(first.Pending)); me.StatusCode != 401 {
			t.Errorf("the first step's token is a session: %d", me.StatusCode)
		}
		for _, key := range []string{first.Pending, "svc_" + first.Pending} {
			if me := f.send(t, nil, "GET", mePath, "", nil, "Authorization", "Bearer "+key); me.StatusCode != 401 {
				t.Errorf("the first step's token is a key: %d", me.StatusCode)
			}
		}
		body := fmt.Sprintf(`{"pending":%q,"code":%q}`, first.Pending, factor.Code(t, 1))
		done := f.send(t, nil, "POST", totpPath, body, planted["chosen"])
		if got := done.cookie(); done.StatusCode != 200 || got == nil || got.Value == planted["chosen"].Value || got.Value == first.Pending ||
			got.Secure != f.secure || !got.HttpOnly {
			t.Errorf("%d %s %v", done.StatusCode, done.text, done.Header)
		}
		if me := f.send(t, nil, "GET", mePath, "", planted["chosen"]); me.StatusCode != 401 {
			t.Errorf("the planted session: %d", me.StatusCode)
		}
	})
}

// state is everything that a forged request could change of the accounts.
func (f *serverFixture) state(t *testing.T) (text string) {
	t.Helper()
	err := f.db.Pool.QueryRow(t.Context(), `SELECT concat((SELECT string_agg(u::text, '' ORDER BY id)
		FROM users u), (SELECT string_agg(k.name, '' ORDER BY id) FROM api_keys k),
		(SELECT count(*) FROM sessions), (SELECT count(*) FROM recovery_codes), (SELECT count(*) FROM pending_logins))`).Scan(&text)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Cross-site requests: another site's page rides on the victim's cookie, by a form, by fetch, with every type of body that
// browsers send unasked.
func TestAttackCrossSiteRequest(t *testing.T) {
	t.Parallel()
	attacked(t, func(t *testing.T, f *serverFixture) {
		victim := identitytest.As(t, f.users, identity.Owner)
		cookie := f.cookieOf(victim)
		key := identitytest.Key(t, f.users, victim, identitytest.KeySpec{})
		before := f.state(t)
		foreign := map[string][]string{
			"foreign origin": {"Origin", "https://evil.example"}, "opaque origin": {"Origin", "null"},
			"cross-site": {"Sec-Fetch-Site", "cross-site"},
			"sibling":    {"Sec-Fetch-Site", "same-site"}, "another port": {"Origin", "http://127.0.0.1:1"},
			"name in front": {"Origin", "https://hostler.evil.example"},
		}
		targets := []struct{ method, path, body string }{
			{"POST", keysPath, `{"name":"evil"}`}, {"DELETE", fmt.Sprintf("%s/%d", keysPath, key.ID), ""}, {"POST", totpPath + "/enroll", ""},
			{"POST", "/api/v1/auth/logout", ""}, {"POST", "/api/v1/auth/password", `{"current":"x","new":"mehlwurm-zebra-19"}`},
			{"POST", loginPath, credentials(victim.Email, identitytest.Password)}, {"POST", totpPath, `{"pending":"x","code":"1"}`},
		}
		for name, header := range foreign {
			for _, target := range targets {
				answer := f.send(t, nil, target.method, target.path, target.body, cookie, header...)
				if answer.StatusCode != 403 || answer.problem() != "cross_origin" || answer.cookie() != nil {
					t.Errorf("%s, %s %s: %d %s", name, target.method, target.path, answer.StatusCode, answer.text)
				}
			}
			// A key in the header does not excuse the cookie beside it.
			if answer := f.send(t, nil, "POST", keysPath, `{"name":"evil"}`, cookie,
				append(header, "Authorization", key.Header)...); answer.problem() != "cross_origin" {
				t.Errorf("%s, key and cookie: %d %s", name, answer.StatusCode, answer.text)
			}
		}
		for _, media := range []string{"application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain",
			"text/plain; charset=utf-8", ""} {
			for _, body := range []string{`{"name":"evil"}`, `{"name":"evil","x":"=`, "name=evil",
				"--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nevil\r\n--x--\r\n"} {
				answer := f.send(t, nil, "POST", keysPath, body, cookie, "Content-Type", media) // an old browser without Origin
				if answer.StatusCode != 415 || answer.problem() != "unsupported_media_type" {
					t.Errorf("%q %q: %d %s", media, body, answer.StatusCode, answer.text)
				}
				if answer := f.send(t, nil, "POST", keysPath, body, cookie, "Content-Type", media, "Origin",
					"https://evil.example"); answer.StatusCode != 403 {
					t.Errorf("%q %q from another site: %d %s", media, body, answer.StatusCode, answer.text)
				}
			}
		}
		// Nor do methods and parameters that proxies and frameworks know.
		for _, header := range [][]string{{"X-HTTP-Method-Override", "DELETE"}, {"X-Method-Override", "POST"}} {
			f.send(t, nil, "GET", fmt.Sprintf("%s/%d?_method=DELETE", keysPath, key.ID), "", cookie, header...)
		}
		if after := f.state(t); after != before {
			t.Errorf("something was changed:\n%s\n%s", before, after)
		}
		if trail := f.id("SELECT count(*) FROM audit WHERE error = 'cross_origin'"); trail < int64(len(foreign)*len(targets)) {
			t.Errorf("%d refused attempts are in the audit log", trail)
		}
		// A program has no origin; our own page has ours; a key alone is sent by nobody's browser by itself.
		for name, header := range map[string][]string{"a program": nil, "our page": {"Origin", f.server.URL},
			"our page, said otherwise": {"Sec-Fetch-Site", "same-origin"}, "typed by hand": {"Sec-Fetch-Site", "none"}} {
			if answer := f.send(t, nil, "POST", keysPath, `{"name":"mine"}`, cookie, header...); answer.StatusCode != 201 {
				t.Errorf("%s: %d %s", name, answer.StatusCode, answer.text)
			}
		}
		if answer := f.send(t, nil, "POST", keysPath, `{"name":"mine"}`, nil, "Authorization", key.Header, "Origin",
			"https://tool.example"); answer.StatusCode != 201 {
			t.Errorf("a key without a cookie: %d %s", answer.StatusCode, answer.text)
		}
	})
}

// Probing for accounts: a known, an unknown, an inactive and a malformed address cost one hash each and answer alike. Wall
// time is not compared: the work is.
func TestAttackProbingForAccounts(t *testing.T) {
	t.Parallel()
	attacked(t, func(t *testing.T, f *serverFixture) {
		known, guarded, gone := identitytest.As(t, f.users, identity.Owner), identitytest.As(t, f.users, identity.Owner),
			identitytest.As(t, f.users, identity.Owner)
		identitytest.TOTP(t, f.users, guarded)
		if _, err := f.db.Pool.Exec(t.Context(), "UPDATE users SET is_active = false WHERE id = $1", gone.ID); err != nil {
			t.Fatal(err)
		}
		answers := map[string]string{}
		for name, email := range map[string]string{
			"known": known.Email, "with a second factor": guarded.Email, "inactive": gone.Email, "unknown": "nobody@example.com",
			"malformed": "nobody", "empty": "",
			"look-alike": strings.Replace(known.Email, "e", "\u0435", 1), "with a dot": "." + known.Email,
			"null byte by percent": "user%00@example.com",
		} {
			before := f.users.Hashes()
			answer := f.send(t, nil, "POST", loginPath, credentials(email, "not-the-password-at-all"), nil)
			if n := f.users.Hashes() - before; n != 1 {
				t.Errorf("%s: %d hashes", name, n)
			}
			var document map[string]any
			if err := json.Unmarshal([]byte(answer.text), &document); err != nil || answer.StatusCode != 401 {
				t.Errorf("%s: %d %s", name, answer.StatusCode, answer.text)
			}
			delete(document, "request_id")
			names := []string{}
			for header := range answer.Header {
				names = append(names, header)
			}
			answers[fmt.Sprint(document, len(names))] = name
		}
		if len(answers) != 1 {
			t.Errorf("the answers differ: %v", answers)
		}
	})
}

// Guessing passwords from many addresses, behind headers that claim others, and in other spellings of the address.
func TestAttackGuessingFromManyPlaces(t *testing.T) {
	t.Parallel()
	attacked(t, func(t *testing.T, f *serverFixture) {
		victim := identitytest.As(t, f.users, identity.Owner)
		spellings := []string{victim.Email, strings.ToUpper(victim.Email), " " + victim.Email,
			strings.Replace(victim.Email, "user", "\uff55\uff53\uff45\uff52", 1)}
		guesses := 0
		for i := range 40 {
			client := f.from(fmt.Sprintf("127.0.0.%d", i+2))
			claimed := fmt.Sprintf("203.0.113.%d", i)
			answer := f.send(t, client, "POST", loginPath, credentials(spellings[i%len(spellings)], fmt.Sprintf("guess-number-%d", i)), nil,
				"X-Forwarded-For", claimed, "X-Real-IP", claimed, "Forwarded", "for="+claimed, "CF-Connecting-IP", claimed)
			if answer.StatusCode == 429 {
				break
			}
			if answer.StatusCode != 401 {
				t.Fatalf("%d %s", answer.StatusCode, answer.text)
			}
			guesses++
		}
		if guesses != 10 {
			t.Errorf("%d guesses at one account", guesses)
		}
		if answer := f.send(t, f.from("127.0.0.99"), "POST", loginPath, credentials(victim.Email, identitytest.Password),
			nil); answer.StatusCode != 429 || answer.Header.Get("Retry-After") == "" {
			t.Errorf("the right password beyond the limit: %d %s", answer.StatusCode, answer.text)
		}
		// From one address over many accounts, whatever it claims to be.
		client, guesses := f.from("127.0.0.100"), 0
		for i := range 60 {
			answer := f.send(t, client, "POST", loginPath, credentials(fmt.Sprintf("somebody%d@example.com", i), "guess"), nil, "X-Forwarded-For",
				fmt.Sprintf("203.0.113.%d", i))
			if answer.StatusCode == 429 {
				break
			}
			guesses++
		}
		if guesses != 30 {
			t.Errorf("%d guesses from one address", guesses)
		}
	})
}

// from is a client at another address of the loopback network.
func (f *serverFixture) from(address string) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}
	if f.secure {
		transport.TLSClientConfig = &tls.Config{RootCAs: f.server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	}
	return &http.Client{Transport: transport}
}

// Guessing the second factor with the password known: new log-ins and new addresses give no further guesses.
func TestAttackGuessingTheSecondFactor(t *testing.T) {
	t.Parallel()
	attacked(t, func(t *testing.T, f *serverFixture) {
		victim := identitytest.As(t, f.users, identity.Owner)
		factor := identitytest.TOTP(t, f.users, victim)
		guesses := 0
		for i := range 30 {
			client := f.from(fmt.Sprintf("127.0.0.%d", i+2))
			var first struct{ Pending string }
			step := f.send(t, client, "POST", loginPath, credentials(victim.Email, identitytest.Password), nil)
			if err := json.Unmarshal([]byte(step.text), &first); err != nil || first.Pending == "" {
				t.Fatalf("%d %s", step.StatusCode, step.text)
			}
			answer := f.send(t, client, "POST", totpPath, fmt.Sprintf(`{"pending":%q,"code":"%06d"}`, first.Pending, i), nil)
			if answer.cookie() != nil {
				t.Skip("a guess of one in a million was right")
			}
			if answer.StatusCode == 429 {
				break
			}
			guesses++
		}
		if guesses != 10 {
			t.Errorf("%d guesses", guesses)
		}
		var first struct{ Pending string }
		step := f.send(t, nil, "POST", loginPath, credentials(victim.Email, identitytest.Password), nil)
		if err := json.Unmarshal([]byte(step.text), &first); err != nil {
			t.Fatal(err)
		}
		if answer := f.send(t, nil, "POST", totpPath, fmt.Sprintf(`{"pending":%q,"code":%q}`, first.Pending, factor.Code(t, 1)),
			nil); answer.StatusCode != 429 {
			t.Errorf("the right code beyond the limit: %d %s", answer.StatusCode, answer.text)
		}
	})
}

// Guessing a key from its shown beginning: any tail answers like any other false key, and nothing is written.
func TestAttackGuessingAKey(t *testing.T) {
	t.Parallel()
	attacked(t, func(t *testing.T, f *serverFixture) {
		victim := identitytest.As(t, f.users, identity.Owner)
		key := identitytest.Key(t, f.users, victim, identitytest.KeySpec{}).Header
		shown := key[:len("Bearer svc_")+6]
		writes := "SELECT (SELECT count(*) FROM audit) + (SELECT count(*) FROM login_failures) + (SELECT count(*) FROM api_keys WHERE " +
			"last_used_at IS NOT NULL)"
		before, answers := f.id(writes), map[string]int{}
		for i := range 200 {
			guess := shown + fmt.Sprintf("%046d", i)
			if i%2 == 1 {
				guess = "Bearer svc_" + fmt.Sprintf("%052d", i)
			}
			answer := f.send(t, nil, "GET", mePath, "", nil, "Authorization", guess)
			text, _, _ := strings.Cut(answer.text, `"request_id"`)
			answers[fmt.Sprint(answer.StatusCode, text)]++
		}
		if len(answers) != 1 {
			t.Errorf("the answers differ: %v", answers)
		}
		if after := f.id(writes); after != before {
			t.Errorf("%d rows were written for false keys", after-before)
		}
		if answer := f.send(t, nil, "GET", mePath, "", nil, "Authorization", key); answer.StatusCode != 200 {
			t.Errorf("the key itself: %d %s", answer.StatusCode, answer.text)
		}
	})
}
