package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The manual pages and docs/hostler.md are those of the commands: go generate ./client/... makes them anew.
func TestPagesAreThoseOfTheCommands(t *testing.T) {
	t.Setenv("HOSTLER_CONTEXT", "")
	dir := t.TempDir()
	if err := run(dir, filepath.Join(dir, "hostler.md")); err != nil {
		t.Fatal(err)
	}
	made, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(made) < 20 {
		t.Fatalf("there are %d pages: %v", len(made), err)
	}
	same := func(path, committed string) {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(committed); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not that of the commands (%v): run go generate ./client/...", committed, err)
		}
	}
	for _, page := range made {
		same(page, filepath.Join("..", manual, filepath.Base(page)))
	}
	same(filepath.Join(dir, "hostler.md"), filepath.Join("..", document))
	there, err := filepath.Glob(filepath.Join("..", manual, "hostler*.1"))
	if err != nil || len(there) != len(made)+1 { // hostler-console.1 is another program's
		t.Errorf("there are %d pages, and %d commands: %v", len(there), len(made), err)
	}
}
