package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSourceGuide follows the README of the example of a source in an empty folder, as TestDriverGuide does with the guide of drivers. The
// files in it are those of the example.
func TestSourceGuide(t *testing.T) {
	if testing.Short() {
		t.Skip("follows a guide and builds its plugin: make check runs it")
	}
	t.Parallel()
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	example := filepath.Join(repository, "examples", "hostler-plugin-catalog-folder")
	guide, err := os.ReadFile(filepath.Join(example, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	script.WriteString("set -eu\n")
	files, steps, lines := 0, 0, 0
	for _, block := range fence.FindAllStringSubmatch(string(guide), -1) {
		language, text := block[1], block[2]
		switch file := blockFile.FindStringSubmatch(text); {
		case language == "go" && file != nil:
			files++
			content := strings.TrimPrefix(text, file[0])
			if there, err := os.ReadFile(filepath.Join(example, file[1])); err != nil || string(there) != content {
				t.Errorf("%s is another one in the guide than in the example: %v", file[1], err)
			}
			if !strings.HasSuffix(file[1], "_test.go") {
				lines += strings.Count(content, "\n")
			}
			script.WriteString("cat > " + file[1] + " <<'END_OF_FILE'\n" + content + "END_OF_FILE\n")
		case language == "go":
			t.Errorf("a block of Go does not say which file it is:\n%s", text)
		case language == "sh":
			steps++
			script.WriteString(text)
		}
	}
	if files != 3 || steps != 3 || lines >= 200 {
		t.Fatalf("the guide has %d files, %d steps and %d lines of Go, and promises less than 200", files, steps, lines)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script.String())
	cmd.Dir = t.TempDir()
	// The sums of the example's modules, which are the same, keep the network out when they have been fetched.
	sums, err := os.ReadFile(filepath.Join(example, "go.sum"))
	if err == nil {
		err = os.WriteFile(filepath.Join(cmd.Dir, "go.sum"), sums, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(cmd.Environ(), "HOSTLER="+repository, "CGO_ENABLED=0", "GOFLAGS=-trimpath -vet=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("following the guide: %v\n%s", err, out)
	}
	if !regexp.MustCompile(`(?m)^ok\s+example\.com/hostler-plugin-catalog-folder/folder`).Match(out) {
		t.Errorf("the suite did not run:\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(cmd.Dir, "hostler-plugin-catalog-folder")); err != nil {
		t.Error("the program was not built:", err)
	}
}
