package nodeunit_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/nodeunit"
	"github.com/hostler/hostler/internal/nodetest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// A connection that breaks at any moment of a call changes nothing of what comes of the same calls made again: the run runs once.
func TestCutConnections(t *testing.T) {
	t.Parallel()
	m := nodetest.Start(t)
	f := fixture{m, m.Login()}
	spec := script("cut", "echo run >>/root/counted; echo on; while [ ! -e /run/go ]; do sleep 0.05; done; echo off")
	large := strings.Repeat("0123456789abcdef", 1<<16)
	for _, name := range []string{"a", "b", "c"} {
		spec.Files = append(spec.Files, file(name, large+name))
	}
	// call makes a call while connections are cut after each pause, and then once more without that.
	call := func(what string, do func() error) {
		t.Helper()
		for pause := 5 * time.Millisecond; pause < time.Second; pause *= 2 {
			timer := time.AfterFunc(pause, m.SSH.CloseConnections)
			err := do()
			timer.Stop()
			if kind := plugin.KindOf(err); err != nil && kind != plugin.Unreachable && kind != plugin.Timeout {
				t.Errorf("%s, cut after %s: %v", what, pause, err)
			}
		}
		if err := do(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	call("preparing", func() error { return nodeunit.Prepare(t.Context(), f.node, spec) })
	call("starting", func() error { return nodeunit.Start(t.Context(), f.node, spec) })
	call("looking", func() error { _, _, err := nodeunit.ReadState(t.Context(), f.node, "cut", 0, 100); return err })

	// One who follows is not disturbed, and another one, who comes after a death, goes on where the first one was.
	ctx, cancel := context.WithCancel(t.Context())
	var first, second bytes.Buffer
	_, next, err := nodeunit.Follow(ctx, f.node, "cut", 0, writer(func(p []byte) (int, error) { cancel(); return first.Write(p) }))
	if !errors.Is(err, context.Canceled) || first.String() != "on\n" || next != 3 {
		t.Errorf("the first one got %q, %d, %v", first.String(), next, err)
	}
	cutting := make(chan struct{})
	go func() {
		defer close(cutting)
		for range 5 {
			before := m.SSH.Logins()
			m.SSH.CloseConnections()
			waittest.Until(t, "someone asks again", func() bool { return m.SSH.Logins() > before })
		}
		m.Run("touch /run/go")
	}()
	state, _, err := nodeunit.Follow(t.Context(), f.node, "cut", next, &second)
	<-cutting
	if err != nil || !state.OK() || second.String() != "off\n" {
		t.Errorf("the second one got %q, %+v, %v", second.String(), state, err)
	}
	if counted := m.Run("cat /root/counted"); counted != "run" {
		t.Errorf("it ran as often as this: %q", counted)
	}
	call("removing", func() error { return nodeunit.Remove(t.Context(), f.node, "cut") })
	if left := m.Run("ls -A /var/lib/hostler/runs"); left != "" {
		t.Errorf("left behind: %q", left)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// A machine that goes down takes its runs with it: that is told as it was, and nothing starts again.
func TestReboot(t *testing.T) {
	t.Parallel()
	m := nodetest.Start(t)
	f := fixture{m, m.Login()}
	ended, running, waiting := script("ended", "exit 3"), script("running", "echo on; sleep 100000"), script("waiting", "echo late")
	f.start(t, ended)
	f.end(t, "ended")
	f.start(t, running)
	waittest.Until(t, "it runs", func() bool {
		_, out, err := nodeunit.ReadState(t.Context(), f.node, "running", 0, 100)
		return err == nil && string(out) == "on\n"
	})
	if err := nodeunit.Prepare(t.Context(), f.node, waiting); err != nil {
		t.Fatal("preparing:", err)
	}
	m.PowerOff()
	if _, _, err := nodeunit.ReadState(t.Context(), f.node, "running", 0, 0); plugin.KindOf(err) != plugin.Unreachable {
		t.Errorf("while the machine is off: %v", err)
	}
	m.Boot()
	if state, out := f.end(t, "running"); state.Phase != nodeunit.Rebooted || state.OK() || out != "on\n" {
		t.Errorf("what ran is %+v and had printed %q", state, out)
	}
	if state, _ := f.end(t, "ended"); state.Phase != nodeunit.Ended || state.ExitCode != 3 {
		t.Errorf("what had ended is %+v", state)
	}
	if err := nodeunit.Start(t.Context(), f.node, running); err != nil {
		t.Errorf("starting again what ran: %v", err)
	}
	if state, _ := f.end(t, "running"); state.Phase != nodeunit.Rebooted {
		t.Errorf("what was started again is %+v", state)
	}
	f.start(t, waiting)
	if state, out := f.end(t, "waiting"); !state.OK() || out != "late\n" {
		t.Errorf("what was not started is %+v and has printed %q", state, out)
	}
}

// A run that fills the disk is told to have ended as it did, and what does not fit is not taken.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	m := nodetest.Start(t)
	f := fixture{m, m.Login()}
	f.start(t, script("fills", "dd if=/dev/zero of=/root/all bs=64k 2>/dev/null; exit 9"))
	if state, _ := f.end(t, "fills"); state.Phase != nodeunit.Ended || state.ExitCode != 9 {
		t.Errorf("it is %+v", state)
	}
	more := script("more", "true")
	more.Files = append(more.Files, file("large", strings.Repeat("x", 1<<20)))
	if err := nodeunit.Prepare(t.Context(), f.node, more); plugin.KindOf(err) != plugin.Refused {
		t.Errorf("more than fits: %v", err)
	}
	m.Run("rm /root/all")
	if left := m.Run("ls -A /var/lib/hostler/runs"); left != "fills" {
		t.Errorf("the folder has %q", left)
	}
	f.start(t, more)
	if state, _ := f.end(t, "more"); !state.OK() {
		t.Errorf("with room again it is %+v", state)
	}
}

// A machine without systemd is one where nothing can be started.
func TestNoSystemd(t *testing.T) {
	t.Parallel()
	refusing := without{}
	if err := nodeunit.Start(t.Context(), refusing, script("none", "true")); plugin.KindOf(err) != plugin.Refused {
		t.Errorf("starting: %v", err)
	}
	if _, _, err := nodeunit.ReadState(t.Context(), refusing, "none", 0, 0); plugin.KindOf(err) != plugin.Refused {
		t.Errorf("looking: %v", err)
	}
}

// without is a machine whose scripts end as those do that find no systemd.
type without struct{ hypervisor.NodeExecutor }

func (without) RunOnNode(_ context.Context, _ hypervisor.NodeCommand, s hypervisor.NodeStreams) (hypervisor.NodeResult, error) {
	_, _ = io.WriteString(s.Errors, "systemd-run: not found\n\x1b[31m")
	return hypervisor.NodeResult{ExitCode: 26}, nil
}
