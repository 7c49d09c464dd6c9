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

// loginLink is an address that logs a browser in once. Browsers keep cookies by host and not by port, so a server of our own beside the
// service can hand on the session's cookie, and neither the service nor its page knows a way to log in by an address.
type loginLink struct {
	server *http.Server
	url    string
	// used is held while a browser is let in, and done says that one was.
	used sync.Mutex
	done bool
}

// newLoginLink listens beside the service at listen. The caller closes it.
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

func (l *loginLink) close() { _ = l.server.Close() }

// logIn makes a session for a browser of that name, and yields its cookies.
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
