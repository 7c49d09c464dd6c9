package ui

import (
	"net/http"
	"strings"
)

// The content security policies, and with setHeaders the only place of the page's security headers. They replace those that the
// API gives every answer.
var (
	// pagePolicy lets the page load files of its own and nothing else. Svelte makes its templates under the one policy of Trusted
	// Types that is named here; anything else that writes HTML from text is blocked by the browser.
	pagePolicy = policy(
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "font-src 'self'",
		"connect-src 'self'", "frame-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
		"require-trusted-types-for 'script'", "trusted-types svelte-trusted-html hostler-worker",
	)
	// consolePolicy is that of the document of consoles, which only pages of ours may frame. xterm.js writes style sheets into it, so what
	// a guest prints never shares a document with the page; nothing there writes HTML from text.
	consolePolicy = policy(
		"default-src 'none'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data: blob:", "font-src 'self'",
		"connect-src 'self'", "frame-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'self'",
		"require-trusted-types-for 'script'", "trusted-types 'none'",
	)
	// referencePolicy is that of the API reference. RapiDoc makes HTML from text and writes inline styles, but the only text that it gets is
	// the OpenAPI document, and scripts still come from files of ours only.
	referencePolicy = policy(
		"default-src 'none'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data: blob:", "font-src 'self'",
		"connect-src 'self'", "frame-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
	)
	// permissions are the browser's abilities: none but those that consoles and passkeys need.
	permissions = strings.Join([]string{
		"accelerometer=()", "autoplay=()", "camera=()", "display-capture=()", "geolocation=()", "gyroscope=()", "hid=()",
		"magnetometer=()", "microphone=()", "midi=()", "payment=()",
		"screen-wake-lock=()", "serial=()", "usb=()", "xr-spatial-tracking=()",
		"clipboard-read=(self)", "clipboard-write=(self)", "fullscreen=(self)",
		"publickey-credentials-create=(self)", "publickey-credentials-get=(self)",
	}, ", ")
)

func policy(directives ...string) string { return strings.Join(directives, "; ") }

// How long a browser keeps a file: what carries a hash in its name never changes, all else is asked for again with its ETag.
const (
	cacheForever    = "public, max-age=31536000, immutable"
	cacheRevalidate = "no-cache"
)

// setHeaders writes the headers of a file. All have the same but the documents of consoles and of the API.
func setHeaders(h http.Header, name, cache string) {
	policy, framing := pagePolicy, "DENY"
	switch name {
	case consoleDocument:
		policy, framing = consolePolicy, "SAMEORIGIN"
	case referenceDocument:
		policy = referencePolicy
	}
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", framing)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", permissions)
	h.Set("Cache-Control", cache)
}
