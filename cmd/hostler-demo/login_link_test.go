package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The link lets one browser in, gives it the session's cookie, and is of no use afterwards.
func TestLoginLink(t *testing.T) {
	t.Parallel()
	logins := 0
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/auth/login" || r.UserAgent() != "a browser" {
			t.Errorf("%s %s by %s", r.Method, r.URL, r.UserAgent())
		}
		logins++
		http.SetCookie(w, &http.Cookie{Name: "service_session", Value: "s", Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
		_, _ = w.Write([]byte(`{}`))
	}))
	defer service.Close()
	link, err := newLoginLink(t.Context(), strings.TrimPrefix(service.URL, "http://"), "owner@example.com", "password")
	if err != nil {
		t.Fatal(err)
	}
	defer link.close()
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	open := func(url string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("User-Agent", "a browser")
		answer, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer
	}
	if answer := open(link.url + "x"); answer.StatusCode != http.StatusNotFound || logins != 0 {
		t.Errorf("another path: %s, %d log-ins", answer.Status, logins)
	}
	first := open(link.url)
	cookies, to := first.Cookies(), first.Header.Get("Location")
	if first.StatusCode != http.StatusSeeOther || to != service.URL+"/" || len(cookies) != 1 || !cookies[0].HttpOnly ||
		cookies[0].SameSite != http.SameSiteLaxMode {
		t.Errorf("first: %s to %s with %v", first.Status, to, cookies)
	}
	if again := open(link.url); len(again.Cookies()) != 0 || logins != 1 {
		t.Errorf("again: %s with %v, %d log-ins", again.Status, again.Cookies(), logins)
	}
}
