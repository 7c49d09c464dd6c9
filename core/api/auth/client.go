package auth

import (
	"net"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/proxy"
)

// Client is embedded into the input of operations that open, renew or end a
// session. It has the address from which the request comes and the address
// under which the client sees the service, which determine the cookies. Trusted
// forwarding headers are already part of the address of the request.
type Client struct {
	from identity.Client
	site proxy.Site
	// signOn is the value of the cookie that a log-in through an identity
	// provider has set at its beginning.
	signOn string
}

var _ huma.Resolver = (*Client)(nil)

// Resolve implements huma.Resolver. It reads the address, the site and the
// cookies from the request.
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
