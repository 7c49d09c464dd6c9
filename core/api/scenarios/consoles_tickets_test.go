package scenarios

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/proxy"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor/consoletest"
)

// A ticket is good once, for whom it was given to and for what, and whoever tries it elsewhere has used it.
func TestConsoleTicketsAreGoodOnce(t *testing.T) {
	t.Parallel()
	f := newConsoles(t)
	account, further := f.user(identity.Admin), f.user(identity.Admin)
	mine, again := consoleSession{account}, consoleSession{identitytest.LogIn(t, f.Users, account.User)}
	other := consoleSession{f.user(identity.Owner)}
	key := identitytest.Key(t, f.Users, account, identitytest.KeySpec{})
	second := identitytest.Key(t, f.Users, account, identitytest.KeySpec{})
	serial := "/api/v1/" + f.vm("serial") + "/ws"
	for _, tt := range []struct {
		name     string
		to, with whoever
		console  string
		path     string
	}{
		{"another user", mine, other, f.vm("serial"), ""},
		{"another session of the same user", mine, again, f.vm("serial"), ""},
		{"a key for a session's", mine, key, f.vm("serial"), ""},
		{"a session for a key's", key, mine, f.vm("serial"), ""},
		{"another key", key, second, f.vm("serial"), ""},
		{"another VM", other, other, f.vm("screen"), serial},
		{"an app for a VM's", other, other, f.vm("serial"), "/api/v1/" + wikiConsole + "/ws"},
		{"a VM for an app's", other, other, wikiConsole, serial},
		{"a VM for a shell's", other, other, nodeShell, serial},
		{"a shell for a VM's", other, other, f.vm("serial"), "/api/v1/" + nodeShell + "/ws"},
	} {
		made := f.ticket(tt.to, tt.console, "")
		if tt.path == "" {
			tt.path = made.Path
		}
		if _, status, code := f.dial(tt.with, f.URL, tt.path, made.Ticket); status != 403 || code != "ticket_invalid" {
			t.Errorf("%s: %d %s", tt.name, status, code)
		}
		if _, status, code := f.dial(tt.to, f.URL, made.Path, made.Ticket); status != 403 || code != "ticket_invalid" {
			t.Errorf("%s: the right one afterwards: %d %s", tt.name, status, code)
		}
	}
	waittest.Until(t, "no console is held", func() bool { return f.cluster.Consoles() == 0 })
	for _, by := range []whoever{consoleSession{further}, identitytest.Key(t, f.Users, further, identitytest.KeySpec{})} {
		made := f.ticket(by, wikiConsole, "")
		if _, status, code := f.dial(by, f.URL, made.Path, made.Ticket); status != 101 {
			t.Errorf("a good one: %d %s", status, code)
		}
		if _, status, code := f.dial(by, f.URL, made.Path, made.Ticket); status != 403 || code != "ticket_invalid" {
			t.Errorf("a used one: %d %s", status, code)
		}
	}
	for ticket, want := range map[string]int{strings.Repeat("A", 43): 403, "": 422, "short": 422, strings.Repeat("A", 44): 422,
		strings.Repeat("%00", 43): 422} {
		if _, status, _ := f.dial(consoleSession{further}, f.URL, serial, ticket); status != want {
			t.Errorf("the ticket %q: %d", ticket, status)
		}
	}
}

// A page of another site connects to nothing, and has used no ticket.
func TestConsolesFromOtherOrigins(t *testing.T) {
	t.Parallel()
	f := newConsoles(t)
	mine := consoleSession{f.user(identity.Operator)}
	made := f.ticket(mine, wikiConsole, "")
	for _, headers := range [][]string{{"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"}} {
		if _, status, code := f.dial(mine, f.URL, made.Path, made.Ticket, headers...); status != 403 || code != "cross_origin" {
			t.Errorf("%q: %d %s", headers, status, code)
		}
	}
	if _, status, code := f.dial(nobodyAtAll{}, f.URL, made.Path, made.Ticket); status != 401 {
		t.Errorf("nobody: %d %s", status, code)
	}
	if _, status, code := f.dial(mine, f.URL, made.Path, made.Ticket, "Origin", f.URL); status != 101 {
		t.Errorf("one's own: %d %s", status, code)
	}
}

// nobodyAtAll is not logged in.
type nobodyAtAll struct{}

func (nobodyAtAll) Set(*http.Request) {}

// A ticket that nobody comes with is over after its time, and its console is closed.
func TestLateConsoleTickets(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for tickets to expire: make check runs it")
	}
	t.Parallel()
	f := newConsoles(t, func(s *service.Service) { s.Consoles.TicketLifetime = 200 * time.Millisecond })
	mine := consoleSession{f.user(identity.Operator)}
	made := f.ticket(mine, wikiConsole, "")
	waittest.Until(t, "the console is closed", func() bool { return f.cluster.Consoles() == 0 })
	waittest.Until(t, "the time is over", func() bool { return time.Now().After(made.ExpiresAt) })
	if _, status, code := f.dial(mine, f.URL, made.Path, made.Ticket); status != 403 || code != "ticket_invalid" {
		t.Errorf("%d %s", status, code)
	}
	f.ticket(mine, wikiConsole, "")
	f.Exec("UPDATE console_tickets SET expires_at = now() - interval '1 minute'")
	if n, err := f.Consoles.Prune(t.Context()); err != nil || n != 1 {
		t.Errorf("%d tickets were deleted, and %v", n, err)
	}
}

// Who asks for a thousand tickets has eight, and no more consoles are open for them.
func TestManyConsoleTickets(t *testing.T) {
	if testing.Short() {
		t.Skip("sends many requests: make check runs it")
	}
	t.Parallel()
	f := newConsoles(t,
		func(s *service.Service) { s.Consoles.TicketLifetime = time.Hour }) // so that none is over while the last are asked for
	mine := consoleSession{f.user(identity.Operator)}
	var given, refused, most atomic.Int64
	var asking sync.WaitGroup
	for range 16 {
		asking.Go(func() {
			for range 1000 / 16 {
				r, err := http.NewRequestWithContext(t.Context(), "POST", f.URL+"/api/v1/"+wikiConsole+"/tickets", nil)
				if err != nil {
					t.Error(err)
					return
				}
				mine.Set(r)
				answer, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				_ = answer.Body.Close()
				switch {
				case answer.StatusCode == 200:
					given.Add(1)
				case answer.StatusCode == 429 && answer.Header.Get("Retry-After") != "":
					refused.Add(1)
				default:
					t.Errorf("%d", answer.StatusCode)
				}
				most.Store(max(most.Load(), int64(f.cluster.Consoles())))
			}
		})
	}
	asking.Wait()
	if given.Load() != 8 || refused.Load() == 0 || most.Load() > 8 {
		t.Errorf("%d were given, %d refused, and %d consoles open", given.Load(), refused.Load(), most.Load())
	}
	f.ticket(consoleSession{f.user(identity.Operator)}, wikiConsole, "") // others are not held up
}

// Who opens sockets as fast as they can is slowed down.
func TestFloodOfConsoleSockets(t *testing.T) {
	if testing.Short() {
		t.Skip("opens many consoles: make check runs it")
	}
	t.Parallel()
	f := newConsoles(t)
	mine := consoleSession{f.user(identity.Operator)}
	limited, began := 0, time.Now()
	for range 40 {
		if _, status, _ := f.dial(mine, f.URL, "/api/v1/"+wikiConsole+"/ws", strings.Repeat("A", 43)); status == 429 {
			limited++
		}
	}
	if took := time.Since(began); 40-limited > 20+int(took/time.Second)+1 { // twenty, and one more a second
		t.Errorf("%d of 40 were refused in %v", limited, took)
	}
}

// A socket may come to another instance than its ticket did, which opens the console and lets the first one close its own. A ticket of an
// instance that is gone is good, too.
func TestConsolesOfTwoInstances(t *testing.T) {
	if testing.Short() {
		t.Skip("runs several instances: make check runs it")
	}
	t.Parallel()
	f := newConsoles(t)
	second := f.serve()
	mine := consoleSession{f.user(identity.Operator)}
	made := f.ticket(mine, f.vm("screen"), "")
	c, status, code := f.dial(mine, second.URL, made.Path, made.Ticket)
	if c == nil {
		t.Fatalf("%d %s", status, code)
	}
	waittest.Until(t, "the first instance holds nothing", func() bool { return f.cluster.Consoles() == 1 })
	if _, err := consoletest.ReadFrame(websocket.NetConn(t.Context(), c, websocket.MessageBinary), *made.Password); err != nil {
		t.Error(err)
	}
	if _, status, _ := f.dial(mine, f.URL, made.Path, made.Ticket); status != 403 {
		t.Errorf("the same ticket at the first instance: %d", status)
	}
	made = f.ticket(mine, wikiConsole, "")
	f.Consoles.Close() // as its process ends
	if c, status, code = f.dial(mine, second.URL, made.Path, made.Ticket); c == nil {
		t.Fatalf("%d %s", status, code)
	}
	(&consoleTerminal{t: t, Conn: c}).shows("wiki$ ")
}

// What was held and has ended meanwhile is opened anew.
func TestHeldConsoleEnds(t *testing.T) {
	t.Parallel()
	f := newConsoles(t)
	mine := consoleSession{f.user(identity.Operator)}
	made := f.ticket(mine, wikiConsole, "")
	f.cluster.EndConsoles(nil)
	waittest.Until(t, "the console has ended", func() bool { return f.cluster.Consoles() == 0 })
	c, status, code := f.dial(mine, f.URL, made.Path, made.Ticket)
	if c == nil {
		t.Fatalf("%d %s", status, code)
	}
	held := &consoleTerminal{t: t, Conn: c}
	held.types("echo there\r")
	held.shows("there\r\n")
}

// Behind a proxy that gives the service a path, the path of a ticket is from the root of the server, and leads to the console.
func TestConsoleTicketBelowAPath(t *testing.T) {
	t.Parallel()
	f := newConsoles(t)
	base, err := proxy.ParseBaseURL("http://hostler.example/hostler")
	if err != nil {
		t.Fatal(err)
	}
	below := servicetest.Serve(t, servicetest.New(t, func(c *service.Config) {
		c.DB, c.Keys, c.Drivers, c.BaseURL = f.db, f.keys, servicetest.Drivers{Driver: f.driver}, base
	}))
	who := consoleSession{f.user(identity.Operator)}
	var made consoleTicket
	if err := json.Unmarshal(f.askAs(who, below.URL+"/hostler", "POST", wikiConsole+"/tickets", "", 200), &made); err != nil {
		t.Fatal(err)
	}
	if made.Path != "/hostler/api/v1/apps/1/console/ws" {
		t.Errorf("the path is %s", made.Path)
	}
	c, status, code := f.dial(who, below.URL, made.Path, made.Ticket)
	if c == nil {
		t.Fatalf("%d %s", status, code)
	}
	shown := &consoleTerminal{t: t, Conn: c}
	shown.shows("wiki$ ")
}
