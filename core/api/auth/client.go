package auth

import (
	"net"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/proxy"
)

// Client is embedded into the input of operations that open, renew or end a session: where the request comes from, and how
// the client sees the service. What forwarding headers say that are believed is in the request's address already.
type Client struct {
	from identity.Client
	site proxy.Site
	// signOn is the value of the cookie of a log-in by a provider that was begun.
	signOn string
}

var _ huma.Resolver = (*Client)(nil)

// Resolve implements huma.Resolver.
func (c *Client) Resolve(ctx huma.Context) []error {
	host, _, err := net.SplitHostPort(ctx.RemoteAddr())
	if err != nil {
		host = ctx.RemoteAddr()
	}
	c.site = proxy.SiteOf(ctx.Context(), ctx.TLS())
	c.from = identity.Client{Address: host, UserAgent: ctx.Header("User-Agent"), Devices: identity.DevicesOf(ctx.Header("Cookie"), c.site)}
	c.signOn = identity.SignOnOf(ctx.Header("Cookie"), c.site)
	return nil
}
