package auth_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
)

type session struct {
	ID      int64
	Current bool
	Address string
	Created string `json:"created_at"`
	Expires string `json:"expires_at"`
}

func TestMe(t *testing.T) {
	t.Parallel()
	s := newService(t)
	blue := identitytest.Team(t, s.db, "blue")
	both := identitytest.User(t, s.users, identitytest.In{blue: identity.Admin, identity.DefaultTeam: identity.Viewer})
	none := identitytest.User(t, s.users, nil)
	for name, test := range map[string]struct {
		user *identitytest.Account
		want string
	}{
		"two roles": {both, fmt.Sprintf(`"role":"viewer","roles":[{"team_id":1,"team":"Default","role":"viewer"},{"team_id":%d,`+
			`"team":"blue","role":"admin"}],"recovery_codes_left":null,"session":{"id":`, blue)},
		"no role": {none, `"role":null,"roles":[],"recovery_codes_left":null,"session":{"id":`},
	} {
		answer := s.send(t, "GET", "/api/v1/auth/me", "", test.user.Cookie)
		if answer.Status != 200 || !strings.Contains(string(answer.Body), test.want) ||
			!strings.Contains(string(answer.Body), `"current":true`) {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
		}
	}
}

func TestSessionsOfOneUser(t *testing.T) {
	t.Parallel()
	s := newService(t)
	mine, stranger := s.account(t, apitest.NoRole), s.account(t, apitest.Owner)
	phone := identitytest.LogIn(t, s.users, mine.User)
	list := func(who *identitytest.Account) (all []session) {
		t.Helper()
		answer := s.send(t, "GET", "/api/v1/auth/sessions", "", who.Cookie)
		if err := json.Unmarshal(answer.Body, &all); err != nil || answer.Status != 200 ||
			answer.Header.Get("X-Total-Count") != fmt.Sprint(len(all)) {
			t.Fatalf("%d %s %v", answer.Status, answer.Body, err)
		}
		return all
	}
	ids := map[bool]int64{}
	for _, one := range list(mine) {
		ids[one.Current] = one.ID
		if one.Address != "192.0.2.1" || !strings.HasSuffix(one.Created, "Z") || !strings.HasSuffix(one.Expires, "Z") {
			t.Errorf("%+v", one)
		}
	}
	if len(ids) != 2 {
		t.Fatalf("%v", ids)
	}
	path := fmt.Sprintf("/api/v1/auth/sessions/%d", ids[false])
	if answer := s.send(t, "DELETE", path, "", stranger.Cookie); answer.Status != 404 || answer.Problem() != "not_found" {
		t.Errorf("someone else's: %d %s", answer.Status, answer.Body)
	}
	for id, want := range map[string]int{"999999": 404, "0": 422, "-1": 422, "x": 422, "9223372036854775808": 422, "1%20OR%201=1": 422} {
		if answer := s.send(t, "DELETE", "/api/v1/auth/sessions/"+id, "", mine.Cookie); answer.Status != want {
			t.Errorf("%s: %d %s", id, answer.Status, answer.Body)
		}
	}
	if answer := s.send(t, "DELETE", path, "", mine.Cookie); answer.Status != 204 || answer.Header.Get("Set-Cookie") != "" ||
		len(answer.Body) != 0 {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if row := s.trail(t)[0]; row.Action != "auth.session_revoke" || row.TargetKind != "session" || row.TargetID != fmt.Sprint(ids[false]) ||
		row.Result != audit.ResultOK {
		t.Errorf("%+v", row)
	}
	if answer := s.send(t, "GET", "/api/v1/auth/me", "", phone.Cookie); answer.Status != 401 {
		t.Errorf("the revoked session: %d", answer.Status)
	}
	if left := list(mine); len(left) != 1 || !left[0].Current {
		t.Errorf("%+v", left)
	}
	if answer := s.send(t, "DELETE", fmt.Sprintf("/api/v1/auth/sessions/%d", ids[true]), "", mine.Cookie); answer.Status != 204 ||
		given(t, answer).MaxAge >= 0 {
		t.Errorf("one's own: %d %v", answer.Status, answer.Header)
	}
	if len(list(stranger)) != 1 {
		t.Error("the stranger's session is gone")
	}
}

func TestLogOut(t *testing.T) {
	t.Parallel()
	s := newService(t)
	user := s.account(t, apitest.NoRole)
	other := identitytest.LogIn(t, s.users, user.User)
	answer := s.send(t, "POST", "/api/v1/auth/logout", "", user.Cookie)
	if c := given(t, answer); answer.Status != 204 || c.Value != "" || c.MaxAge >= 0 {
		t.Errorf("%d %v", answer.Status, answer.Header)
	}
	for name, test := range map[string]struct {
		who  *identitytest.Account
		want int
	}{"this session": {user, 401}, "the other": {other, 200}} {
		if got := s.send(t, "GET", "/api/v1/auth/me", "", test.who.Cookie).Status; got != test.want {
			t.Errorf("%s: %d", name, got)
		}
	}
	if answer := s.send(t, "POST", "/api/v1/auth/logout", "", user.Cookie); answer.Status != 401 {
		t.Errorf("again: %d", answer.Status)
	}
	if row := s.trail(t)[0]; row.Action != "auth.logout" || row.ActorEmail != user.Email {
		t.Errorf("%+v", row)
	}
}

func TestPasswordChange(t *testing.T) {
	t.Parallel()
	s := newService(t)
	user := s.account(t, apitest.Viewer)
	other := identitytest.LogIn(t, s.users, user.User)
	const path, next = "/api/v1/auth/password", "mehlwurm-zebra-19"
	body := func(current, next string) string {
		text, _ := json.Marshal(map[string]string{"current": current, "new": next})
		return string(text)
	}
	s.Run(t,
		apitest.Scenario{Name: "anonymous", Method: "POST", URL: path, Body: body("a", next), Status: 401, Error: "unauthenticated"},
		apitest.Scenario{Name: "wrong", Method: "POST", URL: path, As: apitest.Viewer, Body: body("canary-wrong-one", next), Status: 422,
			Error:    "invalid",
			Contains: []string{`"loc":["body","current"]`, `"wrong_password"`}, Lacks: []string{"canary", next}},
		apitest.Scenario{Name: "short", Method: "POST", URL: path, As: apitest.Viewer, Body: body(identitytest.Password, "canary"),
			Status: 422, Error: "invalid", Lacks: []string{"canary"}},
		apitest.Scenario{Name: "common", Method: "POST", URL: path, As: apitest.Viewer, Body: body(identitytest.Password, "passwordpassword"),
			Status: 422, Error: "invalid",
			Contains: []string{`"loc":["body","new"]`, `"too_common"`}, Lacks: []string{"passwordpassword"}},
		apitest.Scenario{Name: "from another site", Method: "POST", URL: path, As: apitest.Viewer, Body: body(identitytest.Password, next),
			Headers: map[string]string{"Origin": "https://evil.example"}, Status: 403, Error: "cross_origin"},
	)
	answer := s.send(t, "POST", path, body(identitytest.Password, next), user.Cookie)
	if want := `{"sessions_revoked":1,"keys_revoked":0,"keys_valid":0,"passkeys_valid":0,"identities_valid":0}`; answer.Status != 200 ||
		strings.TrimSpace(string(answer.Body)) != want {
		t.Fatalf("%d %s, want %s", answer.Status, answer.Body, want)
	}
	renewed := given(t, answer)
	for name, got := range map[string]int{
		"the old cookie 401":     s.send(t, "GET", "/api/v1/auth/me", "", user.Cookie).Status,
		"the other session 401":  s.send(t, "GET", "/api/v1/auth/me", "", other.Cookie).Status,
		"the new cookie 200":     s.send(t, "GET", "/api/v1/auth/me", "", renewed).Status,
		"the old password 401":   s.send(t, "POST", login, credentials(user.Email, identitytest.Password)).Status,
		"the new password 200":   s.send(t, "POST", login, credentials(user.Email, next)).Status,
		"in another spelling200": s.send(t, "POST", login, credentials(strings.ToUpper(user.Email), next)).Status,
	} {
		if !strings.HasSuffix(name, fmt.Sprint(got)) {
			t.Errorf("%s: %d", name, got)
		}
	}
}

// No password, token or mistyped address is anywhere but in the answer it belongs to.
func TestSecretsStayOutOfTrailLogAndDatabase(t *testing.T) {
	t.Parallel()
	s := newService(t)
	user := s.account(t, apitest.Viewer)
	const typo, next = "canary-typed-password-in-the-wrong-field", "canary-next-password-7"
	var tokens []string
	s.send(t, "POST", login, credentials(typo, typo))
	s.send(t, "POST", login, credentials(user.Email, typo))
	s.send(t, "POST", login, `{"email":"`+typo+`","password":{"`+typo+`":1}}`)
	answer := s.send(t, "POST", login, credentials(user.Email, identitytest.Password))
	tokens = append(tokens, given(t, answer).Value, device(t, answer).Value)
	s.send(t, "POST", "/api/v1/auth/password", `{"current":"`+typo+`","new":"`+next+`"}`, given(t, answer))
	answer = s.send(t, "POST", "/api/v1/auth/password", `{"current":"`+identitytest.Password+`","new":"`+next+`"}`, given(t, answer))
	tokens = append(tokens, given(t, answer).Value, device(t, answer).Value)
	s.send(t, "POST", "/api/v1/auth/logout", "", given(t, answer))

	var everything strings.Builder
	everything.WriteString(s.log.String())
	for _, table := range []string{"users", "sessions", "login_failures", "login_devices", "login_addresses", "logins", "audit",
		"setup_tokens"} {
		var text string
		if err := s.db.Pool.QueryRow(t.Context(), "SELECT COALESCE(string_agg(t::text, E'\\n'), '') FROM "+table+" t").Scan(&text); err != nil {
			t.Fatal(err)
		}
		everything.WriteString(text)
	}
	if len(s.trail(t)) < 7 || s.log.Len() == 0 {
		t.Fatalf("%d rows and %d bytes of log are too little to look at", len(s.trail(t)), s.log.Len())
	}
	for _, secret := range append(tokens, typo, next, identitytest.Password) {
		if strings.Contains(everything.String(), secret) {
			t.Errorf("%q was kept", secret)
		}
	}
}
