package identity

import (
	"net/http"
	"time"

	"github.com/hostler/hostler/core/proxy"
)

// CookieName is the session cookie's name; over TLS it has a prefix.
const CookieName = "service_session"

// The prefixes of our cookies' names over TLS (RFC 6265bis section 4.1.3). hostPrefix ties a cookie to this host, to TLS and to
// the path /, so that no neighbouring host and no plain connection can plant one. A service below another path has to do with
// securePrefix, which ties it to TLS: browsers take no cookie with the former that has a path of its own.
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

// Cookie carries the session's token to the browser, which sees the service as the site. It ends with the browser; the server
// ends it earlier when it idles.
func Cookie(token string, site proxy.Site) http.Cookie {
	return newCookie(CookieName, token, site)
}

// NoCookie makes the browser forget the session's cookie.
func NoCookie(site proxy.Site) http.Cookie {
	c := Cookie("", site)
	c.MaxAge = -1
	return c
}

// cookieValue is the value of the request's cookie, "" when there is none. Two cookies of the name mean that someone
// planted one; neither is believed.
func cookieValue(r *http.Request, name string, site proxy.Site) string {
	cookies := r.CookiesNamed(cookieName(name, site))
	if len(cookies) != 1 {
		return ""
	}
	return cookies[0].Value
}

// signOnCookieName is that of the cookie of a log-in by a provider that was begun.
const signOnCookieName = "service_sign_on"

// SignOnLife is how long a log-in by a provider may take from its beginning to the provider's answer.
const SignOnLife = 10 * time.Minute

// SignOnCookie carries what binds the answer of a provider of identities to this browser. A log-in that is begun after another
// replaces it.
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

// SignOnOf is the value of that cookie in a request's Cookie header; "" when there is none, or two.
func SignOnOf(header string, site proxy.Site) string {
	r := http.Request{Header: http.Header{"Cookie": {header}}}
	return cookieValue(&r, signOnCookieName, site)
}
