package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest = regexp.MustCompile("`(Test[A-Z][A-Za-z0-9]*)`")
	namedPath = regexp.MustCompile("`((?:core|cmd|plugins|sdk|migrations|updater|examples|\\.ci)(?:/[A-Za-z0-9_.-]+)*)`")
)

// The checklists name only files and tests that are there: who renames one changes the page.
func TestContributingNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	const root = "../.."
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := testsBelow(t, root)
	found := 0
	for _, match := range namedTest.FindAllStringSubmatch(string(page), -1) {
		found++
		if !tests[match[1]] {
			t.Errorf("there is no test %s", match[1])
		}
	}
	for _, match := range namedPath.FindAllStringSubmatch(string(page), -1) {
		found++
		if _, err := os.Stat(filepath.Join(root, match[1])); err != nil {
			t.Errorf("there is no %s", match[1])
		}
	}
	if found < 60 {
		t.Errorf("only %d names were found on the page", found)
	}
}

// testsBelow are the names of all tests.
func testsBelow(t *testing.T, root string) map[string]bool {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	tests := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != root {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, match := range function.FindAllSubmatch(text, -1) {
			tests[string(match[1])] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}
