package selfupdate_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/selfupdate"
	"github.com/hostler/hostler/core/selfupdate/selfupdatetest"
	"github.com/hostler/hostler/updater/installation"
	"github.com/hostler/hostler/updater/release"
)

// What is found is told, also by another instance and after a restart, and only while it fits what is installed.
func TestLook(t *testing.T) {
	t.Parallel()
	began := time.Now().Add(-time.Second)
	i := start(t, nil)
	if s := i.status(); s.Available != nil || s.LastCheck != nil || !s.CanSelfApply || s.State != "idle" || s.Channel != "stable" ||
		s.CurrentVersion != "1.0.0" || len(s.Problems) > 0 {
		t.Errorf("before: %+v", s)
	}
	i.Publish("1.1.0", nil)
	if got := i.look(); got != "" {
		t.Fatal(got)
	}
	other := again(t, i.url, i.Installation, nil)
	s := other.status()
	if s.LastCheck == nil || s.LastCheck.Error != "" || s.LastCheck.At.Before(began) || s.Available == nil {
		t.Fatalf("%+v", s)
	}
	if a := s.Available; a.Version != "1.1.0" || a.Channel != "stable" || a.NotesURL != "https://hostler.example/1.1.0" || a.Size != 4711 ||
		!a.Date.Equal(selfupdatetest.Day.AddDate(0, 0, 1)) || !a.CheckedAt.Equal(s.LastCheck.At) {
		t.Errorf("%+v", a)
	}
	// The same again is no replay.
	if got := i.look(); got != "" {
		t.Error(got)
	}
	// A look that fails takes nothing away of what is known, and tells when that was confirmed last.
	found := i.status().Available.CheckedAt
	if err := os.Remove(filepath.Join(i.Releases, release.ManifestName)); err != nil {
		t.Fatal(err)
	}
	if got := i.look(); got != "release_source_error missing" {
		t.Error(got)
	}
	if s := other.status(); s.Available == nil || !s.Available.CheckedAt.Equal(found) || s.LastCheck.Error == "" ||
		!s.LastCheck.At.After(found) {
		t.Errorf("%+v", s)
	}
	// Once it is installed it is no longer available.
	newer := selfupdatetest.New(t, "1.1.0")
	newer.Configure(func(c *installation.Config) { c.Source = i.Releases })
	if s := again(t, i.url, newer, nil).status(); s.Available != nil || s.CurrentVersion != "1.1.0" {
		t.Errorf("%+v", s)
	}
	// Nor when its channel is not followed any more.
	i.Configure(func(c *installation.Config) { c.Channel = "beta" })
	if s := i.status(); s.Available != nil || s.Channel != "beta" {
		t.Errorf("%+v", s)
	}
}

// Releases that are signed and still not to be installed.
func TestReleasesThatDoNotFit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		version string
		edit    func(*release.Manifest)
		look    string
		hint    string
	}{
		"older":             {"0.9.0", func(m *release.Manifest) { m.Minimum = "0.1.0" }, "", ""},
		"the same":          {"1.0.0", nil, "", ""},
		"a candidate of it": {"1.0.0-rc.1", func(m *release.Manifest) { m.Minimum = "0.1.0" }, "", ""},
		"minimum above":     {"2.0.0", func(m *release.Manifest) { m.Minimum = "1.5.0" }, "", "1.5.0"},
		"another channel":   {"1.1.0", func(m *release.Manifest) { m.Channel = "beta" }, "release_source_error channel", ""},
		"not for the kernel": {"1.1.0", func(m *release.Manifest) {
			m.Files = map[string]release.File{"plan9/mips": m.Files[selfupdatetest.Architecture]}
		}, "", "linux/amd64"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := start(t, nil)
			i.Publish(test.version, test.edit)
			if got := i.look(); got != test.look {
				t.Errorf("the look: %q", got)
			}
			if s := i.status(); s.Available != nil || !strings.Contains(s.Hint, test.hint) || (s.LastCheck.Error != "") != (test.look != "") {
				t.Errorf("%+v", s)
			}
			if _, err := i.Request(t.Context(), ""); err == nil {
				t.Error("it was asked for")
			}
			if _, err := os.Lstat(i.Config.Request); err == nil {
				t.Error("a request was written")
			}
		})
	}
}

// A release that is older than one that was seen is refused, by every instance, whoever serves it.
func TestReplays(t *testing.T) {
	t.Parallel()
	i := start(t, nil)
	at := func(days int) func(*release.Manifest) {
		return func(m *release.Manifest) { m.Date = selfupdatetest.Day.AddDate(0, 0, days) }
	}
	i.Publish("1.2.0", at(5))
	if got := i.look(); got != "" {
		t.Fatal(got)
	}
	other := again(t, i.url, i.Installation, nil)
	for name, publish := range map[string]func(){
		"older":             func() { i.Publish("1.1.0", at(4)) },
		"older, dated anew": func() { i.Publish("1.1.0", at(6)) },
		"newer, dated back": func() { i.Publish("1.3.0", at(4)) },
		"of the same date":  func() { i.Publish("1.3.0", at(5)) },
	} {
		publish()
		if got := other.look(); got != "release_source_error replayed" {
			t.Errorf("%s: %s", name, got)
		}
		if s := other.status(); s.Available == nil || s.Available.Version != "1.2.0" || !strings.Contains(s.LastCheck.Error, "older") {
			t.Errorf("%s: %+v", name, s)
		}
		if _, err := i.Request(t.Context(), "1.1.0"); reason(err) != "release_source_error replayed" {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Another channel has a past of its own, and the first keeps its.
	i.Configure(func(c *installation.Config) { c.Channel = "beta" })
	i.Publish("1.1.0", func(m *release.Manifest) { m.Channel, m.Date = "beta", selfupdatetest.Day })
	if got := i.look(); got != "" {
		t.Error(got)
	}
	i.Configure(func(c *installation.Config) { c.Channel = "stable" })
	i.Publish("1.1.0", at(4))
	if got := i.look(); got != "release_source_error replayed" {
		t.Errorf("after a detour: %s", got)
	}
	i.Publish("1.3.0", at(9))
	if got := i.look(); got != "" || i.status().Available.Version != "1.3.0" {
		t.Errorf("a newer one: %s", got)
	}
}

// Servers may do what they like: nothing is believed that is not signed, nothing goes on for ever, and the fault is told.
func TestServersThatCheat(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	files := func(i *instance) http.Handler {
		return http.StripPrefix("/releases/", http.FileServer(http.Dir(i.Releases)))
	}
	spoil := func(name string, spoil func([]byte) []byte) func(*instance) http.HandlerFunc {
		return func(i *instance) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				if filepath.Base(r.URL.Path) != name {
					files(i).ServeHTTP(w, r)
					return
				}
				text, err := os.ReadFile(filepath.Join(i.Releases, name))
				if err != nil {
					panic(err)
				}
				_, _ = w.Write(spoil(text))
			}
		}
	}
	always := func(handler http.HandlerFunc) func(*instance) http.HandlerFunc {
		return func(*instance) http.HandlerFunc { return handler }
	}
	endless := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<14)); err != nil {
				return
			}
		}
	}
	for name, test := range map[string]struct {
		handler func(*instance) http.HandlerFunc
		want    string
	}{
		"honest":    {func(i *instance) http.HandlerFunc { return files(i).ServeHTTP }, ""},
		"not there": {always(http.NotFound), "missing"},
		"out of order": {always(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }),
			"unreachable"},
		"one byte changed": {spoil(release.ManifestName, func(b []byte) []byte { b[30] ^= 1; return b }), "not_signed"},
		"no signature":     {spoil(release.SignatureName, func([]byte) []byte { return nil }), "not_signed"},
		"false signature":  {spoil(release.SignatureName, func(b []byte) []byte { b[3] ^= 1; return b }), "not_signed"},
		"garbage": {always(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("\x00\x1b[2J<html>\xff")) }),
			"not_signed"},
		"endless": {always(endless), "invalid"},
		"slow": {always(func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte(" "))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		}), "timeout"},
		"silent": {always(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), "timeout"},
		"cut off": {always(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "999")
			_, _ = w.Write([]byte("{"))
		}), "unreachable"},
		"redirect to http": {always(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, plain.URL+"/canary", http.StatusFound)
		}), "unreachable"},
		"round in circles": {always(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }),
			"unreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := start(t, nil)
			i.Publish("1.1.0", nil)
			url, options := server(t, test.handler(i))
			limit := 3 * time.Minute
			if test.want == "timeout" {
				limit = 2 * time.Second
			}
			i = again(t, i.url, i.Installation, func(c *selfupdate.Config) { c.Source, c.CheckTimeout = options, limit })
			i.Configure(func(c *installation.Config) { c.Source = url })
			want := test.want
			if want != "" {
				want = "release_source_error " + want
			}
			if got := i.look(); got != want {
				t.Errorf("%q, want %q", got, want)
			}
			s := i.status()
			if (s.Available != nil) != (want == "") || (s.LastCheck.Error != "") != (want != "") ||
				strings.ContainsAny(s.LastCheck.Error, "\x00\x1b\n") || strings.Contains(s.LastCheck.Error, "canary") {
				t.Errorf("%+v %+v", s, s.LastCheck)
			}
			if want != "" {
				if _, err := i.Request(t.Context(), ""); reason(err) != want {
					t.Errorf("a request: %v", err)
				}
				if _, err := os.Lstat(i.Config.Request); err == nil {
					t.Error("a request was written")
				}
			}
		})
	}
}

// Only who is trusted is believed.
func TestKeys(t *testing.T) {
	t.Parallel()
	i := start(t, nil)
	i.Publish("1.1.0", nil, selfupdatetest.NewSigner(t))
	if got := i.look(); got != "release_source_error not_signed" {
		t.Errorf("a foreign key: %s", got)
	}
	i.Publish("1.1.0", nil)
	key := filepath.Join(i.Config.Keys, "test.pub")
	if err := os.Chmod(key, 0o666); err != nil {
		t.Fatal(err)
	}
	if got := i.look(); got != "release_source_error keys" {
		t.Errorf("a key that anybody may write: %s", got)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if got := i.look(); got != "release_source_error keys" {
		t.Errorf("no key: %s", got)
	}
	i.Configure(func(c *installation.Config) { c.Source = "http://hostler.example/canary" })
	if got := i.look(); got != "release_source_error invalid" {
		t.Errorf("a source without TLS: %s", got)
	}
	i.Configure(func(c *installation.Config) { c.Source, c.Channel = "", "" })
	if got := i.look(); got != "invalid_state not_configured" {
		t.Errorf("no source: %s", got)
	}
}

// Nothing that leaves the machine tells who asks: the requests of two installations are the same, byte by byte.
func TestRequestsTellNothing(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []string
	i := start(t, nil)
	i.Publish("1.1.0", nil)
	url, options := server(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		raw, err := httputil.DumpRequest(r, true)
		if err != nil {
			t.Error(err)
		}
		seen = append(seen, string(raw))
		http.StripPrefix("/releases/", http.FileServer(http.Dir(i.Releases))).ServeHTTP(w, r)
	})
	with := func(version string) func(*selfupdate.Config) {
		return func(c *selfupdate.Config) { c.Source, c.Version = options, version }
	}
	i.Configure(func(c *installation.Config) { c.Source = url })
	one := again(t, i.url, i.Installation, with("1.0.0"))
	other := again(t, dbtest.URL(t), i.Installation, with("0.7.3"))
	for range 2 {
		for _, asks := range []*instance{one, other} {
			if got := asks.look(); got != "" {
				t.Fatal(got)
			}
		}
	}
	if len(seen) != 8 {
		t.Fatalf("%d requests", len(seen))
	}
	for n, raw := range seen {
		name := []string{release.ManifestName, release.SignatureName}[n%2]
		lines := strings.Split(strings.TrimRight(raw, "\r\n"), "\r\n")
		if lines[0] != "GET /releases/"+name+" HTTP/1.1" || raw != seen[n%2] {
			t.Errorf("request %d: %q", n, raw)
		}
		for _, header := range lines[1:] {
			key, _, _ := strings.Cut(header, ":")
			if !slices.Contains([]string{"Host", "User-Agent"}, key) ||
				strings.ContainsAny(strings.TrimPrefix(header, "Host: "+strings.TrimSuffix(strings.TrimPrefix(url, "https://"), "/releases")),
					"0123456789") {
				t.Errorf("request %d has %q", n, header)
			}
		}
	}
	if host, err := os.Hostname(); err == nil && len(host) > 3 && strings.Contains(strings.Join(seen, ""), host) {
		t.Error("the machine's name was sent")
	}
}

// The bytes on the wire are as few: a listener that speaks TLS sees no more in the handshake than the address.
func TestHandshakeTellsNothing(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	hello := make(chan string, 4)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
			first := make([]byte, 4096)
			n, _ := bufio.NewReader(conn).Read(first)
			hello <- string(first[:n])
			_ = conn.Close()
		}
	}()
	i := start(t, func(c *selfupdate.Config) { c.CheckTimeout, c.Source.Retries = 3*time.Minute, -1 })
	i.Configure(func(c *installation.Config) { c.Source = fmt.Sprintf("https://%s/releases", listener.Addr()) })
	if got := i.look(); got != "release_source_error unreachable" {
		t.Errorf("%q", got)
	}
	text := <-hello
	host, _ := os.Hostname()
	for _, word := range []string{"1.0.0", "releases", i.Dir, host} {
		// A shorter name may be among the random bytes.
		if len(word) >= 5 && strings.Contains(text, word) {
			t.Errorf("the handshake has %q", word)
		}
	}
}

// A look that is given up by who asked leaves nothing: the source has done nothing wrong.
func TestLookGivenUp(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	url, options := server(t, func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	})
	i := start(t, func(c *selfupdate.Config) { c.Source = options })
	i.Configure(func(c *installation.Config) { c.Source = url })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	if _, err := i.Check(ctx); err == nil || i.status().LastCheck != nil {
		t.Errorf("%v, %+v", err, i.status().LastCheck)
	}
}
