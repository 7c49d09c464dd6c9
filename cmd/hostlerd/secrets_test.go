package main

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/private"
)

// No secret is anywhere but where it is due, after the main job and all that can go wrong in it: with a server that was
// given and a log of JSON, and with a private cluster and a log of text.
func TestSecretsStayWhereTheyBelong(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "text"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			r := newSecretRun(t, format)
			r.setUp()
			r.logIn()
			r.enrol()
			r.act()
			r.changePassword()
			r.readEverything()
			r.end()
			for _, finding := range r.hunt.findings() {
				t.Error(finding)
			}
		})
	}
}

// secretRun is one service whose every word is looked at.
type secretRun struct {
	t       *testing.T
	hunt    *hunt
	service *service
	cluster *sim
	owner   *client
	stop    func() // of the watch over the processes
	host    int64
}

func newSecretRun(t *testing.T, format string) *secretRun {
	t.Helper()
	r := &secretRun{t: t, hunt: newHunt()}
	r.cluster = startSim(t, "--scenario", "cluster", "--nodes", "2", "--guests", "10", "--auth-delay", "0")
	for capability, token := range r.cluster.Tokens {
		r.hunt.add(t, "the token of "+capability, token.Secret)
	}
	o := options{DB: privateDatabase, Env: []string{"HOSTLER_LOG_LEVEL=trace", "HOSTLER_LOG_FORMAT=" + format}}
	if format == "json" {
		address, err := url.Parse(dbtest.EmptyURL(t))
		if err != nil {
			t.Fatal(err)
		}
		// The tests' server asks nobody for a password, but it is in the address all the same.
		address.User = url.UserPassword(address.User.Username(), r.hunt.add(t, "the database's password", "canary-Db-4krähe-"+rand.Text()[:8]))
		o.DB = address.String()
	}
	r.service = startService(t, o)
	r.stop = r.hunt.watch(t, r.service.cmd.Process.Pid, "the database's password")
	r.owner = r.client()
	return r
}

// client is one whose answers are looked at.
func (r *secretRun) client() *client {
	c := newClient(r.service)
	jar, _ := cookiejar.New(nil) // fails for no options
	c.http.Jar = jar
	c.http.Transport = &sighting{hunt: r.hunt, next: http.DefaultTransport, cookies: func(q *http.Request) bool {
		return q.URL.Path == "/api/v1/auth/login" || q.URL.Path == "/api/v1/auth/password"
	}}
	return c
}

// canary is a new secret of that name.
func (r *secretRun) canary(name string) string {
	return r.hunt.add(r.t, name, "canary-Vq3-"+strings.ToLower(rand.Text()[:12]))
}

// post sends a body and expects a status.
func (r *secretRun) post(c *client, status int, path string, body any) answer {
	r.t.Helper()
	return c.must(r.t, status, http.MethodPost, "/api/v1"+path, body, nil)
}

// session makes the cookie of the client's session known.
func (r *secretRun) session(c *client, name string) string {
	r.t.Helper()
	base, err := url.Parse(r.service.Base)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, cookie := range c.http.Jar.Cookies(base) {
		if cookie.Name == "service_session" {
			return r.hunt.add(r.t, name, cookie.Value)
		}
	}
	r.t.Fatal("there is no session cookie")
	return ""
}

// wrongTypes are bodies that hold a secret where it is not expected: all are 422.
func (r *secretRun) wrongTypes(c *client, path, field string) {
	r.t.Helper()
	name := "a misplaced " + field
	secret := r.canary(name)
	for _, body := range []any{
		map[string]any{field: []string{secret}}, map[string]any{field: map[string]any{"value": secret}}, []string{secret}, secret,
		map[string]any{field: strings.Repeat(secret, 300)}, map[string]any{"extra": secret}, map[string]any{field: secret + "\x00"},
	} {
		r.post(c, http.StatusUnprocessableEntity, path, body)
	}
	for _, text := range []string{`{"` + field + `":"` + secret + `"`, `{"` + field + `":"` + secret + `",,}`, field + "=" + secret} {
		r.raw(c, path, "application/json", text, http.StatusUnprocessableEntity)
		r.raw(c, path, "application/x-www-form-urlencoded", text, http.StatusUnsupportedMediaType)
	}
}

func (r *secretRun) raw(c *client, path, kind, text string, status int) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.service.Base+"/api/v1"+path, strings.NewReader(text))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	resp, err := c.http.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != status {
		r.t.Errorf("POST %s of %s: %s: %s", path, kind, resp.Status, body)
	}
}

func (r *secretRun) setUp() {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.service.State, "setup-token"))
	if err != nil {
		r.t.Fatal(err)
	}
	token := r.hunt.add(r.t, "the setup token", strings.TrimSpace(string(text)))
	r.hunt.files(r.t, r.service.State, map[string]string{"setup-token": "the setup token"})
	wrong := make([]byte, 32)
	_, _ = rand.Read(wrong) // never fails
	r.post(r.owner, http.StatusUnauthorized, "/setup", map[string]any{
		"setup_token": r.hunt.add(r.t, "a wrong setup token", base64.RawURLEncoding.EncodeToString(wrong)),
		"email":       ownerEmail, "password": r.canary("the password of a refused setup"),
	})
	r.post(r.owner, http.StatusUnprocessableEntity, "/setup", map[string]any{
		"setup_token": token, "email": ownerEmail, "password": r.hunt.add(r.t, "a short password", "kz7-Wq!91"),
	})
	r.wrongTypes(r.owner, "/setup", "setup_token")
	r.post(r.owner, http.StatusCreated, "/setup", map[string]any{
		"setup_token": token, "email": ownerEmail, "password": r.hunt.add(r.t, "the password", ownerPassword),
	})
}

func (r *secretRun) logIn() {
	r.t.Helper()
	stranger := r.client()
	r.post(stranger, http.StatusUnauthorized, "/auth/login", map[string]any{"email": ownerEmail, "password": r.canary("a wrong password")})
	// People type the password into the wrong field.
	r.post(stranger, http.StatusUnauthorized, "/auth/login", map[string]any{"email": r.canary("a password typed as e-mail address") + "@example.com", "password": "x"})
	r.wrongTypes(stranger, "/auth/login", "password")
	for name, value := range map[string]string{
		"Authorization": "Bearer svc_" + r.canary("a false API key"), "Cookie": "service_session=" + r.canary("a false cookie"), "X-Request-Id": r.canary("x") + "%",
	} {
		req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.service.Base+"/api/v1/hosts?token="+r.canary("a token in the query"), http.NoBody)
		if err != nil {
			r.t.Fatal(err)
		}
		req.Header.Set(name, value)
		resp, err := stranger.http.Do(req)
		if err != nil {
			r.t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	r.owner.logIn(r.t, ownerEmail, ownerPassword)
	r.session(r.owner, "the session")
}

func (r *secretRun) enrol() {
	r.t.Helper()
	good := r.cluster.Tokens["monitoring"]
	endpoint := func(change map[string]any) map[string]any {
		body := map[string]any{"name": "lab", "address": r.cluster.URL, "tls_fingerprint": r.cluster.Fingerprint, "token_id": good.ID, "token_secret": good.Secret}
		for key, value := range change {
			body[key] = value
		}
		return body
	}
	at, err := url.Parse(r.cluster.URL)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, path := range []string{"/hosts", "/hosts/probe"} {
		r.post(r.owner, http.StatusBadGateway, path, endpoint(map[string]any{"token_secret": r.canary("a wrong token for " + path)}))
		r.post(r.owner, http.StatusBadGateway, path, endpoint(map[string]any{"tls_fingerprint": strings.Repeat("AB", 32)}))
		r.post(r.owner, http.StatusUnprocessableEntity, path, endpoint(map[string]any{"address": "https://root:" + r.canary("a password in an address for "+path) + "@" + at.Host}))
		r.post(r.owner, http.StatusUnprocessableEntity, path, endpoint(map[string]any{"address": at.Host + "/?token=" + r.canary("a token in an address for "+path)}))
		// As the hypervisor writes it in one piece.
		r.post(r.owner, http.StatusUnprocessableEntity, path, endpoint(map[string]any{"token_id": good.ID + "=" + r.canary("a token in its id for "+path)}))
		r.wrongTypes(r.owner, path, "token_secret")
	}
	// A hypervisor, or what stands before it, that repeats what it was sent.
	r.cluster.fault(r.t, map[string]any{"kind": "status", "status": 500, "reason": "no: PVEAPIToken=" + good.ID + "=" + good.Secret})
	r.post(r.owner, http.StatusBadGateway, "/hosts", endpoint(nil))
	r.cluster.healFaults(r.t)

	r.host = r.owner.enrol(r.t, r.cluster, "lab", "lifecycle", "console", "backup")
	credentials := fmt.Sprintf("/hosts/%d/credentials", r.host)
	r.post(r.owner, http.StatusBadGateway, credentials, map[string]any{
		"capability": "lifecycle", "token_id": r.cluster.Tokens["lifecycle"].ID, "token_secret": r.canary("a wrong token to rotate to"),
	})
	r.post(r.owner, http.StatusUnprocessableEntity, credentials, map[string]any{"capability": r.canary("a token as capability"), "token_id": good.ID, "token_secret": "x"})
	r.wrongTypes(r.owner, credentials, "token_secret")
	r.owner.must(r.t, http.StatusUnprocessableEntity, http.MethodPatch, fmt.Sprintf("/api/v1/hosts/%d", r.host), map[string]any{
		"address": "https://root:" + r.canary("a password in a new address") + "@" + at.Host,
	}, nil)
}

// act runs jobs: one that succeeds, one that the hypervisor refuses, and one during which the plugin is killed.
func (r *secretRun) act() {
	r.t.Helper()
	guests := listVMs(r.t, r.owner)
	var running []guestView
	for _, g := range guests {
		if g.Status == "running" {
			running = append(running, g)
		}
	}
	if len(running) < 3 {
		r.t.Fatalf("only %d guests run", len(running))
	}
	stop := func(g guestView) jobView { return act(r.t, r.owner, fmt.Sprintf("/api/v1/vms/%d/stop", g.ID)) }
	if end := ended(r.t, r.owner, stop(running[0]).ID); end.Status != "succeeded" {
		r.t.Errorf("the job ended %s: %s", end.Status, end.Error)
	}
	lifecycle := r.cluster.Tokens["lifecycle"]
	r.cluster.fault(r.t, map[string]any{
		"kind": "status", "status": 500, "reason": "refused PVEAPIToken=" + lifecycle.ID + "=" + lifecycle.Secret,
		"match": map[string]any{"method": "POST", "path": "/nodes/{node}/qemu/{vmid}/status/stop"},
	})
	if end := ended(r.t, r.owner, stop(running[1]).ID); end.Status == "succeeded" {
		r.t.Errorf("the job ended %s", end.Status)
	}
	r.cluster.healFaults(r.t)
	r.cluster.control(r.t, http.MethodPost, "/option", map[string]any{"task_ms": 1500}, nil)
	job := stop(running[2])
	eventually(r.t, "the task runs", func() error {
		if progress(r.t, r.owner, job.ID).TaskID == "" {
			return errors.New("it was not sent yet")
		}
		return nil
	})
	for _, pid := range pluginsOf(r.t, r.service) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if end := ended(r.t, r.owner, job.ID); end.Status != "succeeded" {
		r.t.Errorf("the job ended %s: %s", end.Status, end.Error)
	}
	r.cluster.control(r.t, http.MethodPost, "/token", map[string]any{"id": r.cluster.Tokens["monitoring"].ID, "op": "revoke"}, nil)
	r.post(r.owner, http.StatusBadGateway, fmt.Sprintf("/hosts/%d/sync", r.host), nil)
	r.post(r.owner, http.StatusOK, fmt.Sprintf("/hosts/%d/test", r.host), nil)
}

func (r *secretRun) changePassword() {
	r.t.Helper()
	changed := r.canary("the new password")
	r.post(r.owner, http.StatusUnprocessableEntity, "/auth/password", map[string]any{"current": r.canary("a wrong present password"), "new": changed})
	r.post(r.owner, http.StatusUnprocessableEntity, "/auth/password", map[string]any{"current": ownerPassword, "new": r.hunt.add(r.t, "a short new password", "qy5-Rk!83")})
	r.wrongTypes(r.owner, "/auth/password", "new")
	r.post(r.owner, http.StatusNoContent, "/auth/password", map[string]any{"current": ownerPassword, "new": changed})
	r.session(r.owner, "the session after the change")
	other := r.client()
	other.logIn(r.t, ownerEmail, changed)
	r.session(other, "another session")
	r.post(other, http.StatusNoContent, "/auth/logout", nil)
}

// readEverything asks for all that can be read, so that the hunt sees it.
func (r *secretRun) readEverything() {
	r.t.Helper()
	for _, o := range declaredOperations(r.t, r.owner) {
		if o.method == http.MethodGet && !strings.Contains(o.path, "{upid}") {
			r.owner.do(r.t, o.method, placeholder.ReplaceAllString(o.path, "1"), nil)
		}
	}
	for job := range 3 {
		for _, path := range []string{"", "/events", "/events/stream"} {
			r.owner.must(r.t, http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/jobs/%d%s", job+1, path), nil, nil)
		}
	}
	var trail []json.RawMessage
	r.owner.must(r.t, http.StatusOK, http.MethodGet, "/api/v1/audit?per_page=500", nil, &trail)
	if len(trail) < 20 {
		r.t.Errorf("the trail has only %d rows: this run proves little", len(trail))
	}
	for _, path := range []string{"/metrics", "/readyz", "/healthz", "/api/openapi.json", "/api/docs"} {
		r.owner.must(r.t, http.StatusOK, http.MethodGet, path, nil, nil)
	}
	r.post(r.owner, http.StatusOK, "/hosts/token-script", map[string]any{"capabilities": []string{"lifecycle"}})
}

// end looks into what the service has written: rows, files, log.
func (r *secretRun) end() {
	r.t.Helper()
	r.stop()
	address := r.service.DB
	if address == "" {
		var err error
		if address, err = private.Attach(filepath.Join(r.service.State, "postgresql")); err != nil {
			r.t.Fatal(err)
		}
	}
	if rows := r.hunt.database(r.t, address); rows < 50 {
		r.t.Errorf("only %d rows were looked at", rows)
	}
	r.service.stop(r.t)
	r.hunt.files(r.t, r.service.State, nil)
	log := r.service.Log.String()
	if !strings.Contains(log, "request served") {
		r.t.Error("the log is not at level trace")
	}
	for line := range strings.Lines(log) {
		r.hunt.text("the log", []byte(line))
	}
}
