package api_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/hostler/hostler/core/api"
)

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
var commonFile = filepath.Join("testdata", "openapi.json")

var reference = regexp.MustCompile(`"#/components/schemas/([A-Za-z]+)"`)

// A file that is compared with nothing would go on telling of operations that are gone.
func TestNoGoldenFileIsLeft(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"roles.txt", "matrix.txt", "openapi.json"} {
		there, err := filepath.Glob(filepath.Join("*", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if made := slices.Compact(slices.Sorted(maps.Values(goldenFiles(name)))); !slices.Equal(there, made) {
			t.Errorf("there are other files %s than those of the resources:\n%v\n%v", name, there, made)
		}
	}
}

// parts takes the document apart, by file: each resource's operations with all schemas that they refer to, and the rest. A
// schema of several resources stands with each of them, so that none depends on which others there are.
func parts(t *testing.T, document []byte) map[string][]byte {
	t.Helper()
	whole := members(t, document)
	components := members(t, value(whole, "components"))
	schemas := members(t, value(components, "schemas"))
	files, paths := goldenFiles("openapi.json"), map[string]api.Members{}
	for _, path := range members(t, value(whole, "paths")) {
		split := map[string]api.Members{}
		for _, operation := range members(t, path.Value) {
			var o struct {
				ID string `json:"operationId"`
			}
			if err := json.Unmarshal(operation.Value, &o); err != nil {
				t.Fatal(err)
			}
			split[files[o.ID]] = append(split[files[o.ID]], operation)
		}
		for file, operations := range split {
			paths[file] = append(paths[file], api.Member{Name: path.Name, Value: text(t, operations)})
		}
	}
	all, common := map[string][]byte{}, reachable(schemas, value(components, "responses"))
	for file, own := range paths {
		needed := slices.DeleteFunc(reachable(schemas, text(t, own)), func(m api.Member) bool {
			return slices.ContainsFunc(common, func(c api.Member) bool { return c.Name == m.Name })
		})
		all[file] = indented(t, api.Members{{Name: "paths", Value: text(t, own)}, {Name: "schemas", Value: text(t, needed)}})
	}
	set(components, "schemas", text(t, common))
	set(whole, "components", text(t, components))
	whole = slices.DeleteFunc(whole, func(m api.Member) bool { return m.Name == "paths" || m.Name == "tags" })
	all[commonFile] = indented(t, whole)
	return all
}

// reachable are the schemas that a text refers to, and those that these refer to, in the order of all.
func reachable(all api.Members, text json.RawMessage) (found api.Members) {
	seen := map[string]bool{}
	var look func([]byte)
	look = func(text []byte) {
		for _, match := range reference.FindAllSubmatch(text, -1) {
			if name := string(match[1]); !seen[name] {
				seen[name] = true
				look(value(all, name))
			}
		}
	}
	look(text)
	for _, m := range all {
		if seen[m.Name] {
			found = append(found, m)
		}
	}
	return found
}

// The parts say all that the document says: none of its operations and schemas is in no file.
func TestPartsAreTheWholeDocument(t *testing.T) {
	t.Parallel()
	document := wholeDocument()
	var all []byte
	for _, part := range parts(t, document) {
		all = append(all, part...)
	}
	components := members(t, value(members(t, document), "components"))
	for _, s := range members(t, value(components, "schemas")) {
		if !bytes.Contains(all, []byte(`"`+s.Name+`": {`)) {
			t.Errorf("no golden file has the schema %s", s.Name)
		}
	}
	for _, o := range declared().Operations() {
		if !bytes.Contains(all, []byte(`"operationId": "`+o.Spec.ID+`"`)) {
			t.Errorf("no golden file has the operation %s", o.Spec.ID)
		}
	}
}

func members(t *testing.T, object []byte) (all api.Members) {
	t.Helper()
	if err := json.Unmarshal(object, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func value(object api.Members, name string) json.RawMessage {
	for _, m := range object {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

func set(object api.Members, name string, value json.RawMessage) {
	for i := range object {
		if object[i].Name == name {
			object[i].Value = value
		}
	}
}

// text is an object as JSON.
func text(t *testing.T, object api.Members) json.RawMessage {
	t.Helper()
	b := bytes.NewBufferString("{")
	for i, m := range object {
		name, err := json.Marshal(m.Name)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(m.Value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func indented(t *testing.T, object api.Members) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, text(t, object), "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	return b.Bytes()
}
