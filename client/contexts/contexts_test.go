package contexts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/hostler/hostler/client/contexts"
)

// What is put is there again, only its owner can read it, and the folder too.
func TestFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "hostler", "contexts.json")
	f, err := contexts.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Get(""); err != contexts.ErrNotLoggedIn {
		t.Errorf("an empty file has a context: %v", err)
	}
	if err := f.Put("lab", contexts.Context{URL: "https://lab", User: "ann@example.org"}, "svc_secret"); err != nil {
		t.Fatal(err)
	}
	if err := f.Save(); err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(place); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s is %v: %v", place, info.Mode().Perm(), err)
		}
	}
	if f, err = contexts.Open(path); err != nil {
		t.Fatal(err)
	}
	name, c, err := f.Get("")
	key, secret := f.Secret(name, c)
	if err != nil || secret != nil || name != "lab" || key != "svc_secret" {
		t.Errorf("got %s %+v %v %v", name, c, err, secret)
	}
	if err := f.Remove("lab"); err != nil || f.Current != "" || len(f.Names()) != 0 {
		t.Errorf("it was not forgotten: %v", err)
	}
}

// A file that others may read, or that is no such file, is refused, and what it has is not in the error.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"read by the group": {`{"contexts":{}}`, 0o640},
		"read by all":       {`{"contexts":{}}`, 0o604},
		"no JSON":           {"svc_canary", 0o600},
		"too large":         {strings.Repeat(" ", 2<<20), 0o600},
	} {
		path := filepath.Join(t.TempDir(), "contexts.json")
		if err := os.WriteFile(path, []byte(tt.text), tt.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, tt.mode); err != nil {
			t.Fatal(err)
		}
		if _, err := contexts.Open(path); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := contexts.Open(t.TempDir()); err == nil {
		t.Error("a folder is a file of contexts")
	}
}

// A key in the keyring is not in the file, and goes with the context.
func TestKeyring(t *testing.T) {
	keyring.MockInit()
	path := filepath.Join(t.TempDir(), "contexts.json")
	f, err := contexts.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Put("lab", contexts.Context{URL: "https://lab", Keyring: true}, "svc_canary"); err != nil {
		t.Fatal(err)
	}
	if err := f.Save(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), "canary") {
		t.Errorf("the file has the key: %v", err)
	}
	name, c, err := f.Get("lab")
	if err != nil {
		t.Fatal(err)
	}
	if key, err := f.Secret(name, c); err != nil || key != "svc_canary" {
		t.Errorf("the key is %q: %v", key, err)
	}
	if err := f.Remove("lab"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Secret(name, c); err == nil {
		t.Error("the keyring still has the key")
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{"lab": true, "hostler.example.org-8480": true, "": false, "../x": false, "a b": false, "-a": false,
		"a\x1b": false, strings.Repeat("a", 64): false} {
		if err := contexts.CheckName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}
