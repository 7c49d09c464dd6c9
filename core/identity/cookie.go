package identity

import "net/http"

// CookieName is the session cookie's name; over TLS it has the prefix that ties it to this host, to TLS and to path /
// (RFC 6265bis section 4.1.3.2), so that no neighbouring host and no plain connection can plant one.
const CookieName = "service_session"

// securePrefix goes before the names of our cookies over TLS.
const securePrefix = "__Host-"

func cookieName(name string, secure bool) string {
	if secure {
		return securePrefix + name
	}
	return name
}

func newCookie(name, value string, secure bool) http.Cookie {
	return http.Cookie{
		Name: cookieName(name, secure), Value: value, Path: "/", HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode,
	}
}

// Cookie carries the session's token to the browser. secure says that the request came over TLS. It ends with the
// browser; the server ends it earlier when it idles.
func Cookie(token string, secure bool) http.Cookie {
	return newCookie(CookieName, token, secure)
}

// NoCookie makes the browser forget the session's cookie.
func NoCookie(secure bool) http.Cookie {
	c := Cookie("", secure)
	c.MaxAge = -1
	return c
}

// cookieValue is the value of the request's cookie, "" when there is none. Two cookies of the name mean that someone
// planted one; neither is believed.
func cookieValue(r *http.Request, name string, secure bool) string {
	cookies := r.CookiesNamed(cookieName(name, secure))
	if len(cookies) != 1 {
		return ""
	}
	return cookies[0].Value
}
