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

// helloLimit bounds one look at a web server.
const helloLimit = 2 * time.Second

// Who decides where an app's web pages are, in this order.
const (
	ByOperator = "operator"
	ByScript   = "script"
	ByCatalog  = "catalog"
)

// Web is where an app's web pages are, as one of those who decide says. What they do not say is zero.
type Web struct {
	Port int
	// Path begins with a slash, and may have a query.
	Path string
	// Protocol is http or https.
	Protocol string
}

// Catalog tells what the catalog knows of apps.
type Catalog interface {
	// Web is where the pages of an entry are; false where it does not say or there is no such entry.
	Web(ctx context.Context, slug string) (Web, bool, error)
	// Webs is Web of several entries at once; those of which the catalog does not say it are left out.
	Webs(ctx context.Context, slugs []string) (map[string]Web, error)
	// Has reports whether there is an entry that makes a container.
	Has(ctx context.Context, slug string) (bool, error)
	// Guess gives a function that tells which entry has made a container of such a name; empty where none has that name, or several have.
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

// WebURL tells where an app's web pages are, and tries the address from the service. Problems: those of Request.
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

// WebAt is where an app's pages are, and the addresses by which its container may be reached, the preferred first; both as WebURL
// decides. A port of 0 is for pages of which nobody says where they are. The hypervisor is asked for the addresses.
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

// decide is where an app's pages are, and who says the port; "" for nobody. The operator's path and protocol hold for any port.
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

// web is decide with what the script printed, "" for nothing, and what the catalog says of an entry.
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

func portOf(protocol string) int {
	if protocol == "https" {
		return 443
	}
	return 80
}

// SetPrintedURL keeps the address that the script which installed an app printed last, within a transaction; empty forgets it. What is no
// http or https URL of at most 2,000 bytes is not kept.
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

func (s *Store) printedURL(ctx context.Context, id int64) (printed string, err error) {
	err = s.Guests.DB.Pool.QueryRow(ctx, "SELECT coalesce((SELECT printed_url FROM apps WHERE id = $1), '')", id).Scan(&printed)
	if err != nil {
		return "", db.Problem(fmt.Errorf("reading an app's address: %w", err))
	}
	return printed, nil
}

// parsePrinted reads what a script printed. Its host is the script's guess, and does not count.
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

// addresses are those by which a container may be reached, the preferred first: what it tells now, else what it told before, else what it
// is configured with. What may never be dialled is none of them.
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

// DialableAddresses are the addresses of texts, with or without the length of a prefix, that may be dialled, IPv4 first, four at most.
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

// greeting is what came of trying addresses.
type greeting struct {
	reached bool
	address netip.Addr
	// tls is whether what answered speaks TLS; nil where it did not say.
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

// hello connects and begins TLS, whatever the certificate: nothing is sent, and nothing taken from what answers.
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

// cause is what went wrong with a dial, without the address, which is told before.
func cause(err error) string {
	if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Err != nil {
		return dial.Err.Error()
	}
	return err.Error()
}

// schemeOf is http or https, and what says so.
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
