package nodeunit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

func file(name, content string) nodeunit.File { return nodeunit.Bytes(name, 0o755, []byte(content)) }

// script is a run of a script of ours, without a limit that it could come to.
func script(run, content string) nodeunit.Spec {
	return nodeunit.Spec{Run: run, Program: "./script", Files: []nodeunit.File{file("script", "#!/bin/sh\n"+content)}, Limit: time.Hour}
}

// fixture is a machine with a way to it.
type fixture struct {
	*nodetest.Machine
	node hypervisor.NodeExecutor
}

func (f fixture) start(t *testing.T, spec nodeunit.Spec) {
	t.Helper()
	if err := nodeunit.Prepare(t.Context(), f.node, spec); err != nil {
		t.Fatal("preparing: ", err)
	}
	if err := nodeunit.Start(t.Context(), f.node, spec); err != nil {
		t.Fatal("starting: ", err)
	}
}

// end follows a run to its end.
func (f fixture) end(t *testing.T, run string) (nodeunit.State, string) {
	t.Helper()
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	state, next, err := nodeunit.Follow(ctx, f.node, run, 0, &out)
	t.Log(f.Try(context.Background(), "systemctl status hostler-run-"+run+"; ls -la /var/lib/hostler/runs/"+run))
	if err != nil || next != int64(out.Len()) || state.Output != next {
		t.Fatalf("following %s: %+v, %d of %d bytes, %v", run, state, out.Len(), next, err)
	}
	return state, out.String()
}

func TestRuns(t *testing.T) {
	t.Parallel()
	m := nodetest.Start(t)
	f := fixture{m, m.Login()}
	for name, scenario := range map[string]func(*testing.T, fixture){
		"all of it arrives": arrives, "ends": ends, "once": once, "changed files": changedFiles, "stopped": stopped, "secrets": secrets,
		"unsafe folder": unsafeFolder, "refused": refused,
	} {
		t.Run(name, func(t *testing.T) { scenario(t, f) })
	}
}

var hostile = []string{"", "a b", "'", `"`, `\`, `\\`, `\0101`, `\c`, "$(touch /tmp/hacked)", "`id`", "%n%s", "\n", "a\nb\n\n", "-n",
	"; id",
	"\xff\xfe", "ä€😀", "a=b"}

func arrives(t *testing.T, f fixture) {
	spec := script("job-1", `printf '%s\0' "$@"; printf '%s\0' "$SECRET"; cat; pwd
		stat -c '%a %u' script sub/more; umask; echo "$HOME $TERM" >&2`)
	spec.Arguments = hostile
	spec.Environment = []hypervisor.NodeVariable{{Name: "SECRET", Value: plugin.Secret(strings.Join(hostile, "|"))},
		{Name: "TERM", Value: "xterm"}}
	spec.Input = bytes.Repeat([]byte("y\n"), 1000)
	spec.Files = append(spec.Files, file("sub/more", "more"))
	f.start(t, spec)
	state, out := f.end(t, "job-1")
	want := strings.Join(hostile, "\x00") + "\x00" + strings.Join(hostile, "|") + "\x00" + strings.Repeat("y\n", 1000) +
		"/var/lib/hostler/runs/job-1/files\n755 0\n755 0\n0022\n/root xterm\n"
	if !state.OK() || state.Phase != nodeunit.Ended || out != want {
		t.Errorf("it is %+v and has printed %q, want %q", state, out, want)
	}
	if state.StartedAt.IsZero() || state.EndedAt.Before(state.StartedAt) || time.Since(state.StartedAt) > time.Hour {
		t.Errorf("it ran from %s to %s", state.StartedAt, state.EndedAt)
	}
	if _, rest, err := nodeunit.ReadState(t.Context(), f.node, "job-1", state.Output-6, 5); err != nil || string(rest) != "xterm" {
		t.Errorf("a part of the output is %q, %v", rest, err)
	}
	if all, err := nodeunit.List(t.Context(), f.node); err != nil || !strings.Contains(fmt.Sprint(all), "job-1") {
		t.Errorf("the runs are %q, %v", all, err)
	}
	for range 2 {
		if err := nodeunit.Remove(t.Context(), f.node, "job-1"); err != nil {
			t.Error("removing:", err)
		}
	}
	left := f.Run("ls -A /var/lib/hostler/runs /run/hostler-runs | grep job-1 || true; " +
		"systemctl list-units --all --no-legend 'hostler-run-job-1*'")
	if left != "" {
		t.Errorf("left behind: %q", left)
	}
	if _, _, err := nodeunit.ReadState(t.Context(), f.node, "job-1", 0, 10); plugin.KindOf(err) != plugin.NotFound {
		t.Errorf("a run that is gone: %v", err)
	}
}

func ends(t *testing.T, f fixture) {
	limited := script("limit", "trap '' TERM INT HUP; echo on; sleep 100000 & sleep 100000")
	limited.Limit = 10 * time.Second // in which the script gets to its trap
	nothing := script("nothing", "")
	nothing.Program = "no-such-program"
	for _, c := range []struct {
		spec nodeunit.Spec
		want nodeunit.State
		out  string
	}{
		{script("zero", "echo done"), nodeunit.State{Phase: nodeunit.Ended}, "done\n"},
		{script("code", "echo no >&2; exit 203"), nodeunit.State{Phase: nodeunit.Ended, ExitCode: 203}, "no\n"},
		{script("signal", "kill -SEGV $$"), nodeunit.State{Phase: nodeunit.Ended, Signal: "SEGV"}, ""},
		{script("forks", "setsid sh -c 'trap \"\" HUP; sleep 100000' & echo $! >/run/forked; exit 0"),
			nodeunit.State{Phase: nodeunit.Ended}, ""},
		{limited, nodeunit.State{Phase: nodeunit.Ended, Signal: "KILL", TimedOut: true}, "on\n"},
		{nothing, nodeunit.State{Phase: nodeunit.Ended, ExitCode: 127}, ""},
	} {
		f.start(t, c.spec)
		t.Log(c.spec.Run)
		state, out := f.end(t, c.spec.Run)
		state.StartedAt, state.EndedAt, c.want.Output = time.Time{}, time.Time{}, state.Output
		if state != c.want || c.spec.Run != "nothing" && out != c.out {
			t.Errorf("%s is %+v and has printed %q, want %+v and %q", c.spec.Run, state, out, c.want, c.out)
		}
	}
	if left := f.Run("kill -0 $(cat /run/forked) 2>/dev/null && echo there || true"); left != "" {
		t.Error("what a run has forked goes on")
	}
}

// A run starts once, whoever asks, also when it is over.
func once(t *testing.T, f fixture) {
	spec := script("once", "echo run >>/root/counted")
	if err := nodeunit.Start(t.Context(), f.node, spec); plugin.KindOf(err) != plugin.NotFound {
		t.Errorf("starting what is not there: %v", err)
	}
	f.start(t, spec)
	f.end(t, "once")
	errs := make(chan error)
	for range 4 {
		go func() {
			errs <- errors.Join(nodeunit.Prepare(t.Context(), f.node, spec), nodeunit.Start(t.Context(), f.node, spec))
		}()
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Error("again:", err)
		}
	}
	// The same without our script, as if an older request came late.
	const folder = "/var/lib/hostler/runs/once"
	_, _ = f.Try(t.Context(), "systemd-run --quiet --collect --unit=hostler-run-once /bin/sh "+folder+"/launch "+folder)
	waittest.Until(t, "the second unit is gone", func() bool {
		return f.Run("systemctl show -p LoadState --value hostler-run-once") != "loaded"
	})
	if counted := f.Run("cat /root/counted"); counted != "run" {
		t.Errorf("it ran as often as this: %q", counted)
	}
	if state, _, err := nodeunit.ReadState(t.Context(), f.node, "once", 0, 0); err != nil || !state.OK() {
		t.Errorf("afterwards it is %+v, %v", state, err)
	}
	other := script("once", "echo other")
	if err := nodeunit.Prepare(t.Context(), f.node, other); plugin.KindOf(err) != plugin.Conflict {
		t.Errorf("another run of the name: %v", err)
	}
	if err := nodeunit.Start(t.Context(), f.node, other); plugin.KindOf(err) != plugin.Conflict {
		t.Errorf("starting another run of the name: %v", err)
	}
	// What was not started may be replaced.
	first, second := script("twice", "echo first"), script("twice", "echo second")
	if err := nodeunit.Prepare(t.Context(), f.node, first); err != nil {
		t.Fatal("preparing:", err)
	}
	f.start(t, second)
	if _, out := f.end(t, "twice"); out != "second\n" {
		t.Errorf("it has printed %q", out)
	}
}

// One byte that is changed on the way or on the machine is found before anything runs.
func changedFiles(t *testing.T, f fixture) {
	lying := script("lying", "touch /root/hacked")
	lying.Files[0].SHA256 = strings.Repeat("0", 64)
	err := nodeunit.Prepare(t.Context(), f.node, lying)
	if told := (*plugin.Error)(nil); !errors.As(err, &told) || told.Kind != plugin.Invalid || told.Field != "files" {
		t.Errorf("a file that is another: %v", err)
	}
	short := script("short", "touch /root/hacked")
	short.Files[0].Size++
	if err := nodeunit.Prepare(t.Context(), f.node, short); err == nil {
		t.Error("a file that is too short was taken")
	}
	if _, _, err := nodeunit.ReadState(t.Context(), f.node, "lying", 0, 0); plugin.KindOf(err) != plugin.NotFound {
		t.Errorf("what was refused is there: %v", err)
	}
	for _, part := range []string{"files/script", "launch", "finish", "command", "environment", "input", "limit", "sums"} {
		spec := script("changed", "touch /root/hacked")
		if err := nodeunit.Prepare(t.Context(), f.node, spec); err != nil {
			t.Fatal("preparing:", err)
		}
		f.Run("echo x >>/var/lib/hostler/runs/changed/" + part)
		if err := nodeunit.Start(t.Context(), f.node, spec); plugin.KindOf(err) != plugin.Invalid && plugin.KindOf(err) != plugin.Conflict {
			t.Errorf("%s was changed: %v", part, err)
		}
		if err := nodeunit.Remove(t.Context(), f.node, "changed"); err != nil {
			t.Error("removing:", err)
		}
	}
	// Between the check and the start it is the unit that finds it.
	spec := script("late", "touch /root/hacked")
	if err := nodeunit.Prepare(t.Context(), f.node, spec); err != nil {
		t.Fatal("preparing:", err)
	}
	f.Run("d=/var/lib/hostler/runs/late; echo x >>$d/files/script; systemd-run --quiet --collect --unit=hostler-run-late " +
		`-p ExecStopPost="/bin/sh $d/finish $d" /bin/sh $d/launch $d`)
	if state, _ := f.end(t, "late"); !state.Changed || state.OK() {
		t.Errorf("it is %+v", state)
	}
	if there := f.Run("ls /root/hacked 2>/dev/null || true"); there != "" {
		t.Error("something ran that was changed")
	}
	if left := f.Run("ls -A /var/lib/hostler/runs | grep '^[.]new' || true"); left != "" {
		t.Errorf("left behind: %q", left)
	}
}

func stopped(t *testing.T, f fixture) {
	f.start(t, script("stubborn", "trap 'echo asked' TERM; echo on; while :; do sleep 0.1; done"))
	waittest.Until(t, "the run is on", func() bool {
		_, out, err := nodeunit.ReadState(t.Context(), f.node, "stubborn", 0, 100)
		return err == nil && string(out) == "on\n"
	})
	if err := nodeunit.Remove(t.Context(), f.node, "stubborn"); plugin.KindOf(err) != plugin.Conflict {
		t.Errorf("removing what runs: %v", err)
	}
	for range 2 {
		if err := nodeunit.Stop(t.Context(), f.node, "stubborn"); err != nil {
			t.Error("stopping:", err)
		}
	}
	state, out := f.end(t, "stubborn")
	if state.Phase != nodeunit.Ended || state.Signal != "KILL" || !state.Stopped || state.TimedOut || !strings.Contains(out, "asked\n") {
		t.Errorf("it is %+v and has printed %q", state, out)
	}
	early := script("early", "touch /root/early")
	if err := nodeunit.Prepare(t.Context(), f.node, early); err != nil {
		t.Fatal("preparing:", err)
	}
	if err := nodeunit.Stop(t.Context(), f.node, "early"); err != nil {
		t.Error("stopping:", err)
	}
	if err := nodeunit.Start(t.Context(), f.node, early); plugin.KindOf(err) != plugin.Conflict {
		t.Errorf("starting what was stopped: %v", err)
	}
	if state, _ := f.end(t, "early"); state.Phase != nodeunit.Prepared || !state.Stopped {
		t.Errorf("it is %+v", state)
	}
	if err := nodeunit.Stop(t.Context(), f.node, "nobody"); plugin.KindOf(err) != plugin.NotFound {
		t.Errorf("stopping nothing: %v", err)
	}
}

// No user of the machine but root sees what is secret, and it leaves the folder at the start.
func secrets(t *testing.T, f fixture) {
	spec := script("secret", "sleep 100000")
	spec.Environment = []hypervisor.NodeVariable{{Name: "TOKEN", Value: "canary-of-a-variable"}}
	spec.Input = []byte("canary-of-an-input")
	spec.Arguments = []string{"canary-of-an-argument"}
	f.start(t, spec)
	waittest.Until(t, "it runs", func() bool {
		return f.Run("ls /var/lib/hostler/runs/secret/environment 2>/dev/null || echo gone") == "gone"
	})
	shown := f.Run("u=hostler-run-secret.service; systemctl show $u; systemctl cat $u; cat /run/systemd/transient/$u")
	if strings.Contains(shown, "canary") || !strings.Contains(shown, "hostler.slice") {
		t.Errorf("the unit shows\n%s", shown)
	}
	if mode := f.Run("stat -c '%a %u' /var/lib/hostler/runs /var/lib/hostler/runs/secret"); mode != "700 0\n700 0" {
		t.Errorf("the folders have the modes %q", mode)
	}
	if err := nodeunit.Stop(t.Context(), f.node, "secret"); err != nil {
		t.Error("stopping:", err)
	}
	f.end(t, "secret")
}

// A folder in which another user can write is nothing to run from.
func unsafeFolder(t *testing.T, f fixture) {
	for _, spoil := range []string{"chown 1000", "chmod g+w", "chmod o+w"} {
		f.Run("mkdir -p -m 700 /var/lib/hostler; " + spoil + " /var/lib/hostler")
		if err := nodeunit.Prepare(t.Context(), f.node, script("unsafe", "true")); plugin.KindOf(err) != plugin.Refused {
			t.Errorf("after %s: %v", spoil, err)
		}
		f.Run("chown 0 /var/lib/hostler; chmod 700 /var/lib/hostler")
	}
}

func refused(t *testing.T, f fixture) {
	for name, spoil := range map[string]func(*nodeunit.Spec){
		"a name with a slash":     func(s *nodeunit.Spec) { s.Run = "a/b" },
		"a name of dots":          func(s *nodeunit.Spec) { s.Run = ".." },
		"a long name":             func(s *nodeunit.Spec) { s.Run = strings.Repeat("a", 41) },
		"no limit":                func(s *nodeunit.Spec) { s.Limit = 0 },
		"no program":              func(s *nodeunit.Spec) { s.Program = "" },
		"a program outside":       func(s *nodeunit.Spec) { s.Program = "./../launch" },
		"NUL":                     func(s *nodeunit.Spec) { s.Arguments = []string{"\x00"} },
		"a variable of a shell's": func(s *nodeunit.Spec) { s.Environment = []hypervisor.NodeVariable{{Name: "IFS"}} },
		"a file outside":          func(s *nodeunit.Spec) { s.Files[0].Name = "../x" },
		"a file with a space":     func(s *nodeunit.Spec) { s.Files[0].Name = "a b" },
		"a file of a hyphen":      func(s *nodeunit.Spec) { s.Files[0].Name = "a/-b" },
		"a file below a file":     func(s *nodeunit.Spec) { s.Files = append(s.Files, file("script/x", "")) },
		"a file twice":            func(s *nodeunit.Spec) { s.Files = append(s.Files, file("script", "")) },
		"a mode of another user":  func(s *nodeunit.Spec) { s.Files[0].Mode = 0o4755 },
		"no sum":                  func(s *nodeunit.Spec) { s.Files[0].SHA256 = "" },
	} {
		spec := script("refused", "true")
		spoil(&spec)
		if err := nodeunit.Prepare(t.Context(), f.node, spec); plugin.KindOf(err) != plugin.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	mine := errors.New("of mine")
	spec := script("refused", "true")
	spec.Files[0].Open = func() (io.ReadCloser, error) { return nil, mine }
	if err := nodeunit.Prepare(t.Context(), f.node, spec); !errors.Is(err, mine) {
		t.Errorf("a file that cannot be opened: %v", err)
	}
	if _, _, err := nodeunit.ReadState(t.Context(), f.node, "refused", 0, 0); plugin.KindOf(err) != plugin.NotFound {
		t.Errorf("something is there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := nodeunit.Follow(ctx, f.node, "refused", 0, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who has gone: %v", err)
	}
}
