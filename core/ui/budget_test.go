package ui_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/problem"
)

const kilobyte = 1 << 10

// What the page may weigh, in bytes as gzip leaves them, but for the whole.
const (
	startBudget = 60 * kilobyte
	chunkBudget = 25 * kilobyte
	styleBudget = 20 * kilobyte
	wholeBudget = 2 << 20
)

func TestBudgets(t *testing.T) {
	t.Parallel()
	files := dist(t)
	index := string(read(t, files, "index.html"))
	first := regexp.MustCompile(`(?:src|href)="\./(assets/[^"]+\.js)"`)
	start, atStart := 0, map[string]bool{}
	for _, match := range first.FindAllStringSubmatch(index, -1) {
		for _, name := range imported(t, files, match[1], map[string]bool{}) {
			if !atStart[name] {
				atStart[name] = true
				start += compressed(t, read(t, files, name))
			}
		}
	}
	if len(atStart) == 0 {
		t.Fatalf("index.html names no script: %s", index)
	}
	styles, whole, largest, largestName := 0, 0, 0, ""
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content := read(t, files, name)
		whole += len(content)
		size := compressed(t, content)
		switch {
		case path.Ext(name) == ".css":
			styles += size
		case path.Ext(name) == ".js" && !atStart[name] && size > largest:
			largest, largestName = size, name
		}
		if strings.HasSuffix(name, ".map") {
			t.Errorf("%s: source maps are not served", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []struct {
		what       string
		has, limit int
	}{
		{"JavaScript before any page works, gzip", start, startBudget}, {"largest page's own chunk, gzip, " + largestName, largest, chunkBudget},
		{"CSS in all, gzip", styles, styleBudget}, {"dist, raw", whole, wholeBudget},
	} {
		t.Logf("%8d of %8d bytes: %s", b.has, b.limit, b.what)
		if b.has > b.limit {
			t.Errorf("%s: %d bytes, at most %d are allowed", b.what, b.has, b.limit)
		}
	}
}

var static = regexp.MustCompile(`(?:from|import)\s*["']\./([^"']+\.js)["']`)

// imported is the script and those that it cannot run without, each once.
func imported(t *testing.T, files fs.FS, name string, seen map[string]bool) []string {
	t.Helper()
	if seen[name] {
		return nil
	}
	seen[name] = true
	all := []string{name}
	for _, match := range static.FindAllStringSubmatch(string(read(t, files, name)), -1) {
		all = append(all, imported(t, files, path.Join(path.Dir(name), match[1]), seen)...)
	}
	return all
}

func read(t *testing.T, files fs.FS, name string) []byte {
	t.Helper()
	content, err := fs.ReadFile(files, name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func compressed(t *testing.T, content []byte) int {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}

// words are the page's texts.
func words(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("web/src/words/en.json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func codes() (all []string) {
	for _, code := range problem.Codes() {
		all = append(all, string(code))
	}
	return all
}
