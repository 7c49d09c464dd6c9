package keys_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/auth"
	"github.com/hostler/hostler/core/api/keys"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/passkey"
	"github.com/hostler/hostler/core/sso"
)

const path = "/api/v1/api-keys"

// service is the real handler of keys and of one's own account on a real database. All roles are one user's.
type service struct {
	*apitest.API
	t     *testing.T
	db    *db.DB
	users *identity.Store
	user  *identitytest.Account
	log   *strings.Builder
}

func newService(t *testing.T) *service {
	t.Helper()
	d := dbtest.New(t)
	sealing := identitytest.Keys(t)
	users := identity.New(d, identity.Config{Argon2: identitytest.CheapHash, Keys: sealing})
	s := &service{t: t, db: d, users: users, log: &strings.Builder{}}
	s.user = identitytest.As(t, s.users, identity.Viewer)
	logger := hclog.New(&hclog.LoggerOptions{Output: s.log, Level: hclog.Trace})
	handler := apitest.Resource(op.Config{Authenticator: s.users, Recorder: audit.Recorder{DB: d}, Logger: logger}, func(a *op.API) {
		auth.Register(a, auth.Deps{Users: s.users, Providers: sso.New(sso.Config{DB: d, Users: s.users, Keys: sealing}),
			Passkeys: passkey.New(passkey.Config{DB: d, Users: s.users, Keys: sealing})})
		keys.Register(a, keys.Deps{Users: s.users})
	})
	s.API = &apitest.API{Handler: handler, LogIn: func(r *http.Request, _ *apitest.Caller) { r.AddCookie(s.user.Cookie) }}
	return s
}

// send is one request with that Authorization header.
func (s *service) send(method, target, body, header string) *apitest.Response {
	s.t.Helper()
	r, err := http.NewRequest(method, target, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", header)
	answer, err := s.Do(s.t.Context(), r, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer
}

func (s *service) trail() []audit.Row {
	s.t.Helper()
	rows, _, err := audit.List(s.t.Context(), s.db, audit.Filter{AllTeams: true, Limit: 500})
	if err != nil {
		s.t.Fatal(err)
	}
	return rows
}

func TestLifeOfAKey(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var made struct {
		ID          int64
		Key, Prefix string
	}
	end := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	s.Run(t,
		apitest.Scenario{Name: "none", Method: "GET", URL: path, As: apitest.Viewer, Status: 200, Contains: []string{"[]"}},
		apitest.Scenario{Name: "make", Method: "POST", URL: path, As: apitest.Viewer,
			Body: `{"name":"backup","expires_at":"` + end + `","scopes":["read","auth:write"]}`, Status: 201,
			Contains: []string{`"name":"backup"`, `"scopes":["auth:write","read"]`, `"expires_at":"` + end + `"`, `"last_used_at":null`,
				`"current":false`},
			After: func(t *testing.T, answer *apitest.Response) {
				if err := json.Unmarshal(answer.Body, &made); err != nil || !regexp.MustCompile(`^svc_[A-Za-z0-9_-]{52}$`).MatchString(made.Key) ||
					!strings.HasPrefix(made.Key, made.Prefix) {
					t.Errorf("%v %s", err, answer.Body)
				}
			}},
		apitest.Scenario{Name: "list", Method: "GET", URL: path, As: apitest.Viewer, Status: 200, Contains: []string{made.Prefix, `"backup"`},
			Lacks: []string{`"key"`}},
	)
	header := "Bearer " + made.Key
	if answer := s.send("GET", path, "", header); answer.Status != 200 || !strings.Contains(string(answer.Body), `"current":true`) {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if answer := s.send("GET", "/api/v1/auth/me", "", header); answer.Status != 200 ||
		!strings.Contains(string(answer.Body), `"session":null`) {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if answer := s.send("POST", path, `{"name":"child"}`, header); answer.Status != 403 || answer.Problem() != "forbidden" {
		t.Errorf("a write beyond its scopes: %d %s", answer.Status, answer.Body)
	}
	target := fmt.Sprintf("%s/%d", path, made.ID)
	s.Run(t,
		apitest.Scenario{Name: "revoke", Method: "DELETE", URL: target, As: apitest.Viewer, Status: 204},
		apitest.Scenario{Name: "again", Method: "DELETE", URL: target, As: apitest.Viewer, Status: 404, Error: "not_found"},
	)
	if answer := s.send("GET", path, "", header); answer.Status != 401 || answer.Problem() != "unauthenticated" {
		t.Errorf("revoked: %d %s", answer.Status, answer.Body)
	}
	actions := map[string]int{}
	for _, row := range s.trail() {
		actions[row.Action+" "+row.Result+" "+row.ActorType]++
		if row.Action == "api_key.create" && row.Result == audit.ResultOK &&
			(row.TargetName != "backup" || !strings.Contains(string(row.Details), `"read"`) || row.TargetID != fmt.Sprint(made.ID)) {
			t.Errorf("%+v %s", row, row.Details)
		}
		if text := fmt.Sprintf("%+v %s", row, row.Details); strings.Contains(text, made.Key[10:30]) {
			t.Errorf("the audit log has the key: %s", text)
		}
	}
	for _, want := range []string{"api_key.create ok user", "api_key.create refused api_key", "api_key.revoke ok user",
		"api_key.revoke refused user"} {
		if actions[want] != 1 {
			t.Errorf("%q is in the audit log %d times: %v", want, actions[want], actions)
		}
	}
	if strings.Contains(s.log.String(), made.Key[10:30]) {
		t.Error("the log has the key")
	}
}

// All faults come in one answer, without what was sent.
func TestFaultsOfANewKey(t *testing.T) {
	t.Parallel()
	s := newService(t)
	post := func(name, body string, contains ...string) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: "POST", URL: path, As: apitest.Viewer, Body: body, Status: 422, Error: "",
			Contains: contains, Lacks: []string{"canary"},
			After: func(t *testing.T, answer *apitest.Response) {
				var faults struct{ Detail []struct{ Loc []any } }
				if err := json.Unmarshal(answer.Body, &faults); err != nil || len(faults.Detail) != len(contains) {
					t.Errorf("%d faults, want %d: %s", len(faults.Detail), len(contains), answer.Body)
				}
			}}
	}
	scenarios := []apitest.Scenario{
		post("three at once", `{"name":"a\u0001canary","expires_at":"2001-01-01T00:00:00Z","scopes":["read","canary:write","auth:write",`+
			`"read "]}`,
			`["body","name"]`, `["body","expires_at"]`, `["body","scopes",1]`, `["body","scopes",3]`),
		post("schema and meaning", `{"name":"`+strings.Repeat("x", 201)+`","scopes":["canary"]}`, `["body","name"]`, `["body","scopes",0]`),
		post("no scopes", `{"name":"a","scopes":[]}`, `["body","scopes"]`),
		post("no name", `{"name":""}`, `["body","name"]`),
		post("blanks", `{"name":"  "}`, `["body","name"]`),
		post("no time", `{"name":"a","expires_at":"canary"}`, `["body","expires_at"]`),
		post("a date", `{"name":"a","expires_at":"2099-01-01"}`, `["body","expires_at"]`),
		post("a number", `{"name":"a","expires_at":1}`, `["body","expires_at"]`),
		post("a scope of no text", `{"name":"a","scopes":[1]}`, `["body","scopes",0]`),
		post("a scope in capitals", `{"name":"a","scopes":["READ"]}`, `["body","scopes",0]`),
		post("read of a resource", `{"name":"a","scopes":["auth:read"]}`, `["body","scopes",0]`),
		post("an operation in public", `{"name":"a","scopes":["setup:write"]}`, `["body","scopes",0]`),
	}
	for i := range scenarios {
		scenarios[i].Error = "invalid"
	}
	s.Run(t, scenarios...)
	s.Run(t, apitest.Scenario{Name: "nulls", Method: "POST", URL: path, As: apitest.Viewer,
		Body: `{"name":"a","expires_at":null,"scopes":null}`, Status: 201, Contains: []string{`"scopes":null`, `"expires_at":null`}})
}

// A key reaches one's own account like a session does, and needs the password where a session needs it.
func TestOwnAccountThroughAKey(t *testing.T) {
	t.Parallel()
	s := newService(t)
	key := identitytest.Key(t, s.users, s.user, identitytest.KeySpec{Scopes: []string{"auth:write"}}).Header
	reader := identitytest.Key(t, s.users, s.user, identitytest.KeySpec{Scopes: []string{"read"}}).Header
	for name, test := range map[string]struct {
		method, target, body, header string
		want                         int
	}{
		"reading with write": {"GET", "/api/v1/auth/me", "", key, 200},
		"reading others":     {"GET", path, "", key, 403},
		"wrong password":     {"POST", "/api/v1/auth/password", `{"current":"not-this-one-at-all","new":"mehlwurm-zebra-19"}`, key, 422},
		"only a reader":      {"POST", "/api/v1/auth/password", `{"current":"x","new":"mehlwurm-zebra-19"}`, reader, 403},
		"log-out":            {"POST", "/api/v1/auth/logout", "", key, 409},
	} {
		if answer := s.send(test.method, test.target, test.body, test.header); answer.Status != test.want {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
		}
	}
	// The audit log says which key it was.
	if answer := s.send("POST", "/api/v1/auth/password", `{"current":"`+identitytest.Password+`","new":"mehlwurm-zebra-19"}`,
		key); answer.Status != 200 {
		t.Errorf("right password: %d %s", answer.Status, answer.Body)
	}
	row := s.trail()[0]
	if row.ActorType != audit.ActorAPIKey || !strings.Contains(string(row.Details), `"key_id"`) ||
		!strings.Contains(string(row.Details), `"key_name": "`) ||
		!strings.Contains(string(row.Details), `"sessions_revoked": 1`) {
		t.Errorf("%+v %s", row, row.Details)
	}
	if answer := s.send("GET", "/api/v1/auth/me", "", key); answer.Status != 200 {
		t.Errorf("the key after the change: %d %s", answer.Status, answer.Body)
	}
}
