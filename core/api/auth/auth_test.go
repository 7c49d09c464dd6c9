package auth_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/auth"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/passkey"
	"github.com/hostler/hostler/core/sso"
)

// service is the real handler on a real database.
type service struct {
	*apitest.API
	db    *db.DB
	users *identity.Store
	log   *strings.Builder

	mu       sync.Mutex
	accounts map[string]*identitytest.Account
}

func newService(t *testing.T) *service {
	t.Helper()
	d := dbtest.New(t)
	s := &service{db: d, log: &strings.Builder{}, accounts: map[string]*identitytest.Account{}}
	logger := hclog.New(&hclog.LoggerOptions{Output: s.log, Level: hclog.Trace})
	keys := identitytest.Keys(t)
	s.users = identity.New(d, identity.Config{Argon2: identitytest.CheapHash, Keys: keys, Logger: logger})
	handler := apitest.Resource(op.Config{Authenticator: s.users, Recorder: audit.Recorder{DB: d}, Logger: logger}, func(a *op.API) {
		auth.Register(a, auth.Deps{Users: s.users, Providers: sso.New(sso.Config{DB: d, Users: s.users, Keys: keys}),
			Passkeys: passkey.New(passkey.Config{DB: d, Users: s.users, Keys: keys, BaseURL: "https://hostler.example.com"})})
	})
	s.API = &apitest.API{Handler: handler, URL: "http://hostler.example",
		LogIn: func(r *http.Request, c *apitest.Caller) { r.AddCookie(s.account(t, c).Cookie) }}
	return s
}

// account is the user who stands for a caller, made when first asked for.
func (s *service) account(t *testing.T, c *apitest.Caller) *identitytest.Account {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.accounts[c.String()] == nil {
		team := c.Team
		if team == 0 {
			team = identity.DefaultTeam
		}
		s.accounts[c.String()] = identitytest.User(t, s.users, identitytest.In{team: c.Role})
	}
	return s.accounts[c.String()]
}

// send is one request with cookies and without the runner's expectations.
func (s *service) send(t *testing.T, method, target, body string, cookies ...*http.Cookie) *apitest.Response {
	t.Helper()
	r, err := http.NewRequest(method, s.URL+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, c := range cookies {
		r.AddCookie(c)
	}
	answer, err := s.Do(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func credentials(email, password string) string {
	body, _ := json.Marshal(map[string]string{"email": email, "password": password})
	return string(body)
}

// given is the session's cookie that an answer sets: the only one, or the first of two when a session or browser is new.
func given(t *testing.T, answer *apitest.Response) *http.Cookie {
	t.Helper()
	cookies := (&http.Response{Header: answer.Header}).Cookies()
	want := []string{"service_session"}
	if len(cookies) > 0 && cookies[0].Value != "" {
		want = append(want, "service_device")
	}
	var names []string
	for _, c := range cookies {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, want) {
		t.Fatalf("%d %s sets the cookies %v, want %v", answer.Status, answer.Body, names, want)
	}
	return cookies[0]
}

// device is the browser's cookie that an answer sets.
func device(t *testing.T, answer *apitest.Response) *http.Cookie {
	t.Helper()
	given(t, answer)
	return (&http.Response{Header: answer.Header}).Cookies()[1]
}

func (s *service) trail(t *testing.T) []audit.Row {
	t.Helper()
	rows, _, err := audit.List(t.Context(), s.db, audit.Filter{AllTeams: true, Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
