package scripts_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/scripts"
	"github.com/hostler/hostler/plugins/scripts/scriptstest"
	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// A sync is two requests, and the next one a conditional request alone.
func TestRequestsOfASync(t *testing.T) {
	t.Parallel()
	server := scriptstest.NewServer(t)
	commit := server.Push(scriptstest.Small())
	c := open(t, server.Config())
	first := sync(t, c)
	if got := server.Requests(); len(got) != 2 || !strings.HasSuffix(got[1], "/archive/"+commit+".tar.gz") {
		t.Errorf("the first sync asked for %q", got)
	}
	second, err := trySync(t, c, catalog.SyncRequest{Cursor: first.End.Cursor}, first.Digests)
	if got := server.Requests(); err != nil || !second.Begin.Unchanged || len(got) != 1 {
		t.Errorf("the second sync is %+v, %v and asked for %q", second.Begin, err, got)
	}
	if _, _, err := bundle(t, c, "first", first.Begin.Pin); err != nil || len(server.Requests()) != 0 {
		t.Errorf("a bundle of what is there asks for something: %v", err)
	}
}

// What passes by itself is tried again, a limit is obeyed, and what does not pass is told as what it is.
func TestOriginThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	soon := func(w http.ResponseWriter, code int, header, value string) {
		w.Header().Set(header, value)
		w.WriteHeader(code)
	}
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		times  int32 // how often before the usual answer; 0 for ever
		kind   plugin.ErrorKind
		most   int32 // requests
	}{
		"429 once":        {func(w http.ResponseWriter, _ *http.Request) { soon(w, 429, "Retry-After", "0") }, 1, "", 4},
		"403 of a limit":  {func(w http.ResponseWriter, _ *http.Request) { soon(w, 403, "Retry-After", "0") }, 2, "", 5},
		"503 twice":       {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, 2, "", 5},
		"429 for an hour": {func(w http.ResponseWriter, _ *http.Request) { soon(w, 429, "Retry-After", "3600") }, 0, plugin.Busy, 1},
		"limit of an hour": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-RateLimit-Remaining", "0")
			soon(w, 403, "X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10))
		}, 0, plugin.Busy, 1},
		"500 for ever":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, 0, plugin.Unreachable, 4},
		"403 for ever":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, 0, plugin.Refused, 1},
		"404":              {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, 0, plugin.NotFound, 1},
		"304 unasked":      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304) }, 0, plugin.Refused, 1},
		"a page of a wall": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>log in")) }, 0, plugin.Protocol, 1},
		"breaks off once": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "40")
			_, _ = w.Write([]byte("abc"))
			panic(http.ErrAbortHandler)
		}, 1, "", 4},
		"breaks off for ever": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0, plugin.Unreachable, 8},
		"never answers":       {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 0, plugin.Timeout, 8},
		"redirected to http": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}, 0, plugin.Protocol, 1},
		"redirected without end": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, 0, plugin.Protocol, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := scriptstest.NewServer(t)
			server.Push(scriptstest.Small())
			var asked atomic.Int32
			server.SetHandler(func(w http.ResponseWriter, r *http.Request) {
				if n := asked.Add(1); c.times == 0 || n <= c.times {
					c.answer(w, r)
					return
				}
				server.ServeRepository(w, r)
			})
			answer := time.Minute
			if c.kind == plugin.Timeout {
				answer = 1500 * time.Millisecond
			}
			_, err := trySync(t, openWithin(t, answer, server.Config()), catalog.SyncRequest{}, nil)
			if (err == nil) != (c.kind == "") || err != nil && plugin.KindOf(err) != c.kind || asked.Load() > c.most {
				t.Errorf("%d requests, %v", asked.Load(), err)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{"": 0, "7": 7 * time.Second, "-1": 0, "x": 0, "99999999999999999999": 0,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute} {
		got := scripts.RetryAfter(http.Header{"Retry-After": {value}}, now)
		if (got - want).Abs() > time.Millisecond {
			t.Errorf("%q is %s", value, got)
		}
	}
}

// An archive that breaks off in the middle is fetched again, and none that is half is ever kept.
func TestArchiveBreaksOff(t *testing.T) {
	t.Parallel()
	server := scriptstest.NewServer(t)
	files := scriptstest.Small()
	server.Push(files)
	archive := files.Archive(t)
	var broken atomic.Int32
	server.SetHandler(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/archive/") && broken.Add(1) <= 2 {
			w.Header().Set("Content-Length", strconv.Itoa(len(archive)))
			_, _ = w.Write(archive[:len(archive)/2])
			panic(http.ErrAbortHandler)
		}
		server.ServeRepository(w, r)
	})
	config := server.Config()
	config.Cache = t.TempDir()
	sync(t, open(t, config))
	left, err := filepath.Glob(filepath.Join(config.Cache, "commits", ".half-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("%q is left over, %v", left, err)
	}
}

// A call ends with its context, also while it waits to try again.
func TestCancelEndsTheWait(t *testing.T) {
	t.Parallel()
	server := scriptstest.NewServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	server.SetHandler(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "2")
		w.WriteHeader(http.StatusTooManyRequests)
		cancel()
	})
	err := open(t, server.Config()).Sync(ctx, catalog.SyncRequest{}, func(catalog.SyncStep) error { return nil })
	if err == nil || ctx.Err() == nil {
		t.Errorf("the call ends with %v", err)
	}
}

// Addresses are judged when they are dialled, certificates by the authorities that were given, and a proxy is dialled in place of all.
func TestWhatIsDialled(t *testing.T) {
	t.Parallel()
	server := scriptstest.NewServer(t)
	server.Push(scriptstest.Small())
	config := server.Config()
	config.AllowLoopback = false
	if _, err := trySync(t, open(t, config), catalog.SyncRequest{}, nil); plugin.KindOf(err) != plugin.Forbidden {
		t.Errorf("loopback: %v", err)
	}
	if _, err := trySync(t, open(t, with(server.Config(), "ca", "")), catalog.SyncRequest{}, nil); plugin.KindOf(err) != plugin.Untrusted {
		t.Errorf("a strange authority: %v", err)
	}
	private := with(with(server.Config(), "api_url", "https://10.255.255.1"), "archives_url", "https://10.255.255.1")
	if _, err := trySync(t, open(t, private), catalog.SyncRequest{}, nil); plugin.KindOf(err) != plugin.Forbidden {
		t.Errorf("a private network: %v", err)
	}
	var connects atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connects.Add(1)
		if r.Method != http.MethodConnect || r.Host != "origin.invalid:443" {
			t.Errorf("the proxy is asked for %s %s", r.Method, r.Host)
		}
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(proxy.Close)
	proxied := with(with(server.Config(), "proxy", proxy.URL), "api_url", "https://origin.invalid")
	_, err := trySync(t, open(t, proxied), catalog.SyncRequest{}, nil)
	if plugin.KindOf(err) != plugin.Unreachable || connects.Load() == 0 {
		t.Errorf("the proxy was asked %d times: %v", connects.Load(), err)
	}
	secret := with(server.Config(), "proxy", "http://somebody:canary-of-a-proxy@"+strings.TrimPrefix(proxy.URL, "http://"))
	if _, err := trySync(t, open(t, with(secret, "api_url", "https://origin.invalid")), catalog.SyncRequest{}, nil); err == nil ||
		strings.Contains(err.Error(), "canary") {
		t.Errorf("the error is %v", err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for key, values := range map[string][]string{
		"repository": {"x", "../x/y", "a/b/c", "a/.."}, "engine_repository": {"x", scriptstest.Name}, "ref": {"a..b", "-x", "a//b", "x?y"},
		"archives_url": {"ftp://x", "https://u:p@x", "https://x?y"}, "api_url": {"x"}, "mirror": {"relative"}, "proxy": {"x", "http://x/y"},
		"ca": {"no certificate"}, "unknown": {"x"},
	} {
		for _, value := range values {
			_, err := scripts.NewQuick(time.Minute).Open(t.Context(), catalog.Config{Cache: t.TempDir(), Options: map[string]string{key: value}})
			if known, ok := err.(*plugin.Error); !ok || known.Kind != plugin.Invalid || known.Field != key { //nolint:errorlint // it is that itself
				t.Errorf("%s=%q: %v", key, value, err)
			}
		}
	}
}

// A folder is an origin too.
func TestMirror(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	files := scriptstest.Small()
	for name, content := range map[string][]byte{files.Commit() + ".tar.gz": files.Archive(t), "main": []byte(files.Commit() + "\n")} {
		name = filepath.Join(folder, scriptstest.Name, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := open(t, catalog.Config{Options: map[string]string{"mirror": folder}})
	if err := c.Health(t.Context()); err != nil {
		t.Error(err)
	}
	if got := sync(t, c); !got.Begin.Pin.Equal(pinOf(files.Commit())) {
		t.Errorf("it is at %s", got.Begin.Pin)
	}
	c = open(t, catalog.Config{Options: map[string]string{"mirror": folder, "ref": "other"}})
	if _, err := trySync(t, c, catalog.SyncRequest{}, nil); plugin.KindOf(err) != plugin.NotFound {
		t.Error(err)
	}
}
