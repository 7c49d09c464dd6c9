package op

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/problem"
)

// Defaults of sockets.
const (
	// defaultMessage is the largest message of a socket where its declaration
	// says nothing, in bytes.
	defaultMessage = 64 << 10
	// defaultIdle is how long a socket may carry nothing, either way, where its
	// declaration says nothing.
	defaultIdle = 30 * time.Minute
	// defaultMessages is how many messages a socket takes at once where its
	// declaration says nothing. A console that sends two for each key takes a
	// paste of 5,000 characters at once, and then 500 characters a second.
	defaultMessages = 10000
	// closeTime is how long the peer of a closing socket has to confirm.
	closeTime = time.Second
)

// SocketConn is an open WebSocket (RFC 6455). One goroutine can read while
// others write.
type SocketConn struct {
	ws       *websocket.Conn
	io       context.Context // ends when the connection is left
	handling context.Context // ends when the handler must
	cancel   context.CancelCauseFunc
	cut      context.CancelFunc // leaves the connection, and ends io
	closing  func(error) (websocket.StatusCode, string)
	messages *limiter              // of this connection, under one name
	ended    atomic.Pointer[error] // why it lets nothing more through
	last     atomic.Int64          // time of the last message, in nanoseconds
	// reads counts the beginnings and ends of waiting for a message: it is odd
	// while one is waited for.
	reads atomic.Uint64
}

// Read waits for the next message. text is false for a binary message. The
// error is io.EOF when the peer has closed the socket. Any other error means
// that the peer has disconnected, broke a limit or lost its rights; the handler
// returns it. If a peer sends more than Spec.Messages, Read slows down, and the
// peer has to wait.
func (c *SocketConn) Read() (text bool, data []byte, err error) {
	for c.handling.Err() == nil {
		wait := c.messages.admit("")
		if wait <= 0 {
			break
		}
		pause(c.handling, wait)
	}
	c.reads.Add(1)
	kind, data, err := c.ws.Read(c.io)
	c.reads.Add(1)
	switch {
	case c.ended.Load() != nil:
		return false, nil, errors.New("the socket was closed")
	case websocket.CloseStatus(err) != -1:
		return false, nil, io.EOF
	case err != nil:
		return false, nil, fmt.Errorf("reading from the socket: %w: %w", errReaderGone, err)
	}
	c.last.Store(time.Now().UnixNano())
	return kind == websocket.MessageText, data, nil
}

// Write sends one message. If the peer does not accept it within 10 s, the
// connection is closed.
func (c *SocketConn) Write(text bool, data []byte) error {
	if c.ended.Load() != nil {
		return errors.New("the socket was closed")
	}
	kind := websocket.MessageBinary
	if text {
		kind = websocket.MessageText
	}
	ctx, cancel := context.WithTimeout(c.io, sendTime)
	defer cancel()
	if err := c.ws.Write(ctx, kind, data); err != nil {
		return fmt.Errorf("writing to the socket: %w: %w", errReaderGone, err)
	}
	c.last.Store(time.Now().UnixNano())
	return nil
}

// end closes the socket with a cause: it stops all messages, ends the context
// of the handler and tells the peer the reason. Only the first call has an
// effect.
func (c *SocketConn) end(cause error) {
	if c.ended.CompareAndSwap(nil, &cause) {
		c.cancel(cause)
		c.close(c.closing(cause))
		_ = c.ws.CloseNow()
	}
}

// close sends the reason of the end and waits shortly for the peer. A peer that
// does not read is disconnected, because a Write that waits for it would delay
// the closing for a long time.
func (c *SocketConn) close(code websocket.StatusCode, reason string) {
	late := time.AfterFunc(closeTime, c.cut)
	defer late.Stop()
	_ = c.ws.Close(code, reason) // the peer may be gone
}

// End closes the socket as if the handler had returned cause; nil closes it
// normally. After that, Read and Write fail. Any goroutine can call it. Only
// the first call has an effect.
func (c *SocketConn) End(cause error) {
	if cause == nil {
		cause = errFinished
	}
	c.end(cause)
}

// watchIdle ends a socket over which no message went for the time most.
func (c *SocketConn) watchIdle(ctx context.Context, most time.Duration) {
	for {
		left := most - time.Since(time.Unix(0, c.last.Load()))
		if left <= 0 {
			c.end(problem.New(problem.CodeTimeout, "no data was transferred for %s", most))
			return
		}
		if pause(ctx, left); ctx.Err() != nil {
			return
		}
	}
}

// ping sends a ping at each interval, which also keeps proxies from closing a
// silent connection. It ends the socket if the peer does not answer. A missing
// answer counts only while Read waits for a message: otherwise the answer may
// be waiting behind unread messages.
func (c *SocketConn) ping(ctx context.Context, every time.Duration) {
	for {
		if pause(ctx, every); ctx.Err() != nil {
			return
		}
		before := c.reads.Load()
		waiting, cancel := context.WithTimeout(ctx, sendTime)
		err := c.ws.Ping(waiting)
		silent := waiting.Err() != nil
		cancel()
		if ctx.Err() != nil {
			return
		}
		if err != nil && silent && before%2 == 1 && before == c.reads.Load() {
			c.end(fmt.Errorf("%w: it does not answer pings", errReaderGone))
			return
		}
	}
}

// maxReason is the maximum length in bytes of the reason in a closing frame
// (RFC 6455, 5.5).
const maxReason = 123

// closeStatus returns the code and the reason with which a socket is closed
// after an error: 4000 plus the status of the problem, and its detail. RFC
// 6455, 7.4.2, leaves the codes from 4000 on to the application.
func (a *API) closeStatus(ctx context.Context, err error) (websocket.StatusCode, string) {
	if err == errFinished {
		return websocket.StatusNormalClosure, ""
	}
	p := a.problem(ctx, err)
	reason := p.Detail
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason-len("…")], "") + "…"
	}
	return websocket.StatusCode(4000 + p.Status()), reason
}

// SocketOpener opens the socket of a request, once. idle is how long the socket
// may be silent; zero means the time of the declaration. The handler must
// return its error.
type SocketOpener func(idle time.Duration) (*SocketConn, error)

// Socket declares an operation that answers GET with a WebSocket. The
// connection is opened after every check of a request: role, team, entitlement,
// input, existence, capability, and that the request does not come from a page
// of another site. The handler has the connection until it returns.
//
// The socket ends when
//
//   - its user may no longer use it, has other roles than at its beginning,
//     or the host has lost the capability in Spec.Needs
//   - no message went over it for Spec.Idle (30 minutes when zero)
//   - the peer does not answer a ping
//   - the service stops
//
// After an error, the closing frame has the code 4000 plus the status of the
// problem, and the detail of the problem as the reason.
//
// A message can have Spec.MaxBody bytes (64 KiB when zero). A client that sends
// more than Spec.Messages is read more slowly. One user can have 16 open
// sockets per instance, and all users together 512. A user can open 20 at once
// and one more per second; more are refused with rate_limited. An API key needs
// the scope <resource>:write, because what is typed into a socket changes
// things.
//
// A socket can declare an audit action. Its entry is written before the
// connection is opened, and a socket that ends with an error gets a second
// entry. With Spec.Audit.End every socket gets a second entry, with that
// action. If this process ends first, another one writes it.
func Socket[I any](a *API, path string, handler func(context.Context, *I, *SocketConn) error, spec Spec) {
	PreparedSocket(a, path, func(ctx context.Context, in *I, open SocketOpener) error {
		c, err := open(0)
		if err != nil {
			return err
		}
		return handler(ctx, in, c)
	}, spec)
}

// PreparedSocket is Socket for a handler that has work to do before the socket
// opens. An error before the call of open is answered as an ordinary problem.
func PreparedSocket[I any](a *API, path string, handler func(context.Context, *I, SocketOpener) error, spec Spec) {
	operation := a.declare(http.MethodGet, path, spec, reflect.TypeFor[I]())
	operation.Socket = true
	declared := operation.describe()
	declared.Responses = map[string]*huma.Response{"101": {Description: "A WebSocket (RFC 6455)"}}
	type socket struct{ Body func(huma.Context) }
	huma.Register(a.huma, declared, func(ctx context.Context, in *I) (*socket, error) {
		q := requestOf(ctx)
		if err := q.ready(ctx); err != nil {
			return nil, a.refusal(ctx, err)
		}
		return &socket{func(huma.Context) {
			if err := serveSocket(ctx, q, in, handler); err != nil {
				a.fail(ctx, a.problem(ctx, err))
			}
		}}, nil
	})
	delete(a.declared(operation).Responses, "200")
	a.finish(operation)
}

// serveSocket runs the handler of a socket and the goroutines that watch it.
// They have ended when it returns.
func serveSocket[I any](ctx context.Context, q *request, in *I, handler func(context.Context, *I, SocketOpener) error) error {
	if err := upgrades(q.raw); err != nil {
		return err
	}
	leave, err := q.api.enter(ctx, q.api.sockets)
	if err != nil {
		return err
	}
	defer leave()
	if lasting := q.api.config.OpenSockets; lasting != nil {
		if !lasting.TryRLock() {
			return stopping()
		}
		defer lasting.RUnlock()
	}
	outer := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	s := &pendingSocket{q: q, outer: outer, handling: ctx, cancel: cancel}
	err = func() error {
		defer s.close() // also when the handler panics
		return s.finish(handler(ctx, in, s.open))
	}()
	if s.conn == nil || !q.operation.auditsEnd() {
		return err
	}
	q.api.recordEnd(outer, q, err)
	return err
}

// stopping returns the problem of a request that ends because the service is
// stopping.
func stopping() *problem.Error {
	p := problem.New(problem.CodeStopping, "the service is stopping")
	p.RetryAfter = 5
	return p
}

// pendingSocket is a socket from the request to its end.
type pendingSocket struct {
	q *request
	// outer is the context of the request, which ends with the service.
	// handling is the context of the handler, which cancel ends.
	outer, handling context.Context
	cancel          context.CancelCauseFunc
	// conn is nil until the socket is open.
	conn     *SocketConn
	guarding sync.WaitGroup
}

// open is the SocketOpener of the handler. It writes the entry of the audit
// log, accepts the handshake and starts the watches.
func (s *pendingSocket) open(idle time.Duration) (*SocketConn, error) {
	q, ctx := s.q, s.handling
	if err := q.api.recordOpening(ctx, q); err != nil {
		return nil, fmt.Errorf("recording a socket: %w", err)
	}
	q.w.pending = 0
	ws, err := websocket.Accept(q.w, q.raw, &websocket.AcceptOptions{
		InsecureSkipVerify: true,               // admit has checked the origin
		Subprotocols:       []string{"binary"}, // some clients ask for it, and leave when it is not granted
	})
	if err != nil {
		return nil, problem.New(problem.CodeCanceled, "the socket could not be opened").WithCause(err)
	}
	most := q.operation.Spec.MaxBody
	if most <= 0 {
		most = defaultMessage
	}
	ws.SetReadLimit(most)
	connected, cut := context.WithCancel(context.WithoutCancel(ctx))
	messages := q.operation.Spec.Messages
	if messages <= 0 {
		messages = defaultMessages
	}
	c := &SocketConn{ws: ws, io: connected, cut: cut, handling: ctx, cancel: s.cancel, messages: newLimiter(messages, float64(messages)/10)}
	c.closing = func(err error) (websocket.StatusCode, string) {
		return q.api.closeStatus(context.WithoutCancel(ctx), err)
	}
	c.last.Store(time.Now().UnixNano())
	if idle <= 0 {
		idle = q.operation.Spec.Idle
	}
	if idle <= 0 {
		idle = defaultIdle
	}
	s.conn = c
	s.guarding.Go(func() { q.watchRights(ctx, c.end) })
	s.guarding.Go(func() { c.watchIdle(ctx, idle) })
	s.guarding.Go(func() { c.ping(ctx, q.api.config.KeepAlive) })
	s.guarding.Go(func() {
		select {
		case <-ctx.Done(): // by the handler's end, a guard, or the server: the end of a connection that was taken over is not seen there
			if s.outer.Err() == nil {
				return
			}
		case <-q.api.config.Stopping:
		}
		c.end(stopping())
	})
	return c, nil
}

// finish closes the socket after its handler has returned, and returns the
// error with which the request ended.
func (s *pendingSocket) finish(err error) error {
	c := s.conn
	if c == nil {
		return err
	}
	if cause := c.ended.Load(); cause != nil {
		if *cause == errFinished {
			return nil
		}
		return *cause
	}
	if s.outer.Err() != nil {
		return stopping()
	}
	if err == nil || errors.Is(err, io.EOF) {
		c.close(websocket.StatusNormalClosure, "")
		return nil
	}
	c.close(c.closing(err))
	return err
}

// close drops the connection and waits for the watches to end.
func (s *pendingSocket) close() {
	s.cancel(errFinished)
	if s.conn == nil {
		return
	}
	s.guarding.Wait()
	_ = s.conn.ws.CloseNow()
	s.conn.cut()
}

// upgrades returns a problem if the request is not the handshake of a
// WebSocket.
func upgrades(r *http.Request) error {
	has := func(name, token string) bool {
		for part := range strings.SplitSeq(strings.Join(r.Header.Values(name), ","), ",") {
			if strings.EqualFold(strings.TrimSpace(part), token) {
				return true
			}
		}
		return false
	}
	if r.Method != http.MethodGet || r.ProtoMajor != 1 || !has("Connection", "upgrade") || !has("Upgrade", "websocket") ||
		r.Header.Get("Sec-WebSocket-Version") != "13" || r.Header.Get("Sec-WebSocket-Key") == "" {
		return problem.New(problem.CodeMalformed, "this operation is a WebSocket: send the handshake of RFC 6455 over HTTP/1.1")
	}
	return nil
}
