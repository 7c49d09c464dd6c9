package scenarios

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// Whatever ends a console, the person is told, and the hypervisor's side is closed.
func TestConsoleEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		console string
		end     func(t *testing.T, f *consolesFixture, by consoleSession)
		code    websocket.StatusCode
		reason  string
	}{
		"the session is revoked": {wikiConsole, func(_ *testing.T, f *consolesFixture, by consoleSession) {
			f.ask(by.Account, "POST", "auth/logout", "", 204)
		}, 4401, "log in"},
		"the role is taken away": {wikiConsole, func(_ *testing.T, f *consolesFixture, by consoleSession) {
			f.Exec("UPDATE team_members SET role = 'viewer' WHERE user_id = $1", by.ID)
		}, 4403, "roles have changed"},
		"the user is deactivated": {wikiConsole, func(_ *testing.T, f *consolesFixture, by consoleSession) {
			f.Exec("UPDATE users SET is_active = false WHERE id = $1", by.ID)
		}, 4401, "log in"},
		"the token is removed": {wikiConsole, func(_ *testing.T, f *consolesFixture, _ consoleSession) {
			f.ask(f.owner, "DELETE", "hosts/1/credentials/console", "", 200)
		}, 4409, "no token for console"},
		"shells are switched off": {nodeShell, func(_ *testing.T, f *consolesFixture, _ consoleSession) {
			f.ask(f.owner, "PATCH", "hosts/1", `{"node_shell_enabled":false}`, 200)
		}, 4409, "node shells are disabled"},
		"the guest stops": {wikiConsole, func(_ *testing.T, f *consolesFixture, _ consoleSession) {
			f.cluster.Change(f.refs["wiki"].ID, func(g *hypervisor.Guest) { g.Status = hypervisor.GuestStopped })
		}, websocket.StatusNormalClosure, ""},
		"the node goes away": {wikiConsole, func(_ *testing.T, f *consolesFixture, _ consoleSession) {
			f.cluster.EndConsoles(plugin.Errorf(plugin.Unreachable, "the node is gone"))
		}, 4502, "the node is gone"},
		"the plugin dies": {wikiConsole, func(_ *testing.T, f *consolesFixture, _ consoleSession) {
			f.cluster.EndConsoles(plugin.ErrGone)
		}, 4503, "plugin is not running"},
		"the service is stopping": {wikiConsole, func(_ *testing.T, f *consolesFixture, _ consoleSession) {
			go f.Drain(context.Background())
		}, 4503, "the service is stopping"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newConsoles(t)
			by := consoleSession{f.user(identity.Admin)}
			c := f.connect(by, tt.console, "")
			c.shows("$ ")
			tt.end(t, f, by)
			c.ends(tt.code, tt.reason)
			waittest.Until(t, "the console is closed", func() bool { return f.cluster.Consoles() == 0 })
			kind := "app.console"
			if tt.console == nodeShell {
				kind = "host.shell"
			}
			waittest.Until(t, "the end is in the audit log", func() bool { return f.trail(kind+"_close") != "" })
			got, well := f.trail(kind+"_close"), tt.code == websocket.StatusNormalClosure
			if strings.Contains(got, ";") || well != strings.HasPrefix(got, "ok ") {
				t.Errorf("the audit log: %s", got)
			}
		})
	}
}

// Whoever just goes away has left.
func TestPersonLeavesConsoles(t *testing.T) {
	t.Parallel()
	f := newConsoles(t)
	for _, leave := range []func(*consoleTerminal){
		func(c *consoleTerminal) { _ = c.Close(websocket.StatusNormalClosure, "") }, func(c *consoleTerminal) { _ = c.CloseNow() },
	} {
		c := f.connect(consoleSession{f.user(identity.Operator)}, wikiConsole, "")
		c.shows("$ ")
		leave(c)
		waittest.Until(t, "the console is closed", func() bool { return f.cluster.Consoles() == 0 })
	}
}

// A console through which nothing goes ends after the time of the setting that held when it began.
func TestIdleSettingOfConsoles(t *testing.T) {
	t.Parallel()
	f := newConsoles(t, func(s *service.Service) { s.Consoles.IdleUnit = 5 * time.Millisecond })
	f.ask(f.owner, "PATCH", "settings", `{"console.idle_s":59}`, 422)
	f.ask(f.owner, "PATCH", "settings", `{"console.idle_s":86400}`, 200)
	who := consoleSession{f.user(identity.Operator)}
	before := f.connect(who, wikiConsole, "")
	f.ask(f.owner, "PATCH", "settings", `{"console.idle_s":60}`, 200)
	c := f.connect(who, wikiConsole, "")
	waittest.Until(t, "one of the two is closed", func() bool { return f.cluster.Consoles() == 1 })
	c.ends(4504, "no data was transferred for 300ms")
	before.shows("$ ")
	before.types("echo on\r")
	before.shows("on\r\n")
}

// All that stands in a console's way is told before a socket, with what helps, and nothing stays open or counted.
func TestConsolesAreRefused(t *testing.T) {
	t.Parallel()
	f := newConsoles(t)
	operator, admin, viewer := consoleSession{f.user(identity.Operator)}, consoleSession{f.user(identity.Admin)},
		consoleSession{f.user(identity.Viewer)}
	fault := func(err error) func() {
		return func() { f.cluster.SetFault("openconsole", memdriver.Fault{Err: err}) }
	}
	denied := plugin.Errorf(plugin.Denied, "the token lacks Guest.Console")
	denied.Missing, denied.Remedy = []string{"Guest.Console"}, "grant it"
	nothing := func() {}
	for _, tt := range []struct {
		name    string
		as      consoleSession
		console string
		query   string
		before  func()
		status  int
		code    string
		has     []string
	}{
		{"a viewer", viewer, wikiConsole, "", nothing, 403, "forbidden", nil},
		{"an operator for a shell", operator, nodeShell, "", nothing, 403, "forbidden", nil},
		{"a guest that does not run", operator, f.vm("off"), "", nothing, 409, "invalid_state", []string{"stopped"}},
		{"a picture of an app", operator, wikiConsole, "?kind=graphical", nothing, 422, "", []string{`"query","kind"`}},
		{"a text console of a VM without one", operator, f.vm("screen"), "?kind=terminal", nothing, 422, "", []string{`"query","kind"`}},
		{"another kind", operator, wikiConsole, "?kind=spice", nothing, 422, "", []string{`"query","kind"`}},
		{"a size that there is not", operator, wikiConsole, "?columns=1001&rows=0", nothing, 422, "", []string{`"columns"`, `"rows"`}},
		{"half a size", operator, wikiConsole, "?columns=80", nothing, 422, "", []string{`"rows"`}},
		{"no such VM", operator, "vms/99999/console", "", nothing, 404, "not_found", nil},
		{"no such node", admin, nodeShell, "?node=nowhere", nothing, 404, "not_found", []string{"the host does not have this node"}},
		{"no free port", operator, wikiConsole, "", fault(plugin.Errorf(plugin.Busy, "no free port")), 409, "console_unavailable",
			[]string{"no free port"}},
		{"a privilege that lacks", operator, wikiConsole, "", fault(denied), 502, "hypervisor_error",
			[]string{`"reason":"permission"`, `"remedy":"grant it"`, `"missing":["Guest.Console"]`}},
		{"a node that is off", operator, wikiConsole, "", fault(plugin.Errorf(plugin.Unreachable, "the node is off")), 502, "hypervisor_error",
			[]string{`"reason":"unreachable"`}},
		{"a hypervisor that hangs up", operator, wikiConsole, "", fault(plugin.ErrGone), 503, "plugin_unavailable", nil},
		{"an old release", operator, wikiConsole, "", func() {
			f.cluster.LimitConsoles(hypervisor.ConsoleLimit{Of: string(hypervisor.Container), Kind: hypervisor.ConsoleTerminal,
				Reason: "the part for containers is 6.1.2, and this needs 6.1.3"})
		}, 501, "unsupported", []string{"6.1.2, and this needs 6.1.3"}},
		{"a guest that has vanished", operator, f.vm("serial"), "", func() { f.cluster.Remove(f.refs["serial"].ID) }, 404, "not_found", nil},
		{"shells that are off", admin, nodeShell, "", func() {
			f.ask(f.owner, "PATCH", "hosts/1", `{"node_shell_enabled":false}`, 200)
		}, 409, "node_shell_disabled", []string{"node_shell_enabled"}},
		{"no token", operator, wikiConsole, "", func() {
			f.ask(f.owner, "DELETE", "hosts/1/credentials/"+string(endpoint.Console), "", 200)
		}, 409, "capability_missing", []string{`"capability":"console"`}},
	} {
		tt.before()
		body := string(f.askAs(tt.as, f.URL, "POST", tt.console+"/tickets"+tt.query, "", tt.status))
		if tt.code != "" && !strings.Contains(body, fmt.Sprintf(`"error":%q`, tt.code)) {
			t.Errorf("%s: %s", tt.name, body)
		}
		for _, text := range tt.has {
			if !strings.Contains(body, text) {
				t.Errorf("%s: %s lacks %s", tt.name, body, text)
			}
		}
		f.cluster.SetFault("openconsole", memdriver.Fault{})
	}
	if n := f.Value("SELECT count(*) FROM console_tickets"); n != "0" || f.cluster.Consoles() != 0 {
		t.Errorf("%s tickets and %d consoles are left", n, f.cluster.Consoles())
	}
}

// What fails between ticket and socket is told by the handshake's answer.
func TestConsolesAreRefusedAtTheSocket(t *testing.T) {
	t.Parallel()
	f := newConsoles(t)
	second := f.serve()
	by := consoleSession{f.user(identity.Operator)}
	made := f.ticket(by, wikiConsole, "")
	f.cluster.SetFault("openconsole", memdriver.Fault{Err: plugin.Errorf(plugin.Busy, "no free port")})
	if _, status, code := f.dial(by, second.URL, made.Path, made.Ticket); status != 409 || code != "console_unavailable" {
		t.Errorf("%d %s", status, code)
	}
	if got := f.trail("app.console_open"); !strings.HasPrefix(got, "refused console_unavailable") {
		t.Errorf("the audit log: %s", got)
	}
	waittest.Until(t, "no console is held", func() bool { return f.cluster.Consoles() == 0 })
}

// A revoked right ends a console at once: it does not wait for the next look, which comes after an hour here.
func TestRevocationWakesConsoles(t *testing.T) {
	t.Parallel()
	f := newConsoles(t, func(s *service.Service) { s.API.Reauthorise = time.Hour })
	by := consoleSession{f.user(identity.Operator)}
	c := f.connect(by, wikiConsole, "")
	c.shows("$ ")
	f.ask(by.Account, "POST", "auth/logout", "", 204)
	c.ends(4401, "log in")
}

// A revoked right ends a console within a second, at the latest at the fifth time: a machine with much else to do is slower now and then.
func TestRevocationEndsConsolesQuickly(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time: runs in make check")
	}
	t.Parallel()
	f := newConsoles(t)
	var times []time.Duration
	for range 5 {
		by := consoleSession{f.user(identity.Operator)}
		c := f.connect(by, wikiConsole, "")
		c.shows("$ ")
		begun := time.Now()
		f.ask(by.Account, "POST", "auth/logout", "", 204)
		c.ends(4401, "log in")
		took := time.Since(begun)
		if times = append(times, took); took <= time.Second {
			return
		}
	}
	t.Errorf("it took %s: nobody was woken, and the next look came first", times)
}

// What a release cannot give is told where its token is entered, where it is checked, and with the host.
func TestLimitsOfConsolesAreTold(t *testing.T) {
	t.Parallel()
	f := newConsoles(t)
	const limit = `"console_limits":[{"of":"app","kind":"terminal","reason":"it needs 6.1.3"}]`
	asked := func(method, path, body string, want bool) {
		t.Helper()
		if got := string(f.ask(f.owner, method, path, body, 200)); strings.Contains(got, limit) != want {
			t.Errorf("%s %s: %s", method, path, got)
		}
	}
	asked("POST", "hosts/1/test", "", false)
	old := hypervisor.ConsoleLimit{Of: string(hypervisor.Container), Kind: hypervisor.ConsoleTerminal, Reason: "it needs 6.1.3"}
	f.cluster.LimitConsoles(old,
		hypervisor.ConsoleLimit{Of: "dishwasher", Kind: hypervisor.ConsoleTerminal, Reason: "there is none"})
	asked("GET", "hosts/1", "", false)
	asked("POST", "hosts/1/test", "", true)
	asked("GET", "hosts/1", "", true)
	f.cluster.LimitConsoles()
	asked("POST", "hosts/1/test", "", false)
	asked("GET", "hosts/1", "", false)
	f.cluster.LimitConsoles(old)
	credential := f.cluster.Target(endpoint.Console).Credential
	asked("POST", "hosts/1/credentials", fmt.Sprintf(`{"capability":"console","token_id":%q,"token_secret":%q}`, credential.ID,
		string(credential.Secret)), true)
	asked("GET", "hosts", "", true)
}
