package release_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/updater/release"
)

func TestLatestAndDownload(t *testing.T) {
	t.Parallel()
	key := newSigner(t)
	p := publish(t, "1.2.0", nil, key)
	local, err := release.NewSource(p.dir, release.SourceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	remote := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, fmt.Sprint(r.Header))
		files(p.dir).ServeHTTP(w, r)
	}), release.SourceOptions{})
	for name, source := range map[string]release.Source{"folder": local, "server": remote} {
		m, raw, by, err := release.Latest(t.Context(), source, []release.Key{key.Key})
		if err != nil || m.Version != "1.2.0" || by.ID != key.Key.ID || string(raw) != string(p.raw) {
			t.Fatalf("%s: %+v, %v", name, m, err)
		}
		file, err := m.Tarball("linux/amd64")
		if err != nil {
			t.Fatal(err)
		}
		var told int64
		path := filepath.Join(t.TempDir(), "x")
		if err := release.Download(t.Context(), source, file, path, func(n int64) { told = n }); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != file.Size || told != file.Size {
			t.Errorf("%s: %v, %v, %d", name, info, err, told)
		}
		if _, err := m.Tarball("plan9/mips"); err == nil {
			t.Error("there is a file for an architecture that the manifest does not name")
		}
	}
	// Nothing in the request tells who asks.
	for _, headers := range asked {
		if headers != "map[User-Agent:[hostler]]" {
			t.Errorf("the request had %s", headers)
		}
	}
}

func TestPlacesThatAreNoSource(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"", "relative", "http://hostler.example/", "ftp://x/", "https://", "https://user:canary@x/",
		"https://x/?a=1", "https://x/#a", "file:///x", "//x"} {
		if source, err := release.NewSource(place, release.SourceOptions{}); err == nil && place != "//x" {
			t.Errorf("%q is %v", place, source)
		} else if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("%v", err)
		}
	}
}

// A server may do what it likes: nothing is kept that is not exactly what the manifest says, and nothing goes on for ever.
func TestServersThatCheat(t *testing.T) {
	t.Parallel()
	key := newSigner(t)
	p := publish(t, "1.2.0", nil, key)
	file := p.manifest.Files["linux/amd64"]
	tarball := read(t, filepath.Join(p.dir, file.Name))
	plain := httptest.NewServer(http.StripPrefix("/plain/", http.FileServer(http.Dir(p.dir))))
	t.Cleanup(plain.Close)
	body := func(write func(w http.ResponseWriter, r *http.Request)) http.HandlerFunc { return write }
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    error
		says    string
	}{
		"not there":    {body(func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }), fs.ErrNotExist, ""},
		"server error": {body(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }), nil, "500"},
		"truncated":    {body(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(tarball[:100]) }), release.ErrSize, ""},
		"cut off": {body(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "999")
			_, _ = w.Write(tarball[:100])
		}), nil, "EOF"},
		"one byte changed": {body(func(w http.ResponseWriter, _ *http.Request) {
			bad := append([]byte{}, tarball...)
			bad[50] ^= 1
			_, _ = w.Write(bad)
		}), release.ErrChecksum, ""},
		"one byte more": {body(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(append(append([]byte{}, tarball...), 0)) }),
			release.ErrSize, ""},
		"without end": {body(func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}), release.ErrSize, ""},
		"silent": {body(func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write(tarball[:10])
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}), nil, "stopped sending"},
		"redirect to http": {body(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, plain.URL+"/plain/"+file.Name, http.StatusFound)
		}), nil, "not https"},
		"redirect without end": {body(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }), nil,
			"redirects too often"},
		"compressed twice": {body(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(tarball)
		}), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			idle := time.Minute
			if name == "silent" {
				idle = 5 * time.Second
			}
			source := serve(t, test.handler, release.SourceOptions{Idle: idle})
			path := filepath.Join(t.TempDir(), "x")
			err := release.Download(t.Context(), source, file, path, nil)
			if name == "compressed twice" { // the bytes are the tarball's own; the header changes nothing
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || (test.want != nil && !errors.Is(err, test.want)) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v", err)
			}
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("something was left: %v", err)
			}
		})
	}
}

// A server decides neither how long it is waited for nor what is told of it.
func TestServersThatDetain(t *testing.T) {
	t.Parallel()
	status := func(line string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = conn.Write([]byte("HTTP/1.1 " + line + "\r\nContent-Length: 0\r\n\r\n"))
			_ = conn.Close()
		}
	}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		says    string
		idle    time.Duration
	}{
		"come back in a year": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "31536000")
			w.WriteHeader(http.StatusServiceUnavailable)
		}, says: "503"},
		"an error without end": {handler: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(http.StatusInternalServerError)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, says: "too slowly", idle: 5 * time.Second},
		"a long status":    {handler: status("403 " + strings.Repeat("x", 1<<20)), says: "exceeded"},
		"a strange status": {handler: status("403 \x1b]0;canary\a"), says: "403 Forbidden"},
		"a strange answer": {handler: status("4o3 " + strings.Repeat("x", 1<<20))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.idle != 0 && testing.Short() {
				t.Skip("a test that waits half a minute")
			}
			source := serve(t, test.handler, release.SourceOptions{Idle: cmp.Or(test.idle, time.Minute), Retries: 1})
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			_, err := source.Open(ctx, release.ManifestName)
			if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), test.says) || strings.ContainsAny(err.Error(), "\x1b\a") ||
				len(err.Error()) > 500 {
				t.Errorf("%v, %.500v", ctx.Err(), err)
			}
		})
	}
}

func TestManifestWithoutEnd(t *testing.T) {
	t.Parallel()
	source := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}), release.SourceOptions{})
	if _, _, _, err := release.Latest(t.Context(), source, []release.Key{newSigner(t).Key}); err == nil ||
		!strings.Contains(err.Error(), "larger") {
		t.Error(err)
	}
}

func TestStrangeCertificate(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	source, err := release.NewSource(s.URL, release.SourceOptions{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := source.Open(t.Context(), release.ManifestName); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Error(err)
	}
}

func TestDownloadKeepsNoExistingFile(t *testing.T) {
	t.Parallel()
	p := publish(t, "1.2.0", nil, newSigner(t))
	source, err := release.NewSource(p.dir, release.SourceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x")
	write(t, path, "mine", 0o600)
	if err := release.Download(t.Context(), source, p.manifest.Files["linux/amd64"], path, nil); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if string(read(t, path)) != "mine" {
		t.Error("the file was overwritten")
	}
}
