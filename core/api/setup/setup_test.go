package setup_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/setup"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
)

// newService is the real handler on a new instance, with its setup token.
func newService(t *testing.T) (s *apitest.API, d *db.DB, token string) {
	t.Helper()
	d = dbtest.New(t)
	users := identitytest.New(d)
	first := identity.NewSetup(users, t.TempDir())
	path, needed, err := first.Prepare(t.Context())
	if err != nil || !needed {
		t.Fatalf("%v, %v", needed, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	handler := apitest.Resource(op.Config{Authenticator: users, Recorder: audit.Recorder{DB: d}}, func(a *op.API) {
		setup.Register(a, setup.Deps{Setup: first})
	})
	return &apitest.API{Handler: handler, URL: "http://hostler.example"}, d, strings.TrimSpace(string(text))
}

func TestSetupFromBeginningToEnd(t *testing.T) {
	t.Parallel()
	s, d, token := newService(t)
	const path = "/api/v1/setup"
	body := func(token, email, password string) string {
		text, _ := json.Marshal(map[string]string{"setup_token": token, "email": email, "password": password})
		return string(text)
	}
	good := body(token, "Anna@example.com", identitytest.Password)
	secrets := []string{token, identitytest.Password, "canary"}
	s.Run(t,
		apitest.Scenario{Name: "needed", Method: "GET", URL: path, Status: 200, Contains: []string{`{"needed":true}`}},
		apitest.Scenario{Name: "wrong token", Method: "POST", URL: path, Body: body("canary", "anna@example.com", identitytest.Password),
			Status: 401, Error: "invalid_credentials", Lacks: secrets},
		apitest.Scenario{Name: "token of the right form", Method: "POST", URL: path,
			Body: body(strings.Repeat("A", 43), "anna@example.com", identitytest.Password), Status: 401, Error: "invalid_credentials",
			Lacks: secrets},
		apitest.Scenario{Name: "all faults at once", Method: "POST", URL: path, Body: body(token, "canary", "passwordpassword"), Status: 422,
			Error:    "invalid",
			Contains: []string{`["body","email"]`, `["body","password"]`, "too_common"}, Lacks: secrets},
		apitest.Scenario{Name: "short password", Method: "POST", URL: path, Body: body(token, "anna@example.com", "canary"), Status: 422,
			Error: "invalid", Lacks: secrets},
		apitest.Scenario{Name: "unknown key", Method: "POST", URL: path, Body: strings.Replace(good, "{", `{"role":"owner",`, 1), Status: 422,
			Error: "invalid", Lacks: secrets},
		apitest.Scenario{Name: "text/plain", Method: "POST", URL: path, Body: good, Headers: map[string]string{"Content-Type": "text/plain"},
			Status: 415, Error: "unsupported_media_type", Lacks: secrets},
		apitest.Scenario{Name: "another site", Method: "POST", URL: path, Body: good,
			Headers: map[string]string{"Sec-Fetch-Site": "cross-site"}, Status: 403, Error: "cross_origin", Lacks: secrets},
		apitest.Scenario{Name: "still needed", Method: "GET", URL: path, Status: 200},
		apitest.Scenario{Name: "done", Method: "POST", URL: path, Body: good, Status: 201,
			Contains: []string{`{"user":{"id":1,"email":"Anna@example.com","display_name":null}}`}, Lacks: secrets,
			After: func(t *testing.T, answer *apitest.Response) {
				if answer.Header.Get("Set-Cookie") != "" {
					t.Error("setup logs in")
				}
			}},
		apitest.Scenario{Name: "again", Method: "POST", URL: path, Body: good, Status: 409, Error: "already_set_up", Lacks: secrets},
		apitest.Scenario{Name: "again with a wrong token", Method: "POST", URL: path,
			Body: body("canary", "x@example.com", identitytest.Password), Status: 409, Error: "already_set_up", Lacks: secrets},
		apitest.Scenario{Name: "asked again", Method: "GET", URL: path, Status: 409, Error: "already_set_up"},
	)
	rows, total, err := audit.List(t.Context(), d, audit.Filter{AllTeams: true, Action: "setup.complete"})
	if err != nil || total != 10 {
		t.Fatalf("%d rows, %v", total, err)
	}
	for _, row := range rows {
		text, _ := json.Marshal(row)
		for _, secret := range secrets {
			if strings.Contains(string(text), secret) {
				t.Errorf("%q is in %s", secret, text)
			}
		}
		if done := row.Result == audit.ResultOK; done != (row.ActorType == audit.ActorUser) || done != (row.ActorID != nil) {
			t.Errorf("%s", text)
		}
	}
}

func TestGarbage(t *testing.T) {
	t.Parallel()
	s, _, _ := newService(t)
	s.LogIn = apitest.FakeLogIn
	s.Garbage(t, apitest.GarbageConfig{Seed: 2})
}
