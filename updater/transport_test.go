package updater

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/updater/installation"
	"github.com/hostler/hostler/updater/release"
)

// A release server that is broken or hostile costs nothing but the attempt.
func TestHostileServers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(newVersion, "")
	tarball := "hostler-" + newVersion + ".tar.gz"
	file := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(s.out, name))
		if err != nil {
			t.Error(err)
		}
		return text
	}
	whole := file(tarball)
	length := func(w http.ResponseWriter, n int) { w.Header().Set("Content-Length", fmt.Sprint(n)) }
	until := func(w http.ResponseWriter, r *http.Request, every time.Duration, piece []byte) {
		for r.Context().Err() == nil {
			if _, err := w.Write(piece); err != nil {
				return
			}
			if every > 0 {
				_ = http.NewResponseController(w).Flush() // the write tells
				time.Sleep(every)
			}
		}
	}
	for _, test := range []struct {
		name, of, says string
		answer         func(w http.ResponseWriter, r *http.Request)
	}{
		{"redirect to http", release.ManifestName, "not https", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:9/"+release.ManifestName, http.StatusFound)
		}},
		{"redirect of the tarball to http", tarball, "not https", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:9/x.tar.gz", http.StatusFound)
		}},
		{"redirects without end", release.ManifestName, "redirects too often", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/"+release.ManifestName, http.StatusFound)
		}},
		{"redirect to a file", release.ManifestName, "not https", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "file:///etc/passwd")
			w.WriteHeader(http.StatusFound)
		}},
		{"endless manifest", release.ManifestName, "larger than",
			func(w http.ResponseWriter, r *http.Request) { until(w, r, 0, make([]byte, 4096)) }},
		{"endless signature", release.SignatureName, "larger than",
			func(w http.ResponseWriter, r *http.Request) { until(w, r, 0, make([]byte, 4096)) }},
		{"endless tarball", tarball, "the size of", func(w http.ResponseWriter, r *http.Request) { until(w, r, 0, make([]byte, 1<<20)) }},
		{"slow drip", tarball, "too slowly", func(w http.ResponseWriter, r *http.Request) { until(w, r, 50*time.Millisecond, []byte{0}) }},
		{"slow drip of the manifest", release.ManifestName, "too slowly",
			func(w http.ResponseWriter, r *http.Request) { until(w, r, 50*time.Millisecond, []byte{' '}) }},
		{"stops half-way", tarball, "stopped sending", func(w http.ResponseWriter, r *http.Request) {
			length(w, len(whole))
			_, _ = w.Write(whole[:100_000])
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}},
		{"cut half-way", tarball, "unexpected EOF", func(w http.ResponseWriter, r *http.Request) {
			length(w, len(whole))
			_, _ = w.Write(whole[:100_000])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}},
		{"short length", tarball, "the size of", func(w http.ResponseWriter, r *http.Request) {
			length(w, 1000)
			_, _ = w.Write(whole[:1000])
		}},
		{"long length", tarball, "unexpected EOF", func(w http.ResponseWriter, r *http.Request) {
			length(w, len(whole)+1000)
			_, _ = w.Write(whole)
		}},
		{"errors", release.ManifestName, "500", func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "canary of the server", http.StatusInternalServerError)
		}},
		{"errors of the tarball", tarball, "503",
			func(w http.ResponseWriter, r *http.Request) { http.Error(w, "", http.StatusServiceUnavailable) }},
		{"no answer", release.ManifestName, "timeout", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
		{"compressed manifest", release.ManifestName, "not signed", func(w http.ResponseWriter, r *http.Request) {
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			_, _ = z.Write(file(release.ManifestName))
			_ = z.Close()
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		}},
		{"a page in place of the manifest", release.ManifestName, "not signed", func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte("<html>sign in to the hotel's network</html>"))
		}},
		{"part of the manifest", release.ManifestName, "206",
			func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusPartialContent) }},
	} {
		answer := func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/"+test.of {
				return false
			}
			test.answer(w, r)
			return true
		}
		s.hostile.Store(&answer)
		config := s.config()
		// A slow machine must not be taken for a slow server: only what is to be found in time has little of it.
		config.SourceOptions.Idle, config.SourceOptions.Whole = time.Minute, time.Minute
		switch test.says {
		case "too slowly":
			config.SourceOptions.Whole = 2 * time.Second
		case "stopped sending", "timeout":
			config.SourceOptions.Idle = 5 * time.Second
		}
		got := s.do(order{Do: "run", Config: config})
		if got == nil || got.Err != "" || !strings.Contains(got.Reason, test.says) || strings.Contains(got.Reason, "canary") {
			t.Fatalf("%s: %+v", test.name, got)
		}
		s.holds(oldVersion, "failed")
	}
	s.hostile.Store(nil)
	wrong := s.config()
	wrong.Source = strings.Replace(wrong.Source, "127.0.0.1", "localhost", 1)
	for says, o := range map[string]order{
		"unknown authority": {Authority: []byte("none")},
		"not localhost":     {Config: wrong},
		"has expired":       {Clock: 100 * 365 * 24 * time.Hour},
	} {
		o.Do = "run"
		if got := s.do(o); got == nil || got.Err != "" || !strings.Contains(got.Reason, says) {
			t.Fatalf("%s: %+v", says, got)
		}
		s.holds(oldVersion, "failed")
	}
	if entries, err := os.ReadDir(filepath.Join(s.prefix, "releases")); err != nil || len(entries) != 1 {
		t.Errorf("the releases: %v, %v", entries, err)
	}
	if status, err := installation.LastStatus(s.own); err != nil || status.Step != installation.StepDownload &&
		status.Step != installation.StepFailed {
		t.Errorf("%+v, %v", status, err)
	}
	s.update()
}
