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

const (
	// defaultMessage is the largest message of a socket where its declaration says nothing, in bytes.
	defaultMessage = 64 << 10
	// defaultIdle is how long a socket may carry nothing, either way, where its declaration says nothing.
	defaultIdle = 30 * time.Minute
	// defaultMessages is how many messages a socket takes at once where its declaration says nothing. A console that sends two for
	// each key takes a paste of 5,000 characters at once, and then 500 characters a second.
	defaultMessages = 10000
)

// SocketConn is an open WebSocket (RFC 6455). One goroutine may read while others write.
type SocketConn struct {
	ws       *websocket.Conn
	io       context.Context // ends when the connection is left
	handling context.Context // ends when the handler must
	cancel   context.CancelCauseFunc
	messages *limiter // of this connection, under one name
	ended    atomic.Bool
	last     atomic.Int64 // time of the last message, in nanoseconds
}

// Read waits for the next message; text is false for a binary one. It is io.EOF when the peer has closed the socket. Any other
// error means that the peer is gone, broke the limits or may not go on: the handler returns it. A peer that sends more than
// Spec.Messages is read so much slower, and has to wait with what it sends.
func (c *SocketConn) Read() (text bool, data []byte, err error) {
	for c.handling.Err() == nil {
		wait := c.messages.admit("")
		if wait <= 0 {
			break
		}
		pause(c.handling, wait)
	}
	kind, data, err := c.ws.Read(c.io)
	switch {
	case c.ended.Load():
		return false, nil, errors.New("the socket was ended")
	case websocket.CloseStatus(err) != -1:
		return false, nil, io.EOF
	case err != nil:
		return false, nil, fmt.Errorf("reading from the socket: %w: %w", errReaderGone, err)
	}
	c.last.Store(time.Now().UnixNano())
	return kind == websocket.MessageText, data, nil
}

// Write sends one message. A peer that does not take it within 10 s is left.
func (c *SocketConn) Write(text bool, data []byte) error {
	if c.ended.Load() {
		return errors.New("the socket was ended")
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

// end lets no further message through and ends the handler's context.
func (c *SocketConn) end(cause error) {
	if c.ended.CompareAndSwap(false, true) {
		c.cancel(cause)
		_ = c.ws.Close(websocket.StatusPolicyViolation, "ended by the service") // says so, and waits a little for the peer
		_ = c.ws.CloseNow()
	}
}

// watchIdle ends a socket that carries nothing for so long.
func (c *SocketConn) watchIdle(ctx context.Context, most time.Duration) {
	for {
		left := most - time.Since(time.Unix(0, c.last.Load()))
		if left <= 0 {
			c.end(problem.New(problem.CodeTimeout, "nothing went through the socket for %s", most))
			return
		}
		if pause(ctx, left); ctx.Err() != nil {
			return
		}
	}
}

// Socket declares an operation that answers GET with a WebSocket, once all that refuses a request has been asked: role, team,
// entitlement, input, existence, capability, and that no page of another site asks. The handler has the connection until it
// returns. The socket ends at once when its caller may no longer use it, holds other roles than at its beginning, or the host has
// lost the token that Spec.Needs names; and when it carries nothing for Spec.Idle (30 minutes when zero). A message may have
// Spec.MaxBody bytes (64 KiB when zero), and a client that sends more than Spec.Messages is read more slowly. One user has
// at most 16 sockets open in an instance and opens 20 at once and one more a second; more are rate_limited. An API key needs the
// scope <resource>:write for it: what is typed into a socket changes things. A socket may declare an
// audit action: its row is written before the upgrade, and one that ends by an error has a second one.
func Socket[I any](a *API, path string, handler func(context.Context, *I, *SocketConn) error, spec Spec) {
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

// serveSocket runs the handler beside its guards, which it ends before it returns.
func serveSocket[I any](ctx context.Context, q *request, in *I, handler func(context.Context, *I, *SocketConn) error) error {
	if err := upgrades(q.raw); err != nil {
		return err
	}
	leave, err := q.api.enter(ctx, q.api.sockets)
	if err != nil {
		return err
	}
	defer leave()
	if err := q.api.recordBegin(ctx, q); err != nil {
		return fmt.Errorf("recording a socket: %w", err)
	}
	q.w.pending = 0
	ws, err := websocket.Accept(q.w, q.raw, &websocket.AcceptOptions{InsecureSkipVerify: true}) // admit has checked the origin
	if err != nil {
		return problem.New(problem.CodeCanceled, "the socket could not be opened").Because(err)
	}
	most := q.operation.Spec.MaxBody
	if most <= 0 {
		most = defaultMessage
	}
	ws.SetReadLimit(most)
	connected, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	ctx, cancel := context.WithCancelCause(ctx)
	messages := q.operation.Spec.Messages
	if messages <= 0 {
		messages = defaultMessages
	}
	c := &SocketConn{ws: ws, io: connected, handling: ctx, cancel: cancel, messages: newLimiter(messages, float64(messages)/10)}
	c.last.Store(time.Now().UnixNano())
	idle := q.operation.Spec.Idle
	if idle <= 0 {
		idle = defaultIdle
	}
	var guarding sync.WaitGroup
	guarding.Go(func() { q.watchRights(ctx, c.end) })
	guarding.Go(func() { c.watchIdle(ctx, idle) })
	defer guarding.Wait()
	defer cancel(errFinished)
	defer func() { _ = ws.CloseNow() }() // also when the handler panics
	err = handler(ctx, in, c)
	if cause := context.Cause(ctx); c.ended.Load() && cause != nil {
		return cause
	}
	if err == nil || errors.Is(err, io.EOF) {
		_ = ws.Close(websocket.StatusNormalClosure, "") // the peer may be gone
		return nil
	}
	_ = ws.Close(websocket.StatusInternalError, string(q.api.problem(ctx, err).Code))
	return err
}

// upgrades refuses what is no handshake of a WebSocket.
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
