package updater

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/updater/installation"
)

const year = 365 * 24 * time.Hour

// The backups that stay are those of the newest runs, whatever the clock said in each.
func TestBackupsWithAClockThatJumps(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	config := s.config()
	config.KeepBackups = 2
	var runs []string
	for _, clock := range []time.Duration{0, 30 * year, 0, -20 * year, time.Hour} {
		answer := s.do(order{Do: "run", Config: config, Clock: clock}) // there is no release
		s.must(answer, installation.StepFailed)
		runs = append(runs, answer.Result.Run)
		if status, err := installation.LastStatus(s.own); err != nil || status.Run != answer.Result.Run {
			t.Errorf("%+v, %v", status, err)
		}
	}
	entries, err := os.ReadDir(config.Layout.backups())
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, e := range entries {
		kept = append(kept, e.Name())
	}
	if !slices.Equal(kept, runs[len(runs)-2:]) {
		t.Errorf("of %v were kept %v", runs, kept)
	}
	// The backup by which an update can be taken back outlives attempts that come to nothing.
	s.publish(newVersion, "")
	s.must(s.do(order{Do: "run", Config: config}), installation.StepDone)
	for range 3 {
		s.must(s.do(order{Do: "run", Config: config}), installation.StepFailed)
	}
	s.must(s.do(order{Do: "revert", Restore: true, Config: config}), installation.StepRolledBack)
	s.holds(oldVersion, "rolled_back")
}

// A clock that jumps inside a run, by years to either side.
func TestClockThatJumpsInARun(t *testing.T) {
	t.Parallel()
	for name, jump := range map[string]time.Duration{"back": -10 * year, "ahead": 10 * year} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.publish(newVersion, "")
			s.must(s.do(order{Do: "run", JumpAt: "in trial", Jump: jump}), installation.StepDone)
			s.holds(newVersion, "done")
			status, err := installation.LastStatus(s.own)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range status.Steps {
				if step.EndedAt.Before(step.StartedAt) {
					t.Errorf("%s ended at %s and began at %s", step.Step, step.EndedAt, step.StartedAt)
				}
			}
		})
	}
}

// A release from the future is refused, and does not make the right ones look old.
func TestReleaseFromTheFuture(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	m := s.publish(newVersion, "")
	m.Date = m.Date.Add(20 * year)
	s.sign(m)
	refused := func(o order) {
		t.Helper()
		o.Do = "run"
		if answer := s.do(o); answer == nil || answer.Err != "" || !strings.Contains(answer.Reason, "in the future") {
			t.Fatalf("%+v", answer)
		}
		s.holds(oldVersion, "failed")
	}
	refused(order{})
	s.publish(newVersion, "")
	refused(order{Clock: -10 * year})
	s.must(s.do(order{Do: "run", Clock: 10 * year}), installation.StepDone) // as good as any other clock
	s.holds(newVersion, "done")
}
