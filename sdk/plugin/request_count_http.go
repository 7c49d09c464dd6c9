package plugin

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"
)

// CountRequests is next with every request counted, as CountRequest says. It is for the http.Client of a driver; what a client tries
// again counts again. A request that finds no connection counts as one that kept nobody busy, and one that its caller gives up before it
// was sent does not count.
func CountRequests(next http.RoundTripper) http.RoundTripper { return &counting{next} }

type counting struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (c *counting) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if _, ok := ctx.Value(accountKey{}).(*account); !ok {
		return c.next.RoundTrip(req)
	}
	var connected atomic.Pointer[time.Time]
	var sent atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) {
			now := time.Now()
			connected.Store(&now)
		},
		WroteHeaders: func() { sent.Store(true) },
	})
	done := sync.OnceFunc(func() {
		busy := time.Duration(0)
		if began := connected.Load(); began != nil {
			busy = time.Since(*began)
		}
		CountRequest(ctx, busy)
	})
	resp, err := c.next.RoundTrip(req.WithContext(traced))
	if err != nil {
		if sent.Load() || !errors.Is(ctx.Err(), context.Canceled) {
			done()
		}
		return nil, err
	}
	// The body of a connection that became another protocol's is written to as well, and may stay open for hours.
	if _, both := resp.Body.(io.Writer); both || resp.StatusCode == http.StatusSwitchingProtocols {
		done()
		return resp, nil
	}
	resp.Body = &countedBody{resp.Body, done}
	return resp, nil
}

// CloseIdleConnections is what http.Client's method of that name asks for.
func (c *counting) CloseIdleConnections() {
	if closer, ok := c.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// countedBody counts its request when it has come to its end, or is left.
type countedBody struct {
	io.ReadCloser
	done func()
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.done()
	}
	return n, err
}

func (b *countedBody) Close() error {
	b.done()
	return b.ReadCloser.Close()
}
