package processtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/proxy"
	"github.com/hostler/hostler/internal/waittest"
)

// client is a user of the API with a session.
type client struct {
	service *service
	http    *http.Client
	// bodies contains all responses, so that a test can check that a secret
	// appears in none of them.
	bodies *waittest.Text
}

// newClient returns a client without a session.
func newClient(s *service) *client {
	jar, _ := cookiejar.New(nil) // fails for no options
	return &client{service: s, http: &http.Client{Jar: jar, Timeout: hanging, Transport: s.transport}, bodies: &waittest.Text{}}
}

// answer is a response that was read completely.
type answer struct {
	Status int
	Body   []byte
	Header http.Header
}

// into decodes the body.
func (a answer) into(t testing.TB, out any) {
	t.Helper()
	if err := json.Unmarshal(a.Body, out); err != nil {
		t.Fatalf("decoding %s: %v", a.Body, err)
	}
}

// problem returns the error identifier of a refused request, or "".
func (a answer) problem() string {
	var p struct{ Error string }
	_ = json.Unmarshal(a.Body, &p)
	return p.Error
}

// try makes a request. An error means that no response arrived, for example
// because the service was killed.
func (c *client) try(ctx context.Context, method, path string, in any) (answer, error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return answer{}, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.service.Base+path, body)
	if err != nil {
		return answer{}, err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, err
	}
	_, _ = c.bodies.Write(text)
	return answer{Status: resp.StatusCode, Body: text, Header: resp.Header}, nil
}

// do makes a request that must get a response, of any status.
func (c *client) do(t testing.TB, method, path string, in any) answer {
	t.Helper()
	a, err := c.try(t.Context(), method, path, in)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// must makes a request that must get the given status, and decodes the response
// into out unless that is nil.
func (c *client) must(t testing.TB, status int, method, path string, in, out any) answer {
	t.Helper()
	a := c.do(t, method, path, in)
	if a.Status != status {
		t.Fatalf("%s %s: got %d, want %d: %s", method, path, a.Status, status, a.Body)
	}
	if out != nil {
		a.into(t, out)
	}
	return a
}

const (
	ownerEmail    = "owner@example.com"
	ownerPassword = "correct horse battery staple 7Q"
)

// setUp creates the owner and a session directly in the service's database,
// because hashing two passwords over the API takes long. A private database
// belongs to the service, so there it uses the setup token.
func setUp(t testing.TB, s *service) *client {
	t.Helper()
	if s.DB == "" {
		return setUpByToken(t, s)
	}
	users := identitytest.New(dbtest.Open(t, s.DB))
	if _, err := users.CreateOwner(t.Context(), ownerEmail, ownerPassword, nil); err != nil {
		t.Fatalf("making the owner: %v", err)
	}
	in, err := users.LogIn(t.Context(), ownerEmail, ownerPassword, identity.Client{Address: "127.0.0.1", UserAgent: "processtest"})
	if err != nil {
		t.Fatalf("logging in: %v", err)
	}
	base, err := url.Parse(s.Base)
	if err != nil {
		t.Fatal(err)
	}
	c, cookie := newClient(s), identity.Cookie(in.Token, proxy.Site{Secure: base.Scheme == "https", Path: "/"})
	c.http.Jar.SetCookies(base, []*http.Cookie{&cookie})
	return c
}

// setUpByToken creates the owner with the setup token and logs in, like a user
// does.
func setUpByToken(t testing.TB, s *service) *client {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(s.State, "setup-token"))
	if err != nil {
		t.Fatalf("reading the setup token: %v", err)
	}
	c := newClient(s)
	c.must(t, http.StatusCreated, http.MethodPost, "/api/v1/setup", map[string]any{
		"setup_token": strings.TrimSpace(string(token)), "email": ownerEmail, "password": ownerPassword,
	}, nil)
	c.logIn(t, ownerEmail, ownerPassword)
	return c
}

// logIn starts a session with email address and password.
func (c *client) logIn(t testing.TB, email, password string) {
	t.Helper()
	c.must(t, http.StatusOK, http.MethodPost, "/api/v1/auth/login", map[string]any{"email": email, "password": password}, nil)
}

// enrol adds the simulator with the given capabilities, reads its inventory, and returns the host's id.
func (c *client) enrol(t testing.TB, s *sim, name string, capabilities ...string) int64 {
	t.Helper()
	var host struct{ ID int64 }
	c.must(t, http.StatusCreated, http.MethodPost, "/api/v1/hosts", map[string]any{
		"name": name, "address": s.URL, "tls_fingerprint": s.Fingerprint,
		"token_id": s.Tokens["monitoring"].ID, "token_secret": s.Tokens["monitoring"].Secret,
	}, &host)
	for _, capability := range capabilities {
		c.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/credentials", host.ID), map[string]any{
			"capability": capability, "token_id": s.Tokens[capability].ID, "token_secret": s.Tokens[capability].Secret,
		}, nil)
	}
	c.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", host.ID), nil, nil)
	return host.ID
}

// answered repeats a request until the plugin that it needs is available again.
// The response must then be 200.
func (c *client) answered(t testing.TB, method, path string) {
	t.Helper()
	waittest.Succeeds(t, "the plugin is back", func() error {
		a := c.do(t, method, path, nil)
		switch {
		case a.Status == http.StatusServiceUnavailable && a.problem() == "plugin_unavailable":
			return fmt.Errorf("it is not")
		case a.Status != http.StatusOK:
			t.Fatalf("%s %s: got %d: %s", method, path, a.Status, a.Body)
		}
		return nil
	})
}
