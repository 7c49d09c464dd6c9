// Package proxy knows how clients reach the service: through which reverse proxies, and under which URL.
//
// A proxy tells of the client that it serves by headers (RFC 7239 and its forerunners X-Forwarded-For, -Proto and -Host), or
// before all else on the connection (the PROXY protocol of HAProxy, versions 1 and 2). Anybody can send either, so both are
// believed only from the networks that the operator names. Config.Request makes of a request what the client made: all that
// comes after it, from limits to the audit log, sees the client's address and knows nothing of proxies.
package proxy

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Config is what the operator says about the way to the service. The zero value is a service without a proxy.
type Config struct {
	// Trusted are the networks of the proxies that are believed, as ParseNetworks yields them.
	Trusted []netip.Prefix
	// BaseURL is where clients find the service, as ParseBaseURL yields it; nil where nobody has said so.
	BaseURL *url.URL
}

// Site is how the client sees the service: what its cookies are limited to.
type Site struct {
	// Secure says that the client's own connection is TLS.
	Secure bool
	// Path is below which everything is: "/", or "/hostler" without a slash at its end.
	Path string
	// Proxy is the believed proxy that has told of the client and whose connection it is; not valid where the connection is the client's own.
	Proxy netip.Addr
	// Port is the port that the client has asked of the proxy.
	Port int
}

type siteKey struct{}

// SiteOf is the Site of a request by its context, which Config.Request has made. Without one it is the connection's own, at the
// path "/": state is nil where that is not TLS.
func SiteOf(ctx context.Context, state *tls.ConnectionState) Site {
	if site, ok := ctx.Value(siteKey{}).(Site); ok {
		return site
	}
	return Site{Secure: state != nil, Path: "/"}
}

// Request is the request as the client made it: RemoteAddr is the client's address (with port 0 where a header told it), Host the
// one that it asked for, the path of the base URL is cut off, and the context has the Site. It fails when a proxy that is
// believed forwards headers that contradict each other, with a sentence for whoever looks after the proxy; the request that
// comes with the error is the one that was given, and must not be served.
func (c *Config) Request(r *http.Request) (*http.Request, error) {
	if len(c.Trusted) == 0 && c.BaseURL == nil {
		return r, nil
	}
	site := Site{Secure: r.TLS != nil, Path: "/"}
	var told told
	if peer, ok := addressOf(r.RemoteAddr); ok && c.trusts(peer) {
		var err error
		if told, err = c.read(r.Header); err != nil {
			return r, err
		}
		if told.scheme != "" {
			site.Secure = told.scheme == "https"
		}
		if told.client.IsValid() {
			site.Proxy = peer
		}
	}
	if c.BaseURL != nil {
		site.Secure, told.host = c.BaseURL.Scheme == "https", ""
		if c.BaseURL.Path != "" {
			site.Path = c.BaseURL.Path
		}
	}
	if site.Proxy.IsValid() {
		site.Port = c.port(site.Secure, told.host)
	}
	seen := r.WithContext(context.WithValue(r.Context(), siteKey{}, site))
	if told.client.IsValid() {
		seen.RemoteAddr = netip.AddrPortFrom(told.client, 0).String()
	}
	if told.host != "" {
		seen.Host = told.host
	}
	if site.Path != "/" {
		seen.URL = within(r.URL, site.Path)
	}
	return seen, nil
}

// port is the one of the base URL or, without one, of the host that a client has asked for.
func (c *Config) port(secure bool, host string) int {
	text := (&url.URL{Host: host}).Port()
	if c.BaseURL != nil {
		text = c.BaseURL.Port()
	}
	if port, err := strconv.ParseUint(text, 10, 16); err == nil && port > 0 {
		return int(port)
	}
	if secure {
		return 443
	}
	return 80
}

// within is the URL as it is below the path; one that is not below it stays: many proxies cut the path off themselves.
func within(u *url.URL, path string) *url.URL {
	short, ok := cut(u.Path, path)
	if !ok {
		return u
	}
	inner := *u
	inner.Path = short
	if u.RawPath != "" {
		if inner.RawPath, ok = cut(u.RawPath, path); !ok {
			return u
		}
	}
	return &inner
}

func cut(path, prefix string) (string, bool) {
	rest, ok := strings.CutPrefix(path, prefix)
	switch {
	case !ok || rest != "" && rest[0] != '/':
		return "", false
	case rest == "":
		return "/", true
	}
	return rest, true
}

// trusts reports whether the address is one of a proxy that is believed.
func (c *Config) trusts(address netip.Addr) bool {
	for _, network := range c.Trusted {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// addressOf is the IP address of a peer, an IPv4 one always as such and without a zone, as networks are compared.
func addressOf(remote string) (netip.Addr, bool) {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}, false
	}
	return at.Addr().Unmap().WithZone(""), true
}
