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

// A database that is away for a while is waited for; one that is not there at all is not, and no wait is for ever.
func TestPatience(t *testing.T) {
	t.Parallel()
	u, _ := newUpdater(t, nowhere)
	r := u.under(thisRun)
	away := errors.New("away")
	calls := 0
	failing := func(times int, with error) func(context.Context) error {
		calls = 0
		return func(ctx context.Context) error {
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("a try has no end")
			}
			if calls++; calls <= times {
				return with
			}
			return nil
		}
	}
	r.cfg.DatabaseWait = time.Hour
	if err := r.patiently(t.Context(), failing(1, away)); err != nil || calls != 2 {
		t.Errorf("back after a moment: %v after %d tries", err, calls)
	}
	if err := r.patiently(t.Context(), failing(2, os.ErrNotExist)); !errors.Is(err, os.ErrNotExist) || calls != 1 {
		t.Errorf("not there: %v after %d tries", err, calls)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.patiently(ended, failing(2, away)); !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("cancelled: %v after %d tries", err, calls)
	}
	r.cfg.DatabaseWait = time.Nanosecond
	if err := r.patiently(t.Context(), failing(2, away)); !errors.Is(err, away) || calls != 1 {
		t.Errorf("away for long: %v after %d tries", err, calls)
	}
}

// Where only the start is left, a service that runs is not stopped again; where more is left, it is.
func TestRollbackStopsOnce(t *testing.T) {
	t.Parallel()
	r, v := newRun(t, liveDatabase(t))
	if err := r.undo(t.Context(), backward); err != nil || v.stops != 0 || v.state.Process != 7 {
		t.Errorf("%v: stopped %d times, process %d", err, v.stops, v.state.Process)
	}
	if err := r.cfg.Layout.point(newVersion); err != nil {
		t.Fatal(err)
	}
	if err := r.undo(t.Context(), backward); err != nil || v.stops != 1 {
		t.Errorf("%v: stopped %d times", err, v.stops)
	}
	if got, err := r.cfg.Layout.installed(); err != nil || got != oldVersion {
		t.Errorf("%s, %v", got, err)
	}
}

// The journal tells why a roll-back began and that it is not at its end, once, however often and variously it fails.
func TestRollbackInTheJournal(t *testing.T) {
	t.Parallel()
	r, v := newRun(t, nowhere)
	canary := errors.New("canary")
	// An earlier run, which went back for the same reason, is not this one.
	begun := installation.Line{Run: otherRun, Step: installation.StepRollback, Event: installation.EventBegun, Text: "canary", Plan: &r.plan}
	r.wrote(t, begun)
	for _, stopping := range []error{nil, errors.New("the service stays")} {
		v.change(func() { v.stopping = stopping })
		result := r.putBack(t.Context(), backward, canary)
		if result.Step != installation.StepRollback || !errors.Is(result.Reason, canary) ||
			!strings.Contains(result.Reason.Error(), "restoring the old version") {
			t.Errorf("%+v", result)
		}
	}
	lines := r.lines(t)
	if len(lines) != 2 || lines[0].Event != installation.EventBegun || lines[0].Text != "canary" ||
		lines[1].Event != installation.EventFailed ||
		!strings.HasPrefix(lines[1].Text, "canary; restoring the old version: ") {
		t.Fatalf("%+v", lines)
	}
	if text, err := r.begunBecause(lines[1]); err != nil || text != "canary" {
		t.Errorf("it began because of %q, %v", text, err)
	}
	third := installation.Line{Run: "20260102t030406_abcdef", Step: installation.StepRollback}
	if text, err := r.begunBecause(third); err != nil || text != "" {
		t.Errorf("a run takes the reason of another one: %q, %v", text, err)
	}
	status, err := installation.LastStatus(r.cfg.Layout.StateDir)
	if err != nil || !strings.Contains(status.Reason, "restoring the old version") {
		t.Errorf("%+v, %v", status, err)
	}
}
