package pveapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// These bound the repetition of reads. A read that took longer than
// retryHorizon met a host that is slow, and repeating makes it slower.
const (
	retries      = 2
	retryMin     = 200 * time.Millisecond
	retryMax     = time.Second
	retryHorizon = 3 * time.Second // what took longer than this to fail is not tried again
)

// retryRead decides whether a GET that began at start is repeated: after short
// refusals while pveproxy restarts, a connection that was closed, and a node
// that the entry node could not reach at once.
func retryRead(start time.Time) func(context.Context, *http.Response, error) (bool, error) {
	return func(ctx context.Context, resp *http.Response, err error) (bool, error) {
		if ctx.Err() != nil || time.Since(start) > retryHorizon {
			return false, nil
		}
		if err != nil {
			return broken(err), nil
		}
		switch resp.StatusCode {
		case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, 595, 597, 599:
			return true, nil
		case 596:
			// A wrong certificate behind the entry node stays wrong.
			return !strings.Contains(resp.Status, "certificate verify failed"), nil
		}
		return false, nil
	}
}

// broken reports whether err is a connection that could not be made or broke. A
// connection that must not be made, that is not trusted, or that took too long
// is not repeated.
func broken(err error) bool {
	var known *plugin.Error
	if errors.As(err, &known) || plugin.KindOf(endpoint.NetworkError(context.Background(), err)) != plugin.Unreachable {
		return false
	}
	var name *net.DNSError
	return !errors.As(err, &name) || name.IsTemporary
}

// retryNever is for all requests that may change something.
func retryNever(context.Context, *http.Response, error) (bool, error) { return false, nil }
