package auth_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
)

const login = "/api/v1/auth/login"

func TestLogInOpensASession(t *testing.T) {
	t.Parallel()
	s := newService(t)
	user := s.account(t, apitest.Operator)
	answer := s.send(t, "POST", login, credentials(strings.ToUpper(user.Email), identitytest.Password))
	if want := fmt.Sprintf(`{"user":{"id":%d,"email":%q,"display_name":null,"totp_enabled":false,"passkeys":0,"has_password":true}}`, user.ID,
		user.Email); answer.Status != 200 || strings.TrimSpace(string(answer.Body)) != want {
		t.Errorf("%d %s, want %s", answer.Status, answer.Body, want)
	}
	c := given(t, answer)
	if c.Name != "service_session" || !c.HttpOnly || c.Secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" ||
		c.MaxAge != 0 {
		t.Errorf("the cookie is %s", c)
	}
	if me := s.send(t, "GET", "/api/v1/auth/me", "", c); me.Status != 200 || !strings.Contains(string(me.Body), user.Email) {
		t.Errorf("%d %s", me.Status, me.Body)
	}
	row := s.trail(t)[0]
	if row.Action != "auth.login" || row.Result != audit.ResultOK || row.ActorType != audit.ActorUser || row.ActorEmail != user.Email ||
		*row.ActorID != user.ID || row.Address == "" {
		t.Errorf("%+v", row)
	}
}

func TestLogInRefusesEveryoneAlike(t *testing.T) {
	t.Parallel()
	s := newService(t)
	known, inactive := s.account(t, apitest.Viewer), s.account(t, apitest.Operator)
	if _, err := s.db.Pool.Exec(t.Context(), "UPDATE users SET is_active = false WHERE id = $1", inactive.ID); err != nil {
		t.Fatal(err)
	}
	bodies := map[string]bool{}
	for name, body := range map[string]string{
		"wrong password": credentials(known.Email, "x"), "empty": credentials("", ""),
		"unknown":  credentials("canary-nobody@example.com", identitytest.Password),
		"inactive": credentials(inactive.Email, identitytest.Password), "SQL": credentials("' OR 1=1 --", "' OR 1=1 --"),
		"LIKE":       credentials("%", "%"),
		"look-alike": credentials("\u0430nna@example.com", "x"), "full width": credentials("ｎｏｂｏｄｙ@example.com", "x"),
	} {
		answer := s.send(t, "POST", login, body)
		if answer.Status != 401 || answer.Problem() != "invalid_credentials" || answer.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
		}
		var p map[string]any
		if err := json.Unmarshal(answer.Body, &p); err != nil {
			t.Fatal(err)
		}
		delete(p, "request_id")
		bodies[fmt.Sprint(p, len(answer.Header))] = true
	}
	if len(bodies) != 1 {
		t.Errorf("the answers differ: %v", bodies)
	}
	targets := map[string]int{}
	for _, row := range s.trail(t) {
		if row.Action == "auth.login" && row.Result == audit.ResultRefused {
			targets[row.TargetID]++
			if row.ActorType != audit.ActorAnonymous || row.ActorID != nil || row.ActorEmail+row.TargetName != "" ||
				row.Error != "invalid_credentials" {
				t.Errorf("%+v", row)
			}
		}
	}
	if targets[strconv.FormatInt(known.ID, 10)] != 1 || targets[strconv.FormatInt(inactive.ID, 10)] != 1 || targets[""] != 6 {
		t.Errorf("rows by target: %v", targets)
	}
}

func TestLogInTakesOnlyJSONFromItsOwnSite(t *testing.T) {
	t.Parallel()
	s := newService(t)
	body := credentials(s.account(t, apitest.Owner).Email, identitytest.Password)
	with := func(pairs ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	scenario := func(name string, status int, code, body string, headers map[string]string) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: "POST", URL: login, Body: body, Headers: headers, Status: status, Error: code,
			Lacks: []string{identitytest.Password},
			After: func(t *testing.T, answer *apitest.Response) {
				if status >= 400 && answer.Header.Get("Set-Cookie") != "" {
					t.Error("a cookie was set")
				}
			}}
	}
	s.Run(t,
		scenario("text/plain", 415, "unsupported_media_type", body, with("Content-Type", "text/plain")),
		scenario("form", 415, "unsupported_media_type", "email=a&password=b", with("Content-Type", "application/x-www-form-urlencoded")),
		scenario("form holding JSON", 415, "unsupported_media_type", body+"=", with("Content-Type", "multipart/form-data; boundary=x")),
		scenario("cross-site", 403, "cross_origin", body, with("Sec-Fetch-Site", "cross-site")),
		scenario("sibling site", 403, "cross_origin", body, with("Sec-Fetch-Site", "same-site")),
		scenario("foreign origin", 403, "cross_origin", body, with("Origin", "https://evil.example")),
		scenario("opaque origin", 403, "cross_origin", body, with("Origin", "null")),
		scenario("unknown key", 422, "invalid", `{"email":"a","password":"`+identitytest.Password+`","otp":"1"}`, nil),
		scenario("missing keys", 422, "invalid", `{}`, nil),
		scenario("wrong types", 422, "invalid", `{"email":1,"password":["`+identitytest.Password+`"]}`, nil),
		scenario("password twice", 422, "invalid", `{"email":"a","password":"a","password":"`+identitytest.Password+`"}`, nil),
		scenario("NUL", 422, "invalid", `{"email":"a\u0000","password":"`+identitytest.Password+`\u0000"}`, nil),
		scenario("long password", 422, "invalid", credentials("a@b.c", strings.Repeat(identitytest.Password, 60)), nil),
		scenario("no body", 422, "invalid", "", nil),
		scenario("huge", 413, "too_large", credentials("a", strings.Repeat("p", 2<<20)), nil),
		scenario("a program without origin", 200, "", body, nil),
		scenario("our own page", 200, "", body, with("Sec-Fetch-Site", "same-origin", "Content-Type", "application/json; charset=utf-8")),
	)
}

// Whoever plants a session's cookie before the log-in does not get a session by it.
func TestLogInNeverTakesASessionThatWasPlanted(t *testing.T) {
	t.Parallel()
	s := newService(t)
	victim, attacker := s.account(t, apitest.Owner), s.account(t, apitest.Viewer)
	chosen := &http.Cookie{Name: "service_session", Value: strings.Repeat("A", 43)}
	for name, planted := range map[string]*http.Cookie{"chosen": chosen, "the attacker's own": attacker.Cookie,
		"an old one of the victim": victim.Cookie} {
		answer := s.send(t, "POST", login, credentials(victim.Email, identitytest.Password), planted)
		if answer.Status != 200 || given(t, answer).Value == planted.Value {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
		}
		me := s.send(t, "GET", "/api/v1/auth/me", "", planted)
		if name != "an old one of the victim" && strings.Contains(string(me.Body), victim.Email) {
			t.Errorf("%s is the victim now", name)
		}
	}
	if me := s.send(t, "GET", "/api/v1/auth/me", "", chosen); me.Status != 401 {
		t.Errorf("the chosen session: %d", me.Status)
	}
}

func TestTooManyTries(t *testing.T) {
	t.Parallel()
	s := newService(t)
	user := s.account(t, apitest.Owner)
	for i := range 11 {
		answer := s.send(t, "POST", login, credentials(user.Email, "wrong"))
		if want := map[bool]int{false: 401, true: 429}[i == 10]; answer.Status != want {
			t.Fatalf("try %d: %d %s", i, answer.Status, answer.Body)
		}
		if i == 10 {
			wait, err := strconv.Atoi(answer.Header.Get("Retry-After"))
			if err != nil || wait < 1 || wait > 901 || answer.Problem() != "rate_limited" {
				t.Errorf("wait %q: %s", answer.Header.Get("Retry-After"), answer.Body)
			}
		}
	}
	if row := s.trail(t)[0]; row.Error != "rate_limited" || row.Result != audit.ResultRefused {
		t.Errorf("%+v", row)
	}
	// Sessions that are open go on.
	if me := s.send(t, "GET", "/api/v1/auth/me", "", user.Cookie); me.Status != 200 {
		t.Errorf("%d", me.Status)
	}
}

// A browser's view over TLS: the prefixed cookie, and no other.
func TestOverTLS(t *testing.T) {
	t.Parallel()
	s := newService(t)
	server := httptest.NewTLSServer(s.Handler)
	defer server.Close()
	user := s.account(t, apitest.Viewer)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := server.Client()
	client.Jar = jar
	do := func(method, path, body string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", server.URL)
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer
	}
	answer := do("POST", login, credentials(user.Email, identitytest.Password))
	if got := answer.Header.Get("Set-Cookie"); !strings.HasPrefix(got, "__Host-service_session=") ||
		!strings.HasSuffix(got, "; Path=/; HttpOnly; Secure; SameSite=Lax") {
		t.Errorf("the cookie is %s", got)
	}
	for path, want := range map[string]int{"/api/v1/auth/me": 200, "/api/v1/auth/sessions": 200} {
		if got := do("GET", path, "").StatusCode; got != want {
			t.Errorf("%s: %d", path, got)
		}
	}
	out := do("POST", "/api/v1/auth/logout", "")
	if got := out.Header.Get("Set-Cookie"); out.StatusCode != 204 || !strings.HasPrefix(got, "__Host-service_session=; Path=/; Max-Age=0;") {
		t.Errorf("%d %s", out.StatusCode, got)
	}
	if got := do("GET", "/api/v1/auth/me", "").StatusCode; got != 401 {
		t.Errorf("after the log-out: %d", got)
	}
	plain := &http.Cookie{Name: identity.CookieName, Value: identitytest.LogIn(t, s.users, user.User).Cookie.Value}
	r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/api/v1/auth/me", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(plain)
	if answer, err := client.Do(r); err != nil || answer.StatusCode != 401 {
		t.Errorf("a cookie without the prefix counts over TLS: %v, %v", answer, err)
	}
}
