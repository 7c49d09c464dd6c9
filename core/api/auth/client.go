package auth

import (
	"net"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/identity"
)

// Client is embedded into the input of operations that open, renew or end a session: where the request comes from, and
// whether over TLS. It takes nothing from forwarding headers, which anyone can send.
type Client struct {
	from   identity.Client
	secure bool
}

var _ huma.Resolver = (*Client)(nil)

// Resolve implements huma.Resolver.
func (c *Client) Resolve(ctx huma.Context) []error {
	host, _, err := net.SplitHostPort(ctx.RemoteAddr())
	if err != nil {
		host = ctx.RemoteAddr()
	}
	c.secure = ctx.TLS() != nil
	c.from = identity.Client{Address: host, UserAgent: ctx.Header("User-Agent"), Devices: identity.DevicesOf(ctx.Header("Cookie"), c.secure)}
	return nil
}
