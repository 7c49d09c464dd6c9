package updater

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/updater/installation"
)

// boot is what a machine does after a power cut, before resume: it starts the service, whatever is there. It returns the
// version that came up, or nothing once the service was started a few times in vain.
func (s *site) boot() string {
	s.t.Helper()
	v := s.supervisor
	if err := v.Stop(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	v.mu.Lock()
	before := v.restarts
	v.mu.Unlock()
	if err := v.Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	came := ""
	waittest.Until(s.t, "the service is ready or gives up", func() bool {
		version, err := s.ready()
		if err == nil {
			came = version
			return true
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		return v.restarts-before >= 2
	})
	return came
}

// After a power cut the machine starts the service before anybody resumes. What it serves then must not be taken away
// again, and no version may get at a database that is not its own.
func TestBootBeforeResume(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, test := range []struct {
		point, boots, state string
		broken              bool
	}{
		{"in trial", oldVersion, "failed", false}, {"in stop", oldVersion, "failed", false}, {"after stop", oldVersion, "failed", false},
		{"put aside", "", "failed", false}, {"after snapshot", "", "failed", false}, {"in migrate", "", "rolled_back", false},
		{"after migrate", "", "rolled_back", false},
		{"link switched", "", "rolled_back", false},
		{"stopped for rollback", "", "rolled_back", true}, {"between renames", "", "rolled_back", true}, {"link back", "", "rolled_back", true},
		{"database back", oldVersion, "rolled_back", true}, {"after rollback", oldVersion, "rolled_back", true},
	} {
		script := ""
		if test.broken {
			script = `[ "$1" = serve ] && exit 3`
		}
		s.publish(newVersion, script)
		_ = os.Remove(Layout{StateDir: s.own}.seen())
		if answer := s.do(order{Do: "run", KillAt: test.point}); answer != nil {
			t.Fatalf("%s: %+v", test.point, answer)
		}
		got := s.boot()
		if got != test.boots {
			t.Fatalf("%s: version %q serves", test.point, got)
		}
		if got != "" {
			s.sql("INSERT INTO kept VALUES ('since the boot')")
		}
		if _, err := s.do(order{Do: "resume"}).end(); err != nil {
			t.Fatalf("%s: %v\n%s", test.point, err, s.supervisor.log.String())
		}
		if got != "" {
			if n := s.query("SELECT count(*)::text FROM kept WHERE note = 'since the boot'"); n != "1" {
				t.Errorf("%s: what was written after the boot is lost", test.point)
			}
			s.sql("DELETE FROM kept WHERE note = 'since the boot'")
		}
		s.holds(oldVersion, test.state)
		if t.Failed() {
			t.Fatal(test.point)
		}
	}
	s.publish(newVersion, "")
	_ = os.Remove(Layout{StateDir: s.own}.seen())
	s.update()
}

// The updater is killed between the two renames, and whoever resumes is killed as well, at each of its points.
func TestResumeIsKilled(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(newVersion, `[ "$1" = serve ] && exit 3`)
	for _, point := range []string{"before rollback", "stopped for rollback", "between renames", "link back", "database back",
		"after rollback", "after rolled back"} {
		if answer := s.do(order{Do: "run", KillAt: "between renames"}); answer != nil {
			t.Fatalf("%+v", answer)
		}
		for range 2 {
			if answer := s.do(order{Do: "resume", KillAt: point}); answer != nil && answer.Result != nil && !answer.Result.Step.Final() {
				t.Fatalf("%s: %+v", point, answer)
			}
		}
		if state := s.settle(point); state != installation.StateRolledBack {
			t.Fatalf("%s: %s", point, state)
		}
	}
	s.publish(newVersion, "")
	_ = os.Remove(Layout{StateDir: s.own}.seen())
	s.update()
}

// When the health was found good and the copy of the old database is gone, a resume that meets trouble must not go back.
func TestNoWayBackFromDone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(newVersion, "")
	if answer := s.do(order{Do: "run", KillAt: "copy dropped"}); answer != nil {
		t.Fatalf("%+v", answer)
	}
	config := s.config()
	config.ReadyTime = time.Second
	if err := s.supervisor.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	heal := s.supervisor.refuse("start", forEver)
	if step, err := s.do(order{Do: "resume", Config: config}).end(); err != nil || step != installation.StepHealth {
		t.Fatalf("%s, %v", step, err)
	}
	heal()
	s.must(s.do(order{Do: "resume", Config: config}), installation.StepDone)
	s.holds(newVersion, "done")
}

// An update that is taken back by hand is cut off at each of its steps.
func TestRevertIsKilled(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(newVersion, "")
	updated := false
	for _, point := range []string{"restored", "before rollback", "stopped for rollback", "between renames", "link back", "database back",
		"after rollback"} {
		if !updated {
			s.update()
		}
		if answer := s.do(order{Do: "revert", Restore: true, KillAt: point}); answer != nil {
			t.Fatalf("%s: %+v", point, answer)
		}
		if _, err := s.do(order{Do: "resume"}).end(); err != nil {
			t.Fatalf("%s: %v\n%s", point, err, s.supervisor.log.String())
		}
		if updated = point == "restored"; updated {
			s.holds(newVersion, "failed")
			continue
		}
		s.holds(oldVersion, "rolled_back")
	}
	s.must(s.do(order{Do: "run", Options: Options{DryRun: true}}), installation.StepDone)
	if !updated {
		// The updater in use is the newer release's: a dry run of that release must not take it away.
		if _, err := os.Stat(filepath.Join(s.config().Layout.updater())); err != nil {
			t.Error(err)
		}
		s.update()
	}
}

// A package is configured again after its first installation was cut off.
func TestInstallIsKilled(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tree := s.tree("old", oldVersion, nil)
	for _, point := range []string{"before adopt", "adopted", "updater in place"} {
		config := s.config()
		config.Layout.Prefix = filepath.Join(t.TempDir(), "opt")
		o := order{Do: "install", Tree: tree, Offline: true, Config: config}
		o.KillAt = point
		if answer := s.do(o); answer != nil {
			t.Fatalf("%s: %+v", point, answer)
		}
		if s.do(order{Do: "resume", Config: config}).Err != "" {
			t.Errorf("%s: there is something to resume", point)
		}
		o.KillAt = ""
		s.must(s.do(o), installation.StepDone)
		if got, err := config.Layout.installed(); err != nil || got != oldVersion || config.Layout.updaterVersion() != oldVersion {
			t.Errorf("%s: %s, %v", point, got, err)
		}
		if entries, err := os.ReadDir(filepath.Join(config.Layout.Prefix, "quarantine")); err != nil || len(entries) > 0 {
			t.Errorf("%s: the quarantine holds %v, %v", point, entries, err)
		}
	}
}

// A signal ends a run that has changed nothing; later it is not heard.
func TestTerminated(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(newVersion, "")
	for _, dry := range []bool{true, false} {
		for _, point := range []string{"before backup", "in backup", "in download", "in verify", "in trial"} {
			p := s.start(order{Do: "run", PauseAt: point, Options: Options{DryRun: dry}})
			p.paused()
			p.terminate()
			answer := p.wait()
			s.must(answer, installation.StepFailed)
			s.holds(oldVersion, "failed")
		}
	}
	for _, point := range []string{"in stop", "in snapshot", "in migrate", "in switch", "in health-check", "copy dropped"} {
		p := s.start(order{Do: "run", PauseAt: point})
		p.paused()
		p.terminate()
		s.must(p.wait(), installation.StepDone)
		s.holds(newVersion, "done")
		s.must(s.do(order{Do: "revert", Restore: true}), installation.StepRolledBack)
	}
	if answer := s.do(order{Do: "run", KillAt: "in trial", Options: Options{DryRun: true}}); answer != nil {
		t.Fatalf("%+v", answer)
	}
	if state := s.settle("a dry run that was killed"); state != installation.StateFailed {
		t.Error(state)
	}
	if answer := s.do(order{Do: "resume"}); answer == nil || strings.Contains(answer.Err, "damaged") || answer.Result != nil {
		t.Errorf("%+v", answer)
	}
	s.update()
}
