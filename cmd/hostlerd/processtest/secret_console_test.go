package processtest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/sdk/hypervisor/consoletest"
)

// No secret of a console or a channel is anywhere but where it is due: tickets, good and bad ones, what is typed, the password of a
// graphical console, and what channels of each kind have, whose receivers refuse what they get and repeat it.
func TestSecretsOfConsolesAndChannels(t *testing.T) {
	t.Parallel()
	r := newSecretRun(t, "json")
	r.setUp()
	r.logIn()
	r.enrol()
	r.consoles()
	r.channels()
	r.readOperations()
	r.end()
	for _, finding := range r.secretSearch.findings() {
		t.Error(finding)
	}
}

// consoleTicket is the answer to a request for one.
type consoleTicket struct {
	Ticket, Path, Kind string
	Password           *string
}

// ticket asks for a ticket and makes it known.
func (r *secretRun) ticket(name, path string) consoleTicket {
	r.t.Helper()
	var made consoleTicket
	r.owner.must(r.t, http.StatusOK, http.MethodPost, "/api/v1"+path+"/console/tickets", nil, &made)
	r.secretSearch.add(r.t, name, made.Ticket)
	if made.Password != nil {
		r.secretSearch.add(r.t, "the password of "+name, *made.Password)
	}
	return made
}

// connect opens a socket, or gives the status of what refuses it.
func (r *secretRun) connect(path, ticket string) (*websocket.Conn, int) {
	r.t.Helper()
	c, answer, err := websocket.Dial(r.t.Context(), r.service.Base+path+"?ticket="+url.QueryEscape(ticket),
		&websocket.DialOptions{HTTPClient: r.owner.http})
	if err == nil {
		r.t.Cleanup(func() { _ = c.CloseNow() })
		return c, http.StatusSwitchingProtocols
	}
	if answer == nil {
		r.t.Fatal(err)
	}
	return nil, answer.StatusCode
}

// consoles opens some, well and badly.
func (r *secretRun) consoles() {
	r.t.Helper()
	app, _ := r.owner.running(r.t, r.host)
	path := fmt.Sprintf("/apps/%d", app)
	made := r.ticket("a ticket of a terminal", path)
	c, status := r.connect(made.Path, made.Ticket)
	if c == nil {
		r.t.Fatalf("the terminal: %d", status)
	}
	shown := &console{Conn: c}
	typed := r.canary("a password typed into a terminal")
	if err := shown.types(r.t.Context(), typed+"\r"); err != nil {
		r.t.Fatal(err)
	}
	if err := shown.shows(r.t.Context(), typed+": not found"); err != nil {
		r.t.Fatal(err)
	}
	control := `{"password":"` + r.canary("a password in a text message") + `"}`
	if err := shown.Write(r.t.Context(), websocket.MessageText, []byte(control)); err != nil {
		r.t.Fatal(err)
	}
	if end := shown.closed(r.t.Context()); end.Code != 4400 {
		r.t.Errorf("a text message that is none: %v", end)
	}
	for name, tt := range map[string]struct {
		ticket string
		status int
	}{
		"used":      {made.Ticket, http.StatusForbidden},
		"guessed":   {r.secretSearch.add(r.t, "a guessed ticket", "Guess-"+strings.Repeat("k7", 18)+"x"), http.StatusForbidden},
		"malformed": {r.canary("a ticket that is none") + "%", http.StatusUnprocessableEntity},
	} {
		if _, status := r.connect(made.Path, tt.ticket); status != tt.status {
			r.t.Errorf("a ticket that is %s: %d", name, status)
		}
	}
	r.ticket("a ticket that nobody uses", path)

	for _, g := range listVMs(r.t, r.owner) {
		if g.Status == "running" {
			r.graphical(fmt.Sprintf("/vms/%d", g.ID))
			return
		}
	}
	r.t.Fatal("no VM runs")
}

// graphical opens the graphical console of a VM, and tries it with another password.
func (r *secretRun) graphical(path string) {
	r.t.Helper()
	for _, password := range []string{"", "gu3ss-Wq"} {
		made := r.ticket("a ticket of a graphical console, with "+password, path)
		if made.Kind != "graphical" || made.Password == nil {
			r.t.Fatalf("%s is %s", path, made.Kind)
		}
		c, status := r.connect(made.Path, made.Ticket)
		if c == nil {
			r.t.Fatalf("the graphical console: %d", status)
		}
		c.SetReadLimit(64 << 20)
		good := password == ""
		if good {
			password = *made.Password
		}
		frame, err := consoletest.ReadFrame(websocket.NetConn(r.t.Context(), c, websocket.MessageBinary), password)
		if good != (err == nil && len(frame.Pixels) > 0) {
			r.t.Errorf("the picture, of %d bytes: %v", len(frame.Pixels), err)
		}
		_ = c.CloseNow()
	}
}

// channels makes one of each kind, whose receiver refuses what it is sent and repeats it, changes and tests it.
func (r *secretRun) channels() {
	r.t.Helper()
	var arrived atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		arrived.Add(1)
		all, _ := httputil.DumpRequest(q, true) // what it gave is what is repeated
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(all)
		_, _ = io.WriteString(w, q.URL.String())
	}))
	r.t.Cleanup(receiver.Close)
	const channels = "/notification-channels"
	for _, kind := range []struct {
		kind     string
		settings map[string]any
		secrets  []string
		url      string // of one whose URL is secret
	}{
		{"webhook", map[string]any{"url": receiver.URL}, []string{"secret", "token"}, ""},
		{"smtp", map[string]any{"server": strings.TrimPrefix(receiver.URL, "http://"), "username": "svc", "from": "a@example.com",
			"to": []string{"b@example.com"}}, []string{"password"}, ""},
		{"ntfy", map[string]any{"url": receiver.URL, "topic": "ops"}, []string{"token"}, ""},
		{"gotify", map[string]any{"url": receiver.URL}, []string{"token"}, ""},
		{"discord", nil, nil, "/api/webhooks/1/"},
		{"slack", nil, nil, "/services/T1/B1/"},
		{"teams", nil, nil, "/workflows/x?sig="},
		{"telegram", map[string]any{"url": receiver.URL, "chat": "-100123"}, []string{"token"}, ""},
		{"matrix", map[string]any{"url": receiver.URL, "room": "!a:example.com"}, []string{"token"}, ""},
		{"pushover", map[string]any{"url": receiver.URL}, []string{"token", "user"}, ""},
	} {
		secrets := func(when string) map[string]any {
			all := map[string]any{}
			for _, name := range kind.secrets {
				all[name] = r.canary(fmt.Sprintf("the %s of a channel %s, %s", name, kind.kind, when))
			}
			if kind.url != "" {
				all["url"] = receiver.URL + kind.url + r.canary(fmt.Sprintf("the URL of a channel %s, %s", kind.kind, when))
			}
			return all
		}
		body := map[string]any{"name": kind.kind, "kind": kind.kind, "secrets": secrets("at first"), "allow_private": true}
		if kind.settings != nil {
			body["settings"] = kind.settings
		}
		var made struct{ ID int64 }
		r.owner.must(r.t, http.StatusCreated, http.MethodPost, "/api/v1"+channels, body, &made)
		one := fmt.Sprintf("%s/%d", channels, made.ID)
		for _, when := range []string{"after a test", "later"} {
			var became struct{ State, Error string }
			r.owner.must(r.t, http.StatusOK, http.MethodPost, "/api/v1"+one+"/test", nil, &became)
			if became.State != "failed" || became.Error == "" {
				r.t.Errorf("the test of a channel %s: %+v", kind.kind, became)
			}
			r.owner.must(r.t, http.StatusOK, http.MethodPatch, "/api/v1"+one, map[string]any{"secrets": secrets(when)}, nil)
		}
	}
	if n := arrived.Load(); n < 18 {
		r.t.Errorf("only %d messages have arrived", n)
	}
	r.wrongTypes(r.owner, channels, "secrets")
	r.post(r.owner, http.StatusUnprocessableEntity, channels, map[string]any{"name": "n", "kind": "webhook",
		"settings": map[string]any{"url": "http://svc:" + r.canary("a password in the URL of a channel") + "@127.0.0.1/"}})
	r.post(r.owner, http.StatusUnprocessableEntity, channels, map[string]any{"name": "n", "kind": "discord",
		"secrets": map[string]any{"url": "ftp://127.0.0.1/" + r.canary("a URL of a channel that is none")}})
	r.post(r.owner, http.StatusUnprocessableEntity, channels, map[string]any{"name": "n", "kind": "ntfy", "settings": map[string]any{
		"topic": "ops"}, "secrets": map[string]any{"token": r.canary("a token with a space") + " x"}})
	r.post(r.owner, http.StatusUnprocessableEntity, channels, map[string]any{"name": "n", "kind": "slack",
		"secrets": map[string]any{"password": r.canary("a secret of another kind")}})
}
