package ui_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hostler/hostler/core/proxy"
	"github.com/hostler/hostler/core/ui"
)

func handler(t *testing.T, files fs.FS) http.Handler {
	t.Helper()
	h, err := ui.Handler(files)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func ask(h http.Handler, method, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// small is a page of a few files.
func small() fstest.MapFS {
	return fstest.MapFS{
		"index.html":         {Data: []byte(`<script src="./assets/main-1.js"></script><a href="./icon.svg">`)},
		"assets/main-1.js":   {Data: bytes.Repeat([]byte("let page = 1\n"), 200)},
		"console.html":       {Data: []byte(`<script src="./assets/console-1.js"></script>`)},
		"api-docs.html":      {Data: []byte(`<script src="./assets/api-docs-1.js"></script>`)},
		"icon.svg":           {Data: []byte("<svg/>")},
		"README":             {Data: []byte("x")},
		"assets/strange.exe": {Data: []byte("x")},
	}
}

func TestHandlerServesThePage(t *testing.T) {
	t.Parallel()
	h := handler(t, small())
	for _, test := range []struct {
		method, path  string
		status        int
		content, kind string
		cache         string
	}{
		{"GET", "/", 200, `src="/assets/main-1.js"`, "text/html; charset=utf-8", "no-cache"},
		{"GET", "/index.html", 200, `src="/assets/main-1.js"`, "text/html; charset=utf-8", "no-cache"},
		{"GET", "/guests/vm/12", 200, `href="/icon.svg"`, "text/html; charset=utf-8", "no-cache"},
		{"GET", "/console.html", 200, `src="./assets/console-1.js"`, "text/html; charset=utf-8", "no-cache"},
		{"GET", "/api-docs.html", 200, `src="./assets/api-docs-1.js"`, "text/html; charset=utf-8", "no-cache"},
		{"GET", "/console/vm/3", 200, `src="/assets/main-1.js"`, "text/html; charset=utf-8", "no-cache"},
		{"GET", "/icon.svg", 200, "<svg/>", "image/svg+xml", "no-cache"},
		{"GET", "/assets/main-1.js", 200, "let page = 1", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
		{"GET", "/assets/main-2.js", 404, "does not have this file", "text/plain; charset=utf-8", "no-cache"},
		{"GET", "/assets/strange.exe", 404, "does not have this file", "text/plain; charset=utf-8", "no-cache"},
		{"GET", "/README", 200, `src="/assets/main-1.js"`, "text/html; charset=utf-8", "no-cache"},
		{"GET", "/%2e%2e/%2e%2e/etc/passwd", 200, `src="/assets/main-1.js"`, "text/html; charset=utf-8", "no-cache"},
		{"GET", "/a%00b", 200, `src="/assets/main-1.js"`, "text/html; charset=utf-8", "no-cache"},
		{"POST", "/", 405, "GET", "text/plain; charset=utf-8", ""},
	} {
		w := ask(h, test.method, test.path)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.content) || w.Header().Get("Content-Type") != test.kind ||
			w.Header().Get("Cache-Control") != test.cache {
			t.Errorf("%s %s: %d %v %q", test.method, test.path, w.Code, w.Header(), w.Body)
		}
	}
	if w := ask(h, "HEAD", "/"); w.Code != 200 || w.Body.Len() != 0 || w.Header().Get("Content-Length") == "0" {
		t.Errorf("HEAD: %d %v %q", w.Code, w.Header(), w.Body)
	}
}

func TestHandlerCompressesAndKnowsWhatTheReaderHas(t *testing.T) {
	t.Parallel()
	files := small()
	h := handler(t, files)
	plain := files["assets/main-1.js"].Data
	for accept, compressed := range map[string]bool{"": false, "gzip": true, "br;q=1, gzip;q=0.5": true, "gzip;q=0": false, "br": false,
		"*": true} {
		w := ask(h, "GET", "/assets/main-1.js", "Accept-Encoding", accept)
		var body io.Reader = w.Body
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != compressed {
			t.Errorf("%q: compressed is %v", accept, got)
		} else if got {
			var err error
			if body, err = gzip.NewReader(body); err != nil {
				t.Fatal(err)
			}
		}
		if content, err := io.ReadAll(body); err != nil || !bytes.Equal(content, plain) {
			t.Errorf("%q: %d bytes, %v", accept, len(content), err)
		}
		tag := w.Header().Get("ETag")
		again := ask(h, "GET", "/assets/main-1.js", "Accept-Encoding", accept, "If-None-Match", `"other", W/`+tag)
		if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
			t.Errorf("%q: %d for who has %s", accept, again.Code, tag)
		}
	}
	if w := ask(h, "GET", "/", "If-None-Match", `"other"`); w.Code != 200 {
		t.Errorf("another version: %d", w.Code)
	}
}

// Behind a proxy that gives the service a path, the document names its files below it.
func TestHandlerBelowAPath(t *testing.T) {
	t.Parallel()
	base, err := proxy.ParseBaseURL("https://example.com/hostler")
	if err != nil {
		t.Fatal(err)
	}
	config := proxy.Config{BaseURL: base}
	inner := handler(t, small())
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen, err := config.Request(r)
		if err != nil {
			t.Error(err)
		}
		inner.ServeHTTP(w, seen)
	})
	for _, path := range []string{"/hostler/", "/hostler/guests/1", "/"} {
		if w := ask(h, "GET", path); !strings.Contains(w.Body.String(), `src="/hostler/assets/main-1.js"`) {
			t.Errorf("%s: %s", path, w.Body)
		}
	}
	script := ask(h, "GET", "/hostler/assets/main-1.js")
	if w := script; w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/javascript") {
		t.Errorf("the script: %d", w.Code)
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	h := handler(t, small())
	for _, path := range []string{"/", "/guests", "/icon.svg", "/assets/main-1.js", "/assets/gone.js"} {
		header := ask(h, "GET", path).Header()
		policy := header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'",
			"form-action 'none'", "require-trusted-types-for 'script'", "trusted-types svelte-trusted-html hostler-worker"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: the policy %q lacks %s", path, policy, part)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
			t.Errorf("%s: the policy is %q", path, policy)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin"} {
			if got := header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if !strings.Contains(header.Get("Permissions-Policy"), "camera=()") {
			t.Errorf("%s: permissions %q", path, header.Get("Permissions-Policy"))
		}
	}
}

// Two documents are looser than the page, each in what its library cannot do without: that of consoles, which pages of ours may frame,
// and that of the API reference.
func TestHeadersOfDocumentsOfTheirOwn(t *testing.T) {
	t.Parallel()
	h := handler(t, small())
	page := strings.Split(ask(h, "GET", "/").Header().Get("Content-Security-Policy"), "; ")
	for _, test := range []struct {
		path, framing string
		others, lacks []string
	}{
		{"/console.html", "SAMEORIGIN",
			[]string{"style-src 'self' 'unsafe-inline'", "frame-src 'none'", "frame-ancestors 'self'", "trusted-types 'none'"},
			[]string{"style-src 'self'", "frame-src 'self'", "frame-ancestors 'none'", "trusted-types svelte-trusted-html hostler-worker"}},
		{"/api-docs.html", "DENY", []string{"style-src 'self' 'unsafe-inline'", "frame-src 'none'"},
			[]string{"style-src 'self'", "frame-src 'self'", "require-trusted-types-for 'script'",
				"trusted-types svelte-trusted-html hostler-worker"}},
	} {
		header := ask(h, "GET", test.path).Header()
		got := strings.Split(header.Get("Content-Security-Policy"), "; ")
		if others := without(got, page); !slices.Equal(others, test.others) {
			t.Errorf("%s: beside the page's policy it has %q", test.path, others)
		}
		if lacks := without(page, got); !slices.Equal(lacks, test.lacks) {
			t.Errorf("%s: of the page's policy it lacks %q", test.path, lacks)
		}
		if framing := header.Get("X-Frame-Options"); framing != test.framing {
			t.Errorf("%s: X-Frame-Options is %q", test.path, framing)
		}
		for _, name := range []string{"X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy", "Permissions-Policy"} {
			if header.Get(name) == "" {
				t.Errorf("%s: there is no %s", test.path, name)
			}
		}
	}
}

// without returns the texts of all that are not among some.
func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(text string) bool { return slices.Contains(some, text) })
}

// The built page holds nothing that its policy forbids: no inline script or style, and no address of another site.
func TestBuiltPageFitsItsPolicy(t *testing.T) {
	t.Parallel()
	files := dist(t)
	documents := string(read(t, files, "index.html")) + string(read(t, files, "console.html")) + string(read(t, files, "api-docs.html"))
	inline := regexp.MustCompile(`(?i)<script(?:\s[^>]*)?>[^<]|<style|\sstyle=|\son[a-z]+=`)
	elsewhere := regexp.MustCompile(`(?:src|href)="(?:https?:)?//`)
	if inline.MatchString(documents) || elsewhere.MatchString(documents) {
		t.Errorf("the documents: %s", documents)
	}
	h := handler(t, files)
	for _, match := range regexp.MustCompile(`(?:src|href)="\.(/[^"/]+|/assets/[^"]+)"`).FindAllStringSubmatch(documents, -1) {
		if w := ask(h, "GET", match[1]); w.Code != 200 || strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d %s", match[1], w.Code, w.Header().Get("Content-Type"))
		}
	}
}

func TestHandlerWithoutFiles(t *testing.T) {
	t.Parallel()
	if h, err := ui.Handler(nil); h != nil || err != nil {
		t.Errorf("without files: %v, %v", h, err)
	}
	h := handler(t, fstest.MapFS{".gitignore": {}})
	for _, path := range []string{"/", "/guests/vm/1"} {
		if w := ask(h, "GET", path); w.Code != 200 || !strings.Contains(w.Body.String(), "make build") {
			t.Errorf("%s before the page is built: %d %s", path, w.Code, w.Body)
		}
	}
}
