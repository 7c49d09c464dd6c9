package op_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/waittest"
)

// prepared serves a socket on host 8 that handler opens. stop ends what a service ends.
func prepared(t *testing.T, change func(*op.Config), handler func(context.Context, op.SocketOpener) error) (l *lasting, stop func()) {
	t.Helper()
	l = &lasting{sample: &sample{off: map[string]bool{}}}
	config := op.Config{Router: route.New(), Authenticator: l, Resolver: l, Recorder: l, Reauthorise: 20 * time.Millisecond}
	change(&config)
	l.API = op.New(config)
	op.PreparedSocket(l.API, "/api/v1/hosts/:host_id/console/ws", func(ctx context.Context, _ *nothing, open op.SocketOpener) error {
		return handler(ctx, open)
	}, op.Spec{ID: "console", Summary: "Try", Tag: "Try", Role: identity.Operator, On: op.Host,
		Audit: op.Audit{Action: "host.console", End: "host.console_end"}})
	l.server = httptest.NewUnstartedServer(l.API)
	running, end := context.WithCancel(context.Background())
	l.server.Config.BaseContext = func(net.Listener) context.Context { return running }
	l.server.Start()
	t.Cleanup(l.server.Close)
	t.Cleanup(end)
	return l, end
}

// ends are the rows of an audit log with an action.
func ends(l *lasting, action string) (found []audit.Entry) {
	for _, e := range l.trail() {
		if e.Action == action {
			found = append(found, e)
		}
	}
	return found
}

// What fails before a socket opens is a problem, and no socket.
func TestSocketFailsBeforeItOpens(t *testing.T) {
	t.Parallel()
	l, _ := prepared(t, func(*op.Config) {}, func(context.Context, op.SocketOpener) error {
		return problem.New(problem.CodeInvalidState, "the guest does not run")
	})
	_, answer, err := l.dial(t, console, as("operator@3")...)
	if err == nil || answer == nil || answer.StatusCode != 409 || answer.Header.Get("Content-Type") != "application/problem+json" {
		t.Fatalf("%v %v", answer, err)
	}
	if trail := l.trail(); len(trail) != 1 || trail[0].Action != "host.console" || trail[0].Result != audit.ResultRefused {
		t.Errorf("the audit log: %+v", trail)
	}
}

// The end of a socket has one row, which tells of the error and of what the handler has described.
func TestSocketEndsInTrail(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err            error
		code           websocket.StatusCode
		reason, result string
	}{
		"well":   {nil, websocket.StatusNormalClosure, "", audit.ResultOK},
		"broken": {problem.New(problem.CodeTimeout, "%s", strings.Repeat("ä", 200)), 4504, strings.Repeat("ä", 60) + "…", audit.ResultFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := prepared(t, func(*op.Config) {}, func(ctx context.Context, open op.SocketOpener) error {
				if _, err := open(0); err != nil {
					return err
				}
				audit.Describe(ctx, func(e *audit.Entry) { e.Detail("seconds", 3) })
				return tt.err
			})
			c := l.open(t)
			closesWith(t, c, tt.code, tt.reason)
			waittest.Until(t, "the end is in the audit log", func() bool { return len(l.trail()) >= 2 })
			if end := ends(l, "host.console_end"); len(end) != 1 || end[0].Result != tt.result || end[0].Details["seconds"] != 3 ||
				len(l.trail()) != 2 {
				t.Errorf("the audit log: %+v", l.trail())
			}
			// By this the end is known as that of this beginning, and by none that is of another one.
			begin, end := l.trail()[0].Span, l.trail()[1].Span
			if begin == nil || end == nil || len(begin.Key) < 20 || *end != (audit.Span{Key: begin.Key}) || begin.End != "host.console_end" {
				t.Errorf("it lasts from %+v to %+v", begin, end)
			}
		})
	}
}

// A peer that does not read is left a second after it may not have the socket any more.
func TestSocket_EndsWithinASecondForAPeerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(l *lasting){
		"session": (*lasting).revoke, "token": func(l *lasting) { l.tokens.lose(8) }, "feature": func(l *lasting) { l.switchOff(true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := lastingInMemory(t, func(*op.Spec) {})
				c, _, err := websocket.Dial(t.Context(), l.server.URL+console, &websocket.DialOptions{HTTPClient: l.server.Client(),
					HTTPHeader: http.Header{"Authorization": {"Bearer operator@3"}}})
				if err != nil {
					t.Fatal(err)
				}
				defer c.CloseNow()
				// Its answer is never read, so that a Write of the server waits.
				if err := c.Write(t.Context(), websocket.MessageBinary, make([]byte, 60<<10)); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				began := time.Now()
				end(l)
				<-l.left
				if passed := time.Since(began); passed > 1500*time.Millisecond {
					t.Errorf("the handler ended after %s", passed) // by the clock of the bubble
				}
			})
		})
	}
}

// A service that stops tells the sockets, waits for them, and lets no further one open.
func TestSocketsEndWithTheService(t *testing.T) {
	t.Parallel()
	var open sync.RWMutex
	l, stop := prepared(t, func(c *op.Config) { c.OpenSockets = &open }, func(_ context.Context, open op.SocketOpener) error {
		c, err := open(0)
		if err != nil {
			return err
		}
		_, _, err = c.Read()
		return err
	})
	c := l.open(t)
	stop()
	closesWith(t, c, 4503, "the service is stopping")
	open.Lock()
	defer open.Unlock()
	if end := ends(l, "host.console_end"); len(end) != 1 || end[0].Error != string(problem.CodeStopping) {
		t.Errorf("the audit log: %+v", l.trail())
	}
	if _, answer, err := l.dial(t, console, as("operator@3")...); err == nil {
		t.Errorf("a socket opened afterwards: %v", answer)
	}
}

// A socket asks its peer for signs of life.
func TestSocketPings(t *testing.T) {
	t.Parallel()
	l, _ := prepared(t, func(c *op.Config) { c.KeepAlive = 20 * time.Millisecond }, func(_ context.Context, open op.SocketOpener) error {
		c, err := open(time.Minute)
		if err != nil {
			return err
		}
		_, _, err = c.Read()
		return err
	})
	pings := make(chan struct{}, 100)
	c, _, err := websocket.Dial(t.Context(), l.server.URL+console, &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer operator@3"}}, OnPingReceived: func(context.Context, []byte) bool {
			select {
			case pings <- struct{}{}:
			default:
			}
			return true
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	ctx := c.CloseRead(t.Context())
	for range 3 {
		select {
		case <-pings:
		case <-ctx.Done():
			t.Fatal("the socket ended")
		}
	}
}
