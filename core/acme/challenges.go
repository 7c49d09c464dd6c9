package acme

import (
	"net"
	"net/http"
	"regexp"
	"strings"
)

// token is the path of a challenge: base64url without padding (RFC 8555, section 8.3).
var token = regexp.MustCompile(`^/\.well-known/acme-challenge/[A-Za-z0-9_-]{16,128}$`)

// Challenges is for a listener at port 80, without TLS: it answers the challenge http-01 (RFC 8555, section 8.3) and sends readers to the
// same path of the service. Nothing else is there. Once it was called, http-01 is tried as well.
func (m *Manager) Challenges() http.Handler {
	challenges := m.auto.HTTPHandler(http.NotFoundHandler())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case token.MatchString(r.URL.Path) && m.ready[hostOf(r)] != nil:
			asked := r.Clone(r.Context())
			asked.Host = hostOf(r)
			challenges.ServeHTTP(w, asked)
		case strings.HasPrefix(r.URL.Path, "/.well-known/acme-challenge/"):
			http.NotFound(w, r)
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			w.Header().Set("Connection", "close")
			target := m.home(hostOf(r)) + r.URL.EscapedPath()
			if r.URL.RawQuery != "" {
				target += "?" + r.URL.RawQuery
			}
			http.Redirect(w, r, target, http.StatusFound)
		default:
			w.Header().Set("Connection", "close")
			http.Error(w, "This service speaks HTTPS.", http.StatusBadRequest)
		}
	})
}

// hostOf is the name that a request is for, as certificates have it; empty for what is none.
func hostOf(r *http.Request) string {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	domain, err := ascii(host)
	if err != nil {
		return ""
	}
	return domain
}

// home is where who asks for a host is sent: never to a host that is not ours.
func (m *Manager) home(host string) string {
	if m.config.Home == "" && m.ready[host] != nil {
		return "https://" + host
	}
	if m.config.Home == "" {
		return "https://" + m.config.Domains[0]
	}
	return m.config.Home
}
