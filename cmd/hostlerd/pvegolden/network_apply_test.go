package pvegolden_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/cmd/hostlerd/pvegolden"
	"github.com/hostler/hostler/cmd/hostlerd/pvegolden/layouttest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
)

// newApplies is a world whose jobs wait for moments only, but for what comes in the end on a machine that is starved, too.
func newApplies(t *testing.T) *pvegolden.World {
	t.Helper()
	w := pvegolden.NewWorld(t, endpoint.Lifecycle)
	n := w.Service.Networks
	n.AnswerLimit, n.SteadyTime, n.ApplyLimit = time.Minute, 500*time.Millisecond, time.Minute
	w.SetTaskDuration(20 * time.Millisecond)
	return w
}

// applied stages a change on a node, applies it and gives the job as it ended, with its transcript.
func applied(t *testing.T, w *pvegolden.World, node, method, path, body string) (job.View, string) {
	t.Helper()
	if a := w.Request(method, path, body); a.Status >= 300 {
		t.Fatalf("staging: %d %s", a.Status, a.Body)
	}
	a := w.Request(http.MethodPost, "/network/{host}/"+node+"/apply", `{"confirm":"`+node+`"}`)
	var started struct{ Job job.View }
	if err := json.Unmarshal(a.Body, &started); err != nil || a.Status != http.StatusAccepted {
		t.Fatalf("applying: %d %s", a.Status, a.Body)
	}
	waittest.Until(t, "the job has ended", func() bool {
		now := w.Request(http.MethodGet, fmt.Sprintf("/jobs/%d", started.Job.ID), "")
		return json.Unmarshal(now.Body, &started.Job) == nil && started.Job.FinishedAt != nil
	})
	var events []struct{ Text string }
	if err := json.Unmarshal(w.Request(http.MethodGet, fmt.Sprintf("/jobs/%d/events", started.Job.ID), "").Body, &events); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, e := range events {
		_, _ = text.WriteString(e.Text + "\n")
	}
	return started.Job, text.String()
}

const newBridge = `{"host_id":{host},"node":"%s","iface":"%s","config":{"autostart":true}}`

// TestApplyOnNodes are applies of which something becomes: what the job ends as, what it says, and what the node has then.
func TestApplyOnNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("plays applies with nodes that go away: make check runs it")
	}
	t.Parallel()
	const (
		console = "type these lines at the node's console:\npatch -R -l /etc/network/interfaces <<'EOF-OF-DIFF'\n--- /etc/network/interfaces"
		wants   = "+iface vmbr5 inet manual"
	)
	for _, c := range []struct {
		name  string
		apply pvesim.NetworkApply
		// own takes the port of the bridge with the node's address away; else a bridge is added.
		own bool
		// file is the node's at first, where it is not as new.
		file   string
		node   string
		status job.Status
		says   []string
		never  []string
	}{
		{name: "in force", node: "pve1", status: job.Succeeded, says: []string{"all staged changes are active", "vmbr5: bridge, active"}},
		{name: "the reload fails", node: "pve1", apply: pvesim.NetworkApply{Fails: "vmbr5: no such device"}, status: job.Failed,
			says: []string{"command 'ifreload -a' failed", "The node answers, and the staged changes are in its configuration", console,
				wants}},
		{name: "the own path is cut", own: true, node: "pve1", status: job.Failed,
			says: []string{"the node has not answered since its network",
				console, "-    bridge-ports eno1\n+    bridge-ports none\n"}, never: []string{"The node answers"}},
		{name: "the reload fails, and then the node is gone", own: true, node: "pve1", apply: pvesim.NetworkApply{Fails: "vmbr0: no ports"},
			status: job.Failed, says: []string{"the node has not answered since its network", console},
			never: []string{"The node answers"}},
		{name: "another node of the cluster is cut", own: true, node: "pve2", status: job.Failed,
			says: []string{"the node has not answered since its network", console}, never: []string{"The node answers"}},
		{name: "it never returns, and the node answers", node: "pve1", apply: pvesim.NetworkApply{Hangs: true}, status: job.Unknown,
			says: []string{"the node answers, but the task UPID:pve1:", "has not ended within 2s", "in the node's configuration", console,
				wants}},
		{name: "a file by hand, of which the node's address is not", file: byHand(), node: "pve1", status: job.Failed,
			says: []string{"cannot determine", console, wants}, never: []string{"The node answers"}},
		{name: "it never returns, and the node is gone", node: "pve1", apply: pvesim.NetworkApply{Hangs: true, Cuts: true}, status: job.Failed,
			says: []string{"the node has not answered since its network", console, wants}, never: []string{"The node answers"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newApplies(t)
			if c.own || c.apply.Cuts || c.file != "" { // the node goes
				w.Service.Networks.AnswerLimit = 2 * time.Second
			} else if c.apply.Hangs {
				w.Service.Networks.ApplyLimit = 2 * time.Second
			}
			if err := w.SetNetworkApply(c.node, c.apply); err != nil {
				t.Fatal(err)
			}
			if err := w.SetNodeFiles(c.node, pvesim.NodeFiles{Interfaces: c.file}); err != nil {
				t.Fatal(err)
			}
			method, path, body := http.MethodPost, "/network/bridges", fmt.Sprintf(newBridge, c.node, "vmbr5")
			if c.own {
				method, path, body = http.MethodPut, "/network/bridges/{host}/"+c.node+"/vmbr0?confirm=vmbr0", `{"config":{"ports":null}}`
			}
			before, err := w.NodeFiles(c.node)
			if err != nil {
				t.Fatal(err)
			}
			done, transcript := applied(t, w, c.node, method, path, body)
			problem := done.Error
			if all := problem + "\n" + transcript; done.Status != c.status {
				t.Errorf("the job ended %s, want %s:\n%s", done.Status, c.status, all)
			}
			for _, text := range c.says {
				if !strings.Contains(problem+"\n"+transcript, text) {
					t.Errorf("the job does not say %q:\n%s\n%s", text, problem, transcript)
				}
			}
			for _, text := range c.never {
				if strings.Contains(problem, text) {
					t.Errorf("the job says %q:\n%s", text, problem)
				}
			}
			if n := w.Stats().Requests["PUT /nodes/{node}/network"]; n != 1 {
				t.Errorf("the hypervisor was asked %d times to apply", n)
			}
			if after, err := w.NodeFiles(c.node); err != nil || after.Interfaces == before.Interfaces || after.Staged != "" {
				t.Errorf("%v: after the apply:\n%s", err, after.Interfaces)
			} else if c.status != job.Succeeded {
				restores(t, transcript, after.Interfaces, before.Interfaces)
			}
			// What somebody does at the console.
			if err := w.RestoreNetwork(c.node); err != nil {
				t.Fatal(err)
			}
			var list struct{ Errors []any }
			waittest.Until(t, "the node answers again", func() bool {
				return json.Unmarshal(w.Request(http.MethodGet, "/network/bridges?host={host}", "").Body, &list) == nil && len(list.Errors) == 0
			})
		})
	}
}

// byHand is a file that the hypervisor has not written, of a bond under a bridge under a VLAN.
func byHand() string {
	for _, l := range layouttest.Layouts() {
		if l.Name == "a bond under a bridge under a VLAN" {
			return l.Text(layouttest.HandwrittenStyle)
		}
	}
	return ""
}

// restores holds that what a transcript tells to type makes the file of before out of the one that is in force now, but for blanks and
// comments.
func restores(t *testing.T, transcript, now, before string) {
	t.Helper()
	tool, err := exec.LookPath("patch")
	if err != nil {
		programtest.Missing(t, "there is no program patch")
	}
	_, text, found := strings.Cut(transcript, "to get the previous network back, type these lines at the node's console:\n")
	text, _, ends := strings.Cut(text, "\nifreload -a\n")
	if !found || !ends {
		t.Errorf("nothing to type: %s", transcript)
		return
	}
	file := filepath.Join(t.TempDir(), "interfaces")
	if err := os.WriteFile(file, []byte(now), 0o600); err != nil {
		t.Fatal(err)
	}
	script := strings.ReplaceAll(strings.Replace(text, "patch ", tool+" ", 1), "/etc/network/interfaces <<", file+" <<")
	out, err := exec.CommandContext(t.Context(), "bash", "-c", script).CombinedOutput()
	got, readErr := os.ReadFile(file)
	if err != nil || readErr != nil {
		t.Fatalf("%v: %s\n%s", err, out, script)
	}
	said := func(text string) (all []string) {
		for line := range strings.Lines(text) {
			if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(words[0], "#") {
				all = append(all, strings.Join(words, " "))
			}
		}
		return all
	}
	if !slices.Equal(said(string(got)), said(before)) {
		t.Errorf("typed, it makes\n%s\nof\n%s\nand before it was\n%s", got, now, before)
	}
}

// Two people stage on one node, one of them elsewhere. Each sees what the other has staged, the plan says whose it is, and a revert drops
// and names both.
func TestTwoStageOnOneNode(t *testing.T) {
	t.Parallel()
	w := newApplies(t)
	first := w.Request(http.MethodPost, "/network/bridges", fmt.Sprintf(newBridge, "pve1", "vmbr5"))
	if err := w.AddStagedInterfaces("pve1", "vmbr6"); err != nil {
		t.Fatal(err)
	}
	second := w.Request(http.MethodPost, "/network/bridges", fmt.Sprintf(newBridge, "pve1", "vmbr7"))
	for text, a := range map[string]pvegolden.Response{"+iface vmbr5 inet manual": first, "+iface vmbr6 inet manual": second,
		"+iface vmbr7 inet manual": second} {
		if a.Status != http.StatusCreated || !strings.Contains(string(a.Body), text) {
			t.Errorf("%d: no %q in %s", a.Status, text, a.Body)
		}
	}
	if !strings.Contains(string(second.Body), "vmbr5") {
		t.Errorf("the second one does not see the first one's change: %s", second.Body)
	}
	list := string(w.Request(http.MethodGet, "/network/bridges?host={host}", "").Body)
	for _, text := range []string{`"interface":"vmbr5","action":"create","user":"`, `"interface":"vmbr7"`, "+iface vmbr6 inet manual"} {
		if !strings.Contains(list, text) {
			t.Errorf("the list has no %q: %s", text, list)
		}
	}
	plan := string(w.Request(http.MethodPost, "/network/{host}/pve1/apply?plan=true", "").Body)
	if !strings.Contains(plan, "The change of vmbr6 was not staged through this service.") || strings.Contains(plan, "change of vmbr5 was "+
		"not") {
		t.Errorf("the plan does not say whose the changes are: %s", plan)
	}
	files, err := w.NodeFiles("pve1")
	if err != nil {
		t.Fatal(err)
	}
	reverted := string(w.Request(http.MethodPost, "/network/{host}/pve1/revert", "").Body)
	for _, text := range []string{`"reverted":true`, `"others":["vmbr6"]`, `"interface":"vmbr5"`, `"interface":"vmbr7"`, "+iface vmbr6 " +
		"inet manual"} {
		if !strings.Contains(reverted, text) {
			t.Errorf("the revert has no %q: %s", text, reverted)
		}
	}
	now, err := w.NodeFiles("pve1")
	if err != nil || now.Staged != "" || now.Interfaces != files.Interfaces {
		t.Errorf("%v: after the revert:\n%s\nstaged:\n%s", err, now.Interfaces, now.Staged)
	}
	if again := string(w.Request(http.MethodPost, "/network/{host}/pve1/revert", "").Body); !strings.Contains(again, `"reverted":false`) {
		t.Errorf("reverting nothing: %s", again)
	}
}
