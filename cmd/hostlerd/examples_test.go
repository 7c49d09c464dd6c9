package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// examples are the folders of the examples, each a module of its own.
func examples(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../examples/*/go.mod")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples are there, error %v", err)
	}
	for i, file := range files {
		files[i] = filepath.Dir(file)
	}
	return files
}

// runGo runs the go command in a folder.
func runGo(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s in %s: %v", strings.Join(args, " "), dir, err)
	}
	return out
}

// An author of a plugin has the SDK and nothing else of ours.
func TestExamplesNeedOnlyTheSDK(t *testing.T) {
	t.Parallel()
	for _, dir := range examples(t) {
		sdk := false
		for path := range strings.FieldsSeq(string(runGo(t, dir, "list", "-deps", "-test", "-f", "{{.ImportPath}}", "./..."))) {
			switch {
			case strings.HasPrefix(path, module+"sdk/"):
				sdk = true
			case strings.HasPrefix(path, module):
				t.Errorf("%s needs %s", dir, path)
			}
		}
		if !sdk {
			t.Errorf("%s does not need the SDK", dir)
		}
	}
}

// An example builds with what building the service has fetched already.
func TestExamplesNeedNoOtherVersions(t *testing.T) {
	t.Parallel()
	ours := requirements(t, "../..")
	for _, dir := range examples(t) {
		for path, version := range requirements(t, dir) {
			if path+"/" != module && ours[path] != version {
				t.Errorf("%s needs %s %s, the service %q", dir, path, version, ours[path])
			}
		}
	}
}

// requirements are the versions in a folder's go.mod by module.
func requirements(t *testing.T, dir string) map[string]string {
	t.Helper()
	var file struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(runGo(t, dir, "mod", "edit", "-json"), &file); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, r := range file.Require {
		versions[r.Path] = r.Version
	}
	return versions
}
