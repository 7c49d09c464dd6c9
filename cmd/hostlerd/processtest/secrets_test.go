package processtest

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/private"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/internal/waittest"
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
			r.openKeys()
			r.logIn()
			r.enrol()
			r.machineKey()
			r.attach()
			r.act()
			r.makeKeys()
			r.useSecondFactor()
			r.changePassword()
			r.manage()
			r.readEverything()
			r.end()
			for _, finding := range r.secretSearch.findings() {
				t.Error(finding)
			}
		})
	}
}

// secretRun is one service whose every word is looked at.
type secretRun struct {
	t            *testing.T
	secretSearch *secretSearch
	service      *service
	cluster      *sim
	owner        *client
	stop         func() // of the watch over the processes
	host         int64
}

func newSecretRun(t *testing.T, format string) *secretRun {
	t.Helper()
	r := &secretRun{t: t, secretSearch: newSecretSearch()}
	r.cluster = startSim(t, "--scenario", "cluster", "--nodes", "2", "--guests", "10", "--auth-delay", "0")
	for capability, token := range r.cluster.Tokens {
		r.secretSearch.add(t, "the token of "+capability, token.Secret)
	}
	o := options{DB: privateDatabase, Env: []string{"HOSTLER_LOG_LEVEL=trace", "HOSTLER_LOG_FORMAT=" + format}}
	if format == "json" {
		address, err := url.Parse(dbtest.EmptyURL(t))
		if err != nil {
			t.Fatal(err)
		}
		// The tests' server asks nobody for a password, but it is in the address all the same.
		address.User = url.UserPassword(address.User.Username(),
			r.secretSearch.add(t, "the database's password", "canary-Db-4krähe-"+rand.Text()[:8]))
		o.DB = address.String()
	}
	r.service = startService(t, o)
	r.stop = r.secretSearch.watch(t, r.service.cmd.Process.Pid, "the database's password")
	r.owner = r.client()
	return r
}

// client is one whose answers are looked at.
func (r *secretRun) client() *client {
	c := newClient(r.service)
	jar, _ := cookiejar.New(nil) // fails for no options
	c.http.Jar = jar
	c.http.Transport = &seenTransport{secretSearch: r.secretSearch, next: http.DefaultTransport, cookies: func(q *http.Request) bool {
		return slices.Contains([]string{"/api/v1/auth/login", "/api/v1/auth/totp", "/api/v1/auth/password"}, q.URL.Path)
	}}
	return c
}

// canary is a new secret of that name.
func (r *secretRun) canary(name string) string {
	return r.secretSearch.add(r.t, name, "canary-Vq3-"+strings.ToLower(rand.Text()[:12]))
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
			return r.secretSearch.add(r.t, name, cookie.Value)
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
		map[string]any{field: strings.Repeat(secret, 3500/len(secret))}, map[string]any{"extra": secret}, map[string]any{field: secret + "\x00"},
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
	token := r.secretSearch.add(r.t, "the setup token", strings.TrimSpace(string(text)))
	r.secretSearch.files(r.t, r.service.State, map[string]string{"setup-token": "the setup token"})
	wrong := make([]byte, 32)
	_, _ = rand.Read(wrong) // never fails
	r.post(r.owner, http.StatusUnauthorized, "/setup", map[string]any{
		"setup_token": r.secretSearch.add(r.t, "a wrong setup token", base64.RawURLEncoding.EncodeToString(wrong)),
		"email":       ownerEmail, "password": r.canary("the password of a refused setup"),
	})
	r.post(r.owner, http.StatusUnprocessableEntity, "/setup", map[string]any{
		"setup_token": token, "email": ownerEmail, "password": r.secretSearch.add(r.t, "a short password", "kz7-Wq!91"),
	})
	r.wrongTypes(r.owner, "/setup", "setup_token")
	r.post(r.owner, http.StatusCreated, "/setup", map[string]any{
		"setup_token": token, "email": ownerEmail, "password": r.secretSearch.add(r.t, "the password", ownerPassword),
	})
}

// database is the address of the service's database.
func (r *secretRun) database() string {
	r.t.Helper()
	if r.service.DB != "" {
		return r.service.DB
	}
	address, err := private.Attach(filepath.Join(r.service.State, "postgresql"))
	if err != nil {
		r.t.Fatal(err)
	}
	return address
}

// openKeys makes the keys known by which the service itself seals: those of the key file, and that of the audit log's chain.
func (r *secretRun) openKeys() {
	r.t.Helper()
	path := filepath.Join(r.service.State, "keys", "secret.key")
	text, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	var file struct {
		Keyset struct {
			Key []struct {
				KeyData struct{ Value []byte }
			}
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Keyset.Key) != 1 {
		r.t.Fatalf("%d keys in the key file, %v", len(file.Keyset.Key), err)
	}
	data := file.Keyset.Key[0].KeyData.Value
	r.secretSearch.add(r.t, masterKey, base64.RawStdEncoding.EncodeToString(data[len(data)-32:]))

	box, err := secret.Load(r.t.Context(), path, func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		r.t.Fatal(err)
	}
	d := dbtest.Open(r.t, r.database())
	var sealed []byte
	waittest.Succeeds(r.t, "the audit log has a chain", func() error {
		return d.Pool.QueryRow(r.t.Context(), "SELECT key FROM audit_chain").Scan(&sealed)
	})
	key, err := box.Open(sealed, secret.Binding{Table: audit.SealedTable.Name, Column: audit.SealedTable.Column, Row: secret.Row(1)})
	if err != nil {
		r.t.Fatal(err)
	}
	raw, err := hex.DecodeString(key.Reveal())
	if err != nil || len(raw) != 32 {
		r.t.Fatalf("the chain's key has %d bytes, %v", len(raw), err)
	}
	r.secretSearch.add(r.t, "the key of the chain", base64.RawStdEncoding.EncodeToString(raw))
}

// machineKey makes an SSH key for the host, which is read where it is kept, to be looked for elsewhere. A login, though it fails, sends it
// to the plugin.
func (r *secretRun) machineKey() {
	r.t.Helper()
	path := fmt.Sprintf("/hosts/%d", r.host)
	r.owner.must(r.t, http.StatusOK, http.MethodPatch, "/api/v1"+path, map[string]any{"ssh_port": 1}, nil)
	for range 2 { // the second takes the place of the first, which was not seen to work
		r.post(r.owner, http.StatusOK, path+"/credentials", map[string]any{"rotate_ssh": true, "ssh_consent": true})
		for name, secret := range machineKeySecrets(r.t, r.service, r.database()) {
			r.secretSearch.add(r.t, name, secret)
		}
		r.post(r.owner, http.StatusBadGateway, path+"/ssh/verify", nil)
	}
	r.wrongTypes(r.owner, path+"/credentials", "rotate_ssh")
}

// masterKey is due in the key file.
const masterKey = "the master key"

// manage makes a user, a team, a schedule and settings, with secrets where they are due and where they are not.
func (r *secretRun) manage() {
	r.t.Helper()
	var user account
	r.owner.must(r.t, http.StatusCreated, http.MethodPost, "/api/v1/users", map[string]any{
		"email": "ann@example.com", "password": r.canary("the password of a new user"), "role": "admin",
	}, &user)
	r.post(r.owner, http.StatusConflict, "/users",
		map[string]any{"email": "ANN@example.com", "password": r.canary("the password of a refused user")})
	r.post(r.owner, http.StatusOK, fmt.Sprintf("/users/%d/password", user.ID), map[string]any{"password": r.canary("a reset password")})
	r.wrongTypes(r.owner, "/users", "password")
	r.wrongTypes(r.owner, fmt.Sprintf("/users/%d/password", user.ID), "password")
	r.wrongTypes(r.owner, "/teams", "slug")
	r.wrongTypes(r.owner, "/schedules", "params")
	r.post(r.owner, http.StatusUnprocessableEntity, "/schedules", map[string]any{
		"name": "n", "cron": r.canary("a cron expression"), "timezone": r.canary("a time zone"), "job_kind": r.canary("a kind of job"),
		"params": map[string]any{"token": r.canary("a token in parameters")},
	})
	r.owner.must(r.t, http.StatusUnprocessableEntity, http.MethodPatch, "/api/v1/settings",
		map[string]any{"poll.interval_s": r.canary("a setting's value")}, nil)
	r.owner.must(r.t, http.StatusConflict, http.MethodDelete, "/api/v1/audit",
		map[string]any{"confirm": r.canary("a password typed as phrase")}, nil)
	for _, path := range []string{"/audit", "/audit/export", "/audit/export?format=jsonl"} {
		ask := "?"
		if strings.Contains(path, "?") {
			ask = "&"
		}
		r.owner.must(r.t, http.StatusOK, http.MethodGet, "/api/v1"+path+ask+"search="+r.canary("a password searched in "+path), nil, nil)
	}
	seeds := dbtest.Open(r.t, r.database())
	for _, kind := range []string{"sessions.prune", "metrics.maintain"} {
		var started struct{ Job jobView }
		r.owner.must(r.t, http.StatusAccepted, http.MethodPost, fmt.Sprintf("/api/v1/schedules/%d/run", seed(r.t, seeds, kind)), nil, &started)
		if end := ended(r.t, r.owner, started.Job.ID); end.Status != "succeeded" {
			r.t.Errorf("%s ended %s: %s", kind, end.Status, end.Error)
		}
	}
}

func (r *secretRun) logIn() {
	r.t.Helper()
	stranger := r.client()
	r.post(stranger, http.StatusUnauthorized, "/auth/login", map[string]any{"email": ownerEmail, "password": r.canary("a wrong password")})
	// People type the password into the wrong field.
	r.post(stranger, http.StatusUnauthorized, "/auth/login",
		map[string]any{"email": r.canary("a password typed as e-mail address") + "@example.com", "password": "x"})
	r.wrongTypes(stranger, "/auth/login", "password")
	for name, value := range map[string]string{
		"Authorization": "Bearer svc_" + r.canary("a false API key"), "Cookie": "service_session=" + r.canary("a false cookie"),
		"X-Request-Id": r.canary("x") + "%",
	} {
		req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet,
			r.service.Base+"/api/v1/hosts?token="+r.canary("a token in the query"), http.NoBody)
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
		body := map[string]any{"name": "lab", "address": r.cluster.URL, "tls_fingerprint": r.cluster.Fingerprint, "token_id": good.ID,
			"token_secret": good.Secret}
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
		r.post(r.owner, http.StatusUnprocessableEntity, path,
			endpoint(map[string]any{"address": "https://root:" + r.canary("a password in an address for "+path) + "@" + at.Host}))
		r.post(r.owner, http.StatusUnprocessableEntity, path,
			endpoint(map[string]any{"address": at.Host + "/?token=" + r.canary("a token in an address for "+path)}))
		// As the hypervisor writes it in one piece.
		r.post(r.owner, http.StatusUnprocessableEntity, path,
			endpoint(map[string]any{"token_id": good.ID + "=" + r.canary("a token in its id for "+path)}))
		r.wrongTypes(r.owner, path, "token_secret")
	}
	// A hypervisor, or what stands before it, that repeats what it was sent.
	r.cluster.fault(r.t, map[string]any{"kind": "status", "status": 500, "reason": "no: PVEAPIToken=" + good.ID + "=" + good.Secret})
	r.post(r.owner, http.StatusBadGateway, "/hosts", endpoint(nil))
	r.cluster.healFaults(r.t)

	r.paste(at.Host)
	credentials := fmt.Sprintf("/hosts/%d/credentials", r.host)
	r.post(r.owner, http.StatusBadGateway, credentials, map[string]any{
		"capability": "lifecycle", "token_id": r.cluster.Tokens["lifecycle"].ID, "token_secret": r.canary("a wrong token to rotate to"),
	})
	r.post(r.owner, http.StatusUnprocessableEntity, credentials,
		map[string]any{"capability": r.canary("a token as capability"), "token_id": good.ID, "token_secret": "x"})
	r.wrongTypes(r.owner, credentials, "token_secret")
	r.owner.must(r.t, http.StatusUnprocessableEntity, http.MethodPatch, fmt.Sprintf("/api/v1/hosts/%d", r.host), map[string]any{
		"address": "https://root:" + r.canary("a password in a new address") + "@" + at.Host,
	}, nil)
}

// paste enrols the host by one paste, after pastes that are refused in every way.
func (r *secretRun) paste(address string) {
	r.t.Helper()
	kinds := []string{"monitoring", "lifecycle", "console", "backup"}
	out := r.cluster.printed(kinds...)
	secret := r.cluster.Tokens["backup"].Secret
	body := func(paste any) map[string]any {
		return map[string]any{"name": "lab", "address": address, "tls_fingerprint": r.cluster.Fingerprint, "paste": paste}
	}
	wrong := func(name string) string {
		return strings.ReplaceAll(out, secret, r.secretSearch.add(r.t, name, newUUID()))
	}
	for _, path := range []string{"/hosts", "/hosts/probe"} {
		for _, paste := range []any{
			r.canary("a word as paste for " + path), out[:len(out)-10], out[strings.Index(out, "secret:"):], strings.ReplaceAll(out,
				"service@pve", ""),
			strings.Replace(out, secret, secret+" "+r.canary("a word after a secret for "+path), 1), []string{out}, out + "\x00", out +
				strings.ReplaceAll(wrong("a second secret for "+path), "!console", "!backup"),
			strings.Repeat(r.canary("a long paste for "+path), 3000),
		} {
			r.post(r.owner, http.StatusUnprocessableEntity, path, body(paste))
		}
		r.wrongTypes(r.owner, path, "paste")
	}
	r.post(r.owner, http.StatusBadGateway, "/hosts", body(wrong("a wrong secret in a paste to enrol")))
	r.post(r.owner, http.StatusOK, "/hosts/probe", body(wrong("a wrong secret in a paste to probe")))
	r.post(r.owner, http.StatusOK, "/hosts/probe", body(out))
	// What stands before a hypervisor, and repeats what it was sent, in its answers to others too.
	r.cluster.fault(r.t, map[string]any{"kind": "status", "status": 500, "reason": "no: " + secret})
	r.post(r.owner, http.StatusBadGateway, "/hosts", body(out))
	r.post(r.owner, http.StatusOK, "/hosts/probe", body(out))
	r.cluster.healFaults(r.t)

	var made struct {
		ID           int64
		Capabilities []struct{ Key string }
	}
	r.owner.must(r.t, http.StatusCreated, http.MethodPost, "/api/v1/hosts", body(out), &made)
	if len(made.Capabilities) != len(kinds) {
		r.t.Errorf("the host has %d tokens", len(made.Capabilities))
	}
	r.host = made.ID
	r.post(r.owner, http.StatusOK, fmt.Sprintf("/hosts/%d/sync", r.host), nil)
	credentials := fmt.Sprintf("/hosts/%d/credentials", r.host)
	r.post(r.owner, http.StatusBadGateway, credentials, map[string]any{"paste": wrong("a wrong secret in a paste to rotate to")})
	r.post(r.owner, http.StatusOK, credentials, map[string]any{"paste": r.cluster.printed(kinds[1:]...)})
	r.wrongTypes(r.owner, credentials, "paste")
}

// attach attaches a storage with secrets, edits it, has both refused in every way, and lets the hypervisor fetch a file from an address
// with a secret.
func (r *secretRun) attach() {
	r.t.Helper()
	share := func(secret any, change map[string]any) map[string]any {
		config := map[string]any{"server": "192.0.2.30", "share": "files", "username": "svc", "content": []string{"iso"}, "password": secret}
		for key, value := range change {
			config[key] = value
		}
		return map[string]any{"host_id": r.host, "storage": "vault", "type": "cifs", "config": config}
	}
	edit := func(status int, body map[string]any) {
		r.t.Helper()
		r.owner.must(r.t, status, http.MethodPatch, fmt.Sprintf("/api/v1/storage/%d/vault", r.host), body, nil)
	}
	password := func(value any) map[string]any { return map[string]any{"config": map[string]any{"password": value}} }
	refused := r.canary("the password of a storage that is refused")
	for _, value := range []any{[]string{refused}, map[string]any{"value": refused}, refused + "\x00", strings.Repeat(refused, 20)} {
		r.post(r.owner, http.StatusUnprocessableEntity, "/storage", share(value, nil))
	}
	for _, change := range []map[string]any{{"server": nil}, {"smbversion": refused}, {"bwlimit": []string{refused}}, {"keyring": refused}} {
		r.post(r.owner, http.StatusUnprocessableEntity, "/storage", share(refused, change))
	}
	// A hypervisor that repeats what it was sent, and one whose answer is lost.
	echoed := r.canary("the password of a storage in a refusal")
	echo := func(method, path, secret string) {
		r.t.Helper()
		r.cluster.fault(r.t, map[string]any{"kind": "status", "status": 500, "reason": "mount error: password=" + secret + ": " + secret,
			"match": map[string]any{"method": method, "path": path}})
	}
	echo(http.MethodPost, "/storage", echoed)
	r.post(r.owner, http.StatusBadGateway, "/storage", share(echoed, nil))
	r.cluster.healFaults(r.t)
	r.cluster.fault(r.t, map[string]any{"kind": "cut", "times": 1, "match": map[string]any{"method": http.MethodPost, "path": "/storage"}})
	r.post(r.owner, http.StatusBadGateway, "/storage", share(r.canary("the password of a storage whose answer is lost"), nil))
	r.cluster.healFaults(r.t)
	r.post(r.owner, http.StatusCreated, "/storage", share(r.canary("the password of a storage"), nil))

	edit(http.StatusUnprocessableEntity, password([]string{r.canary("a misplaced password of a storage")}))
	edit(http.StatusConflict, map[string]any{"digest": "stale", "config": map[string]any{"password": r.canary("a password in a stale edit")}})
	echoed = r.canary("a password in a refused edit")
	echo(http.MethodPut, "/storage/{storage}", echoed)
	edit(http.StatusBadGateway, password(echoed))
	r.cluster.healFaults(r.t)
	edit(http.StatusOK, password(r.canary("the next password of a storage")))
	// Secrets of others, in a file of several lines.
	key := "-----BEGIN KEY-----\n" + r.canary("a keyring") + "\n-----END KEY-----\n"
	r.post(r.owner, http.StatusCreated, "/storage", map[string]any{"host_id": r.host, "storage": "ceph", "type": "cephfs",
		"config": map[string]any{"monhost": "192.0.2.31", "content": []string{"iso"}, "keyring": key}})
	for _, name := range []string{"vault", "ceph"} {
		path := fmt.Sprintf("/api/v1/storage/%d/%s", r.host, name)
		r.owner.must(r.t, http.StatusOK, http.MethodGet, path, nil, nil)
		r.owner.must(r.t, http.StatusConflict, http.MethodDelete, path, nil, nil)
		r.owner.must(r.t, http.StatusOK, http.MethodDelete, path, map[string]any{"confirm": name}, nil)
	}

	var started struct{ Job jobView }
	r.owner.must(r.t, http.StatusAccepted, http.MethodPost, fmt.Sprintf("/api/v1/storage/%d/local/content/download?node=pve1", r.host),
		map[string]any{"url": "https://files.example.com/signed.iso?signature=" + r.canary("the secret in an address"), "content": "iso",
			"node": "pve1"}, &started)
	if end := ended(r.t, r.owner, started.Job.ID); !strings.Contains(transcript(r.t, r.owner, end.ID), "signed.iso") {
		r.t.Errorf("the download ended %s: %s", end.Status, end.Error)
	}
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
	waittest.Succeeds(r.t, "the task runs", func() error {
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
	waittest.Succeeds(r.t, "the service says that the token is refused", func() error {
		a := r.owner.do(r.t, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", r.host), nil)
		if a.problem() == "plugin_unavailable" {
			return errors.New("the killed plugin is not back yet")
		}
		if a.Status != http.StatusBadGateway {
			r.t.Fatalf("got %d: %s", a.Status, a.Body)
		}
		return nil
	})
	r.post(r.owner, http.StatusOK, fmt.Sprintf("/hosts/%d/test", r.host), nil)
}

// makeKeys makes API keys, uses them rightly and wrongly, and revokes one.
func (r *secretRun) makeKeys() {
	r.t.Helper()
	var made [2]struct {
		ID  int64
		Key string
	}
	for i := range made {
		r.owner.must(r.t, http.StatusCreated, http.MethodPost, "/api/v1/api-keys", map[string]any{"name": fmt.Sprintf("key %d", i)}, &made[i])
		r.secretSearch.add(r.t, fmt.Sprintf("API key %d", i), made[i].Key)
		r.secretSearch.add(r.t, fmt.Sprintf("the end of API key %d", i), made[i].Key[10:])
	}
	stranger := r.client()
	for key, want := range map[string]int{made[0].Key: http.StatusOK, made[0].Key[:10] + r.canary("a guessed end"): http.StatusUnauthorized} {
		req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.service.Base+"/api/v1/api-keys", http.NoBody)
		if err != nil {
			r.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		resp, err := stranger.http.Do(req)
		if err != nil {
			r.t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			r.t.Errorf("%s, want %d", resp.Status, want)
		}
	}
	r.owner.must(r.t, http.StatusNoContent, http.MethodDelete, fmt.Sprintf("/api/v1/api-keys/%d", made[1].ID), nil, nil)
	r.wrongTypes(r.owner, "/api-keys", "expires_at")
}

// useSecondFactor switches a second factor on, logs in by it in every way, and switches it off.
func (r *secretRun) useSecondFactor() {
	r.t.Helper()
	var e struct {
		Secret string
		URI    string   `json:"otpauth_uri"`
		Codes  []string `json:"recovery_codes"`
	}
	r.owner.must(r.t, http.StatusOK, http.MethodPost, "/api/v1/auth/totp/enroll", nil, &e)
	r.secretSearch.add(r.t, "the secret of the second factor", e.Secret)
	r.secretSearch.add(r.t, "the address of the second factor", e.URI)
	for i, code := range e.Codes {
		r.secretSearch.add(r.t, fmt.Sprintf("recovery code %d", i), code)
		r.secretSearch.add(r.t, fmt.Sprintf("recovery code %d without hyphens", i), strings.ReplaceAll(code, "-", ""))
	}
	code := func(ahead time.Duration) string {
		text, err := totp.GenerateCode(e.Secret, time.Now().Add(ahead))
		if err != nil {
			r.t.Fatal(err)
		}
		return text
	}
	r.wrongTypes(r.owner, "/auth/totp/confirm", "code")
	r.post(r.owner, http.StatusUnprocessableEntity, "/auth/totp/confirm", map[string]any{"code": r.canary("a wrong code")})
	r.post(r.owner, http.StatusNoContent, "/auth/totp/confirm", map[string]any{"code": code(0)})
	for i, right := range []string{code(30 * time.Second), e.Codes[0]} {
		device := r.client()
		var first struct{ Pending string }
		device.must(r.t, http.StatusOK, http.MethodPost, "/api/v1/auth/login", map[string]any{"email": ownerEmail, "password": ownerPassword},
			&first)
		r.secretSearch.add(r.t, fmt.Sprintf("pending log-in %d", i), first.Pending)
		r.post(device, http.StatusUnauthorized, "/auth/totp",
			map[string]any{"pending": first.Pending, "code": r.canary(fmt.Sprintf("wrong code %d", i))})
		r.post(device, http.StatusUnauthorized, "/auth/totp",
			map[string]any{"pending": r.canary(fmt.Sprintf("false log-in %d", i)), "code": right})
		r.post(device, http.StatusOK, "/auth/totp", map[string]any{"pending": first.Pending, "code": right})
		r.session(device, fmt.Sprintf("the session of log-in %d", i))
	}
	r.wrongTypes(r.client(), "/auth/totp", "pending")
	r.owner.must(r.t, http.StatusUnprocessableEntity, http.MethodDelete, "/api/v1/auth/totp",
		map[string]any{"password": r.canary("a wrong password for the second factor")}, nil)
	r.owner.must(r.t, http.StatusNoContent, http.MethodDelete, "/api/v1/auth/totp", map[string]any{"password": ownerPassword}, nil)
	// one that is never confirmed stays in the database
	r.owner.must(r.t, http.StatusOK, http.MethodPost, "/api/v1/auth/totp/enroll", nil, &e)
	r.secretSearch.add(r.t, "the secret of an unconfirmed factor", e.Secret)
	r.secretSearch.add(r.t, "its address", e.URI)
	r.secretSearch.add(r.t, "its recovery code", e.Codes[0])
}

func (r *secretRun) changePassword() {
	r.t.Helper()
	changed := r.canary("the new password")
	r.post(r.owner, http.StatusUnprocessableEntity, "/auth/password",
		map[string]any{"current": r.canary("a wrong present password"), "new": changed})
	r.post(r.owner, http.StatusUnprocessableEntity, "/auth/password",
		map[string]any{"current": ownerPassword, "new": r.secretSearch.add(r.t, "a short new password", "qy5-Rk!83")})
	r.wrongTypes(r.owner, "/auth/password", "new")
	r.post(r.owner, http.StatusOK, "/auth/password", map[string]any{"current": ownerPassword, "new": changed})
	r.session(r.owner, "the session after the change")
	other := r.client()
	other.logIn(r.t, ownerEmail, changed)
	r.session(other, "another session")
	r.post(other, http.StatusNoContent, "/auth/logout", nil)
}

// readOperations asks for what each operation shows, of the things with the id 1.
func (r *secretRun) readOperations() {
	r.t.Helper()
	for _, o := range declaredOperations(r.t, r.owner) {
		endless := o.path == "/api/v1/events/stream" || strings.HasSuffix(o.path, "/log/stream")
		if o.method == http.MethodGet && !endless && !strings.Contains(o.path, "{upid}") {
			r.owner.do(r.t, o.method, placeholder.ReplaceAllString(o.path, "1"), nil)
		}
	}
}

// readEverything asks for all that can be read, so that the search sees it.
func (r *secretRun) readEverything() {
	r.t.Helper()
	r.readOperations()
	for job := range 5 {
		for _, path := range []string{"", "/events", "/events/stream"} {
			r.owner.must(r.t, http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/jobs/%d%s", job+1, path), nil, nil)
		}
	}
	var trail []json.RawMessage
	r.owner.must(r.t, http.StatusOK, http.MethodGet, "/api/v1/audit?per_page=500", nil, &trail)
	if len(trail) < 20 {
		r.t.Errorf("the audit log has only %d rows: this run proves little", len(trail))
	}
	for _, format := range []string{"csv", "jsonl"} {
		file := r.owner.must(r.t, http.StatusOK, http.MethodGet, "/api/v1/audit/export?format="+format, nil, nil).Body
		if lines := strings.Count(string(file), "\n"); lines < len(trail) {
			r.t.Errorf("the export as %s has only %d lines", format, lines)
		}
	}
	var activity []json.RawMessage
	r.owner.must(r.t, http.StatusOK, http.MethodGet, "/api/v1/cluster/activity?limit=100", nil, &activity)
	if len(activity) < 5 {
		r.t.Errorf("only %d pieces of activity are there", len(activity))
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
	address := r.database()
	if rows := r.secretSearch.database(r.t, address); rows < 50 {
		r.t.Errorf("only %d rows were looked at", rows)
	}
	r.secretSearch.dump(r.t, address)
	r.service.stop(r.t)
	r.secretSearch.files(r.t, r.service.State, map[string]string{filepath.Join("keys", "secret.key"): masterKey})
	log := r.service.Log.String()
	if !strings.Contains(log, "request served") {
		r.t.Error("the log is not at level trace")
	}
	for line := range strings.Lines(log) {
		r.secretSearch.text("the log", []byte(line))
	}
}
