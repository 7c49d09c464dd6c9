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

// CountRequests wraps the transport of a driver's http.Client and counts every
// request with CountRequest. A retry by the client counts again. A request that
// gets no connection counts with no time. A request that its caller cancels before
// it was sent does not count.
func CountRequests(next http.RoundTripper) http.RoundTripper { return &counting{next} }

// counting is the transport that CountRequests returns.
type counting struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (c *counting) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	// Without an account the request is not part of a call of the service.
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
	// The count is added once: at the end of the body, when the body is closed, or
	// when there is none.
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
	// After a switch of protocols the body is also written to, and may stay open
	// for hours, as a console does. Its time would not say how busy the hypervisor
	// was.
	if _, both := resp.Body.(io.Writer); both || resp.StatusCode == http.StatusSwitchingProtocols {
		done()
		return resp, nil
	}
	resp.Body = &countedBody{resp.Body, done}
	return resp, nil
}

// CloseIdleConnections makes http.Client.CloseIdleConnections work through the
// wrapper.
func (c *counting) CloseIdleConnections() {
	if closer, ok := c.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// countedBody counts its request at its end, or when it is closed.
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
