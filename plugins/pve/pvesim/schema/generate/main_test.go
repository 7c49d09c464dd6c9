package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvetest"
)

// TestCommittedFactsAreCurrent makes the files anew and compares.
func TestCommittedFactsAreCurrent(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	if err := run(pvetest.Reference(t), out); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"methods.txt", "macros.txt"} {
		made, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		committed, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(made, committed) {
			t.Errorf("%s is not what go generate makes", name)
		}
	}
}

func TestWithoutASchemaTheFilesStay(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOSTLER_REFERENCE_DIR", filepath.Join(dir, "none"))
	out := filepath.Join(dir, "methods.txt")
	if err := os.WriteFile(out, []byte("as it was"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run("", dir); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(out); err != nil || string(raw) != "as it was" {
		t.Errorf("%s, %v", raw, err)
	}
	if err := run(filepath.Join(dir, "named"), dir); err == nil {
		t.Error("a folder that was named and is not there was taken")
	}
}

const someSchema = `[
{"method":"PUT","path":"/b","permissions":null,"protected":1,"allowtoken":0,"proxyto":null,"versions":["9.2.3"],"parameters":{}},
{"method":"GET","path":"/a","permissions":{"check":["perm","/",["X"]],"description":"prose"},"protected":0,"allowtoken":1,"proxyto":"node",
 "versions":["7.4-16","8.4.5","9.1.3","9.2.3"],
 "parameters":{"net[n]":{"type":"string","optional":1,"description":"prose",
   "format":{"b":{"type":"string","description":"prose"},"a":{"type":"integer"}}},
  "kind":{"type":"string","optional":0,"enum":["x","y"],"not_in":["7.4-16","8.4.5"]}}}]`

const someChanges = `{"permission_changes_8.4_to_9.2":[{"method":"GET","path":"/a","old":{"check":["perm","/",["Old"]]}}],
"enum_changes_8.4_to_9.2":[{"method":"GET","path":"/a","param":"kind","added":["y"]}]}`

func TestGenerate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{"api-schema.json": someSchema, "api-version-diff.json": someChanges} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made, err := generateMethods(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		`GET /a {"check":["perm","/",["X"]],"before9":{"check":["perm","/",["Old"]]},"node":1}`,
		`	kind {"type":"string","enum":["x","y"],"new9":["y"],"since":"9.0"}`,
		`	net[n] {"type":"string","optional":1,"format":{"a":{"type":"integer"},"b":{"type":"string"}}}`,
		`PUT /b {"daemon":1,"notoken":1,"since":"9.2"}`, ``,
	}, "\n")
	if string(made) != want {
		t.Errorf("made\n%swant\n%s", made, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "api-schema.json"), []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, t.TempDir()); err == nil {
		t.Error("a broken schema was taken")
	}
}
