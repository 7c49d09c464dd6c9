package proxy

import (
	"fmt"
	"net"
	"time"

	"github.com/pires/go-proxyproto"
)

// headerTime is how long a proxy may take to send its header.
const headerTime = 10 * time.Second

// Listener takes the PROXY protocol, version 1 or 2, from the proxies that are believed: the addresses of such a connection are
// those that its header tells. Proxies of one network may use it or not. What a stranger sends is never looked at, and then is no
// HTTP. A header that is cut off, malformed or about something else than TCP ends its connection. TLS comes after it.
//
// Whoever passes a client's bytes on as they are and sends no header of its own must not be among the trusted: its clients
// could send one, and headers of HTTP just as well.
func (c *Config) Listener(listener net.Listener) net.Listener {
	if len(c.Trusted) == 0 {
		return listener
	}
	return &proxyproto.Listener{
		Listener: listener, ReadHeaderTimeout: headerTime, ValidateHeader: aboutTCP,
		ConnPolicy: func(connection proxyproto.ConnPolicyOptions) (proxyproto.Policy, error) {
			if peer, ok := addressOf(connection.Upstream.String()); ok && c.trusts(peer) {
				return proxyproto.USE, nil
			}
			return proxyproto.SKIP, nil
		},
	}
}

// aboutTCP refuses what has no address of a client. A connection of the proxy's own, which asks whether we live, keeps the
// proxy's address.
func aboutTCP(h *proxyproto.Header) error {
	if h.Command.IsLocal() || h.TransportProtocol == proxyproto.TCPv4 || h.TransportProtocol == proxyproto.TCPv6 {
		return nil
	}
	return fmt.Errorf("the proxy's header is about %v, not TCP", h.TransportProtocol)
}
