package proxy

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	// domain is a name as browsers send it: in lower case, an international one in its form with xn--.
	domain = regexp.MustCompile(`^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?)*\.?$`)
	// segment of a path: what no client writes in two ways (RFC 3986 section 2.3).
	segment = regexp.MustCompile(`^[A-Za-z0-9._~-]+$`)
	// own are the first segments of our own paths: below one of them it could not be told whether a proxy has cut the path off.
	own = []string{"api", "meta", "healthz", "readyz", "metrics"}
)

// ParseBaseURL reads the URL under which clients find the service: http or https, a host, perhaps a port and a path. What it
// yields has the host in lower case, no port that is the scheme's own, and a path without a slash at its end: "" or "/hostler".
// The empty text yields nil.
func ParseBaseURL(text string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("it is not a URL like https://hostler.example.com") // the error would repeat a password in it
	case u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" || u.Host == "":
		return nil, fmt.Errorf("it is not a URL like https://hostler.example.com: it must start with http:// or https:// and a host")
	case u.User != nil:
		return nil, fmt.Errorf("a base URL must not have a user or password")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(text, "#"):
		return nil, fmt.Errorf("a base URL must not have a query or fragment")
	}
	base := &url.URL{Scheme: u.Scheme}
	if base.Host, err = parseAuthority(u); err != nil {
		return nil, err
	}
	base.Path, err = parsePath(u)
	return base, err
}

func parseAuthority(u *url.URL) (string, error) {
	name := strings.ToLower(u.Hostname())
	if address, err := netip.ParseAddr(name); err == nil {
		if address.Zone() != "" {
			return "", fmt.Errorf("the address of a base URL must not have a zone")
		}
		if name = address.String(); address.Is6() {
			name = "[" + name + "]"
		}
	} else if len(name) > 253 || !domain.MatchString(name) {
		return "", fmt.Errorf("%q is not a host: write an international name in its xn-- form", u.Hostname())
	}
	port := u.Port()
	if port == "" {
		if strings.HasSuffix(u.Host, ":") {
			return "", fmt.Errorf("the port after the colon is missing")
		}
		return name, nil
	}
	number, err := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil || number == 0:
		return "", fmt.Errorf("%s is not a port", port)
	case u.Scheme == "https" && number == 443, u.Scheme == "http" && number == 80: // browsers leave it out of an origin
		return name, nil
	}
	return name + ":" + strconv.FormatUint(number, 10), nil
}

func parsePath(u *url.URL) (string, error) {
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	if path == "" {
		return "", nil
	}
	segments := strings.Split(path[1:], "/")
	for _, s := range segments {
		if s == "." || s == ".." || !segment.MatchString(s) {
			return "", fmt.Errorf("the path %s has a segment with characters other than letters, digits, dots, hyphens, underscores "+
				"and tildes", path)
		}
	}
	if slices.Contains(own, segments[0]) {
		return "", fmt.Errorf("the path must not start with /%s, which is a path of the service itself", segments[0])
	}
	return path, nil
}

// Origin is the origin of the pages at a URL, as browsers send it (RFC 6454 section 6.2).
func Origin(base *url.URL) string { return base.Scheme + "://" + base.Host }
