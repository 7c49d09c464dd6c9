package api_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
)

// The golden files say in full what the API is, and who may do what; a change of one is a change that somebody notices. Each
// resource has its own in its folder's testdata; what belongs to all stands here. This writes all of them, as make generate does:
// what compares with a golden file is called TestGolden.
//go:generate go test . -count=1 -run TestGolden -update

// goldenFiles are the files of that name in the folders of the resources, by operation.
func goldenFiles(name string) map[string]string {
	files := map[string]string{}
	for _, r := range api.Resources() {
		for _, id := range r.Operations {
			files[id] = filepath.Join(r.Folder, "testdata", name)
		}
	}
	return files
}

// commonFile holds what belongs to no resource.
var commonFile = filepath.Join("testdata", "openapi.txt")

// A file that is compared with nothing would go on telling of operations that are gone.
func TestNoGoldenFileIsLeft(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"matrix.txt", "openapi.txt"} {
		there, err := filepath.Glob(filepath.Join("*", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if made := slices.Compact(slices.Sorted(maps.Values(goldenFiles(name)))); !slices.Equal(there, made) {
			t.Errorf("there are other files %s than those of the resources:\n%v\n%v", name, there, made)
		}
	}
}

func TestGoldenOpenAPI(t *testing.T) {
	t.Parallel()
	first := wholeDocument()
	if again := declare().Document(); !bytes.Equal(first, again) {
		t.Fatal("the document is another each time it is made")
	}
	// Tests use it as the document of every instance.
	real := newFixture(t)
	real.Run(t, apitest.Scenario{Name: "real", Method: "GET", URL: "/api/openapi.json", Status: 200,
		After: func(t *testing.T, answer *apitest.Response) {
			if !bytes.Equal(answer.Body, first) {
				t.Error("a real instance has another document")
			}
		}})
	a := &apitest.API{Handler: declared(), LogIn: apitest.FakeLogIn}
	a.Run(t, apitest.Scenario{Name: "document", Method: "GET", URL: "/api/openapi.json", Status: 200,
		After: func(t *testing.T, answer *apitest.Response) {
			for file, listing := range listings(t, answer.Body) {
				listing.Golden(t, file)
			}
		}})
}

// The golden files together say all that the document says: it is made of them again.
func TestRowsAreTheWholeDocument(t *testing.T) {
	t.Parallel()
	document := wholeDocument()
	files := map[string][]byte{}
	for file, listing := range listings(t, document) {
		files[file] = listing.Bytes()
		for row := range strings.Lines(string(files[file])) {
			if length := len([]rune(row)); length > 300 {
				t.Errorf("%s has a line of %d characters: %.100s", file, length, row)
			}
		}
	}
	var want any
	if err := json.Unmarshal(document, &want); err != nil {
		t.Fatal(err)
	}
	got := assemble(t, files)
	unordered(want)
	unordered(got)
	if where := apart(want, got, ""); where != "" {
		t.Errorf("the golden files do not say what the document says: %s", where)
	}
}

// Each row of a resource says something that no other row says.
func TestNoRowCanBeSpared(t *testing.T) {
	t.Parallel()
	all, file := listings(t, wholeDocument()), filepath.Join("keys", "testdata", "openapi.txt")
	files := map[string][]byte{commonFile: all[commonFile].Bytes(), file: all[file].Bytes()}
	whole, rows := assemble(t, files), slices.Collect(strings.Lines(string(files[file])))
	for i := 1; i < len(rows); i++ {
		files[file] = []byte(strings.Join(slices.Concat(rows[:i], rows[i+1:]), ""))
		if got, err := assembled(files); err == nil && reflect.DeepEqual(got, whole) {
			t.Errorf("%s says the same without this row: %s", file, rows[i])
		}
	}
}
