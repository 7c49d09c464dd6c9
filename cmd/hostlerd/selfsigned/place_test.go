package selfsigned

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPlacedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := place(filepath.Join(dir, "file"), []byte("text")); err != nil {
		t.Fatal(err)
	}
	// What cannot be placed leaves nothing behind.
	if err := place(filepath.Join(dir, "file", "x"), []byte("text")); err == nil {
		t.Error("a file was placed below a file")
	}
	if err := os.Mkdir(filepath.Join(dir, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "full", "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := place(filepath.Join(dir, "full", "taken"), []byte("text")); err == nil {
		t.Error("a folder was replaced")
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "full")); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}
