package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// fence is a block of code in Markdown with its language.
	fence = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")
	// blockFile is the first line of a block of Go that is a whole file.
	blockFile = regexp.MustCompile(`^// file: (\S+)\n\n`)
	// tryStep runs a part of the suite, of which the whole runs in the end.
	tryStep = regexp.MustCompile(`(?m)^try '.*'$`)
)

// TestDriverGuide follows sdk/DRIVER.md in an empty folder: blocks of Go that begin with "// file:" become files, blocks of sh are run
// in their order in one shell. In the end the suite has passed. A part of the suite in between is only compiled.
func TestDriverGuide(t *testing.T) {
	if testing.Short() {
		t.Skip("follows a guide and builds its plugin: make check runs it")
	}
	t.Parallel()
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile(filepath.Join(repository, "sdk", "DRIVER.md"))
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	script.WriteString("set -eu\n")
	files, steps := 0, 0
	for _, block := range fence.FindAllStringSubmatch(string(guide), -1) {
		language, text := block[1], block[2]
		switch file := blockFile.FindStringSubmatch(text); {
		case language == "go" && file != nil:
			files++
			script.WriteString("cat > " + file[1] + " <<'END_OF_FILE'\n" + strings.TrimPrefix(text, file[0]) + "END_OF_FILE\n")
		case language == "go":
			t.Errorf("a block of Go does not say which file it is:\n%s", text)
		case language == "sh":
			steps++
			script.WriteString(tryStep.ReplaceAllString(text, "go build ./mine"))
		}
	}
	if files < 2 || steps < 7 {
		t.Fatalf("the guide has %d files and %d steps", files, steps)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script.String())
	cmd.Dir = t.TempDir()
	// The sums of the example's modules, which are the same, keep the network out when they have been fetched.
	sums, err := os.ReadFile(filepath.Join(repository, "examples", "hostler-plugin-toy", "go.sum"))
	if err == nil {
		err = os.WriteFile(filepath.Join(cmd.Dir, "go.sum"), sums, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	// Programs are compiled as make build does.
	cmd.Env = append(cmd.Environ(), "HOSTLER="+repository, "CGO_ENABLED=0", "GOFLAGS=-trimpath -vet=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("following the guide: %v\n%s", err, out)
	}
	if !regexp.MustCompile(`(?m)^ok\s+example\.com/hostler-plugin-mine/mine`).Match(out) {
		t.Errorf("the suite did not run:\n%s", out)
	}
}
