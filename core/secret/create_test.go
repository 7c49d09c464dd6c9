package secret_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hostler/hostler/core/secret"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state", "keys", "secret.key")
	key, made, err := secret.Create(path)
	if err != nil || !made || key == 0 {
		t.Fatalf("key %s, made %v, %v", key, made, err)
	}
	for name, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700, filepath.Dir(filepath.Dir(path)): 0o711} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if again, made, err := secret.Create(path); err != nil || made || again != key {
		t.Errorf("again: key %s, made %v, %v", again, made, err)
	}
	if got := load(t, path, key).Primary(); got != key {
		t.Errorf("the service has key %s", got)
	}
}

func TestCreateReplacesNothing(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(path string) error{
		"empty":    func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"nonsense": func(path string) error { return os.WriteFile(path, []byte("nonsense"), 0o600) },
		"open": func(path string) error {
			return errors.Join(os.WriteFile(path, []byte("x"), 0o644), os.Chmod(path, 0o644))
		},
		"folder":   func(path string) error { return os.Mkdir(path, 0o700) },
		"dangling": func(path string) error { return os.Symlink("nowhere", path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "secret.key")
			if err := put(path); err != nil {
				t.Fatal(err)
			}
			before, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := os.ReadFile(path)
			if _, made, err := secret.Create(path); err == nil || made {
				t.Errorf("made %v, %v", made, err)
			}
			after, err := os.Lstat(path)
			now, _ := os.ReadFile(path)
			if err != nil || !os.SameFile(before, after) || !bytes.Equal(text, now) {
				t.Errorf("it was replaced: %v", err)
			}
			if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// Root makes no file in a folder of the service's user, who could not read it.
func TestCreateForAnother(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, made, err := secret.Create(filepath.Join(dir, "secret.key")); !errors.Is(err, secret.ErrKeyAccess) || made {
		t.Errorf("made %v, %v", made, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestCreateAtOnce(t *testing.T) {
	t.Parallel()
	path := keyPath(t)
	var all sync.WaitGroup
	var made atomic.Int64
	keys := make([]secret.KeyID, 16)
	for i := range keys {
		all.Go(func() {
			key, mine, err := secret.Create(path)
			if err != nil {
				t.Error(err)
			}
			if keys[i] = key; mine {
				made.Add(1)
			}
		})
	}
	all.Wait()
	for _, key := range keys {
		if key != keys[0] || made.Load() != 1 {
			t.Fatalf("%d were made: %v", made.Load(), keys)
		}
	}
}

// Nobody can make a file in sysfs, root included.
func TestCreateReadOnly(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/sys/secret.key", "/sys/hostler/secret.key"} {
		if _, made, err := secret.Create(path); !errors.Is(err, secret.ErrKeyReadOnly) || made {
			t.Errorf("%s: made %v, %v", path, made, err)
		}
	}
}
