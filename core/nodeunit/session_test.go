package nodeunit_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/nodeunit"
	"github.com/hostler/hostler/internal/nodetest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/pve/pvessh"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// container is one of a machine's, by SSH.
type container struct {
	login *pvessh.Machine
	id    string
}

func (c container) Run(ctx context.Context, command hypervisor.NodeCommand, streams hypervisor.NodeStreams) (hypervisor.NodeResult,
	error) {
	return c.login.RunInContainer(ctx, c.id, command, streams)
}

// sessionEnds follows a session to its end.
func sessionEnds(t *testing.T, node hypervisor.NodeExecutor, run string) (nodeunit.State, string) {
	t.Helper()
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	state, next, err := nodeunit.Follow(ctx, node, run, 0, &out)
	if err != nil || next != int64(out.Len()) || state.Output != next {
		t.Fatalf("following %s: %+v, %d of %d bytes, %v", run, state, out.Len(), next, err)
	}
	return state, out.String()
}

// Runs in a container, which has no systemd, are as those on the machine.
func TestSessions(t *testing.T) {
	t.Parallel()
	m := nodetest.Start(t)
	m.Container(101)
	node := nodeunit.InGuest(container{pvessh.New(m.SSH.Target(), pvessh.Timeouts{Alive: time.Second, Silence: time.Minute}), "101"})
	begin := func(spec nodeunit.Spec) {
		t.Helper()
		if err := nodeunit.Prepare(t.Context(), node, spec); err != nil {
			t.Fatal("preparing: ", err)
		}
		if err := nodeunit.Start(t.Context(), node, spec); err != nil {
			t.Fatal("starting: ", err)
		}
	}

	spec := script("job-1", `printf '%s\0' "$@"; printf '%s\0' "$SECRET"; cat; pwd; umask; echo "$HOME" >&2`)
	spec.Arguments, spec.Input = hostile, []byte("y\ny\n")
	spec.Environment = []hypervisor.NodeVariable{{Name: "SECRET", Value: plugin.Secret(strings.Join(hostile, "|"))}}
	begin(spec)
	state, out := sessionEnds(t, node, "job-1")
	want := strings.Join(hostile, "\x00") + "\x00" + strings.Join(hostile, "|") + "\x00y\ny\n/var/lib/hostler/runs/job-1/files\n0022\n/root\n"
	if !state.OK() || out != want {
		t.Errorf("it is %+v and has printed %q, want %q", state, out, want)
	}
	if left := m.InContainer(101, "cat /var/lib/hostler/runs/job-1/environment 2>/dev/null || true"); left != "" {
		t.Errorf("the secret is left: %q", left)
	}

	limited, nothing := script("limit", "trap '' TERM INT HUP; echo on; sleep 100000 & sleep 100000"), script("nothing", "")
	limited.Limit, nothing.Program = 10*time.Second, "no-such-program"
	for _, c := range []struct {
		spec nodeunit.Spec
		want nodeunit.State
	}{
		{script("code", "echo no >&2; exit 203"), nodeunit.State{Phase: nodeunit.Ended, ExitCode: 203}},
		{script("signal", "kill -SEGV $$"), nodeunit.State{Phase: nodeunit.Ended, ExitCode: 139}},
		{script("forks", "sleep 100000 & exit 0"), nodeunit.State{Phase: nodeunit.Ended}},
		{limited, nodeunit.State{Phase: nodeunit.Ended, Signal: "KILL", TimedOut: true}},
		{nothing, nodeunit.State{Phase: nodeunit.Ended, ExitCode: 127}},
	} {
		begin(c.spec)
		state, _ := sessionEnds(t, node, c.spec.Run)
		state.StartedAt, state.EndedAt, c.want.Output = time.Time{}, time.Time{}, state.Output
		if state != c.want {
			t.Errorf("%s is %+v, want %+v", c.spec.Run, state, c.want)
		}
	}

	// Once, whoever asks, while the connection is cut; and stopped.
	once := script("once", "echo run >>/root/counted; echo on; trap 'echo asked; exit 3' TERM; while :; do sleep 0.1; done")
	for pause := 5 * time.Millisecond; pause < 500*time.Millisecond; pause *= 3 {
		for _, do := range []func(context.Context, hypervisor.NodeExecutor, nodeunit.Spec) error{nodeunit.Prepare, nodeunit.Start} {
			timer := time.AfterFunc(pause, m.SSH.CloseConnections)
			_ = do(t.Context(), node, once) // it is made again
			timer.Stop()
		}
	}
	begin(once)
	waittest.Until(t, "the run is on", func() bool {
		state, out, err := nodeunit.ReadState(t.Context(), node, "once", 0, 100)
		return err == nil && string(out) == "on\n" && state.Phase == nodeunit.Running
	})
	if err := nodeunit.Remove(t.Context(), node, "once"); plugin.KindOf(err) != plugin.Conflict {
		t.Errorf("removing what runs: %v", err)
	}
	if err := nodeunit.Stop(t.Context(), node, "once"); err != nil {
		t.Error("stopping:", err)
	}
	if state, out := sessionEnds(t, node, "once"); !state.Stopped || state.Signal != "TERM" || !strings.HasSuffix(out, "asked\n") {
		t.Errorf("it is %+v and has printed %q", state, out)
	}
	if counted := m.InContainer(101, "cat /root/counted"); counted != "run" {
		t.Errorf("it ran as often as this: %q", counted)
	}

	// One byte that is changed is found before anything runs.
	for _, part := range []string{"files/script", "launch", "command", "environment", "input", "limit", "sums"} {
		changed := script("changed", "touch /root/hacked")
		if err := nodeunit.Prepare(t.Context(), node, changed); err != nil {
			t.Fatal("preparing: ", err)
		}
		m.InContainer(101, "echo x >>/var/lib/hostler/runs/changed/"+part)
		if err := nodeunit.Start(t.Context(), node, changed); plugin.KindOf(err) != plugin.Invalid && plugin.KindOf(err) != plugin.Conflict {
			t.Errorf("%s was changed: %v", part, err)
		}
		if err := nodeunit.Remove(t.Context(), node, "changed"); err != nil {
			t.Error("removing:", err)
		}
	}
	if there := m.InContainer(101, "ls /root/hacked 2>/dev/null || true"); there != "" {
		t.Error("something ran that was changed")
	}

	// A launcher that is killed leaves an end that nobody knows.
	begin(script("lost", "sleep 100000"))
	m.InContainer(101, "read -r pid rest </var/lib/hostler/runs/lost/started/pid; kill -KILL -$pid")
	if state, _ := sessionEnds(t, node, "lost"); state.Phase != nodeunit.Lost {
		t.Errorf("it is %+v", state)
	}
}
