package processtest

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// waits is what the README's lines wait by.
const waits = "\nidle()"

// The README's first five minutes work as they stand there, but for the password.
func TestFirstMinutesInTheReadme(t *testing.T) {
	t.Parallel()
	_, lines, found := strings.Cut(readmeLines(t, "Five minutes with curl"), "\n\n# Hosts and guests.")
	if !found || !strings.Contains(lines, waits) {
		t.Fatalf("the README's lines are not found: %q", lines)
	}
	owner, answers := pasteReadme(t, lines)
	want := []string{"vm.start", "vm.snapshot_create", "vm.snapshot_rollback", "firewall.draft", "firewall.draft"}
	if kinds := succeeded(t, owner); !slices.Equal(kinds, want) {
		t.Errorf("the jobs were %v, want %v", kinds, want)
	}
	if _, then, was := strings.Cut(answers, `"verdict": "drop"`); !was || !strings.Contains(then, `"verdict": "accept"`) {
		t.Error("the packet is not dropped first, and let in by the draft")
	}
	if t.Failed() {
		t.Logf("the answers:\n%s", answers)
	}
}

// The README's life of a VM works as it stands there, pasted line by line: each request is answered as a good one, each job succeeds,
// and in the end the VM is gone and its copy is there.
func TestLifeInTheReadme(t *testing.T) {
	t.Parallel()
	owner, answers := pasteReadme(t, idling(t)+readmeLines(t, "Another five minutes"))
	kinds := succeeded(t, owner)
	for _, kind := range []string{"vm.create", "vm.snapshot_create", "vm.snapshot_rollback", "backup.run", "backup.restore", "vm.migrate",
		"vm.clone", "vm.start", "network.apply", "vm.delete"} {
		if !slices.Contains(kinds, kind) {
			t.Errorf("there was no job %s", kind)
		}
	}
	var left []guestView
	owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/vms?q=shop", nil, &left)
	if len(left) != 1 || left[0].Name != "shop2" {
		t.Errorf("what is left is %+v", left)
	}
	if t.Failed() {
		t.Logf("the answers:\n%s", answers)
	}
}

// What the README shows below the guests works as it stands there.
func TestStorageAndNodesInTheReadme(t *testing.T) {
	t.Parallel()
	owner, answers := pasteReadme(t, idling(t)+readmeLines(t, "Five minutes below"))
	want := []string{"storage.upload", "storage.delete_volume"}
	if kinds := succeeded(t, owner); !slices.Equal(kinds, want) {
		t.Errorf("the jobs were %v, want %v", kinds, want)
	}
	if t.Failed() {
		t.Logf("the answers:\n%s", answers)
	}
}

// A console opens as the README shows it, what it shows is recorded, and the trail has it.
func TestConsoleInTheReadme(t *testing.T) {
	t.Parallel()
	_, answers := pasteReadme(t, readmeLines(t, "Five minutes in a console"))
	for _, text := range []string{"hello from the other side\r\nhello from the other side\r\n", "[What this console shows is recorded",
		`"o","`, "this is kept", `"kind": "graphical"`, `"bytes_out"`} {
		if !strings.Contains(answers, text) {
			t.Errorf("the answers lack %q", text)
		}
	}
	if t.Failed() {
		t.Logf("the answers:\n%s", answers)
	}
}

// What the README shows of notifications works as it stands there: the test, an alert that is fired by hand and its end arrive at the
// receiver, and the alert tells who has seen it.
func TestNotificationsInTheReadme(t *testing.T) {
	t.Parallel()
	owner, answers := pasteReadme(t, idling(t)+readmeLines(t, "Five minutes of being told"))
	if kinds := succeeded(t, owner); !slices.Equal(kinds, []string{"vm.stop", "vm.start"}) {
		t.Errorf("the jobs were %v", kinds)
	}
	for _, part := range []string{`"state": "sent"`, `alert critical: "`, `: The guest is stopped."`, `alert critical: "Resolved: `,
		`"text": "it was me"`, `"title": "Test of the channel here"`} {
		if !strings.Contains(answers, part) {
			t.Errorf("the answers lack %q", part)
		}
	}
	if t.Failed() {
		t.Logf("the answers:\n%s", answers)
	}
}

// idling is the definition of idle, which stands among the README's first lines.
func idling(t *testing.T) string {
	t.Helper()
	_, idle, _ := strings.Cut(readmeLines(t, "Five minutes with curl"), waits)
	idle, _, _ = strings.Cut(idle, "\n")
	return waits + idle + "\n"
}

// readmeLines are the commands below a heading, which begins with these words.
func readmeLines(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n## "+heading)
	_, rest, _ = strings.Cut(rest, "\n```sh\n")
	lines, _, found := strings.Cut(rest, "\n```\n")
	if !found {
		t.Fatalf("the README has no commands below %q", heading)
	}
	return "\n" + lines
}

// pasteReadme has a shell do lines against a service with the cluster of make run, all of whose answers must be good, and gives what they
// printed.
func pasteReadme(t *testing.T, lines string) (owner *client, answers string) {
	t.Helper()
	for _, name := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not there, which the README uses", name)
		}
	}
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "3", "--guests", "24", "--recommended")
	s := startService(t, options{})
	owner = setUp(t, s)
	owner.enrol(t, cluster, "lab", "lifecycle", "console", "backup")
	dir := t.TempDir()
	if err := os.Symlink(bin(t), filepath.Join(dir, "bin")); err != nil {
		t.Fatal(err)
	}
	codes := filepath.Join(dir, "codes")
	// The statuses go to a file: the answers are what the lines work with.
	script := fmt.Sprintf(`H=%s/api/v1; J='-H content-type:application/json'
curl() { command curl -w "%%{stderr}%%{http_code} %%{method} %%{url}\n" "$@" 2>> %s; }
curl -s -o /dev/null -c jar $J $H/auth/login -d '{"email":"%s","password":"%s"}'
`, s.Base, codes, ownerEmail, ownerPassword)
	command := exec.CommandContext(t.Context(), "bash", "-c", script+lines)
	command.Dir = dir
	out, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("the last line: %v", err)
	}
	told, err := os.ReadFile(codes)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(told)) {
		if !strings.HasPrefix(line, "2") {
			t.Errorf("an answer was %s", line)
		}
	}
	return owner, fmt.Sprintf("%s\n%s", out, told)
}

// succeeded are the kinds of all jobs, the oldest first, each of which must have done its work: a draft that nobody confirms is undone.
func succeeded(t *testing.T, owner *client) (kinds []string) {
	t.Helper()
	var jobs []jobView
	owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/jobs?per_page=100", nil, &jobs)
	for _, j := range slices.Backward(jobs) {
		if j.ScheduleID != nil { // the service's own
			continue
		}
		undone := j.Kind == "firewall.draft" && strings.HasPrefix(j.Error, "nobody has confirmed the draft")
		if kinds = append(kinds, j.Kind); j.Status != "succeeded" && !undone {
			t.Errorf("job %d, %s, ended %s: %s", j.ID, j.Kind, j.Status, j.Error)
		}
	}
	return kinds
}
