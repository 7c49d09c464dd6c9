package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/consoletest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// consolesFixture has a hypervisor in memory as host 1 of the default team, with tokens for monitoring and consoles and node shells
// switched on: the VM "serial", which has a text console, the VM "screen", which has none, the VM "off", and the app 1, "wiki". The team 2
// has nothing.
type consolesFixture struct {
	*servicetest.Instance
	t       *testing.T
	db      *db.DB
	cluster *memdriver.Cluster
	driver  *memdriver.Driver
	keys    *secret.Box
	owner   *identitytest.Account
	refs    map[string]hypervisor.GuestRef
}

func newConsoles(t *testing.T, edits ...func(*service.Service)) *consolesFixture {
	t.Helper()
	driver := memdriver.New()
	f := &consolesFixture{t: t, driver: driver, cluster: driver.Add("pool.mem:8006", memdriver.Spec{Nodes: 2}), db: dbtest.New(t),
		refs: map[string]hypervisor.GuestRef{}}
	keys, err := secret.Load(t.Context(), filepath.Join(t.TempDir(), "keys", "secret.key"),
		func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	f.keys = keys
	f.Instance = f.serve(edits...)
	f.owner = f.user(identity.Owner)
	inventorytest.Team(t, f.db, 2)
	for name, g := range map[string]struct {
		kind   hypervisor.GuestKind
		status string
	}{
		"serial": {hypervisor.VM, hypervisor.GuestRunning}, "screen": {hypervisor.VM, hypervisor.GuestRunning},
		"off": {hypervisor.VM, hypervisor.GuestStopped}, "wiki": {hypervisor.Container, hypervisor.GuestRunning},
	} {
		ref := f.cluster.NewGuest(g.kind, g.status)
		f.cluster.Change(ref.ID, func(found *hypervisor.Guest) { found.Name = name })
		f.refs[name] = ref
	}
	f.cluster.AttachSerialPort(f.refs["serial"].ID)
	for _, c := range []endpoint.Capability{endpoint.Monitoring, endpoint.Console} {
		credential := f.cluster.Target(c).Credential
		body := map[string]any{"token_id": credential.ID, "token_secret": string(credential.Secret)}
		path, status := "hosts/1/credentials", 200
		if c == endpoint.Monitoring {
			body["name"], body["address"], body["tls_fingerprint"] = "lab", "pool.mem:8006", f.cluster.Fingerprint()
			path, status = "hosts", 201
		} else {
			body["capability"] = c
		}
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		f.ask(f.owner, "POST", path, string(text), status)
	}
	f.ask(f.owner, "PATCH", "hosts/1", `{"node_shell_enabled":true}`, 200)
	f.ask(f.owner, "POST", "hosts/1/sync", "", 200)
	f.ask(f.owner, "POST", "apps/adopt", fmt.Sprintf(`{"items":[{"host_id":1,"guest_ref":%q,"name":"wiki"}]}`, f.refs["wiki"].ID), 200)
	return f
}

// serve makes a further service on the same database and hypervisor.
func (f *consolesFixture) serve(edits ...func(*service.Service)) *servicetest.Instance {
	f.t.Helper()
	s := servicetest.New(f.t, func(c *service.Config) {
		c.DB, c.Keys, c.Drivers = f.db, f.keys, servicetest.Drivers{Driver: f.driver}
	})
	for _, edit := range edits {
		edit(s)
	}
	return servicetest.Serve(f.t, s)
}

func (f *consolesFixture) user(role identity.Role) *identitytest.Account {
	return identitytest.As(f.t, f.Users, role)
}

// vm is the path of a VM's console.
func (f *consolesFixture) vm(name string) string {
	return "vms/" + f.Value(fmt.Sprintf("SELECT id FROM guests WHERE ref = '%s'", f.refs[name].ID)) + "/console"
}

const (
	wikiConsole = "apps/1/console"
	nodeShell   = "hosts/1/shell"
)

// whoever makes a request come from somebody; *identitytest.APIKey and session are such.
type whoever interface{ Set(r *http.Request) }

// consoleSession is somebody with a session.
type consoleSession struct{ *identitytest.Account }

func (s consoleSession) Set(r *http.Request) { r.AddCookie(s.Cookie) }

// ask makes a request of somebody that must be answered with the status.
func (f *consolesFixture) ask(by *identitytest.Account, method, path, body string, status int) []byte {
	f.t.Helper()
	return f.askAs(consoleSession{by}, f.URL, method, path, body, status)
}

func (f *consolesFixture) askAs(by whoever, url, method, path, body string, status int) []byte {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), method, url+"/api/v1/"+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	by.Set(r)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != status {
		f.t.Fatalf("%s %s: %d, want %d: %s %v", method, path, answer.StatusCode, status, text, err)
	}
	return text
}

type consoleTicket struct {
	Ticket, Path, Kind string
	Password           *string
	Recorded           bool
	ExpiresAt          time.Time `json:"expires_at"`
}

// consoleTicket asks for a ticket of a console.
func (f *consolesFixture) ticket(by whoever, console, query string) (made consoleTicket) {
	f.t.Helper()
	if err := json.Unmarshal(f.askAs(by, f.URL, "POST", console+"/tickets"+query, "", 200), &made); err != nil {
		f.t.Fatal(err)
	}
	return made
}

// dial connects with a ticket. A problem is its code.
func (f *consolesFixture) dial(by whoever, url, path, ticket string, headers ...string) (c *websocket.Conn, status int, code string) {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), "GET", url, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	by.Set(r)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	c, answer, err := websocket.Dial(f.t.Context(), url+path+"?ticket="+ticket, &websocket.DialOptions{HTTPHeader: r.Header})
	if err == nil {
		f.t.Cleanup(func() { _ = c.CloseNow() })
		c.SetReadLimit(1 << 20)
		return c, answer.StatusCode, ""
	}
	if answer == nil {
		f.t.Fatal(err)
	}
	var p struct{ Error string }
	_ = json.NewDecoder(answer.Body).Decode(&p) // what is none has no code
	return nil, answer.StatusCode, p.Error
}

// connect is a console that must open.
func (f *consolesFixture) connect(by whoever, console, query string) *consoleTerminal {
	f.t.Helper()
	made := f.ticket(by, console, query)
	c, status, code := f.dial(by, f.URL, made.Path, made.Ticket)
	if c == nil {
		f.t.Fatalf("%s: %d %s", console, status, code)
	}
	return &consoleTerminal{t: f.t, Conn: c}
}

// consoleTerminal is the person's end of a console.
type consoleTerminal struct {
	*websocket.Conn
	t     *testing.T
	shown strings.Builder
	seen  int
}

func (c *consoleTerminal) types(text string) {
	c.t.Helper()
	if err := c.Write(c.t.Context(), websocket.MessageBinary, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *consoleTerminal) tells(text string) {
	c.t.Helper()
	if err := c.Write(c.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

// shows reads until the terminal has shown the text, after what was looked for before.
func (c *consoleTerminal) shows(text string) {
	c.t.Helper()
	for {
		if i := strings.Index(c.shown.String()[c.seen:], text); i >= 0 {
			c.seen += i + len(text)
			return
		}
		kind, data, err := c.Read(c.t.Context())
		if err != nil {
			c.t.Fatalf("%v; it showed %q and not %q", err, c.shown.String(), text)
		}
		if kind == websocket.MessageBinary {
			c.shown.Write(data)
		}
	}
}

// ends reads until the socket is closed, which must be with this code and reason.
func (c *consoleTerminal) ends(code websocket.StatusCode, reason string) {
	c.t.Helper()
	for {
		_, _, err := c.Read(c.t.Context())
		if err == nil {
			continue
		}
		var closed websocket.CloseError
		if !errors.As(err, &closed) || closed.Code != code || !strings.Contains(closed.Reason, reason) {
			c.t.Errorf("the socket ended with %v, want %d %q", err, code, reason)
		}
		return
	}
}

// trail is what the audit log says of an action.
func (f *consolesFixture) trail(action string) string {
	return f.Value(fmt.Sprintf(`SELECT coalesce(string_agg(result || ' ' || error || ' ' || address || ' ' || details::text,
		'; ' ORDER BY id), '') FROM audit WHERE action = '%s'`, action))
}

// A person types into a terminal of each kind of thing, changes its size and leaves it; the audit log has it all.
func TestTerminalConsoles(t *testing.T) {
	t.Parallel()
	f := newConsoles(t)
	for _, tt := range []struct{ name, path, prompt, action string }{
		{"a VM", f.vm("serial"), "serial$ ", "vm.console"}, {"an app", wikiConsole, "wiki$ ", "app.console"},
		{"a node", nodeShell, "$ ", "host.shell"},
	} {
		who := consoleSession{f.user(identity.Admin)}
		c := f.connect(who, tt.path, "?columns=100&rows=30")
		c.shows(tt.prompt)
		c.types("size\r")
		c.shows("100x30")
		c.tells(`{"resize":{"columns":132,"rows":50}}`)
		c.shows("[132x50]")
		c.types("echo grüße\r")
		c.shows("grüße\r\n")
		c.shows("grüße\r\n")
		c.types("exit\r")
		c.ends(websocket.StatusNormalClosure, "")
		waittest.Until(t, tt.name+": the end is in the audit log", func() bool { return f.trail(tt.action+"_close") != "" })
		if got := f.trail(tt.action + "_open"); !strings.HasPrefix(got, "ok  127.0.0.1 ") || !strings.Contains(got, `"kind": "terminal"`) {
			t.Errorf("%s: the audit log of the beginning: %s", tt.name, got)
		}
		if got := f.trail(tt.action + "_close"); !strings.HasPrefix(got, "ok  127.0.0.1 ") || !strings.Contains(got, `"bytes_in": 23`) ||
			!strings.Contains(got, `"bytes_out": `) || !strings.Contains(got, `"seconds": `) {
			t.Errorf("%s: the audit log of the end: %s", tt.name, got)
		}
		if got := f.trail(tt.action + "_ticket"); !strings.HasPrefix(got, "ok  127.0.0.1 ") {
			t.Errorf("%s: the audit log of the ticket: %s", tt.name, got)
		}
	}
	waittest.Until(t, "no console is open", func() bool { return f.cluster.Consoles() == 0 })
	if n := f.Value("SELECT count(*) FROM console_tickets"); n != "0" {
		t.Errorf("%s tickets are left", n)
	}
}

// What comes in another form than was agreed ends the console, and tells what is wrong.
func TestUnfitMessagesEndConsoles(t *testing.T) {
	if testing.Short() {
		t.Skip("opens many consoles: make check runs it")
	}
	t.Parallel()
	f := newConsoles(t)
	who := consoleSession{f.user(identity.Operator)}
	for _, text := range []string{"", "ls\r", `{"resize":{"columns":0,"rows":1}}`, `{"resize":{"columns":80,"rows":1001}}`,
		`{"resize":{"columns":80}}`, `{}`, `{"resize":null}`, `{"size":{}}`, `{"resize":{"columns":80,"rows":24}} {}`, `[]`,
		`{"resize":{"columns":1e99,"rows":24}}`} {
		c := f.connect(who, wikiConsole, "")
		c.tells(text)
		c.ends(4400, "a text message must be")
	}
	waittest.Until(t, "no console is open", func() bool { return f.cluster.Consoles() == 0 })
}

// A pasted mebibyte arrives whole, in order.
func TestPasteIntoConsoles(t *testing.T) {
	t.Parallel()
	f := newConsoles(t)
	c := f.connect(consoleSession{f.user(identity.Operator)}, wikiConsole, "")
	text := strings.Repeat("0123456789abcdef", 1<<16)
	go func() { _ = c.Write(t.Context(), websocket.MessageBinary, []byte(text)) }() // what it shows is missed when this fails
	c.shows(text)
}

// A person who reads nothing makes the hypervisor wait, and is shown everything later.
func TestSlowReaderOfAConsole(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a slow reader: make check runs it")
	}
	t.Parallel()
	f := newConsoles(t)
	c := f.connect(consoleSession{f.user(identity.Operator)}, wikiConsole, "")
	c.shows("$ ")
	const size = 48 << 20
	c.types(fmt.Sprintf("cat %d\r", size))
	c.shows(fmt.Sprintf("cat %d\r\n", size))
	rest := io.MultiReader(strings.NewReader(c.shown.String()[c.seen:]), websocket.NetConn(t.Context(), c.Conn, websocket.MessageBinary))
	want, got := io.LimitReader(&consoletest.Output{}, size), io.LimitReader(rest, size)
	if at := differ(want, got); at >= 0 {
		t.Errorf("what was shown differs at byte %d", at)
	}
}

// differ is where two texts begin to differ; negative where they do not.
func differ(a, b io.Reader) int64 {
	left, right := make([]byte, 64<<10), make([]byte, 64<<10)
	for at := int64(0); ; {
		n, err := io.ReadFull(a, left)
		m, _ := io.ReadFull(b, right)
		if n != m || string(left[:n]) != string(right[:m]) {
			return at
		}
		if err != nil {
			return -1
		}
		at += int64(n)
	}
}
