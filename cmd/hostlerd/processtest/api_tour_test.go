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

// apiTour is the page whose commands TestAPITour runs.
const apiTour = "../../../docs/api.md"

// pluginKilled is the response to a request at the moment in which a section kills the plugin, if there is a request at that moment.
const pluginKilled = "503 GET hosts/1/tasks"

// TestAPITour pastes the commands of each section of docs/api.md into a shell, as they are on the page, against a service with the cluster
// of make run. Every response must be 2xx, unless the section shows a fault, and every job must succeed.
func TestAPITour(t *testing.T) {
	t.Parallel()
	for _, section := range []struct {
		heading string
		// jobs are all jobs of the section in their order; sections about something else leave it empty.
		jobs []string
		// answers must appear in the output in this order.
		answers []string
		// refused are the statuses of responses that the section expects to fail, with the ends of their URLs.
		refused []string
	}{
		{heading: "Hosts, guests and jobs", jobs: []string{"vm.start", "vm.snapshot_create", "vm.snapshot_rollback"},
			answers: []string{`"vm.snapshot_rollback"`}},
		{heading: "A VM from creation to deletion", jobs: []string{"vm.create", "vm.snapshot_create", "vm.snapshot_rollback", "backup.run",
			"backup.restore", "vm.migrate", "vm.clone", "vm.start", "vm.start", "vm.delete"}},
		{heading: "Firewall", jobs: []string{"firewall.draft", "firewall.draft"},
			answers: []string{`"verdict": "drop"`, `"verdict": "accept"`, `"status": "undone"`}},
		{heading: "Consoles", answers: []string{"hello from the other side\r\nhello from the other side\r\n",
			"[This console is recorded", `"o","`, "this is kept", `"kind": "graphical"`, `"bytes_out"`}},
		{heading: "Storage, nodes and networks", jobs: []string{"storage.upload", "storage.delete_volume", "network.apply"}},
		{heading: "Alerts and notifications", jobs: []string{"vm.stop", "vm.start"}, answers: []string{`"state": "sent"`,
			`: The guest is stopped."`, `"text": "it was me"`, `alert critical: "Resolved: `, `"title": "Test of the channel here"`}},
		{heading: "Teams, keys and schedules", answers: []string{`"role":"operator"`, `"cache-100"`, `"vm.snapshot_create"`}},
		{heading: "Faults", refused: []string{"502 POST hosts/1/sync", "422 POST hosts"},
			answers: []string{`"reason":"unreachable"`, `"status":"unknown"`, `"status":"running"`}},
	} {
		t.Run(section.heading, func(t *testing.T) {
			t.Parallel()
			owner, answers := paste(t, commandsOf(t, apiTour, "Log in", 1)+commandsOf(t, apiTour, section.heading, 0), section.refused)
			if kinds := succeeded(t, owner); len(section.jobs) > 0 && !slices.Equal(kinds, section.jobs) {
				t.Errorf("the jobs were %v, want %v", kinds, section.jobs)
			}
			rest := answers
			for _, want := range section.answers {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Errorf("the output does not contain %q after the previous text", want)
				}
				rest = after
			}
			if section.heading == "A VM from creation to deletion" {
				var left []guestView
				owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/vms?q=shop", nil, &left)
				if len(left) != 1 || left[0].Name != "shop2" {
					t.Errorf("the VMs that are left are %+v", left)
				}
			}
			if t.Failed() {
				t.Logf("the output:\n%s", answers)
			}
		})
	}
}

// TestAPITourIsTestedInFull fails when docs/api.md has a section with commands that TestAPITour does not run.
func TestAPITourIsTestedInFull(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(apiTour)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("api_tour_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for section := range strings.SplitSeq(string(page), "\n## ") {
		heading, text, _ := strings.Cut(section, "\n")
		if strings.Contains(text, "\n```") && !strings.Contains(string(source), fmt.Sprintf("%q", heading)) {
			t.Errorf("no test runs the commands of the section %q", heading)
		}
	}
}

// commandsOf returns the commands in the shell blocks of a page's section, without the first skip blocks.
func commandsOf(t *testing.T, page, heading string, skip int) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := shellBlocks(section)
	if len(blocks) <= skip {
		t.Fatalf("%s has no commands below %q", page, heading)
	}
	return strings.Join(blocks[skip:], "\n")
}

// shellBlocks returns the commands of each shell block of a page.
func shellBlocks(page string) (blocks []string) {
	for _, block := range strings.Split(page, "\n```sh\n")[1:] {
		commands, _, _ := strings.Cut(block, "\n```\n")
		blocks = append(blocks, commands+"\n")
	}
	return blocks
}

// paste runs commands in a shell against a service with the cluster of make run, and returns what they printed. It fails the test for each
// response that is not 2xx, except for refused: "STATUS METHOD path below /api/v1", once each.
func paste(t *testing.T, commands string, refused []string) (owner *client, output string) {
	t.Helper()
	for _, name := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("the commands of the page need %s, which is not installed", name)
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
	// The statuses go to a file: the commands read the responses.
	script := fmt.Sprintf(`H=%s/api/v1; J='-H content-type:application/json'; C=%s
curl() { command curl -w "%%{stderr}%%{http_code} %%{method} %%{url}\n" "$@" 2>> %s; }
curl -s -o /dev/null -c jar $J $H/auth/login -d '{"email":"%s","password":"%s"}'
`, s.Base, strings.TrimSuffix(cluster.Control, "/"), codes, ownerEmail, ownerPassword)
	command := exec.CommandContext(t.Context(), "bash", "-c", script+commands)
	command.Dir = dir
	out, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("the last command: %v", err)
	}
	responses, err := os.ReadFile(codes)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(responses)) {
		line = strings.TrimSpace(strings.Replace(line, s.Base+"/api/v1/", "", 1))
		if i := slices.Index(refused, line); i >= 0 {
			refused = slices.Delete(slices.Clone(refused), i, i+1)
		} else if !strings.HasPrefix(line, "2") && line != pluginKilled {
			t.Errorf("a response was %s", line)
		}
	}
	if len(refused) > 0 {
		t.Errorf("these responses did not come: %q", refused)
	}
	return owner, fmt.Sprintf("%s\n%s", out, responses)
}

// succeeded returns the kinds of all jobs that no schedule made, oldest first. Each must have succeeded, or be a draft that was undone
// because nobody confirmed it.
func succeeded(t *testing.T, owner *client) (kinds []string) {
	t.Helper()
	var jobs []jobView
	owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/jobs?per_page=100", nil, &jobs)
	for _, j := range slices.Backward(jobs) {
		if j.ScheduleID != nil { // the service's own
			continue
		}
		undone := j.Kind == "firewall.draft" && strings.HasPrefix(j.Error, "the draft was not confirmed")
		if kinds = append(kinds, j.Kind); j.Status != "succeeded" && !undone {
			t.Errorf("job %d, %s, ended %s: %s", j.ID, j.Kind, j.Status, j.Error)
		}
	}
	return kinds
}
