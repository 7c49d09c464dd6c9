package catalog_test

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/hostler/hostler/core/catalog"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"
)

func picture(t testing.TB, side int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, side, side))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// iconServer serves pictures by https and counts who asks for what.
type iconServer struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string]int
	at    int // how many are asked for at the same time
	most  int
}

func newIconServer(t testing.TB, serve map[string]http.HandlerFunc) *iconServer {
	t.Helper()
	s := &iconServer{asked: map[string]int{}}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked[r.URL.Path+r.Header.Get("If-None-Match")]++
		s.at++
		s.most = max(s.most, s.at)
		s.mu.Unlock()
		if handler := serve[r.URL.Path]; handler != nil {
			handler(w, r)
		} else {
			http.NotFound(w, r)
		}
		s.mu.Lock()
		s.at--
		s.mu.Unlock()
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *iconServer) count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[what]
}

// trusting lets a store call a server on this machine.
func trusting(s *iconServer) func(*catalog.Config) {
	return func(c *catalog.Config) {
		c.AllowLocal, c.Authorities = true, x509.NewCertPool()
		c.Authorities.AddCert(s.Certificate())
	}
}

func send(data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"one"`)
		w.Header().Set("Content-Type", "text/html") // what it says is not what counts
		if r.Header.Get("If-None-Match") == `"one"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(data)
	}
}

// Icons are mirrored by a refresh, and what they are is decided by their bytes.
func TestIcons(t *testing.T) {
	t.Parallel()
	red, webp := picture(t, 8), []byte("RIFF\x16\x00\x00\x00WEBPVP8 \x0a\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\x08\x00\x08\x00")
	var s *iconServer
	to := func(path string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, path, http.StatusFound) }
	}
	s = newIconServer(t, map[string]http.HandlerFunc{
		"/a.png": send(red), "/b": send(webp), "/svg": send([]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`)),
		"/large": send(append(bytes.Clone(red),
			make([]byte, sdk.MaxIcon)...)), "/one": to("/two"), "/two": to("/a.png"), "/three": to("/one"), "/loop": to("/loop"),
		"/down": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+r.Host+"/a.png", http.StatusFound)
		},
		"/bomb": send(picture(t, 2049)), "/private": to("https://10.0.0.1/a.png"), "/file": to("file:///etc/passwd"), "/empty": send(nil),
	})
	f := newFixture(t, trusting(s))
	state := catalogtest.State{}
	want := map[string]bool{"a.png": true, "b": true, "svg": false, "large": false, "one": true, "three": false, "loop": false, "down": false,
		"private": false, "bomb": false, "file": false, "empty": false, "missing": false}
	for path := range want {
		slug := strings.TrimSuffix(path, ".png")
		state.Entries = append(state.Entries, sdk.Entry{Slug: slug, Name: slug, Icon: s.URL + "/" + path})
	}
	f.mem.SetIcon("mine", red)
	f.mem.SetIcon("text", []byte("#!/bin/sh"))
	state.Entries = append(state.Entries, sdk.Entry{Slug: "own", Name: "own", Icon: "mine"}, sdk.Entry{Slug: "script", Name: "script",
		Icon: "text"},
		sdk.Entry{Slug: "plain", Name: "plain", Icon: strings.Replace(s.URL, "https", "http", 1) + "/a.png"}, sdk.Entry{Slug: "none",
			Name: "none"})
	want["own"], want["script"], want["plain"], want["none"] = true, false, false, false
	f.mem.Add(state)
	transcript := f.refreshed()
	items, err := f.List(t.Context(), catalog.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, item := range items {
		has[item.Slug] = item.HasIcon
	}
	for path, there := range want {
		slug := strings.TrimSuffix(path, ".png")
		icon, err := f.Icon(t.Context(), slug)
		if there != (err == nil) || there != has[slug] || err != nil && problem.CodeOf(err) != problem.CodeNotFound {
			t.Errorf("%s: %v, %v", path, has[slug], err)
		}
		if there && (icon.Type != "image/png" && icon.Type != "image/webp" || len(icon.Data) == 0) {
			t.Errorf("%s: %+v", path, icon.Type)
		}
	}
	if !strings.Contains(transcript, "16 icons checked, 4 new, 12 not available") {
		t.Error(transcript)
	}
	if n := f.Value("SELECT count(*) FROM catalog_icons"); n != "2" {
		t.Errorf("%s pictures are kept", n)
	}
	// Nothing is asked for again before its time, and then only whether it has changed; what fails is kept as it was.
	asked := s.count("/a.png")
	if f.refreshed(); s.count("/a.png") != asked || s.count("/svg") != 1 {
		t.Error("icons are fetched anew with each refresh")
	}
	f.Exec("UPDATE catalog_icon_references SET next_at = now()")
	if f.refreshed(); s.count(`/a.png"one"`) == 0 || s.count("/svg") != 2 {
		t.Errorf("asked: %v", s.asked)
	}
	s.Server.CloseClientConnections()
	s.Server.Close()
	f.Exec("UPDATE catalog_icon_references SET next_at = now()")
	f.refreshed()
	if _, err := f.Icon(t.Context(), "a"); err != nil {
		t.Error("an icon that cannot be fetched again is lost:", err)
	}
	// Nor is one shown that an earlier release has kept, which looked at the size of the file alone.
	f.Exec("UPDATE catalog_icons SET data = $1", picture(t, 2049))
	if icon, err := f.Icon(t.Context(), "a"); problem.CodeOf(err) != problem.CodeNotFound {
		t.Errorf("a picture with too many pixels is shown: %+v, %v", icon, err)
	}
	// What no entry names goes.
	f.mem.Add(catalogtest.State{Entries: state.Entries[:len(state.Entries)-1]})
	f.Exec("UPDATE catalog_entries SET icon = ''; UPDATE catalog_icon_references SET next_at = now()")
	if f.refreshed(); f.Value("SELECT count(*) FROM catalog_icon_references") != "0" || f.Value("SELECT count(*) FROM catalog_icons") != "0" {
		t.Error("icons that nothing names stay")
	}
}

// Hundreds of icons are fetched a few at a time, and only public addresses are called.
func TestIconsAreFetchedGently(t *testing.T) {
	t.Parallel()
	s := newIconServer(t, map[string]http.HandlerFunc{})
	f := newFixture(t, trusting(s))
	state := catalogtest.State{Entries: many(100).Entries}
	for i := range state.Entries {
		state.Entries[i].Icon, state.Entries[i].Categories = fmt.Sprintf("%s/%d.png", s.URL, i), nil
	}
	f.mem.Add(state)
	f.refreshed()
	if s.most > 4 || s.count("/99.png") != 1 {
		t.Errorf("%d at the same time", s.most)
	}
	strict := newFixture(t)
	strict.mem.Add(state)
	if got := strict.refreshed(); !strings.Contains(got, "100 not available") || s.count("/99.png") != 1 {
		t.Error(got)
	}
}
