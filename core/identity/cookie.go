package identity

import (
	"net/http"
	"time"

	"github.com/hostler/hostler/core/proxy"
)

// CookieName is the session cookie's name; over TLS it has a prefix.
const CookieName = "service_session"

// These are the prefixes of cookie names over TLS (RFC 6265bis, section 4.1.3).
// hostPrefix binds a cookie to this host, to TLS and to the path /, so that
// neither a neighbouring host nor a plain connection can set one. Browsers
// refuse it for a cookie with another path; a service below a path therefore
// uses securePrefix, which binds to TLS alone.
const (
	hostPrefix   = "__Host-"
	securePrefix = "__Secure-"
)

// cookieName returns the name of a cookie with the prefix that makes browsers
// enforce its attributes (__Host- or __Secure-), where the site permits it.
func cookieName(name string, site proxy.Site) string {
	switch {
	case !site.Secure:
		return name
	case site.Path == "/":
		return hostPrefix + name
	}
	return securePrefix + name
}

// newCookie returns a cookie that scripts cannot read and that other sites
// cannot send with a POST.
func newCookie(name, value string, site proxy.Site) http.Cookie {
	return http.Cookie{
		Name: cookieName(name, site), Value: value, Path: site.Path, HttpOnly: true, Secure: site.Secure, SameSite: http.SameSiteLaxMode,
	}
}

// Cookie carries the token of a session to the browser, at the site under which
// the browser sees the service. It has no lifetime and ends with the browser;
// the server ends an idle session earlier.
func Cookie(token string, site proxy.Site) http.Cookie {
	return newCookie(CookieName, token, site)
}

// NoCookie makes the browser forget the session cookie.
func NoCookie(site proxy.Site) http.Cookie {
	c := Cookie("", site)
	c.MaxAge = -1
	return c
}

// cookieValue returns the value of a cookie, empty if there is none. If there
// are two of the same name, somebody has set one from outside, and neither is
// trusted.
func cookieValue(r *http.Request, name string, site proxy.Site) string {
	cookies := r.CookiesNamed(cookieName(name, site))
	if len(cookies) != 1 {
		return ""
	}
	return cookies[0].Value
}

// signOnCookieName is the cookie of a log-in that was begun at an identity
// provider.
const signOnCookieName = "service_sign_on"

// SignOnLife is the time from the beginning of a log-in by a provider to the
// provider's answer.
const SignOnLife = 10 * time.Minute

// SignOnCookie binds the answer of an identity provider to the browser that
// asked. A later log-in replaces it.
func SignOnCookie(value string, site proxy.Site) http.Cookie {
	c := newCookie(signOnCookieName, value, site)
	c.MaxAge = int(SignOnLife / time.Second)
	return c
}

// NoSignOnCookie makes the browser forget it.
func NoSignOnCookie(site proxy.Site) http.Cookie {
	c := newCookie(signOnCookieName, "", site)
	c.MaxAge = -1
	return c
}

// SignOnOf returns the value of that cookie from a Cookie header; empty if
// there is none, or two.
func SignOnOf(header string, site proxy.Site) string {
	r := http.Request{Header: http.Header{"Cookie": {header}}}
	return cookieValue(&r, signOnCookieName, site)
}
