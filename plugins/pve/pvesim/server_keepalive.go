package pvesim

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
)

// requestsPerConnection is how many requests pveproxy answers on one connection
// before it closes it.
const requestsPerConnection = 100

// connectionKey is the key of the connection in a request's context.
type connectionKey struct{}

// countRequests gives a connection its counter.
func countRequests(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, new(atomic.Int64))
}

// isLast counts a request and tells whether its connection closes after it.
func isLast(r *http.Request) bool {
	n, ok := r.Context().Value(connectionKey{}).(*atomic.Int64)
	return ok && n.Add(1) >= requestsPerConnection
}
