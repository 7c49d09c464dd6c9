package secret_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hostler/hostler/core/secret"
)

// uses is a database in which values under these keys lie.
func uses(ids ...secret.KeyID) func(context.Context) ([]secret.KeyID, error) {
	return func(context.Context) ([]secret.KeyID, error) { return ids, nil }
}

func keyPath(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "keys", "secret.key")
}

func load(t testing.TB, path string, used ...secret.KeyID) *secret.Box {
	t.Helper()
	b, err := secret.Load(context.Background(), path, uses(used...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func seal(t testing.TB, b *secret.Box, text string, place secret.Binding) []byte {
	t.Helper()
	sealed, err := b.Seal(secret.New(text), place)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

var place = secret.Binding{Table: "host_credentials", Column: "secret", Row: secret.Row(7, "monitoring")}

func TestSealAndOpen(t *testing.T) {
	t.Parallel()
	path := keyPath(t)
	b := load(t, path)
	for _, text := range []string{"", "x", canary, strings.Repeat("ü", 100_000), strings.Repeat("x", secret.MaxPlaintext)} {
		sealed := seal(t, b, text, place)
		if len(text) > 8 && bytes.Contains(sealed, []byte(text)) {
			t.Error("the text is in the sealed value")
		}
		if bytes.Equal(sealed, seal(t, b, text, place)) {
			t.Error("sealing twice gives the same")
		}
		opened, err := load(t, path, b.Primary()).Open(sealed, place) // as after a restart
		if err != nil || opened.Reveal() != text {
			t.Errorf("opening %d bytes: %v", len(text), err)
		}
	}
	if _, err := b.Seal(secret.New(strings.Repeat("x", secret.MaxPlaintext+1)), place); err == nil {
		t.Error("a huge secret was sealed")
	}
	if _, err := b.Seal(secret.New("x"), secret.Binding{Table: "t", Column: "c"}); err == nil {
		t.Error("a secret was sealed for no row")
	}
}

func TestOpenElsewhere(t *testing.T) {
	t.Parallel()
	b := load(t, keyPath(t))
	sealed := seal(t, b, canary, place)
	for name, other := range map[string]secret.Binding{
		"row":     {Table: place.Table, Column: place.Column, Row: secret.Row(8, "monitoring")},
		"column":  {Table: place.Table, Column: "secret2", Row: place.Row},
		"table":   {Table: "users", Column: place.Column, Row: place.Row},
		"shifted": {Table: place.Table + "s", Column: "ecret", Row: place.Row},
	} {
		if _, err := b.Open(sealed, other); !errors.Is(err, secret.ErrDecrypt) {
			t.Errorf("another %s: %v", name, err)
		}
	}
}

func TestRow(t *testing.T) {
	t.Parallel()
	seen := map[string][]any{}
	for _, key := range [][]any{{"a", "b/c"}, {"a/b", "c"}, {"a", "b", "c"}, {"a%2Fb", "c"}, {"a", "b%2Fc"}, {"a/b/c"}} {
		row := secret.Row(key...)
		if other, ok := seen[row]; ok {
			t.Errorf("%q and %q give %q", key, other, row)
		}
		seen[row] = key
	}
}

func TestTamperEachByte(t *testing.T) {
	t.Parallel()
	b := load(t, keyPath(t))
	sealed := seal(t, b, canary, place)
	for i := range sealed {
		for _, flip := range []byte{0x01, 0x80, 0xff} {
			bad := bytes.Clone(sealed)
			bad[i] ^= flip
			if _, err := b.Open(bad, place); !errors.Is(err, secret.ErrDecrypt) && !errors.Is(err, secret.ErrKeyWrong) {
				t.Errorf("byte %d ^ %#x: %v", i, flip, err)
			}
		}
		if _, err := b.Open(sealed[:i], place); !errors.Is(err, secret.ErrDecrypt) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
	if _, err := b.Open(append(bytes.Clone(sealed), 0), place); !errors.Is(err, secret.ErrDecrypt) {
		t.Errorf("one byte more: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	b := load(f, keyPath(f))
	good := seal(f, b, canary, place)
	f.Add(good)
	f.Add([]byte{})
	f.Add(good[:9])
	f.Add(append(bytes.Clone(good[:5]), 0xff, 0xff, 0xff, 0xff, 0))
	f.Fuzz(func(t *testing.T, sealed []byte) {
		text, err := b.Open(sealed, place)
		if err == nil && !bytes.Equal(sealed, good) {
			t.Errorf("opened %x as %q", sealed, text.Reveal())
		}
	})
}

func TestLoadMissingKey(t *testing.T) {
	t.Parallel()
	path := keyPath(t)
	_, err := secret.Load(t.Context(), path, uses(7))
	if !errors.Is(err, secret.ErrKeyMissing) || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("a key was made beside a filled database")
	}
	b := load(t, path)
	if _, err := secret.Load(t.Context(), path, uses(b.Primary(), 7)); !errors.Is(err, secret.ErrKeyWrong) ||
		!strings.Contains(err.Error(), "00000007") {
		t.Errorf("a file with one of two keys: %v", err)
	}
	broken := errors.New("no database")
	if _, err := secret.Load(t.Context(), path, func(context.Context) ([]secret.KeyID, error) { return nil, broken }); !errors.Is(err,
		broken) {
		t.Errorf("a failing database: %v", err)
	}
}

func TestLoadAtOnce(t *testing.T) {
	t.Parallel()
	path := keyPath(t)
	boxes := make([]*secret.Box, 16)
	var all sync.WaitGroup
	for i := range boxes {
		all.Go(func() {
			var err error
			if boxes[i], err = secret.Load(context.Background(), path, uses()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, b := range boxes {
		if b == nil || b.Primary() != boxes[0].Primary() {
			t.Fatal("two keys were made")
		}
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestKeyFileAccess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(path string) error
		ok    bool
	}{
		"0600":               {func(p string) error { return os.Chmod(p, 0o600) }, true},
		"0400":               {func(p string) error { return os.Chmod(p, 0o400) }, true},
		"group reads":        {func(p string) error { return os.Chmod(p, 0o640) }, false},
		"group writes":       {func(p string) error { return os.Chmod(p, 0o620) }, false},
		"others read":        {func(p string) error { return os.Chmod(p, 0o604) }, false},
		"others write":       {func(p string) error { return os.Chmod(p, 0o602) }, false},
		"others execute":     {func(p string) error { return os.Chmod(p, 0o601) }, false},
		"folder of all":      {func(p string) error { return os.Chmod(filepath.Dir(p), 0o777) }, false},
		"folder of group":    {func(p string) error { return os.Chmod(filepath.Dir(p), 0o770) }, false},
		"folder others read": {func(p string) error { return os.Chmod(filepath.Dir(p), 0o755) }, true},
		"symbolic link": {func(p string) error {
			return errors.Join(os.Rename(p, p+".real"), os.Symlink(p+".real", p))
		}, false},
		"a folder": {func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o700)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := keyPath(t)
			used := load(t, path).Primary()
			if err := c.spoil(path); err != nil {
				t.Fatal(err)
			}
			_, err := secret.Load(t.Context(), path, uses(used))
			if c.ok && err != nil || !c.ok && !errors.Is(err, secret.ErrKeyAccess) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("another owner", func(t *testing.T) {
		t.Parallel()
		if os.Geteuid() != 0 {
			t.Skip("only root can give a file away")
		}
		path := keyPath(t)
		used := load(t, path).Primary()
		if err := os.Chown(path, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if _, err := secret.Load(t.Context(), path, uses(used)); !errors.Is(err, secret.ErrKeyAccess) {
			t.Errorf("got %v", err)
		}
	})
}

func TestKeyFileDamaged(t *testing.T) {
	t.Parallel()
	path := keyPath(t)
	used := load(t, path).Primary()
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"empty": {}, "cut": good[:len(good)/2], "garbage": []byte("\x00\x01garbage"), "array": []byte("[]"), "null": []byte("null"),
		"version": bytes.Replace(good, []byte(`"version": 1`), []byte(`"version": 9`), 1),
		"note":    bytes.Replace(good, []byte(used.String()), []byte("00000001"), 1),
	} {
		bad := keyPath(t)
		if err := errors.Join(os.MkdirAll(filepath.Dir(bad), 0o700), os.WriteFile(bad, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := secret.Load(t.Context(), bad, uses()); err == nil {
			t.Errorf("%s: loaded", name)
		}
		after, err := os.ReadFile(bad)
		if err != nil || !bytes.Equal(after, text) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

func TestSealWithoutFile(t *testing.T) {
	t.Parallel()
	path := keyPath(t)
	b := load(t, path)
	sealed := seal(t, b, canary, place)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Seal(secret.New("x"), place); !errors.Is(err, secret.ErrKeyMissing) {
		t.Errorf("sealing: %v", err)
	}
	if _, err := b.Open(sealed, place); err != nil {
		t.Errorf("opening: %v", err)
	}
}

func BenchmarkSealAndOpen(b *testing.B) {
	box := load(b, keyPath(b))
	for b.Loop() {
		sealed := seal(b, box, "0b9b2b4e-1c4f-4f5e-9f1d-5a5a5a5a5a5a", place)
		if _, err := box.Open(sealed, place); err != nil {
			b.Fatal(err)
		}
	}
}
