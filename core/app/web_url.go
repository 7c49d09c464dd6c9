package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/outbound"
)

// helloLimit bounds one attempt to connect to a web server and to shake hands
// with it.
const helloLimit = 2 * time.Second

// Who decides where an app's web pages are, in this order.
const (
	// The origins of the port of an app's web page. The first one that has a
	// port decides.
	ByOperator = "operator"
	ByScript   = "script"
	ByCatalog  = "catalog"
)

// Web is the location of an app's web page according to one origin. Fields that
// the origin does not know are zero.
type Web struct {
	Port int
	// Path begins with a slash and may have a query. It may be empty.
	Path string
	// Protocol is http or https.
	Protocol string
}

// Catalog is what package app needs from the catalog. Package catalog
// implements it; the interface keeps the packages apart.
type Catalog interface {
	// Web returns the location of the web page of an entry. It returns false if
	// the entry does not exist or does not say.
	Web(ctx context.Context, slug string) (Web, bool, error)
	// Webs is Web for several entries in one query. The result lacks entries
	// for which Web returns false.
	Webs(ctx context.Context, slugs []string) (map[string]Web, error)
	// Has reports whether an entry exists and makes a container.
	Has(ctx context.Context, slug string) (bool, error)
	// Guess returns a function that maps the name of a container to the slug of
	// the entry that probably made it. The function returns an empty string if
	// no entry, or more than one, has that name.
	Guess(ctx context.Context) (func(name string) string, error)
}

// WebURL is where an app's web pages are.
type WebURL struct {
	URL       *string `json:"url" example:"https://192.0.2.5:8443/admin" doc:"URL of the app; null if no port or no address is known. See detail"`
	DecidedBy *string `json:"decided_by" enum:"operator,script,catalog" doc:"Origin of the port: the app's own fields, the output of its install script, or the catalog; null if unknown"`
	SchemeBy  *string `json:"scheme_by" enum:"operator,tls_hello,script,catalog,default" doc:"Origin of the scheme: the app's own field, or a TLS handshake with the port just now; if nothing responds, the reported or usual scheme of the port"`
	Reachable bool    `json:"reachable" doc:"true if the service connected to it just now"`
	Detail    *string `json:"detail" doc:"Why there is no URL, or why the connection failed; null otherwise"`
}

// WebURL returns the URL of an app's web page and tries to connect to it from
// the service. A page without a known URL is not an error: URL is then nil and
// Detail says why. Problems: those of Request.
func (s *Store) WebURL(ctx context.Context, id, team int64) (WebURL, error) {
	r, err := s.Request(ctx, id, team, nil)
	if err != nil {
		return WebURL{}, err
	}
	a, err := s.Get(ctx, id)
	if err != nil {
		return WebURL{}, err
	}
	web, by, err := s.decide(ctx, a)
	if err != nil {
		return WebURL{}, err
	}
	if by == "" {
		return WebURL{Detail: new("the port of the app's web page is unknown: set web_port")}, nil
	}
	shown := WebURL{DecidedBy: &by}
	addresses, err := s.addresses(ctx, r.Guest)
	if err != nil {
		return WebURL{}, err
	}
	if len(addresses) == 0 {
		shown.Detail = new("the app's container has no known address")
		return shown, nil
	}
	seen := greeting{}
	if refused := runs(r.Guest); refused != nil {
		seen.detail = "the app's container is not running"
	} else {
		seen = s.greet(ctx, addresses, web.Port)
	}
	scheme, schemeBy := schemeOf(a, web, by, seen)
	shown.URL, shown.SchemeBy, shown.Reachable = new(urlOf(scheme, seen.or(addresses[0]), web)), &schemeBy, seen.reached
	if seen.detail != "" {
		shown.Detail = &seen.detail
	}
	return shown, nil
}

// WebAt returns the location of an app's web page, decided as in WebURL, and
// the addresses of its container, the preferred one first. Port is 0 if no
// origin knows it. It asks the hypervisor for the addresses. Package appscript
// uses it to find out whether an app answers after an update.
func (s *Store) WebAt(ctx context.Context, id int64, g *guest.Guest) (Web, []netip.Addr, error) {
	a, err := s.Get(ctx, id)
	if err != nil {
		return Web{}, nil, err
	}
	web, _, err := s.decide(ctx, a)
	if err != nil {
		return Web{}, nil, err
	}
	addresses, err := s.addresses(ctx, g)
	return web, addresses, err
}

// decide returns the location of an app's web page and the origin of its port;
// the origin is empty if no port is known. The path and the protocol that a
// user entered apply to any port.
func (s *Store) decide(ctx context.Context, a *App) (web Web, by string, err error) {
	printed, err := s.printedURL(ctx, a.ID)
	if err != nil {
		return Web{}, "", err
	}
	return a.web(printed, func(slug string) (Web, bool, error) {
		if s.Catalog == nil {
			return Web{}, false, nil
		}
		return s.Catalog.Web(ctx, slug)
	})
}

// web is decide without queries. printed is the URL that the install script
// printed, empty for none. catalog looks up an entry and is called only if
// neither the user nor the script gave a port.
func (a *App) web(printed string, catalog func(slug string) (Web, bool, error)) (web Web, by string, err error) {
	switch told, ok := parsePrinted(printed); {
	case a.WebPort != nil:
		web, by = Web{Port: *a.WebPort}, ByOperator
	case ok:
		web, by = told, ByScript
	case a.Slug != nil:
		told, ok, err := catalog(*a.Slug)
		if err != nil {
			return Web{}, "", err
		}
		if ok && told.Port > 0 && told.Port < 1<<16 {
			web, by = told, ByCatalog
		}
	}
	if by == "" && a.WebProtocol != nil {
		web, by = Web{Port: portOf(*a.WebProtocol)}, ByOperator
	}
	if a.WebPath != nil {
		web.Path = *a.WebPath
	}
	if a.WebProtocol != nil {
		web.Protocol = *a.WebProtocol
	}
	return web, by, nil
}

// portOf returns the default port of a protocol.
func portOf(protocol string) int {
	if protocol == "https" {
		return 443
	}
	return 80
}

// SetPrintedURL stores the URL that the install script of an app printed last,
// inside the caller's transaction. An empty text deletes it. So does a text
// that is not an http or https URL, or that is longer than 2,000 bytes: the
// script ran inside a container and its output is not trusted.
func SetPrintedURL(ctx context.Context, tx *db.Tx, id int64, printed string) error {
	if _, ok := parsePrinted(printed); !ok {
		printed = ""
	}
	_, err := tx.Pgx.Exec(ctx, "UPDATE apps SET printed_url = nullif($2, '') WHERE id = $1", id, printed)
	if err != nil {
		return fmt.Errorf("storing an app's address: %w", err)
	}
	return nil
}

// printedURL returns the stored URL of one app; empty for none.
func (s *Store) printedURL(ctx context.Context, id int64) (printed string, err error) {
	err = s.Guests.DB.Pool.QueryRow(ctx, "SELECT coalesce((SELECT printed_url FROM apps WHERE id = $1), '')", id).Scan(&printed)
	if err != nil {
		return "", db.Problem(fmt.Errorf("reading an app's address: %w", err))
	}
	return printed, nil
}

// parsePrinted reads a printed URL. It ignores the host, because a script
// guesses it from inside the container, and refuses a URL with credentials.
func parsePrinted(printed string) (Web, bool) {
	u, err := url.Parse(strings.TrimSpace(printed))
	if err != nil || len(printed) > 2000 || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return Web{}, false
	}
	web := Web{Protocol: u.Scheme, Port: portOf(u.Scheme), Path: u.RequestURI()}
	if text := u.Port(); text != "" {
		if web.Port, err = strconv.Atoi(text); err != nil || web.Port < 1 || web.Port > 65535 {
			return Web{}, false
		}
	}
	return web, true
}

// addresses returns the addresses at which a container can be reached, the
// preferred one first. It uses the first source that has a usable address: what
// the hypervisor reports now, what it reported before, and the static
// configuration. A hypervisor that does not answer is not an error, but an
// ended context is.
func (s *Store) addresses(ctx context.Context, g *guest.Guest) ([]netip.Addr, error) {
	var now, configured []string
	nics, err := s.Actor.Network(ctx, g)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil:
		for _, nic := range nics {
			now = append(now, nic.Addresses...)
			for _, text := range []*string{nic.IP, nic.IP6} {
				if text != nil {
					configured = append(configured, *text)
				}
			}
		}
	}
	for _, told := range [][]string{now, g.Addresses, configured} {
		if usable := DialableAddresses(told, s.Rules); len(usable) > 0 {
			return usable, nil
		}
	}
	return nil, nil
}

// DialableAddresses parses addresses, with or without a prefix length, and
// returns those that the service may connect to: global unicast, and loopback
// if the rules allow local addresses. IPv4 comes first, the order is otherwise
// kept, and there are at most four. It drops addresses with a zone and
// duplicates.
func DialableAddresses(told []string, rules outbound.Rules) []netip.Addr {
	var all []netip.Addr
	for _, text := range told {
		text, _, _ = strings.Cut(text, "/")
		address, err := netip.ParseAddr(text)
		if err != nil || address.Zone() != "" || slices.Contains(all, address.Unmap()) {
			continue
		}
		if address = address.Unmap(); address.IsGlobalUnicast() || rules.AllowLocal && address.IsLoopback() {
			all = append(all, address)
		}
	}
	slices.SortStableFunc(all, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() })
	return all[:min(len(all), 4)]
}

// greeting is the result of trying addresses. If reached is false, detail says
// why.
type greeting struct {
	reached bool
	address netip.Addr
	// tls says whether the server speaks TLS. It is nil if that is not clear,
	// for example because the server did not answer in time.
	tls    *bool
	detail string
}

// or is the address that was reached, or else the other one.
func (g greeting) or(other netip.Addr) netip.Addr {
	if g.reached {
		return g.address
	}
	return other
}

// greet tries addresses one after the other, within helloLimit each.
func (s *Store) greet(ctx context.Context, addresses []netip.Addr, port int) greeting {
	last := greeting{}
	for _, address := range addresses {
		limited, cancel := context.WithTimeout(ctx, helloLimit)
		seen := s.hello(limited, address, port)
		cancel()
		if seen.reached {
			return seen
		}
		last = seen
	}
	return last
}

// hello connects and starts a TLS handshake to find out whether the server
// speaks TLS. It accepts any certificate, because it sends no data and uses
// none that it receives. An alert from the server counts as TLS, too.
func (s *Store) hello(ctx context.Context, at netip.Addr, port int) greeting {
	address := net.JoinHostPort(at.String(), strconv.Itoa(port))
	rules := s.Rules
	rules.AllowPrivate = true // an app's container is where apps are
	conn, err := outbound.Target{Rules: rules, Address: address}.Dialer(helloLimit).DialContext(ctx, "tcp", address)
	if err != nil {
		return greeting{detail: "nothing answers at " + address + ": " + outbound.Plain(host.Clean(cause(err)))}
	}
	defer func() { _ = conn.Close() }()
	seen := greeting{reached: true, address: at}
	// Whether it is the right one matters to whoever opens the pages, and not to who asks which protocol it speaks.
	err = tls.Client(conn, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10}).HandshakeContext(ctx) //nolint:gosec
	var plain tls.RecordHeaderError
	var alert tls.AlertError
	remote := (*net.OpError)(nil)
	switch {
	case err == nil, errors.As(err, &alert), errors.As(err, &remote) && remote.Op == "remote error":
		seen.tls = new(true)
	case errors.As(err, &plain):
		seen.tls = new(false)
	}
	return seen
}

// cause returns the reason of a failed connection without the address, which
// the text before it already has.
func cause(err error) string {
	if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Err != nil {
		return dial.Err.Error()
	}
	return err.Error()
}

// schemeOf returns http or https, and the origin of the answer for scheme_by.
// The order is: the user's field, the handshake, the origin of the port, and
// the usual scheme of the port.
func schemeOf(a *App, web Web, by string, seen greeting) (scheme, says string) {
	switch {
	case a.WebProtocol != nil:
		return *a.WebProtocol, ByOperator
	case seen.tls != nil && *seen.tls:
		return "https", "tls_hello"
	case seen.tls != nil:
		return "http", "tls_hello"
	case web.Protocol == "http" || web.Protocol == "https":
		return web.Protocol, by
	case web.Port == 443:
		return "https", "default"
	}
	return "http", "default"
}

// urlOf writes the URL. The usual port of a scheme is left out.
func urlOf(scheme string, at netip.Addr, web Web) string {
	u := url.URL{Scheme: scheme, Host: net.JoinHostPort(at.String(), strconv.Itoa(web.Port)), Path: "/"}
	if web.Port == portOf(scheme) {
		if u.Host = at.String(); at.Is6() {
			u.Host = "[" + u.Host + "]"
		}
	}
	if path, err := url.ParseRequestURI(web.Path); err == nil && path.Host == "" && path.Scheme == "" {
		u.Path, u.RawPath, u.RawQuery = path.Path, path.RawPath, path.RawQuery
	}
	return u.String()
}
