package tree_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/hostler/hostler/sdk/catalog/tree"
	"github.com/hostler/hostler/sdk/plugin"
)

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func fill(files map[string]string) func(*tree.Writer) error {
	return func(w *tree.Writer) error {
		for path, content := range files {
			if err := w.Add(path, strings.HasSuffix(path, ".sh"), strings.NewReader(content)); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := tree.NewCache(dir, tree.Limits{Files: 3, FileSize: 10, Size: 20, Trees: 2})
	if _, err := c.Get("one"); plugin.KindOf(err) != plugin.NotFound {
		t.Errorf("nothing is there: %v", err)
	}
	files := map[string]string{"a/b.sh": "echo", "a-b": "x", "c": ""}
	made, err := c.Put("one", fill(files))
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range []*tree.Tree{made, get(t, c, "one")} {
		if len(tr.Files()) != 3 || tr.Files()[0].Path != "a-b" || !tr.Files()[1].Executable || len(tr.Below("a/")) != 1 {
			t.Errorf("the tree has %+v", tr.Files())
		}
		if data, err := tr.Read("a/b.sh"); err != nil || string(data) != "echo" {
			t.Errorf("%q, %v", data, err)
		}
		if _, err := tr.Read("../one/index.json"); plugin.KindOf(err) != plugin.NotFound {
			t.Errorf("out of the tree: %v", err)
		}
	}
	broken := errors.New("broken")
	for name, put := range map[string]struct {
		fill func(*tree.Writer) error
		kind plugin.ErrorKind
	}{
		"too many":         {fill(map[string]string{"a": "", "b": "", "c": "", "d": ""}), plugin.Protocol},
		"too large":        {fill(map[string]string{"a": "0123456789a"}), plugin.Protocol},
		"too large in all": {fill(map[string]string{"a": "0123456789", "b": "0123456789", "c": "1"}), plugin.Protocol},
		"out of it":        {fill(map[string]string{"../a": ""}), plugin.Protocol},
		"absolute":         {fill(map[string]string{"/a": ""}), plugin.Protocol},
		"a file and folder": {func(w *tree.Writer) error {
			return errors.Join(fill(map[string]string{"a": ""})(w), fill(map[string]string{"a/b": ""})(w))
		}, plugin.Protocol},
		"twice": {func(w *tree.Writer) error {
			return errors.Join(fill(map[string]string{"a": ""})(w), fill(map[string]string{"a": ""})(w))
		}, plugin.Protocol},
		"breaks off": {func(w *tree.Writer) error { return w.Add("a", false, iotest.ErrReader(broken)) }, plugin.Internal},
	} {
		if _, err := c.Put("two", put.fill); plugin.KindOf(err) != put.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.Get("two"); err == nil {
		t.Error("what failed is kept")
	}
	for _, key := range []string{"", ".", "..", "a/b", "../x", ".half-x"} {
		if _, err := c.Get(key); plugin.KindOf(err) != plugin.NotFound {
			t.Errorf("the key %q: %v", key, err)
		}
	}
	for _, key := range []string{"two", "three"} {
		if _, err := c.Put(key, fill(files)); err != nil {
			t.Fatal(err)
		}
	}
	if keys := c.Keys(); len(keys) != 2 || slices.Contains(keys, "one") {
		t.Errorf("%q are kept", keys)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".half-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("%q is left over, %v", left, err)
	}
}

func get(t *testing.T, c tree.Cache, key string) *tree.Tree {
	t.Helper()
	tr, err := c.Get(key)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// What was changed on the disk is noticed.
func TestDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := tree.NewCache(dir, tree.Limits{})
	for name, damage := range map[string]func(folder string) error{
		"a byte":   func(f string) error { return os.WriteFile(filepath.Join(f, "files", "a"), []byte("ecto"), 0o600) },
		"shorter":  func(f string) error { return os.Truncate(filepath.Join(f, "files", "a"), 2) },
		"longer":   func(f string) error { return os.WriteFile(filepath.Join(f, "files", "a"), []byte("echo more"), 0o600) },
		"gone":     func(f string) error { return os.Remove(filepath.Join(f, "files", "a")) },
		"no index": func(f string) error { return os.Remove(filepath.Join(f, "index.json")) },
		"another index": func(f string) error {
			return os.WriteFile(filepath.Join(f, "index.json"), []byte(`{"hash":"x","files":[{"path":"a","size":4}]}`), 0o600)
		},
		"an index that leads out": func(f string) error {
			return os.WriteFile(filepath.Join(f, "index.json"), []byte(`{"hash":"x","files":[{"path":"../../a","size":4}]}`), 0o600)
		},
	} {
		if _, err := c.Put(name, fill(map[string]string{"a": "echo"})); err != nil {
			t.Fatal(err)
		}
		if err := damage(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		tr, err := c.Get(name)
		if err == nil {
			_, err = tr.Read("a")
		}
		if err == nil {
			t.Errorf("%s is not noticed", name)
		}
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x", "a"), "1")
	write(t, filepath.Join(dir, ".git", "config"), "hidden")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	c := tree.NewCache(t.TempDir(), tree.Limits{})
	tr, key, err := c.PutFolder(root)
	if err != nil || key != tree.Hash(tr.Files()) || len(tr.Files()) != 1 || len(key) != 64 {
		t.Fatalf("%+v, %s, %v", tr, key, err)
	}
	if _, again, err := c.PutFolder(root); err != nil || again != key {
		t.Errorf("the same folder is %s, %v", again, err)
	}
	outside := filepath.Join(t.TempDir(), "secret")
	write(t, outside, "secret")
	for name, make := range map[string]func(string) error{
		"a link out":     func(p string) error { return os.Symlink(outside, p) },
		"a link inside":  func(p string) error { return os.Symlink("a", p) },
		"a folder's":     func(p string) error { return os.Symlink("/etc", p) },
		"a pipe":         func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"a name that is": func(string) error { return os.WriteFile(filepath.Join(dir, "x", "b\nc"), nil, 0o600) },
	} {
		p := filepath.Join(dir, "x", "extra")
		if err := make(p); err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.PutFolder(root); plugin.KindOf(err) != plugin.Protocol {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := tree.ReadRegular(root, "x/extra", 10); err == nil {
			t.Errorf("%s is read", name)
		}
		_ = os.Remove(p)
	}
	_ = os.Remove(filepath.Join(dir, "x", "b\nc"))
	if _, err := tree.ReadRegular(root, "x/a", 0); plugin.KindOf(err) != plugin.Protocol {
		t.Errorf("a file that is too large: %v", err)
	}
	if data, err := tree.ReadRegular(root, "x/a", 1); err != nil || string(data) != "1" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := tree.ReadRegular(root, "x/none", 1); plugin.KindOf(err) != plugin.NotFound {
		t.Error(err)
	}
}

// A folder that somebody changes while it is read gives no state that never was.
func TestFolderThatChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "1")
	write(t, filepath.Join(dir, "b"), "1")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	c := tree.NewCache(t.TempDir(), tree.Limits{})
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			text := strings.Repeat("x", i%7)
			for _, name := range []string{"a", "b"} { // in this order, so that b is never ahead of a
				_ = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
			}
		}
	}()
	conflicts := 0
	for range 200 {
		tr, key, err := c.PutFolder(root)
		switch {
		case plugin.KindOf(err) == plugin.Conflict:
			conflicts++
		case err != nil:
			t.Error(err)
		case key != tree.Hash(tr.Files()):
			t.Error("the key is not that of the files")
		}
	}
	close(done)
	<-ended
	t.Logf("%d of 200 were refused", conflicts)
	if _, _, err := c.PutFolder(root); err != nil {
		t.Error(err)
	}
}
