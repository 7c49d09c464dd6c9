package updater

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/updater/installation"
)

// What is taken up comes to its end though somebody wants it to stop, with the reason for which it began.
func TestResumeIsNotCutOff(t *testing.T) {
	t.Parallel()
	u, v := newUpdater(t, liveDatabase(t))
	r := u.under(thisRun)
	v.state.Process = 0
	u.wrote(t, installation.Line{Run: r.id, Step: installation.StepRollback, Event: installation.EventBegun, Text: "canary", Plan: &r.plan})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	result, err := u.Resume(ctx)
	if err != nil || result.Step != installation.StepRolledBack || result.Reason == nil ||
		result.Reason.Error() != "canary" || v.starts != 1 {
		t.Fatalf("%+v, %v; started %d times", result, err, v.starts)
	}
	if result, err := u.Resume(t.Context()); result != nil || err != nil {
		t.Errorf("again: %+v, %v", result, err)
	}
}

// The machine may not have started the new version yet: resume does, and asks then.
func TestResumeStartsWhatItAsks(t *testing.T) {
	t.Parallel()
	for _, event := range []installation.Event{installation.EventBegun, installation.EventEnded} {
		u, v := newUpdater(t, nowhere)
		u.cfg.ReadyTime = time.Minute
		r := u.under(thisRun)
		v.state.Process, v.version = 0, newVersion
		if err := u.cfg.Layout.point(newVersion); err != nil {
			t.Fatal(err)
		}
		u.wrote(t, installation.Line{Run: r.id, Step: installation.StepHealth, Event: event, Plan: &r.plan})
		if err := os.MkdirAll(u.cfg.Layout.backups(), 0o700); err != nil {
			t.Fatal(err)
		}
		if result, err := u.Resume(t.Context()); err != nil || result.Step != installation.StepDone || v.starts != 1 {
			t.Errorf("%s: %+v, %v; started %d times", event, result, err, v.starts)
		}
	}
}

// A line that does not say what the run is about is an error and not the updater's end.
func TestResumeWithoutAPlan(t *testing.T) {
	t.Parallel()
	u, v := newUpdater(t, nowhere)
	u.wrote(t, installation.Line{Run: thisRun, Step: installation.StepMigrate, Event: installation.EventBegun})
	if result, err := u.Resume(t.Context()); err == nil || !strings.Contains(err.Error(), "no plan") || v.stops != 0 {
		t.Errorf("%+v, %v", result, err)
	}
}

// Whoever cannot begin gives the lock back.
func TestLockIsGivenBack(t *testing.T) {
	t.Parallel()
	u, _ := newUpdater(t, nowhere)
	path := installation.Journal(u.cfg.Layout.StateDir)
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := u.Resume(t.Context()); err == nil || errors.Is(err, installation.ErrBusy) {
			t.Errorf("%v", err)
		}
		if locked, err := installation.Locked(u.cfg.Layout.StateDir); err != nil || locked {
			t.Errorf("%v, %v", locked, err)
		}
	}
}
