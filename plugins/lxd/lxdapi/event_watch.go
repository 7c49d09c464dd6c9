package lxdapi

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// maxEvent is the maximum size of one event, in bytes.
const maxEvent = 1 << 20

// errSilent is the error of an event stream whose pings are not answered.
var errSilent = errors.New("the host no longer answers on the event stream")

// WatchTiming controls how Watch keeps its connection. Zero values mean the
// defaults.
type WatchTiming struct {
	// Ping is how often the server is asked for a sign of life (20 s), and how long it may take for it.
	Ping time.Duration
	// Backoff is how long it waits after a connection that failed (1 s), twice as long after each further one, up to
	// BackoffMax (1 min). A connection that stood for BackoffMax begins anew.
	Backoff, BackoffMax time.Duration
}

// withDefaults returns the timing with defaults in place of zero values.
func (p WatchTiming) withDefaults() WatchTiming {
	if p.Ping <= 0 {
		p.Ping = 20 * time.Second
	}
	if p.Backoff <= 0 {
		p.Backoff = time.Second
	}
	if p.BackoffMax <= 0 {
		p.BackoffMax = time.Minute
	}
	return p
}

// Watch reads the server's events about operations into the ring until ctx
// ends. It reconnects after a broken connection, with growing and randomized
// pauses; the ring tells readers what they may have missed. It only returns an
// error that another attempt would not fix: a rejected certificate on either
// side, a project that is not visible, or a server that is not LXD.
func (c *Client) Watch(ctx context.Context, scope Scope, ring *EventRing, pace WatchTiming) error {
	if _, err := scope.query(); err != nil {
		return err
	}
	pace = pace.withDefaults()
	wait := pace.Backoff
	for {
		began := time.Now()
		err := c.listen(ctx, scope, ring, pace)
		ring.listen(false)
		if ctx.Err() != nil {
			return fmt.Errorf("watching events: %w", ctx.Err())
		}
		switch plugin.KindOf(err) {
		case plugin.Unreachable, plugin.Timeout, plugin.Busy, plugin.Refused:
		default:
			return err
		}
		if time.Since(began) > pace.BackoffMax {
			wait = pace.Backoff
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait/2 + rand.N(wait/2+1)): // so that not all come back at once
		}
		wait = min(2*wait, pace.BackoffMax)
	}
}

// listen reads events from one connection until it ends. It always returns an
// error.
func (c *Client) listen(ctx context.Context, scope Scope, ring *EventRing, pace WatchTiming) error {
	socket, err := c.dialEvents(ctx, scope)
	if err != nil {
		return err
	}
	defer func() { _ = socket.CloseNow() }()
	ctx, stop := context.WithCancelCause(ctx)
	var pings sync.WaitGroup
	defer pings.Wait()
	defer stop(nil)
	pings.Go(func() { ping(ctx, socket, pace.Ping, func() { ring.listen(true) }, stop) })
	for {
		_, data, err := socket.Read(ctx)
		switch {
		case errors.Is(context.Cause(ctx), errSilent):
			return plugin.Errorf(plugin.Timeout, "%w", errSilent)
		case errors.Is(err, websocket.ErrMessageTooBig):
			return plugin.Errorf(plugin.Protocol, "an event is larger than %d bytes", maxEvent)
		case websocket.CloseStatus(err) != -1:
			return plugin.Errorf(plugin.Unreachable, "the host closed the event stream")
		case err != nil:
			return endpoint.NetworkError(ctx, err)
		}
		event, known, err := readEvent(data)
		if err != nil {
			return plugin.Errorf(plugin.Protocol, "an event does not come from LXD or Incus: %s", scrub(err.Error()))
		}
		ring.listen(true) // an event is a sign of life, too
		if known {
			ring.add(event)
		}
	}
}

// ping reports that the stream works at the first sign of life from the server,
// because a proxy may accept the handshake and then forward nothing. It ends
// the connection when a ping is not answered.
func ping(ctx context.Context, socket *websocket.Conn, every time.Duration, stands func(), stop context.CancelCauseFunc) {
	for first := true; ; first = false {
		within, cancel := context.WithTimeout(ctx, every)
		err := socket.Ping(within)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			stop(errSilent)
			return
		case first:
			stands()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
	}
}

// dialEvents opens the stream. A refusal leads to the same errors as for other
// requests.
func (c *Client) dialEvents(ctx context.Context, scope Scope) (*websocket.Conn, error) {
	query, err := scope.query()
	if err != nil {
		return nil, err
	}
	query.Set("type", eventOperation)
	path := rootPath + "/events"
	within, stop := context.WithTimeout(ctx, c.waits.Header+2*c.waits.Dial)
	defer stop()
	socket, resp, err := websocket.Dial(within, c.base+path+"?"+query.Encode(), &websocket.DialOptions{
		HTTPClient: c.sender(true), HTTPHeader: http.Header{"User-Agent": {"hostler"}},
	})
	switch {
	case err == nil:
		socket.SetReadLimit(maxEvent)
		return socket, nil
	case resp == nil:
		return nil, endpoint.NetworkError(within, err)
	}
	// What the library has kept of the body is there, and needs no closing.
	a := newAnswer(resp, maxError, c.waits.Body, func(error) {})
	defer a.close()
	return nil, c.explain(ctx, path, a.refusal())
}
