package pveapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
)

// overOpen sends each write on its own connection. If no connection can be made
// for a write to a firewall, so that nothing was sent, the write goes out on
// one that is open for reading. A firewall that has locked its client out still
// lets established connections pass, and so the client can undo that.
type overOpen struct{ write, read *http.Transport }

// openOnly is the key of a context in which only open connections are used.
type openOnly struct{}

// errNoneOpen is the error in such a context if there is none.
var errNoneOpen = errors.New("no connection is open")

// RoundTrip implements http.RoundTripper.
func (t overOpen) RoundTrip(r *http.Request) (*http.Response, error) {
	var connected atomic.Bool
	traced := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	resp, err := t.write.RoundTrip(r.WithContext(traced))
	if err == nil || connected.Load() || r.Context().Err() != nil || !strings.Contains(r.URL.Path, "/firewall/") {
		return resp, err
	}
	again := r.Clone(context.WithValue(r.Context(), openOnly{}, true))
	if r.Body != nil && r.Body != http.NoBody {
		if r.GetBody == nil {
			return resp, err
		}
		body, failed := r.GetBody()
		if failed != nil {
			return resp, err
		}
		again.Body = body
	}
	if answer, failed := t.read.RoundTrip(again); !errors.Is(failed, errNoneOpen) {
		return answer, failed
	}
	return resp, err
}

// dialUnless makes no connection for a request that must use an open one.
func dialUnless(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(context.Context, string, string) (net.Conn,
	error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if ctx.Value(openOnly{}) != nil {
			return nil, errNoneOpen
		}
		return dial(ctx, network, address)
	}
}
