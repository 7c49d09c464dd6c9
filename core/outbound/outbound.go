// Package outbound calls servers whose addresses users give, such as receivers of samples and of notifications. What must hold of every
// such call is here: the address is judged when it is dialled and not by its name, no redirect is followed, no proxy is used, a pinned
// certificate holds, and what is told of a failure has no secret.
package outbound

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// maxText is how much is told of what others answer, in bytes.
const maxText = 300

var errPrivate = errors.New("addresses of private networks are not allowed")

// Rules say which addresses may be called. Those of clouds' metadata services, multicast and unspecified ones are never, and names are
// judged by what they turn out to be when they are dialled.
type Rules struct {
	// AllowLocal permits loopback and link-local addresses.
	AllowLocal bool
	// AllowPrivate permits private networks, as RFC 1918, RFC 4193 and RFC 6598 have them.
	AllowPrivate bool
}

// ParseAddress is the form host:port of an address, with defaultPort where it has none. It is refused where it can be seen from the
// text that it may not be called.
func (r Rules) ParseAddress(address, defaultPort string) (string, error) {
	parsed, err := host.ParseAddress(address, defaultPort, r.AllowLocal)
	if err != nil {
		return "", err
	}
	name, _, err := net.SplitHostPort(parsed)
	if err != nil {
		return "", err
	}
	if ip, err := netip.ParseAddr(name); err == nil && !r.AllowPrivate && endpoint.IsPrivate(ip) {
		return "", errPrivate
	}
	return parsed, nil
}

// ParseURL reads an http or https URL without a user and a fragment, and gives the address that it leads to.
func (r Rules) ParseURL(text string) (u *url.URL, address string, err error) {
	u, err = url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, "", errors.New("must begin with https:// or http:// and name a server")
	case u.User != nil:
		return nil, "", errors.New("must not contain a user and password: use the separate fields")
	case u.Fragment != "" || u.ForceQuery:
		return nil, "", errors.New("must not have a fragment or an empty query")
	}
	port := "443"
	if u.Scheme == "http" {
		port = "80"
	}
	address, err = r.ParseAddress(u.Host, port)
	return u, address, err
}

// Target is a server to call.
type Target struct {
	Rules
	// Address is host:port, as ParseAddress gives it.
	Address string
	// Fingerprint pins its certificate; empty leaves that to the system's authorities.
	Fingerprint string
}

// Dialer dials the target and nothing that the rules forbid. One try to connect takes limit at most.
func (t Target) Dialer(limit time.Duration) *net.Dialer {
	judge := endpoint.DialControl(endpoint.Target{Address: t.Address, AllowLocal: t.AllowLocal})
	return &net.Dialer{Timeout: limit, Control: func(network, address string, conn syscall.RawConn) error {
		if err := judge(network, address, conn); err != nil {
			return err
		}
		if dialled, err := netip.ParseAddrPort(address); err != nil || !t.AllowPrivate && endpoint.IsPrivate(dialled.Addr()) {
			return errPrivate
		}
		return nil
	}}
}

// TLS is how the target's certificate is checked.
func (t Target) TLS() (*tls.Config, error) {
	return endpoint.TLSConfig(endpoint.Target{Address: t.Address, Fingerprint: t.Fingerprint, VerifyTLS: true, AllowLocal: t.AllowLocal}, nil)
}

// Client makes requests of at most limit each. A redirect is an answer like any other: credentials and what is told go where they were
// meant to go. Its connections end with CloseIdleConnections.
func (t Target) Client(limit time.Duration) (*http.Client, error) {
	config, err := t.TLS()
	if err != nil {
		return nil, err
	}
	return &http.Client{
		Timeout: limit,
		// No proxy: the dialer judges the address that is dialled.
		Transport: &http.Transport{DialContext: t.Dialer(limit / 3).DialContext, TLSClientConfig: config, TLSHandshakeTimeout: limit / 3,
			MaxIdleConns: 1, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// Cause is what went wrong with a request, without its URL, which may tell what is no error's to tell.
func Cause(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		return outer.Err
	}
	return err
}

// Plain is a text of others on one line, of at most 300 bytes and without these secrets, which a server may repeat in any spelling.
func Plain(text string, secrets ...string) string {
	text = plugin.HideSecrets(text, secrets...)
	text = strings.Join(strings.FieldsFunc(host.Clean(text), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	return host.CleanTo(text, maxText)
}

// RetryAfter is how long an answer asks to be left alone (RFC 9110 section 10.2.3), most at most; zero when it does not say.
func RetryAfter(header http.Header, most time.Duration) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if !(seconds > 0) {
			return 0
		}
		return time.Duration(min(seconds, most.Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(0, time.Until(at)), most)
	}
	return 0
}
