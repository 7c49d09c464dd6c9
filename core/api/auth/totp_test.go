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

const totpPath = "/api/v1/auth/totp"

// body is a JSON object of texts.
func body(pairs ...string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	text, _ := json.Marshal(m)
	return string(text)
}

// The whole life of a second factor over HTTP; no secret of it is in the audit log, the log, the database or a refusal.
func TestSecondFactor(t *testing.T) {
	t.Parallel()
	s := newService(t)
	user := s.account(t, apitest.Operator)
	var e struct {
		Secret        string
		URI           string   `json:"otpauth_uri"`
		QR            string   `json:"qr_svg"`
		RecoveryCodes []string `json:"recovery_codes"`
	}
	answer := s.send(t, "POST", totpPath+"/enroll", "", user.Cookie)
	if err := json.Unmarshal(answer.Body, &e); err != nil || answer.Status != 200 || len(e.RecoveryCodes) != 10 ||
		!strings.HasPrefix(e.QR, "<svg ") ||
		!strings.HasPrefix(e.URI, "otpauth://totp/") || answer.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	f := identitytest.Factor{Enrolment: &identity.Enrolment{Secret: e.Secret}}
	confirming, next := f.Code(t, 0), f.Code(t, 1)
	me := func(want ...string) {
		t.Helper()
		got := s.send(t, "GET", "/api/v1/auth/me", "", user.Cookie)
		for _, piece := range want {
			if !strings.Contains(string(got.Body), piece) {
				t.Errorf("me lacks %s: %s", piece, got.Body)
			}
		}
	}
	me(`"totp_enabled":false`, `"recovery_codes_left":null`)
	as := apitest.Operator
	s.Run(t,
		apitest.Scenario{Name: "wrong code", Method: "POST", URL: totpPath + "/confirm", As: as, Body: body("code", "canary"), Status: 422,
			Error: "invalid", Contains: []string{`"loc":["body","code"]`}, Lacks: []string{"canary"}},
		apitest.Scenario{Name: "confirm", Method: "POST", URL: totpPath + "/confirm", As: as, Body: body("code", confirming), Status: 204},
		apitest.Scenario{Name: "enrol again", Method: "POST", URL: totpPath + "/enroll", As: as, Status: 409, Error: "invalid_state"},
	)
	me(`"totp_enabled":true`, `"recovery_codes_left":10`)

	var pending string
	logIn := func() {
		t.Helper()
		answer := s.send(t, "POST", login, credentials(user.Email, identitytest.Password))
		var in struct {
			Required bool `json:"totp_required"`
			Pending  string
		}
		if err := json.Unmarshal(answer.Body, &in); err != nil || answer.Status != 200 || !in.Required || in.Pending == "" ||
			answer.Header.Get("Set-Cookie") != "" || strings.Contains(string(answer.Body), "user") {
			t.Fatalf("%d %s %v", answer.Status, answer.Body, answer.Header)
		}
		pending = in.Pending
	}
	complete := func(code string) *apitest.Response {
		t.Helper()
		return s.send(t, "POST", totpPath, body("pending", pending, "code", code))
	}
	logIn()
	spent := pending
	if answer := complete("000000"); answer.Status != 401 || answer.Problem() != "invalid_credentials" ||
		!strings.Contains(string(answer.Body), `"tries_left":4`) || answer.Header.Get("Set-Cookie") != "" {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if answer := complete(confirming); answer.Status != 401 {
		t.Errorf("the code of the confirmation: %d %s", answer.Status, answer.Body)
	}
	done := complete(next)
	if want := fmt.Sprintf(`{"user":{"id":%d,"email":%q,"display_name":null,"totp_enabled":true,"passkeys":0,"has_password":true}}`, user.ID,
		user.Email); done.Status != 200 || strings.TrimSpace(string(done.Body)) != want {
		t.Errorf("%d %s, want %s", done.Status, done.Body, want)
	}
	session := given(t, done)
	if answer := s.send(t, "GET", "/api/v1/auth/me", "", session); answer.Status != 200 {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if answer := complete(e.RecoveryCodes[0]); answer.Status != 401 || !strings.Contains(string(answer.Body), `"tries_left":0`) {
		t.Errorf("a log-in that is complete: %d %s", answer.Status, answer.Body)
	}
	logIn()
	if answer := complete(strings.ToLower(e.RecoveryCodes[0])); answer.Status != 200 {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	me(`"recovery_codes_left":9`)
	if row := s.trail(t)[0]; row.Action != "auth.login" || row.ActorEmail != user.Email ||
		!strings.Contains(string(row.Details), `"second_factor": "recovery code"`) ||
		!strings.Contains(string(row.Details), `"recovery_left": 9`) {
		t.Errorf("%+v %s", row, row.Details)
	}
	s.Run(t,
		apitest.Scenario{Name: "no password", Method: "DELETE", URL: totpPath, As: as, Status: 422, Error: "invalid"},
		apitest.Scenario{Name: "wrong password", Method: "DELETE", URL: totpPath, As: as, Body: body("password", "canary"), Status: 422,
			Error: "invalid", Contains: []string{`"loc":["body","password"]`}, Lacks: []string{"canary"}},
		apitest.Scenario{Name: "off", Method: "DELETE", URL: totpPath, As: as, Body: body("password", identitytest.Password), Status: 204},
		apitest.Scenario{Name: "off already", Method: "DELETE", URL: totpPath, As: as, Body: body("password", identitytest.Password),
			Status: 409, Error: "invalid_state"},
		apitest.Scenario{Name: "nothing to confirm", Method: "POST", URL: totpPath + "/confirm", As: as, Body: body("code", next), Status: 409,
			Error: "invalid_state"},
	)
	s.checkTrail(t)
	s.hunt(t, append(e.RecoveryCodes, e.Secret, strings.ReplaceAll(e.RecoveryCodes[0], "-", ""), e.URI, pending, spent, session.Value,
		device(t, done).Value, `"`+next+`"`, "canary"))
}

// checkTrail counts the rows that the life of a second factor leaves.
func (s *service) checkTrail(t *testing.T) {
	t.Helper()
	got := map[string]int{}
	for _, row := range s.trail(t) {
		got[row.Action+" "+row.Result+" "+row.ActorType]++
	}
	for row, want := range map[string]int{
		"auth.totp_enroll ok user": 1, "auth.totp_enroll refused user": 1, "auth.totp_confirm ok user": 1, "auth.totp_confirm refused user": 2,
		"auth.login_password ok anonymous": 2, "auth.login ok user": 2, "auth.login refused anonymous": 3, "auth.totp_disable ok user": 1,
		"auth.totp_disable refused user": 3,
	} {
		if got[row] != want {
			t.Errorf("%q is in the audit log %d times, want %d", row, got[row], want)
		}
	}
	if len(got) != 9 {
		t.Errorf("the audit log: %v", got)
	}
}

// hunt looks for secrets where none may be.
func (s *service) hunt(t *testing.T, secrets []string) {
	t.Helper()
	var everything strings.Builder
	everything.WriteString(s.log.String())
	for _, table := range []string{"users", "sessions", "login_failures", "login_devices", "login_addresses", "logins", "audit",
		"recovery_codes", "pending_logins", "api_keys"} {
		var text string
		if err := s.db.Pool.QueryRow(t.Context(), "SELECT COALESCE(string_agg(t::text, E'\\n'), '') FROM "+table+" t").Scan(&text); err != nil {
			t.Fatal(err)
		}
		everything.WriteString(text)
	}
	for _, secret := range secrets {
		if strings.Contains(everything.String(), secret) {
			t.Errorf("%q was kept", secret)
		}
	}
	if s.log.Len() == 0 {
		t.Error("there is no log to look at")
	}
}

// A key neither enrols nor confirms; with the password it switches off.
func TestSecondFactorThroughAKey(t *testing.T) {
	t.Parallel()
	s := newService(t)
	user := s.account(t, apitest.Viewer)
	key := identitytest.Key(t, s.users, user, identitytest.KeySpec{Scopes: []string{"auth:write"}})
	s.LogIn = nil
	run := func(name, method, path, text string, status int, code string) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: method, URL: path, Body: text, Headers: map[string]string{"Authorization": key.Header},
			Status: status, Error: code}
	}
	s.Run(t, run("enrol", "POST", totpPath+"/enroll", "", 409, "invalid_state"))
	f := identitytest.Enrol(t, s.users, user)
	s.Run(t, run("confirm", "POST", totpPath+"/confirm", body("code", f.Code(t, 0)), 409, "invalid_state"))
	identitytest.TOTP(t, s.users, user)
	s.Run(t,
		run("the key goes on with the factor on", "GET", "/api/v1/auth/me", "", 200, ""),
		run("wrong password", "DELETE", totpPath, body("password", "x"), 422, "invalid"),
		run("right password", "DELETE", totpPath, body("password", identitytest.Password), 204, ""),
	)
	if row := s.trail(t)[0]; row.ActorType != audit.ActorAPIKey || row.Action != "auth.totp_disable" {
		t.Errorf("%+v", row)
	}
}
