package updater

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hostler/hostler/updater/installation"
)

// What can be taken back is the last update that changed something, while both of its releases are there.
func TestWhatCanBeTakenBack(t *testing.T) {
	t.Parallel()
	plan, dry := installation.Plan{From: oldVersion, To: newVersion}, installation.Plan{From: newVersion, To: "1.2.0", DryRun: true}
	done := installation.Line{Run: otherRun, Step: installation.StepDone, Event: installation.EventEnded, Plan: &plan}
	later := func(step installation.Step, plan *installation.Plan) installation.Line {
		return installation.Line{Run: thisRun, Step: step, Event: installation.EventEnded, Plan: plan}
	}
	moved := func(l Layout) error { return l.point(oldVersion) }
	pruned := func(l Layout) error { return os.RemoveAll(l.release(oldVersion)) }
	for name, test := range map[string]struct {
		lines []installation.Line
		spoil func(Layout) error
		want  error
	}{
		"an update":                       {[]installation.Line{done}, nil, nil},
		"a dry run after it":              {[]installation.Line{done, later(installation.StepDone, &dry)}, nil, nil},
		"a failure after it":              {[]installation.Line{done, later(installation.StepFailed, &plan)}, nil, nil},
		"nothing":                         {nil, nil, ErrNothingToRevert},
		"a dry run only":                  {[]installation.Line{later(installation.StepDone, &dry)}, nil, ErrNothingToRevert},
		"it was taken back":               {[]installation.Line{done, later(installation.StepRolledBack, &plan)}, nil, ErrNothingToRevert},
		"a run that is not at its end":    {[]installation.Line{done, later(installation.StepTrial, &plan)}, nil, ErrUnfinished},
		"another release is installed":    {[]installation.Line{done}, moved, ErrNothingToRevert},
		"the release before it is pruned": {[]installation.Line{done}, pruned, ErrNothingToRevert},
	} {
		u, _ := newUpdater(t, nowhere)
		if err := u.cfg.Layout.point(newVersion); err != nil {
			t.Fatal(err)
		}
		u.wrote(t, test.lines...)
		if test.spoil != nil {
			if err := test.spoil(u.cfg.Layout); err != nil {
				t.Fatal(err)
			}
		}
		line, err := u.revertible()
		if !errors.Is(err, test.want) || test.want == nil && (err != nil || line.Run != otherRun) {
			t.Errorf("%s: %+v, %v", name, line, err)
		}
	}
}

// Only a release that was asked can say that it does not know the database.
func TestWhatAReleaseKnows(t *testing.T) {
	t.Parallel()
	r, _ := newRun(t, liveDatabase(t))
	r.brings(t, newVersion, "exit 1")
	if err := r.knows(t.Context(), oldVersion); err != nil {
		t.Error(err)
	}
	if err := r.knows(t.Context(), newVersion); !errors.Is(err, ErrNeedsRestore) {
		t.Errorf("a release that refuses: %v", err)
	}
	r.cfg.Database = nowhere
	if err := r.knows(t.Context(), newVersion); err == nil || errors.Is(err, ErrNeedsRestore) {
		t.Errorf("a server that is away: %v", err)
	}
}

// updated is an updater whose last run was an update, with its backup.
func updated(t *testing.T) (*Updater, *scripted) {
	t.Helper()
	u, v := newUpdater(t, liveDatabase(t))
	r := u.under(otherRun)
	dir := u.cfg.Layout.backup(r.id)
	if err := errors.Join(u.cfg.Layout.point(newVersion), os.MkdirAll(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := r.dump(t.Context(), filepath.Join(dir, dumpName)); err != nil {
		t.Fatal(err)
	}
	u.wrote(t, installation.Line{Run: r.id, Step: installation.StepDone, Event: installation.EventEnded, Plan: &r.plan})
	return u, v
}

// A roll-back by hand that has begun does not hear whoever wants it to stop.
func TestRevertIsNotCutOff(t *testing.T) {
	t.Parallel()
	u, _ := updated(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	u.hook = func(point string) {
		if point == "before rollback" {
			cancel()
		}
	}
	result, err := u.Revert(ctx, false)
	if err != nil || result.Step != installation.StepRolledBack || !errors.Is(result.Reason, ErrRequested) {
		t.Fatalf("%+v, %v", result, err)
	}
}

// The service is not stopped before the journal tells why, and what was made of the backup is gone then.
func TestRevertWithoutAJournal(t *testing.T) {
	t.Parallel()
	u, v := updated(t)
	u.hook = func(point string) {
		if point == "restored" {
			_ = u.journal.close()
		}
	}
	if result, err := u.Revert(t.Context(), true); err == nil || v.stops != 0 {
		t.Errorf("%+v, %v; stopped %d times", result, err, v.stops)
	}
	if names, err := u.cfg.Database.names(t.Context()); err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
}

// What is filled from a backup is as open as the live database, and gone when the run is abandoned.
func TestDatabaseOfABackup(t *testing.T) {
	t.Parallel()
	u, _ := updated(t)
	r, d := u.under(thisRun), u.cfg.Database
	end, err := u.beginNew()
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	r.dropsAtEnd(t, r.beforeDatabase())
	if err := r.fillBefore(t.Context(), otherRun); err != nil {
		t.Fatal(err)
	}
	openTo := func(name string) string {
		t.Helper()
		text, err := d.sql(t.Context(), `
			SELECT string_agg(grantee || ' ' || privilege_type || ' ' || is_grantable, ', ' ORDER BY grantee, privilege_type)
			FROM (SELECT (aclexplode(coalesce(datacl, acldefault('d', datdba)))).* FROM pg_database WHERE datname = '`+name+`') AS open`)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if want, got := openTo(d.Name), openTo(r.beforeDatabase()); got != want || want == "" {
		t.Errorf("it is open to %q, and the live one to %q", got, want)
	}
	result := r.abandon(installation.StepBackup, errors.New("canary"))
	if result.Step != installation.StepFailed || r.has(t, r.beforeDatabase()) {
		t.Errorf("%+v, and the database is left", result)
	}
}
