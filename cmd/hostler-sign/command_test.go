package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/updater/release"
)

// run is one call of the program.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	c := command()
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&out)
	c.SetArgs(args)
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}

func must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := run(t, args...)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}

func put(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// From nothing to a checked release, with two keys during a change of keys, one of them behind a passphrase.
func TestMakingARelease(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	put(t, at("tree", "bin", "hostlerd"), "program", 0o755)
	put(t, at("passphrase"), "canary words\nsecond line\n", 0o600)
	for _, folder := range []string{"out", "old", "new", "none"} {
		if err := os.Mkdir(at(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "key", "new", at("old", "a.key"))
	id := strings.TrimSpace(must(t, "key", "new", at("new", "b.key"), "--passphrase-file", at("passphrase")))
	if shown := strings.TrimSpace(must(t, "key", "show", at("new", "b.pub"))); shown != id {
		t.Errorf("key new says %s and key show %s", id, shown)
	}
	must(t, "key", "new", at("none", "c.key"))
	must(t, "pack", at("tree"), at("out", "hostler.tar.gz"), "--date", "2031-01-01T00:00:00Z")
	publish := func(version string, more ...string) []string {
		return append([]string{"publish", at("out"), "--version", version, "--minimum", "1.0.0", "--date", "2031-01-01T00:00:00Z",
			"--migrations-to", "7", "--file", "linux/amd64=hostler.tar.gz", "--key", at("old", "a.key")}, more...)
	}
	must(t, publish("1.2.0", "--key", at("new", "b.key"), "--passphrase-file", at("passphrase"), "--add-key", at("new", "b.pub"))...)
	for _, trusted := range []string{"old", "new"} {
		if out := must(t, "check", at("out"), "--trusted", at(trusted)); !strings.Contains(out, "stable 1.2.0 of 2031-01-01 is valid") {
			t.Error(out)
		}
	}
	if _, err := run(t, "check", at("out"), "--trusted", at("none")); err == nil ||
		!strings.Contains(err.Error(), "not signed by a trusted key") {
		t.Errorf("a stranger's key: %v", err)
	}
	put(t, at("out", "hostler.tar.gz"), "something else", 0o644)
	if _, err := run(t, "check", at("out"), "--trusted", at("old")); err == nil || !strings.Contains(err.Error(), "size") {
		t.Errorf("another tarball: %v", err)
	}
	for name, args := range map[string][]string{
		"no key":              {"publish", at("out"), "--version", "1.2.0", "--minimum", "1.0.0", "--file", "linux/amd64=hostler.tar.gz"},
		"version":             publish("1.2"),
		"file elsewhere":      publish("1.2.0", "--file", "linux/arm64=../x.tar.gz"),
		"no such file":        publish("1.2.0", "--file", "linux/arm64=x.tar.gz"),
		"withdraws own":       publish("1.2.0", "--withdraw-key", strings.TrimSpace(must(t, "key", "show", at("old", "a.pub")))),
		"key without opener":  publish("1.2.0", "--key", at("new", "b.key")),
		"key is overwritten":  {"key", "new", at("old", "a.key")},
		"date":                publish("1.2.0", "--date", "yesterday"),
		"trusted is required": {"check", at("out")},
	} {
		if out, err := run(t, args...); err == nil {
			t.Errorf("%s: %s", name, out)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the passphrase is told: %v", name, err)
		}
	}
	if err := os.Chmod(at("old", "a.key"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, publish("1.2.0")...); err == nil || !strings.Contains(err.Error(), "readable by other users") {
		t.Errorf("a key that others may read: %v", err)
	}
}

// A release made from nothing but this program verifies with openssl.
func TestPublishedSignatureWithOpenSSL(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	put(t, at("tree/x"), "y", 0o644)
	must(t, "key", "new", at("a.key"))
	must(t, "pack", at("tree"), at("x.tar.gz"))
	must(t, "publish", dir, "--version", "1.0.0", "--minimum", "1.0.0", "--file", "linux/amd64=x.tar.gz", "--key", at("a.key"))
	text, err := os.ReadFile(at(release.SignatureName))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	put(t, at("raw.sig"), string(raw), 0o644)
	out, err := exec.CommandContext(t.Context(), "openssl", "pkeyutl", "-verify", "-pubin", "-inkey", at("a.pub"), "-rawin", "-in",
		at(release.ManifestName), "-sigfile", at("raw.sig")).CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	var m map[string]any
	manifest, err := os.ReadFile(at(release.ManifestName))
	if err != nil || json.Unmarshal(manifest, &m) != nil || m["schema"] != 1.0 {
		t.Errorf("%s, %v", manifest, err)
	}
}
