package updater

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/updater/installation"
)

// holds says what must be true after a run, whatever has happened: a version serves, the database is of that version with
// all that was in it, the link agrees, nothing is left over, and the status tells the same.
func (s *site) holds(version, state string) {
	s.t.Helper()
	s.await(version)
	if got, err := (Layout{Prefix: s.prefix}).installed(); err != nil || got != version {
		s.t.Errorf("the link points to %s, %v", got, err)
	}
	if got := s.query("SELECT string_agg(note, ' ' ORDER BY note) FROM kept"); got != "before" {
		s.t.Errorf("kept: %q", got)
	}
	migrated := s.query("SELECT (to_regclass('brought_by_update') IS NOT NULL)::text")
	if want := fmt.Sprint(version != oldVersion); migrated != want {
		s.t.Errorf("migrated: %s, want %s", migrated, want)
	}
	if left := s.query("SELECT coalesce(string_agg(datname, ' '), '') FROM pg_database WHERE " +
		"datname ~ ('^' || current_database() || '_')"); left != "" && !s.untidy {
		s.t.Errorf("databases are left: %s", left)
	}
	if entries, _ := os.ReadDir(filepath.Join(s.prefix, "quarantine")); len(entries) > 0 && !s.untidy {
		s.t.Errorf("the quarantine holds %v", entries)
	}
	status, err := installation.LastStatus(s.own)
	if err != nil || status == nil || string(status.State) != state || status.From != oldVersion ||
		(state != "done") != (status.Reason != "") {
		s.t.Errorf("status %+v, %v; want %s", status, err, state)
	}
}

// points are those at which a run can be killed, and how the run ends then.
var points = []struct {
	point, version, state string
}{
	{"before backup", oldVersion, "failed"}, {"in backup", oldVersion, "failed"}, {"after backup", oldVersion, "failed"},
	{"before download", oldVersion, "failed"}, {"in download", oldVersion, "failed"}, {"after download", oldVersion, "failed"},
	{"before verify", oldVersion, "failed"}, {"in verify", oldVersion, "failed"}, {"after verify", oldVersion, "failed"},
	{"before trial", oldVersion, "failed"}, {"in trial", oldVersion, "failed"}, {"after trial", oldVersion, "failed"},
	{"before stop", oldVersion, "failed"}, {"in stop", oldVersion, "failed"}, {"after stop", oldVersion, "failed"},
	{"before snapshot", oldVersion, "failed"}, {"in snapshot", oldVersion, "failed"}, {"put aside", oldVersion, "failed"},
	{"after snapshot", oldVersion, "failed"},
	{"before migrate", oldVersion, "failed"}, {"in migrate", oldVersion, "rolled_back"}, {"after migrate", oldVersion, "rolled_back"},
	{"before switch", oldVersion, "rolled_back"}, {"in switch", oldVersion, "rolled_back"}, {"link switched", oldVersion, "rolled_back"},
	{"switched", oldVersion, "rolled_back"},
	{"after switch", oldVersion, "rolled_back"}, {"before health-check", oldVersion, "rolled_back"},
	{"in health-check", newVersion, "done"}, {"ready", newVersion, "done"},
	{"after health-check", newVersion, "done"}, {"copy dropped", newVersion, "done"}, {"updater switched", newVersion, "done"},
	{"keys changed", newVersion, "done"}, {"finished", newVersion, "done"}, {"after done", newVersion, "done"},
}

// killed kills a run at a point and resumes it.
func (s *site) killed(t *testing.T, point, version, state string) {
	t.Helper()
	if answer := s.do(order{Do: "run", KillAt: point}); answer != nil {
		t.Fatalf("%s: it was not killed: %+v", point, answer)
	}
	if answer := s.do(order{Do: "resume"}); answer == nil || answer.Err != "" {
		t.Fatalf("%s: %+v\n%s", point, answer, s.supervisor.log.String())
	}
	s.holds(version, state)
	if t.Failed() {
		t.Fatalf("killed at %q", point)
	}
}

// One installation is killed at one point after another, comes back to the old version each time, and is updated at last:
// what was cut off keeps nobody from updating.
func TestKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	const sites = 2
	for n := range sites {
		t.Run(fmt.Sprintf("back %d", n), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.publish(newVersion, "")
			for i, p := range points {
				if i%sites == n && p.version == oldVersion {
					s.killed(t, p.point, p.version, p.state)
				}
			}
			if answer := s.do(order{Do: "run"}); answer == nil || answer.Err != "" || answer.Result.Step != installation.StepDone {
				t.Fatalf("the update at last: %+v\n%s", answer, s.supervisor.log.String())
			}
			s.holds(newVersion, "done")
		})
	}
	for _, p := range points {
		if p.version == newVersion {
			t.Run(p.point, func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				s.publish(newVersion, "")
				s.killed(t, p.point, p.version, p.state)
			})
		}
	}
}

// A roll-back that is killed is continued by the next start.
func TestKilledInRollback(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(newVersion, `[ "$1" = serve ] && exit 3`)
	config := s.config() // its limit holds for the old version too; that the new one ends again and again is seen long before
	for _, point := range []string{"before rollback", "stopped for rollback", "between renames", "database back", "link back",
		"after rollback"} {
		if answer := s.do(order{Do: "run", KillAt: point, Config: config}); answer != nil {
			t.Fatalf("%s: it was not killed: %+v", point, answer)
		}
		if answer := s.do(order{Do: "resume"}); answer == nil || answer.Err != "" {
			t.Fatalf("%s: %+v\n%s", point, answer, s.supervisor.log.String())
		}
		s.holds(oldVersion, "rolled_back")
	}
}

// Releases that are signed and broken all the same.
func TestBrokenReleases(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script string
		state  string
		says   string
	}{
		"migration fails": {`[ "$1" = migrate ] && { echo canary-reason >&2; exit 1; }`, "failed", "canary-reason"},
		"migration fails on the live database only": {`[ "$1" = migrate ] && case "$HOSTLER_DATABASE_URL" in *_trial_*) ;; *) "$real" ` +
			`"$@"; exit 1;; esac`, "rolled_back", "live database"},
		"migration hangs":          {`[ "$1" = migrate ] && { sleep 600 & wait; }`, "failed", "longer than"},
		"crashes at start":         {`[ "$1" = serve ] && exit 3`, "rolled_back", "not become ready"},
		"answers and is not ready": {`[ "$1" = serve ] && HOSTLER_PLUGIN_DIR=/nowhere exec "$real" serve`, "rolled_back", "not become ready"},
		"is ready and dies":        {`[ "$1" = serve ] && { "$real" serve & sleep 2.5; kill -9 $!; exit 1; }`, "rolled_back", ""},
		"says another version":     {`[ "$1" = version ] && { echo 9.9.9; exit 0; }`, "failed", "9.9.9"},
		"cannot be executed":       {`exit 126`, "failed", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.publish(newVersion, test.script)
			config := s.config()
			config.Settled = 4 * time.Second
			if name == "answers and is not ready" {
				config.ReadyTime = 30 * time.Second // the old version must be ready within it, too
			}
			if name == "migration hangs" {
				config.MigrateTime = 8 * time.Second
			}
			answer := s.do(order{Do: "run", Config: config})
			if answer == nil || answer.Err != "" || !strings.Contains(answer.Reason, test.says) {
				t.Fatalf("%+v\n%s", answer, s.supervisor.log.String())
			}
			s.holds(oldVersion, test.state)
		})
	}
}

// What is not what its signature says never reaches the releases.
func TestReleasesThatAreNotWhatTheySay(t *testing.T) {
	t.Parallel()
	key := func(s *site) string { return filepath.Join(s.keys, "first.pub") }
	s := newSite(t)
	public, err := os.ReadFile(key(s))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, says string
		spoil      func()
	}{
		{"changed byte", "SHA-256", func() {
			f, err := os.OpenFile(filepath.Join(s.out, "hostler-"+newVersion+".tar.gz"), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			if _, err := f.WriteAt([]byte{1, 2, 3, 4}, 1000); err != nil {
				t.Fatal(err)
			}
		}},
		{"truncated", "size", func() {
			if err := os.Truncate(filepath.Join(s.out, "hostler-"+newVersion+".tar.gz"), 1000); err != nil {
				t.Fatal(err)
			}
		}},
		{"no signature", "manifest.json.sig", func() { _ = os.Remove(filepath.Join(s.out, "manifest.json.sig")) }},
		{"other manifest", "not signed", func() { s.put(filepath.Join(s.out, "manifest.json"), "{}", 0o644) }},
		{"no release", "manifest.json", func() { _ = os.Remove(filepath.Join(s.out, "manifest.json")) }},
		{"key is gone", "no trusted key", func() { _ = os.Remove(key(s)) }},
		{"same version", "not newer", func() { s.publish(oldVersion, "") }},
		{"server is gone", "refused", func() { s.server.Close() }},
	} {
		s.put(key(s), string(public), 0o644)
		if test.name != "same version" {
			s.publish(newVersion, "")
		} else if err := os.Remove(Layout{StateDir: s.own}.seen()); err != nil { // or it is an old one
			t.Fatal(err)
		}
		test.spoil()
		answer := s.do(order{Do: "run"})
		if answer == nil || answer.Err != "" || !strings.Contains(answer.Reason, test.says) {
			t.Fatalf("%s: %+v", test.name, answer)
		}
		s.holds(oldVersion, "failed")
		entries, err := os.ReadDir(filepath.Join(s.prefix, "releases"))
		if err != nil || len(entries) != 1 {
			t.Errorf("%s: the releases: %v, %v", test.name, entries, err)
		}
	}
}

func TestTwoUpdatersAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(newVersion, "")
	p := s.start(order{Do: "run", PauseAt: "in trial"})
	p.paused()
	for _, do := range []string{"run", "resume"} {
		if answer := s.do(order{Do: do}); answer == nil || answer.Err != installation.ErrBusy.Error() {
			t.Errorf("%s beside it: %+v", do, answer)
		}
	}
	p.goOn()
	s.must(p.wait(), installation.StepDone)
	s.holds(newVersion, "done")
}

// A manifest that is older than one that was seen is refused, even when it is newer than what is installed.
func TestReplay(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	old := s.publish(newVersion, "")
	newer := *old
	newer.Version, newer.Date = "1.2.0", old.Date.Add(time.Hour)
	s.sign(&newer)
	if answer := s.do(order{Do: "run"}); answer == nil || !strings.Contains(answer.Reason, "version") { // its program says 1.1.0
		t.Fatalf("%+v", answer)
	}
	s.sign(old)
	if answer := s.do(order{Do: "run"}); answer == nil || !strings.Contains(answer.Reason, "older than one that this installation has") {
		t.Fatalf("%+v", answer)
	}
	s.holds(oldVersion, "failed")
}

func TestDryRunLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(newVersion, "")
	if answer := s.do(order{Do: "run", Options: Options{DryRun: true}}); answer == nil || answer.Result == nil ||
		answer.Result.Step != installation.StepDone {
		t.Fatalf("%+v", answer)
	}
	s.holds(oldVersion, "done")
	for _, dir := range []string{filepath.Join(s.prefix, "releases"), filepath.Join(s.own, "backups")} {
		entries, err := os.ReadDir(dir)
		if want := map[bool]int{true: 1}[dir == filepath.Join(s.prefix, "releases")]; err != nil || len(entries) != want {
			t.Errorf("%s holds %v, %v", dir, entries, err)
		}
	}
}

// An update that went well is taken back by hand, with the database from before it, since the old version does not know
// the new one.
func TestRevert(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if answer := s.do(order{Do: "revert"}); answer == nil || answer.Err != ErrNothingToRevert.Error() {
		t.Fatalf("before any update: %+v", answer)
	}
	s.publish(newVersion, "")
	if answer := s.do(order{Do: "run"}); answer == nil || answer.Result == nil || answer.Result.Step != installation.StepDone {
		t.Fatalf("%+v\n%s", answer, s.supervisor.log.String())
	}
	s.sql("INSERT INTO kept VALUES ('since')")
	if answer := s.do(order{Do: "revert"}); answer == nil || !strings.HasPrefix(answer.Err, ErrNeedsRestore.Error()) {
		t.Fatalf("without the backup: %+v", answer)
	}
	s.await(newVersion)
	if answer := s.do(order{Do: "revert", Restore: true}); answer == nil || answer.Err != "" ||
		answer.Result.Step != installation.StepRolledBack {
		t.Fatalf("with the backup: %+v\n%s", answer, s.supervisor.log.String())
	}
	s.holds(oldVersion, "rolled_back")
	if last, err := installation.LastStatus(s.own); err != nil || !last.Revert {
		t.Errorf("nobody can tell that it was asked for: %+v, %v", last, err)
	}
	if answer := s.do(order{Do: "revert", Restore: true}); answer == nil || answer.Err != ErrNothingToRevert.Error() {
		t.Fatalf("twice: %+v", answer)
	}
}
