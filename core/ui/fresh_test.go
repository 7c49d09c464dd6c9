package ui_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/ui"
)

// What dist is built of. What tests and checks are is not among it.
var sources = []string{"console.html", "index.html", "package.json", "package-lock.json", "svelte.config.js", "tsconfig.json",
	"vite.config.ts", "words-of-pages.ts", "public", "src"}

// The committed page is that of the committed sources. This cannot see whether the bytes in dist are what a build makes: the checks
// before a landing build it again.
func TestPageIsBuiltOfItsSources(t *testing.T) {
	t.Parallel()
	var want strings.Builder
	var names []string
	for _, root := range sources {
		err := filepath.WalkDir(filepath.Join("web", root), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && !strings.HasSuffix(path, ".test.ts") && !strings.HasSuffix(path, ".check.ts") {
				names = append(names, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		relative, err := filepath.Rel("web", name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		fmt.Fprintf(&want, "%s  %s\n", base64.RawURLEncoding.EncodeToString(sum[:]), filepath.ToSlash(relative))
	}
	got, err := os.ReadFile("dist/SOURCES")
	if err != nil {
		t.Fatalf("%v: run make ui", err)
	}
	have := strings.Split(string(got), "\n")
	for line := range strings.Lines(want.String()) {
		if !slices.Contains(have, strings.TrimSuffix(line, "\n")) {
			t.Errorf("dist was built of another %s: run make ui", strings.Fields(line)[1])
		}
	}
	if !t.Failed() && string(got) != want.String() {
		t.Error("dist was built of files that are gone: run make ui")
	}
}

// The types of the page's client are those of this API.
func TestTypesAreThoseOfTheAPI(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256(api.New(api.Deps{}).Document())
	for _, name := range []string{"schema.d.ts", "operations.ts"} {
		made, err := os.ReadFile(filepath.Join("web/src/api", name))
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(made), "\n")
		if !strings.HasSuffix(head, "Document: "+hex.EncodeToString(sum[:])) {
			t.Errorf("web/src/api/%s was made of another OpenAPI document: run make ui", name)
		}
	}
}

// Every identifier of an error has a sentence and a remedy on the page.
func TestEveryProblemHasItsWords(t *testing.T) {
	t.Parallel()
	words := words(t)
	for _, code := range codes() {
		for _, kind := range []string{"problem.", "remedy."} {
			if strings.TrimSpace(words[kind+code]) == "" {
				t.Errorf("web/src/words/en.json has no %s%s", kind, code)
			}
		}
	}
	for key := range words {
		code, ok := strings.CutPrefix(key, "problem.")
		if ok && code != "offline" && code != "unreadable" && code != "declined" && !slices.Contains(codes(), code) {
			t.Errorf("web/src/words/en.json has %s: the API has no such error", key)
		}
	}
}

func dist(t *testing.T) fs.FS {
	t.Helper()
	files := ui.Files()
	if files == nil {
		t.Skip("this build has no page")
	}
	return files
}
