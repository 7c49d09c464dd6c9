package updater

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/updater/installation"
)

// A backup is root's alone, and one that is not whole does not stay.
func TestBackupIsWholeAndClosed(t *testing.T) {
	t.Parallel()
	r, _ := newRun(t, liveDatabase(t))
	dir := r.cfg.Layout.backup(r.id)
	secret := filepath.Join(t.TempDir(), "secret.key")
	if err := os.WriteFile(secret, []byte("canary"), 0o644); err != nil {
		t.Fatal(err)
	}
	refused := func(what string) {
		t.Helper()
		if err := r.backup(t.Context()); err == nil {
			t.Errorf("%s: it is taken for a backup", what)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: it stays: %v", what, err)
		}
	}
	r.cfg.Layout.Secrets = []string{secret, secret + ".none"}
	refused("a secret is missing")
	r.cfg.Layout.Secrets = []string{secret}
	whole := r.cfg.MigrateTime
	r.cfg.MigrateTime = time.Nanosecond
	refused("the dump is cut off")
	r.cfg.MigrateTime = whole
	if err := r.backup(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{".": fs.ModeDir | 0o700, dumpName: 0o600, "secret.key": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != want || info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// What a run has left is of no use once the run is at its end, unless the live database is not there.
func TestLeftoversMayBeAllThatIsLeft(t *testing.T) {
	t.Parallel()
	d := liveDatabase(t)
	r, _ := newRun(t, d)
	r.makes(t, r.beforeDatabase())
	unknown := func(what string) {
		t.Helper()
		if useless, err := r.leftovers(t.Context()); !errors.Is(err, ErrUnknownDatabase) || !strings.Contains(err.Error(), r.beforeDatabase()) {
			t.Errorf("%s: %v, %v", what, useless, err)
		}
	}
	unknown("no journal")
	r.wrote(t, installation.Line{Run: r.id, Step: installation.StepMigrate, Event: installation.EventBegun, Plan: &r.plan})
	unknown("a run that is not at its end")
	r.wrote(t, installation.Line{Run: r.id, Step: installation.StepFailed, Event: installation.EventEnded, Plan: &r.plan})
	if useless, err := r.leftovers(t.Context()); err != nil || !slices.Equal(useless, []string{r.beforeDatabase()}) {
		t.Errorf("a run at its end: %v, %v", useless, err)
	}
	aside := d.Name + "elsewhere"
	if err := d.rename(t.Context(), d.Name, aside); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.rename(context.Background(), aside, d.Name); err != nil {
			t.Error(err)
		}
	}()
	unknown("the live database is not there")
	// What only begins with its name is somebody else's.
	if names, err := d.names(t.Context()); err != nil || slices.Contains(names, aside) {
		t.Errorf("%v, %v", names, err)
	}
}

// Only what the updater itself has made, beside this database, is taken for it; and there must be room for such names.
func TestNamesOfDatabases(t *testing.T) {
	t.Parallel()
	d := nowhere
	for name, want := range map[string]string{
		"hostler_before_" + thisRun: "before", "hostler_trial_" + thisRun: "trial", "hostler_failed_" + thisRun: "failed",
		"hostler": "", "hostler_before": "", "hostler_before_" + thisRun + "x": "",
		"hostler_other_" + thisRun: "", "hostler_x_before_" + thisRun: "",
		"other_before_" + thisRun: "", "hostler_before_20260102t030405_abc": "",
	} {
		if kind, run := d.left(name); kind != want || (kind != "") != (run == thisRun) {
			t.Errorf("%s: %q of %q", name, kind, run)
		}
	}
	for length, good := range map[int]bool{1: true, 63 - databaseRoom: true, 64 - databaseRoom: false, 63: false, 64: false} {
		d.Name = strings.Repeat("a", length)
		if err := d.check(); (err == nil) != good {
			t.Errorf("a name of %d: %v", length, err)
		}
		if made := d.Name + "_failed_" + thisRun; good && len(made) > 63 {
			t.Errorf("%s is cut by the server", made)
		}
	}
}

// The backup of the update that could be taken back stays, however many are newer.
func TestBackupOfTheLastUpdateStays(t *testing.T) {
	t.Parallel()
	r, _ := newRun(t, nowhere)
	r.cfg.KeepBackups = 1
	newer := []string{"20260103t030405_abcdef", "20260104t030405_abcdef"} // of which the journal does not tell
	for _, name := range append(newer, "20250102t030405_abcdef", otherRun) {
		if err := os.Mkdir(r.cfg.Layout.backup(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.wrote(t, installation.Line{Run: otherRun, Step: installation.StepDone, Event: installation.EventEnded, Plan: &r.plan})
	if err := r.keepNewest(); err != nil {
		t.Fatal(err)
	}
	if names, err := r.backupNames(); err != nil || !slices.Equal(names, []string{otherRun, newer[1]}) {
		t.Errorf("%v, %v", names, err)
	}
}
