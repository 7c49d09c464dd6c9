package ui_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/ui"
)

const kilobyte = 1 << 10

// What the page may weigh, in bytes as gzip leaves them, but for the whole. The document of consoles has the two large libraries, of which
// a console loads one. The API reference is no part of the page: nobody loads it who does not ask for it.
const (
	startBudget     = 60 * kilobyte
	chunkBudget     = 25 * kilobyte
	consoleBudget   = 150 * kilobyte
	referenceBudget = 260 * kilobyte
	styleBudget     = 20 * kilobyte
	wholeBudget     = 2 << 20
)

func TestBudgets(t *testing.T) {
	t.Parallel()
	files := dist(t)
	start, atStart := scripts(t, files, "index.html", required)
	start += wordsAtStart(t, files, atStart)
	console, atConsole := scripts(t, files, "console.html", loadable)
	reference, ofReference := scripts(t, files, "api-docs.html", loadable)
	styles, whole, largest, largestName := 0, 0, 0, ""
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == ".gitignore" { // which is not served
			return err
		}
		if ofReference[name] && !atStart[name] {
			return nil
		}
		content := read(t, files, name)
		whole += len(content)
		size := compressed(t, content)
		switch {
		case path.Ext(name) == ".css":
			styles += size
		case path.Ext(name) == ".js" && !atStart[name] && !atConsole[name] && size > largest:
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
		{"JavaScript of the document of consoles, gzip", console, consoleBudget},
		{"JavaScript of the API reference, gzip", reference, referenceBudget},
		{"CSS in all, gzip", styles, styleBudget}, {"dist, raw", whole, wholeBudget},
	} {
		t.Logf("%8d of %8d bytes: %s", b.has, b.limit, b.what)
		if b.has > b.limit {
			t.Errorf("%s: %d bytes, at most %d are allowed", b.what, b.has, b.limit)
		}
	}
}

// How a script names those that it cannot run without, and any that it may load.
var (
	required = regexp.MustCompile(`(?:from|import)\s*["'` + "`" + `]\./([^"'` + "`" + `]+\.js)["'` + "`" + `]`)
	loadable = regexp.MustCompile(`(?:from|import)\s*\(?["'` + "`" + `]\./([^"'` + "`" + `]+\.js)["'` + "`" + `]`)
)

// scripts are those of a document, with what they weigh compressed.
func scripts(t *testing.T, files fs.FS, document string, named *regexp.Regexp) (size int, all map[string]bool) {
	t.Helper()
	text := string(read(t, files, document))
	all = map[string]bool{}
	for _, match := range regexp.MustCompile(`(?:src|href)="\./(assets/[^"]+\.js)"`).FindAllStringSubmatch(text, -1) {
		imported(t, files, match[1], named, all)
	}
	if len(all) == 0 {
		t.Fatalf("%s names no script: %s", document, text)
	}
	for name := range all {
		size += compressed(t, read(t, files, name))
	}
	return size, all
}

// wordsAtStart is what the words weigh that are loaded with the page's first scripts: those of one language, here of that with the most.
// They are added to the scripts of the start.
func wordsAtStart(t *testing.T, files fs.FS, all map[string]bool) (heaviest int) {
	t.Helper()
	for _, language := range []string{"en", "de"} {
		found, err := fs.Glob(files, "assets/words-"+language+"-start-*.js")
		if err != nil || len(found) != 1 {
			t.Fatalf("the words of the start in %s: %v, %v", language, found, err)
		}
		if named := "./" + path.Base(found[0]); !loads(t, files, all, named) {
			t.Errorf("no script of the start loads %s", named)
		}
		all[found[0]] = true
		heaviest = max(heaviest, compressed(t, read(t, files, found[0])))
	}
	return heaviest
}

// loads reports whether one of the scripts names a file.
func loads(t *testing.T, files fs.FS, all map[string]bool, name string) bool {
	t.Helper()
	for script := range all {
		if bytes.Contains(read(t, files, script), []byte(name)) {
			return true
		}
	}
	return false
}

// imported adds a script and those that it names.
func imported(t *testing.T, files fs.FS, name string, named *regexp.Regexp, seen map[string]bool) {
	t.Helper()
	if seen[name] {
		return
	}
	seen[name] = true
	for _, match := range named.FindAllStringSubmatch(string(read(t, files, name)), -1) {
		imported(t, files, path.Join(path.Dir(name), match[1]), named, seen)
	}
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

// dist is the built page. make test builds it first.
func dist(t *testing.T) fs.FS {
	t.Helper()
	files := ui.Files()
	if files == nil {
		t.Skip("this build has no page")
	}
	if _, err := fs.Stat(files, "index.html"); err != nil {
		t.Skip("the page is not built: run make ui")
	}
	return files
}
