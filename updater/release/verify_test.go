package release_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/updater/release"
)

func TestVerifyTakesWhatTrustedKeysSigned(t *testing.T) {
	t.Parallel()
	old, fresh, stranger := newSigner(t), newSigner(t), newSigner(t)
	freshPEM, err := fresh.Key.PEM()
	if err != nil {
		t.Fatal(err)
	}
	one := publish(t, "1.2.0", nil, old)
	other := publish(t, "1.3.0", nil, old)
	both := publish(t, "1.2.0", nil, old, fresh)
	bringing := publish(t, "1.2.0", func(m *release.Manifest) {
		m.Keys = []string{string(freshPEM)}
		m.Withdrawn = []string{stranger.Key.ID}
	}, old)
	changed := bytes.Replace(one.raw, []byte(`"1.2.0"`), []byte(`"1.2.1"`), 1)
	sig := strings.TrimSpace(string(one.sig))
	garbled := []byte(sig)
	garbled[10] ^= 1
	for name, test := range map[string]struct {
		raw, sig []byte
		trusted  []release.Key
		by       release.Key
		err      error
	}{
		"its key":                     {one.raw, one.sig, []release.Key{old.Key}, old.Key, nil},
		"one of the trusted":          {one.raw, one.sig, []release.Key{stranger.Key, old.Key}, old.Key, nil},
		"signed twice, old trusted":   {both.raw, both.sig, []release.Key{old.Key}, old.Key, nil},
		"signed twice, new trusted":   {both.raw, both.sig, []release.Key{fresh.Key}, fresh.Key, nil},
		"brings a key":                {bringing.raw, bringing.sig, []release.Key{old.Key}, old.Key, nil},
		"wrong key":                   {one.raw, one.sig, []release.Key{stranger.Key}, release.Key{}, release.ErrSignature},
		"no key":                      {one.raw, one.sig, nil, release.Key{}, release.ErrSignature},
		"a key that it brings itself": {bringing.raw, bringing.sig, []release.Key{fresh.Key}, release.Key{}, release.ErrSignature},
		"changed byte":                {changed, one.sig, []release.Key{old.Key}, release.Key{}, release.ErrSignature},
		"appended space": {append(bytes.Clone(one.raw), ' '), one.sig, []release.Key{old.Key}, release.Key{},
			release.ErrSignature},
		"signature of another":         {one.raw, other.sig, []release.Key{old.Key}, release.Key{}, release.ErrSignature},
		"signature of one bit changed": {one.raw, garbled, []release.Key{old.Key}, release.Key{}, release.ErrSignature},
		"no signature":                 {one.raw, nil, []release.Key{old.Key}, release.Key{}, release.ErrSignature},
		"no base64":                    {one.raw, []byte("%%%"), []release.Key{old.Key}, release.Key{}, release.ErrSignature},
		"short signature": {one.raw, []byte(base64.StdEncoding.EncodeToString([]byte("short"))), []release.Key{old.Key},
			release.Key{}, release.ErrSignature},
		"17 signatures": {one.raw, []byte(strings.Repeat(sig+"\n", 17)), []release.Key{old.Key}, release.Key{}, release.ErrSignature},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, by, err := release.Verify(test.raw, test.sig, test.trusted)
			if !errors.Is(err, test.err) || by.ID != test.by.ID || (m == nil) != (err != nil) {
				t.Errorf("%+v by %q: %v", m, by.ID, err)
			}
		})
	}
}

// signRaw is the signature file that a program other than ours makes: it looks at nothing.
func signRaw(t *testing.T, by *release.Signer, manifest []byte) []byte {
	t.Helper()
	text, err := by.PEM(nil)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	private, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(base64.StdEncoding.EncodeToString(ed25519.Sign(private.(ed25519.PrivateKey), manifest)))
}

// A manifest is not even read before its signature holds, and read strictly then.
func TestManifestsThatNobodyTakes(t *testing.T) {
	t.Parallel()
	key := newSigner(t)
	p := publish(t, "1.2.0", nil, key)
	good := p.manifest
	if string(signRaw(t, key, p.raw)) != strings.TrimSpace(string(p.sig)) {
		t.Fatal("another program's signature is not ours")
	}
	for name, edit := range map[string]func(*release.Manifest){
		"schema":             func(m *release.Manifest) { m.Schema = 2 },
		"version":            func(m *release.Manifest) { m.Version = "1.2" },
		"version with v":     func(m *release.Manifest) { m.Version = "v1.2.0" },
		"version with build": func(m *release.Manifest) { m.Version = "1.2.0+x" },
		"version as path":    func(m *release.Manifest) { m.Version = "../../etc" },
		"minimum":            func(m *release.Manifest) { m.Minimum = "" },
		"minimum above":      func(m *release.Manifest) { m.Minimum = "9.0.0" },
		"channel":            func(m *release.Manifest) { m.Channel = "../x" },
		"date":               func(m *release.Manifest) { m.Date = time.Time{} },
		"notes":              func(m *release.Manifest) { m.NotesURL = "javascript:alert(1)" },
		"migrations":         func(m *release.Manifest) { m.Migrations.To = 0 },
		"no files":           func(m *release.Manifest) { m.Files = nil },
		"file name is a path": func(m *release.Manifest) {
			m.Files["linux/amd64"] = release.File{Name: "../x.tar.gz", Size: 1, SHA256: strings.Repeat("0", 64)}
		},
		"file too large": func(m *release.Manifest) { f := m.Files["linux/amd64"]; f.Size = 2 << 30; m.Files["linux/amd64"] = f },
		"sum":            func(m *release.Manifest) { f := m.Files["linux/amd64"]; f.SHA256 = "abc"; m.Files["linux/amd64"] = f },
		"architecture":   func(m *release.Manifest) { m.Files["../amd64"] = m.Files["linux/amd64"] },
		"key": func(m *release.Manifest) {
			m.Keys = []string{"-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----"}
		},
		"withdraws its signer": func(m *release.Manifest) { m.Withdrawn = []string{key.Key.ID} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := good
			m.Files = map[string]release.File{"linux/amd64": good.Files["linux/amd64"]}
			edit(&m)
			if _, err := release.Sign(encode(t, m), key); err == nil {
				t.Error("it could be signed")
			}
			raw := encode(t, m)
			if got, by, err := release.Verify(raw, signRaw(t, key, raw), []release.Key{newSigner(t).Key, key.Key}); err == nil || got != nil ||
				by.ID != "" {
				t.Errorf("signed by other means it was taken: %+v by %q", got, by.ID)
			}
		})
	}
	if _, err := release.ParseManifest([]byte(`{} {}`)); err == nil {
		t.Error("two values are one manifest")
	}
	if _, err := release.ParseManifest(bytes.Repeat([]byte(" "), release.MaxManifest+1)); err == nil {
		t.Error("a manifest has no bound")
	}
}

func TestSeenRefusesOldReleases(t *testing.T) {
	t.Parallel()
	manifest := func(version string, days int) (*release.Manifest, []byte) {
		m := &release.Manifest{Version: version, Date: day.AddDate(0, 0, days)}
		return m, encode(t, *m)
	}
	first, raw := manifest("1.2.0", 0)
	seen, err := release.SeenManifest{}.Accept(first, raw)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		version string
		days    int
		err     error
	}{
		"the same again":         {"1.2.0", 0, nil},
		"a newer one":            {"1.3.0", 1, nil},
		"the same, signed anew":  {"1.2.0", 1, nil},
		"an older date":          {"1.3.0", -1, release.ErrReplay},
		"an older version":       {"1.1.0", 1, release.ErrReplay},
		"another of the date":    {"1.3.0", 0, release.ErrReplay},
		"candidate of the same":  {"1.2.0-rc.1", 1, release.ErrReplay},
		"candidate of the next":  {"1.3.0-rc.1", 1, nil},
		"ten is more than three": {"1.10.0", 1, nil},
	} {
		m, raw := manifest(test.version, test.days)
		next, err := seen.Accept(m, raw)
		if !errors.Is(err, test.err) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && next != seen {
			t.Errorf("%s: what was refused counts as seen: %+v", name, next)
		}
	}
}

func TestFits(t *testing.T) {
	t.Parallel()
	m := &release.Manifest{Version: "2.0.0", Channel: "stable", Minimum: "1.5.0"}
	for _, test := range []struct {
		installed, channel string
		err                error
	}{
		{"1.5.0", "stable", nil}, {"1.9.9", "stable", nil}, {"2.0.0-rc.2", "stable", nil},
		{"1.4.9", "stable", release.ErrTooOld}, {"1.5.0-rc.1", "stable", release.ErrTooOld}, {"dev", "stable", release.ErrTooOld},
		{"2.0.0", "stable", release.ErrNotNewer}, {"2.0.1", "stable", release.ErrNotNewer}, {"1.9.0", "testing", release.ErrChannel},
	} {
		if err := m.CheckUpgrade(test.installed, test.channel); !errors.Is(err, test.err) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// What we sign another tool verifies, and the other way round.
func TestOpenSSLAgrees(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	openssl := func(args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), "openssl", args...).CombinedOutput(); err != nil {
			t.Fatalf("openssl %v: %v\n%s", args, err, out)
		}
	}
	ours := newSigner(t)
	public, err := ours.Key.PEM()
	if err != nil {
		t.Fatal(err)
	}
	p := publish(t, "1.2.0", nil, ours)
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(p.sig)))
	if err != nil {
		t.Fatal(err)
	}
	write(t, at("ours.pub"), string(public), 0o644)
	write(t, at("manifest"), string(p.raw), 0o644)
	write(t, at("ours.sig"), string(raw), 0o644)
	openssl("pkeyutl", "-verify", "-pubin", "-inkey", at("ours.pub"), "-rawin", "-in", at("manifest"), "-sigfile", at("ours.sig"))

	openssl("genpkey", "-algorithm", "ed25519", "-out", at("theirs.key"))
	openssl("pkey", "-in", at("theirs.key"), "-pubout", "-out", at("theirs.pub"))
	openssl("pkeyutl", "-sign", "-inkey", at("theirs.key"), "-rawin", "-in", at("manifest"), "-out", at("theirs.sig"))
	theirs, err := release.ParseKey(read(t, at("theirs.pub")))
	if err != nil {
		t.Fatal(err)
	}
	sig := []byte(base64.StdEncoding.EncodeToString(read(t, at("theirs.sig"))))
	if _, by, err := release.Verify(p.raw, sig, []release.Key{theirs}); err != nil || by.ID != theirs.ID {
		t.Errorf("what openssl signed: %q, %v", by.ID, err)
	}
	// Their private key signs here, and gives the very same bytes: Ed25519 has no randomness.
	signer, err := release.ParseSigner(read(t, at("theirs.key")), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := release.Sign(p.raw, signer)
	if err != nil || strings.TrimSpace(string(again)) != string(sig) {
		t.Errorf("%s and %s: %v", again, sig, err)
	}
}

func TestKeysInFiles(t *testing.T) {
	t.Parallel()
	s := newSigner(t)
	plain, err := s.PEM(nil)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := s.PEM([]byte("canary passphrase"))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		text       []byte
		passphrase string
		ok         bool
	}{
		"plain":            {plain, "", true},
		"with passphrase":  {locked, "canary passphrase", true},
		"wrong passphrase": {locked, "other", false},
		"two keys":         {append(bytes.Clone(plain), plain...), "", false},
		"text behind":      {append(bytes.Clone(plain), "and more"...), "", false},
		"nothing":          {nil, "", false},
	} {
		got, err := release.ParseSigner(test.text, func() ([]byte, error) { return []byte(test.passphrase), nil })
		if (err == nil) != test.ok || (err == nil && got.Key.ID != s.Key.ID) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the passphrase is in %v", name, err)
		}
	}
	if bytes.Contains(locked, plain[30:60]) {
		t.Error("the key with a passphrase is not encrypted")
	}
}

func TestTrustedKeysFolder(t *testing.T) {
	t.Parallel()
	a, b := newSigner(t), newSigner(t)
	public := func(s *release.Signer) string {
		text, err := s.Key.PEM()
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for name, test := range map[string]struct {
		make func(dir string)
		keys int
	}{
		"two keys and a note": {func(dir string) {
			write(t, filepath.Join(dir, "a.pub"), public(a), 0o644)
			write(t, filepath.Join(dir, "b.pub"), public(b), 0o600)
			write(t, filepath.Join(dir, "README"), "keys", 0o666)
		}, 2},
		"empty": {func(string) {}, 0},
		"others write": {func(dir string) {
			write(t, filepath.Join(dir, "a.pub"), public(a), 0o644)
			chmod(t, filepath.Join(dir, "a.pub"), 0o646)
		}, 0},
		"its group writes": {func(dir string) {
			write(t, filepath.Join(dir, "a.pub"), public(a), 0o644)
			chmod(t, filepath.Join(dir, "a.pub"), 0o664)
		}, 0},
		"one of two that its group writes": {func(dir string) {
			write(t, filepath.Join(dir, "a.pub"), public(a), 0o644)
			write(t, filepath.Join(dir, "b.pub"), public(b), 0o644)
			chmod(t, filepath.Join(dir, "b.pub"), 0o620)
		}, 0},
		"folder of its group": {func(dir string) { write(t, filepath.Join(dir, "a.pub"), public(a), 0o644); chmod(t, dir, 0o775) }, 0},
		"folder of all":       {func(dir string) { write(t, filepath.Join(dir, "a.pub"), public(a), 0o644); chmod(t, dir, 0o777) }, 0},
		"a link": {func(dir string) {
			write(t, filepath.Join(dir, "a"), public(a), 0o644)
			if err := os.Symlink("a", filepath.Join(dir, "a.pub")); err != nil {
				t.Fatal(err)
			}
		}, 0},
		"no key inside": {func(dir string) { write(t, filepath.Join(dir, "a.pub"), "x", 0o644) }, 0},
		"text before":   {func(dir string) { write(t, filepath.Join(dir, "a.pub"), "x\n"+public(a), 0o644) }, 0},
		"text behind":   {func(dir string) { write(t, filepath.Join(dir, "a.pub"), public(a)+"x", 0o644) }, 0},
		"two in one":    {func(dir string) { write(t, filepath.Join(dir, "a.pub"), public(a)+public(b), 0o644) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "keys")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			test.make(dir)
			keys, err := release.TrustedKeys(dir)
			if len(keys) != test.keys || (err == nil) != (test.keys > 0) {
				t.Errorf("%d keys, %v", len(keys), err)
			}
		})
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
