package updater

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/updater/installation"
)

// refuse makes the supervisor refuse what it is asked for so many times; heal ends that.
func (v *supervisor) refuse(verb string, times int) (heal func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	left := times
	v.fault = func(asked string) error {
		v.mu.Lock()
		defer v.mu.Unlock()
		if asked != verb || left == 0 {
			return nil
		}
		left--
		return errors.New("the supervisor refuses")
	}
	return func() {
		v.mu.Lock()
		v.fault = nil
		v.mu.Unlock()
	}
}

const forEver = 1 << 30

// A service that is not stopped, started or seen as it should be.
func TestServiceThatDoesNotFollow(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(newVersion, "")
	config := s.config()
	config.ReadyTime = 4 * time.Second // which resume has more of
	for _, test := range []struct {
		verb  string
		times int
		want  installation.State
	}{
		{"stop", 1, installation.StateFailed}, {"stop", forEver, installation.StateFailed},
		{"start", 1, installation.StateRolledBack}, {"start", forEver, installation.StateRolledBack},
		{"state", forEver, installation.StateRolledBack},
	} {
		name := fmt.Sprintf("service %s %t", test.verb, test.times == 1)
		heal := s.supervisor.refuse(test.verb, test.times)
		s.do(order{Do: "run", Config: config})
		heal()
		if got := s.settle(name); got != test.want {
			t.Fatalf("%s: %q, want %q", name, got, test.want)
		}
	}
	t.Log("a port that another program has taken")
	var other net.Listener
	answer := s.during("in switch", order{Do: "run", Config: config}, func() {
		var err error
		if other, err = net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(s.port)); err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				conn, err := other.Accept()
				if err != nil {
					return
				}
				_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"))
				_ = conn.Close()
			}
		}()
	})
	if step, err := answer.end(); err != nil || step != installation.StepRollback {
		t.Fatalf("%s, %v", step, err)
	}
	// It is tried again and again, and the journal does not grow with it.
	size := func() int64 {
		info, err := os.Stat(installation.Journal(s.own))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	config.ReadyTime = time.Second
	for range 3 {
		if step, err := s.do(order{Do: "resume", Config: config}).end(); err != nil || step != installation.StepRollback {
			t.Fatalf("%s, %v", step, err)
		}
	}
	if after := size(); after != before {
		t.Errorf("the journal had %d bytes and has %d", before, after)
	}
	_ = other.Close()
	s.settle("port")
	config = s.config()
	config.StopTime = 2 * time.Second
	t.Log("a service that does not hear")
	s.must(s.during("in trial", order{Do: "run", Config: config}, func() {
		state, err := s.supervisor.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(state.Process, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}), installation.StepFailed)
	s.settle("deaf")
	s.update()
}

// Versions that come up and do not stay.
func TestFlappingService(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	config := s.config()
	config.ReadyTime, config.Settled = time.Minute, 5*time.Second
	s.supervisor.stopTime = 5 * time.Second
	for _, script := range map[string]string{
		"dies when it was ready":        `[ "$1" = serve ] && { "$real" serve & p=$!; sleep 4; kill -9 $p; exit 1; }`,
		"comes and goes in one process": `[ "$1" = serve ] && while :; do "$real" serve & p=$!; sleep 2; kill $p; wait $p; done`,
		"does not hear the end":         `[ "$1" = serve ] && { trap '' TERM; "$real" serve & sleep 2; kill -9 $!; while :; do sleep 1; done; }`,
	} {
		s.publish(newVersion, script)
		_ = os.Remove(Layout{StateDir: s.own}.seen())
		s.must(s.do(order{Do: "run", Config: config}), installation.StepRolledBack)
		s.holds(oldVersion, "rolled_back")
	}
	s.publish(newVersion, "")
	_ = os.Remove(Layout{StateDir: s.own}.seen())
	s.update()
}

// Migrations that are slow, do not hear, or leave something behind.
func TestMigrationsThatMisbehave(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	config := s.config()
	config.MigrateTime = 8 * time.Second
	pids := filepath.Join(filepath.Dir(s.prefix), "pids")
	const live = `case "$HOSTLER_DATABASE_URL" in *_trial_*) exec "$real" "$@";; esac; `
	for _, test := range []struct {
		name, script string
		want         installation.Step
	}{
		{"slow on the live database only", live + `"$real" "$@"; trap '' TERM HUP INT; sleep 600 & echo $! >> ` + pids + `; wait`,
			installation.StepRolledBack},
		{"does not hear", `trap '' TERM HUP INT; while :; do sleep 1; done`, installation.StepFailed},
		{"leaves programs behind", live + `"$real" "$@"; (sleep 600 </dev/null >/dev/null 2>&1 & echo $! >> ` + pids + `); exit 1`,
			installation.StepRolledBack},
		{"talks without end", `yes canary >&2`, installation.StepFailed},
		{"slow within its time", `sleep 1; "$real" "$@"; code=$?; (sleep 600 </dev/null >/dev/null 2>&1 & echo $! >> ` + pids +
			`); exit $code`, installation.StepDone},
	} {
		s.publish(newVersion, `[ "$1" = migrate ] && { `+test.script+`; }`)
		_ = os.Remove(Layout{StateDir: s.own}.seen())
		answer := s.do(order{Do: "run", Config: config})
		s.must(answer, test.want)
		if len(answer.Reason) > 4<<10 {
			t.Errorf("%s: the reason has %d bytes", test.name, len(answer.Reason))
		}
		if test.want == installation.StepDone {
			s.holds(newVersion, "done")
		} else {
			s.holds(oldVersion, strings.ReplaceAll(string(test.want), " ", "_"))
		}
		text, _ := os.ReadFile(pids) // not every one leaves some
		for _, pid := range strings.Fields(string(text)) {
			n, err := strconv.Atoi(pid)
			if err != nil {
				t.Fatal(err)
			}
			waittest.Until(t, fmt.Sprintf("%s: process %d ends", test.name, n), func() bool { return syscall.Kill(n, 0) != nil || zombie(n) })
		}
		_ = os.Remove(pids)
	}
}

// zombie reports a process that has ended and that nobody has asked about.
func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(text), ") Z ")
}
