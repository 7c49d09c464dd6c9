package pveapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/sdk/plugin"
)

// Signs of life of the connection below a WebSocket, where nothing may go over it for hours: a host that is gone is noticed within
// half a minute.
const (
	socketIdle     = 15 * time.Second
	socketInterval = 5 * time.Second
	socketProbes   = 3
)

// Socket opens a WebSocket, which is a GET: once, on its own connection, which
// the pool's limits do not count, with the same rules for address and
// certificate as every request. ctx limits only the opening. The caller closes
// the socket.
//
// Proxmox VE accepts frames of at most 128 KiB that are neither fragmented nor
// compressed. One Write is one frame.
func (c *Client) Socket(ctx context.Context, path string, query url.Values) (*websocket.Conn, error) {
	asking := ctx
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil) // a connection that has become a socket has left its request
	header := http.Header{"User-Agent": {"hostler"}}
	if c.token != "" {
		header.Set("Authorization", c.token)
	}
	socket, resp, err := websocket.Dial(ctx, c.base+path+"?"+query.Encode(), &websocket.DialOptions{
		HTTPClient: &http.Client{
			Transport:     plugin.CountRequests(c.ways.socket),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		HTTPHeader: header, Subprotocols: []string{"binary"}, CompressionMode: websocket.CompressionDisabled,
	})
	switch {
	case err == nil:
		socket.SetReadLimit(-1) // what comes is read in pieces
		return socket, nil
	case resp == nil:
		return nil, netError(ctx, withoutURL(err))
	}
	a := &Response{client: c, resp: resp, body: newLimited(ctx, resp.Body, stop, c.waits.Stall), stop: stop, sent: query}
	defer a.Close()
	if resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusSwitchingProtocols {
		return nil, plugin.Errorf(plugin.Protocol, "the host did not open a WebSocket")
	}
	return nil, a.refusal(asking, path)
}

// withoutURL removes the address from an error, because it contains a ticket.
func withoutURL(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// keptAlive returns the transport of sockets: without a limit, each with
// keep-alive probes of TCP.
func keptAlive(read *http.Transport, dialer *net.Dialer) *http.Transport {
	way, alive := read.Clone(), *dialer
	alive.KeepAliveConfig = net.KeepAliveConfig{Enable: true, Idle: socketIdle, Interval: socketInterval, Count: socketProbes}
	way.DialContext, way.MaxConnsPerHost = alive.DialContext, 0
	return way
}
