package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// loginLink is a URL that logs in one browser once, for convenience in the
// demo. Browsers send cookies to all ports of a host (RFC 6265 section 8.5), so
// a second server on another port of the same host can set the session cookie
// of the service. That way neither the service nor its user interface needs a
// log-in by URL, which would be a risk in production.
type loginLink struct {
	server *http.Server
	url    string
	// used is locked while a browser logs in, and done reports whether one has.
	used sync.Mutex
	done bool
}

// newLoginLink starts the server on a free port of the service's host. The path
// of the URL is random; every other path is not found. A second request with
// the right path is redirected to the service without a cookie. The caller must
// call close.
func newLoginLink(ctx context.Context, listen, email, password string) (*loginLink, error) {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, fmt.Errorf("listening for the log-in link: %w", err)
	}
	path := "/" + rand.Text()
	l := &loginLink{url: "http://" + listener.Addr().String() + path}
	l.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "no-referrer")
		if r.Method != http.MethodGet || subtle.ConstantTimeCompare([]byte(r.URL.Path), []byte(path)) != 1 {
			http.NotFound(w, r)
			return
		}
		l.used.Lock()
		defer l.used.Unlock()
		if !l.done {
			cookies, err := logIn(r.Context(), "http://"+listen, email, password, r.UserAgent())
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			for _, cookie := range cookies {
				http.SetCookie(w, cookie)
			}
			l.done = true
		}
		http.Redirect(w, r, "http://"+listen+"/", http.StatusSeeOther)
	})}
	go func() { _ = l.server.Serve(listener) }() // it ends with close
	return l, nil
}

// close stops the server. Requests that are in progress are canceled.
func (l *loginLink) close() { _ = l.server.Close() }

// logIn creates a session and returns its cookies. browser is the User-Agent of
// the browser that will use the session, so that the list of sessions shows
// that browser.
func logIn(ctx context.Context, base, email, password, browser string) ([]*http.Cookie, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	c := newClient(base)
	c.browser = browser
	var answer struct{}
	cookies, err := c.send(ctx, http.MethodPost, "/api/v1/auth/login", map[string]any{"email": email, "password": password}, &answer)
	if err != nil {
		return nil, fmt.Errorf("logging in: %w", err)
	}
	return cookies, nil
}
