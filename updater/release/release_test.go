package release_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hostler/hostler/updater/release"
)

var day = time.Date(2031, 5, 4, 12, 0, 0, 0, time.UTC)

func newSigner(t testing.TB) *release.Signer {
	t.Helper()
	s, err := release.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// published is a folder with a release.
type published struct {
	dir      string
	manifest release.Manifest
	raw, sig []byte
}

// publish packs a small release, lets edit change its manifest, and signs it.
func publish(t testing.TB, version string, edit func(*release.Manifest), signers ...*release.Signer) *published {
	t.Helper()
	p := &published{dir: t.TempDir()}
	tree := t.TempDir()
	write(t, filepath.Join(tree, "bin", "hostlerd"), "#!/bin/sh\necho "+version+"\n", 0o755)
	write(t, filepath.Join(tree, "README"), "release "+version+"\n", 0o644)
	file, err := release.Pack(tree, filepath.Join(p.dir, "hostler-"+version+"-linux-amd64.tar.gz"), day)
	if err != nil {
		t.Fatal(err)
	}
	p.manifest = release.Manifest{
		Schema: 1, Version: version, Channel: "stable", Date: day, Minimum: "1.0.0", NotesURL: "https://hostler.example/notes",
		Migrations: release.Migrations{From: 1, To: 7}, Files: map[string]release.File{"linux/amd64": file},
	}
	if edit != nil {
		edit(&p.manifest)
	}
	if err := release.Publish(p.dir, &p.manifest, signers...); err != nil {
		t.Fatal(err)
	}
	p.raw, p.sig = read(t, filepath.Join(p.dir, release.ManifestName)), read(t, filepath.Join(p.dir, release.SignatureName))
	return p
}

func write(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// serve is a real file server over TLS, and the source for it.
func serve(t testing.TB, handler http.Handler, options release.SourceOptions) release.Source {
	t.Helper()
	s := httptest.NewTLSServer(handler)
	t.Cleanup(s.Close)
	options.TLS = trusting(s)
	if options.Retries == 0 {
		options.Retries = -1
	}
	source, err := release.NewSource(s.URL+"/releases/", options)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func trusting(s *httptest.Server) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}

func files(dir string) http.Handler {
	return http.StripPrefix("/releases/", http.FileServer(http.Dir(dir)))
}

func encode(t testing.TB, m release.Manifest) []byte {
	t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// What was seen of one channel decides nothing in another, and is still known when one comes back to it.
func TestSeenByChannel(t *testing.T) {
	t.Parallel()
	date := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	seen := release.SeenChannels{}
	for _, step := range []struct {
		version, channel string
		date             time.Time
		replay           bool
	}{
		{"2.0.0-rc.1", "beta", date, false},
		{"1.9.0", "stable", date.Add(-time.Hour), false},
		{"1.8.0", "stable", date, true},
		{"1.9.1", "stable", date, false},
		{"1.9.9", "beta", date.Add(time.Hour), true},
		{"2.0.0-rc.2", "beta", date.Add(time.Hour), false},
	} {
		m := &release.Manifest{Version: step.version, Channel: step.channel, Date: step.date}
		if err := seen.Accept(m, []byte(step.version)); errors.Is(err, release.ErrReplay) != step.replay {
			t.Errorf("%s of %s: %v", step.version, step.channel, err)
		}
	}
}
