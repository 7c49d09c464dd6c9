package processtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fiveMinutes is what the command line shows, as this test has recorded it.
const fiveMinutes = "../../../docs/five-minutes.md"

// The commands of docs/five-minutes.md do what is recorded there, on the cluster of make run. With HOSTLER_RECORD=1 they are recorded
// anew. Numbers, times and ids may differ.
func TestFiveMinutesOfTheCommandLine(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(fiveMinutes)
	if err != nil {
		t.Fatal(err)
	}
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "3", "--guests", "24", "--recommended")
	s := startService(t, options{})
	owner := setUp(t, s)
	owner.enrol(t, cluster, "demo", "lifecycle", "console", "backup", "node_power")
	c := newCommandLine(t)
	if err := os.WriteFile(filepath.Join(c.dir, "password"), []byte(ownerPassword+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const documented = "http://127.0.0.1:8480"
	var out strings.Builder
	inside, commands := false, 0
	for line := range strings.Lines(string(text)) {
		switch command, isCommand := strings.CutPrefix(line, "$ "); {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console\n"
		case inside && isCommand:
			commands++
			cmd := exec.CommandContext(t.Context(), "bash", "-c", strings.ReplaceAll(command, documented, s.Base))
			cmd.Env, cmd.Dir = c.env, c.dir
			shown, err := cmd.CombinedOutput()
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			out.WriteString(line + strings.ReplaceAll(string(shown), s.Base, documented))
			continue
		case inside:
			continue // what was recorded before
		}
		out.WriteString(line)
	}
	if os.Getenv("HOSTLER_RECORD") != "" {
		if err := os.WriteFile(fiveMinutes, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if commands < 10 {
		t.Fatalf("there are %d commands", commands)
	}
	want := strings.Split(alike(string(text)), "\n")
	next, following := 0, false
	for line := range strings.SplitSeq(alike(out.String()), "\n") {
		switch {
		case next < len(want) && line == want[next]:
			next++
			following = line == "queued" || line == "running" || following && line != "succeeded"
		case !following: // on a busy machine a job tells more: what it waits for, or that it asks again
			t.Fatalf("%q stands where %q was recorded (HOSTLER_RECORD=1 records anew). All of it is:\n%s", line,
				strings.Join(want[next:min(next+1, len(want))], ""), out.String())
		}
	}
	if next < len(want) {
		t.Fatalf("%q is lacking, which was recorded (HOSTLER_RECORD=1 records anew). All of it is:\n%s", want[next], out.String())
	}
}

var (
	unique  = regexp.MustCompile(`UPID:\S+|serial=[0-9a-f]+|\b[0-9a-f]{16}\b`)
	figure  = regexp.MustCompile(`\d+([.:]\d+)*( (B|KiB|MiB|GiB|TiB|d|h|min|s|%)\b)?`)
	spacing = regexp.MustCompile(`[ -]+`)
)

// alike takes out of a record what is not the same each time.
func alike(text string) string {
	return spacing.ReplaceAllString(figure.ReplaceAllString(unique.ReplaceAllString(text, "ID"), "0"), " ")
}
