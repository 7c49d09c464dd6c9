package updater

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/programtest"
)

// What systemd is asked for, and what its answers mean. It is not parallel: the program is found by PATH.
func TestSystemd(t *testing.T) {
	dir := t.TempDir()
	asked := filepath.Join(dir, "asked")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	answers := func(script string) {
		t.Helper()
		_ = os.Remove(asked)
		text := fmt.Sprintf("#!/bin/sh\necho \"$*\" >> %s\n%s\n", asked, script)
		if err := programtest.Write(filepath.Join(dir, "systemctl"), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	heard := func() string {
		text, _ := os.ReadFile(asked) // there is none when nothing was asked
		return strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "; ")
	}
	s := Systemd{Unit: "canary.service"}
	const start = "reset-failed canary.service; start --no-block canary.service"
	answers("exit 0")
	if err := s.Start(t.Context()); err != nil || heard() != start {
		t.Errorf("%v: %q", err, heard())
	}
	answers(`[ "$1" = reset-failed ] || exit 0
echo "Failed to reset failed state of unit canary.service: Unit canary.service not loaded." >&2
exit 1`)
	if err := s.Start(t.Context()); err != nil || heard() != start {
		t.Errorf("a unit that never ran: %v: %q", err, heard())
	}
	answers(`[ "$1" = reset-failed ] && { echo "Access denied" >&2; exit 1; }; exit 0`)
	if err := s.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "Access denied") {
		t.Errorf("an error: %v: %q", err, heard())
	}
	answers(`[ "$1" = start ] && exit 1; exit 0`)
	if err := s.Start(t.Context()); err == nil {
		t.Error("a unit that cannot be started was started")
	}
	answers("exit 0")
	if err := s.Stop(t.Context()); err != nil || heard() != "stop canary.service" {
		t.Errorf("%v: %q", err, heard())
	}
	answers("exit 1")
	if err := s.Stop(t.Context()); err == nil {
		t.Error("a unit that cannot be stopped was stopped")
	}
	answers(`printf 'MainPID=42\nNRestarts=3\n'`)
	if state, err := s.State(t.Context()); err != nil || state != (State{Process: 42, Restarts: 3}) {
		t.Errorf("%v, %v", state, err)
	}
	for _, answer := range []string{`MainPID=x\nNRestarts=3\n`, `MainPID=42\nNRestarts=\n`, `what\n`} {
		answers("printf '" + answer + "'")
		if state, err := s.State(t.Context()); err == nil {
			t.Errorf("%q: %v", answer, state)
		}
	}
}
