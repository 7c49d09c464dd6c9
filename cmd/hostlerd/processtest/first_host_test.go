package processtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// firstHost is the tutorial whose commands TestFirstHost runs.
const firstHost = "../../../docs/first-host.md"

// TestFirstHost follows docs/first-host.md on the command line, after the log-in: its commands enrol a second simulated host beside the
// cluster of make run, take a snapshot there, roll back, and find both in the audit log.
func TestFirstHost(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(firstHost)
	if err != nil {
		t.Fatal(err)
	}
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "3", "--guests", "24", "--recommended")
	s := startService(t, options{})
	owner := setUp(t, s)
	owner.enrol(t, cluster, "demo", "lifecycle", "console", "backup", "node_power")
	c := newCommandLine(t)
	if err := os.Symlink(bin(t), filepath.Join(c.dir, "bin")); err != nil {
		t.Fatal(err)
	}
	if o := c.do(t, ownerPassword+"\n", "login", s.Base, "--email", ownerEmail, "--password-stdin"); o.Code != 0 {
		t.Fatalf("the log-in ended with %d: %s", o.Code, o.Err)
	}
	blocks := shellBlocks(string(page))
	if len(blocks) < 7 {
		t.Fatalf("the page has only %d blocks of commands", len(blocks))
	}
	commands := "set -e\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" + strings.Join(blocks, "")
	command := exec.CommandContext(t.Context(), "bash", "-c", commands)
	command.Env, command.Dir = c.env, c.dir
	out, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("the commands: %v", err)
	}
	if guests := regexp.MustCompile(`(?m)^\d+\s+(vm|container)\s`).FindAll(out, -1); len(guests) != 12 {
		t.Errorf("the list has %d guests, and the page says 12", len(guests))
	}
	actor := regexp.QuoteMeta(ownerEmail)
	for _, want := range []string{`(?m)^online$`, `before-update`, `is interrupted`, actor + `\s+vm\.snapshot_create`,
		actor + `\s+vm\.snapshot_rollback`, `qmrollback`} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("the output does not match %q", want)
		}
	}
	if kinds := succeeded(t, owner); !slices.Equal(kinds, []string{"vm.snapshot_create", "vm.snapshot_rollback"}) {
		t.Errorf("the jobs were %v", kinds)
	}
	if t.Failed() {
		t.Logf("the output:\n%s", out)
	}
}
