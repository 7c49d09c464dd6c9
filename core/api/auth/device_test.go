package auth_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/identity/identitytest"
)

// A browser that has logged in gets in when tries without its cookie are used up, over TLS as without, and only by the
// cookie that it was given last.
func TestAKnownBrowserIsNotLockedOut(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for name, server := range map[string]*httptest.Server{"service_device": httptest.NewServer(s.Handler),
		"__Host-service_device": httptest.NewTLSServer(s.Handler)} {
		defer server.Close()
		secure := strings.HasPrefix(name, "__Host-")
		user := identitytest.User(t, s.users, nil)
		try := func(password string, cookies ...*http.Cookie) (status int, device *http.Cookie) {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), "POST", server.URL+login, strings.NewReader(credentials(user.Email, password)))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			for _, c := range cookies {
				r.AddCookie(c)
			}
			answer, err := server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			for _, c := range answer.Cookies() {
				if strings.Contains(c.Name, "device") {
					device = c
				}
			}
			return answer.StatusCode, device
		}
		_, first := try(identitytest.Password)
		if first == nil || first.Name != name || first.Secure != secure || !first.HttpOnly || first.SameSite != http.SameSiteLaxMode ||
			first.Path != "/" ||
			first.Domain != "" || first.MaxAge != 90*24*60*60 || len(first.Value) != 43 {
			t.Fatalf("%s: the cookie is %v", name, first)
		}
		for range 11 {
			if status, device := try("wrong"); device != nil || status != 401 && status != 429 {
				t.Errorf("a wrong password: %d, %v", status, device)
			}
		}
		status, second := try(identitytest.Password, first)
		if status != 200 || second == nil || second.Value == first.Value {
			t.Fatalf("%s: with the cookie: %d, %v", name, status, second)
		}
		for what, cookies := range map[string][]*http.Cookie{
			"without a cookie": nil, "with the one before": {first},
			"under the session's name": {{Name: strings.Replace(name, "device", "session", 1), Value: second.Value}},
			"under the other scheme's name": {{Name: map[bool]string{true: "service_device", false: "__Host-service_device"}[secure],
				Value: second.Value}},
			"beside a planted one": {second, {Name: name, Value: strings.Repeat("A", 43)}},
		} {
			if status, _ := try(identitytest.Password, cookies...); status != 429 {
				t.Errorf("%s, %s: %d", name, what, status)
			}
		}
		if status, _ := try("wrong", second); status != 401 {
			t.Errorf("%s: a wrong password with the cookie: %d", name, status)
		}
	}
}

// Log-out leaves the browser known: its cookie stays. It is no session.
func TestTheDeviceCookieIsNoSession(t *testing.T) {
	t.Parallel()
	s := newService(t)
	user := s.account(t, apitest.Owner)
	answer := s.send(t, "POST", login, credentials(user.Email, identitytest.Password))
	known := device(t, answer)
	for _, c := range []*http.Cookie{known, {Name: "service_session", Value: known.Value}} {
		if me := s.send(t, "GET", "/api/v1/auth/me", "", c); me.Status != 401 {
			t.Errorf("%s: %d", c.Name, me.Status)
		}
	}
	out := s.send(t, "POST", "/api/v1/auth/logout", "", given(t, answer), known)
	if c := given(t, out); c.Name != "service_session" { // given expects no other
		t.Errorf("%v", out.Header)
	}
}

// A change and a reset tell how many API keys are left, and revoke them when asked to.
func TestAPIKeysAtAPasswordChange(t *testing.T) {
	t.Parallel()
	s := newService(t)
	const path = "/api/v1/auth/password"
	user, other := s.account(t, apitest.Viewer), s.account(t, apitest.Operator)
	spec := identitytest.KeySpec{}
	first, theirs := identitytest.Key(t, s.users, user, spec), identitytest.Key(t, s.users, other, spec)
	identitytest.Key(t, s.users, user, spec)
	over := identitytest.Key(t, s.users, user, spec)
	if _, err := s.db.Pool.Exec(t.Context(), "UPDATE api_keys SET expires_at = now() WHERE id = $1", over.ID); err != nil {
		t.Fatal(err)
	}
	works := func(key *identitytest.APIKey) int {
		r, _ := http.NewRequest("GET", s.URL+"/api/v1/auth/me", nil)
		key.Set(r)
		answer, err := s.Do(t.Context(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		return answer.Status
	}
	session, password := user.Cookie, identitytest.Password
	for i, test := range []struct {
		revoke any
		want   string
		key    int
	}{
		{nil, `{"sessions_revoked":0,"keys_revoked":0,"keys_valid":2,"passkeys_valid":0,"identities_valid":0}`, 200},
		{false, `{"sessions_revoked":0,"keys_revoked":0,"keys_valid":2,"passkeys_valid":0,"identities_valid":0}`, 200},
		{true, `{"sessions_revoked":0,"keys_revoked":3,"keys_valid":0,"passkeys_valid":0,"identities_valid":0}`, 401},
	} {
		body := map[string]any{"current": password, "new": fmt.Sprint("mehlwurm-zebra-1", i)}
		if test.revoke != nil {
			body["revoke_keys"] = test.revoke
		}
		text, _ := json.Marshal(body)
		answer := s.send(t, "POST", path, string(text), session)
		if answer.Status != 200 || strings.TrimSpace(string(answer.Body)) != test.want {
			t.Fatalf("%v: %d %s", test.revoke, answer.Status, answer.Body)
		}
		session, password = given(t, answer), body["new"].(string)
		if got := works(first); got != test.key {
			t.Errorf("%v: the key answers %d", test.revoke, got)
		}
		var want map[string]any
		_ = json.Unmarshal([]byte(test.want), &want)
		var details map[string]any
		row := s.trail(t)[0]
		if err := json.Unmarshal(row.Details, &details); err != nil || row.Action != "auth.password" || fmt.Sprint(details) != fmt.Sprint(want) {
			t.Errorf("%+v %s", row, row.Details)
		}
	}
	if got := works(theirs); got != 200 {
		t.Errorf("another user's key: %d", got)
	}
	if answer := s.send(t, "POST", path, `{"current":"x","new":"mehlwurm-zebra-19","revoke_keys":"yes"}`, session); answer.Status != 422 {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
}
