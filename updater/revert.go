package updater

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/hostler/hostler/updater/installation"
)

// ErrRequested is the reason of a rollback that a user requested.
var ErrRequested = errors.New("it was requested")

// ErrNothingToRevert: the last run was no update that went well, or what it
// replaced is not there any more.
var ErrNothingToRevert = errors.New("no update to revert")

// ErrNeedsRestore: the old version cannot work with the database as it is now.
var ErrNeedsRestore = errors.New("the old version does not support the current database: reverting restores the backup from before the " +
	"update, and data written since then is lost")

// Revert reverts the last update although it succeeded. If the old version
// knows the present database, the data stay. Otherwise restore must be true,
// and the backup from before the update replaces the database: everything since
// then is lost.
func (u *Updater) Revert(ctx context.Context, restore bool) (*Result, error) {
	end, err := u.beginNew()
	if err != nil {
		return nil, err
	}
	defer end()
	done, err := u.revertible()
	if err != nil {
		return nil, err
	}
	id, err := u.newID()
	if err != nil {
		return nil, err
	}
	r := &run{Updater: u, id: id, plan: installation.Plan{From: done.Plan.From, To: done.Plan.To, Revert: true}}
	if restore {
		err = r.restoreBefore(ctx, done.Run)
	} else {
		err = r.knows(ctx, r.plan.From)
	}
	if err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	// Without this line nobody would know after a power cut that a rollback has
	// begun.
	if err := r.write(installation.Line{Step: installation.StepRollback, Event: installation.EventBegun, Text: ErrRequested.Error(),
		Plan: &r.plan}); err != nil {
		r.abandon(installation.StepBackup, err)
		return nil, err
	}
	return r.putBack(ctx, backward, ErrRequested), nil
}

// lastDone returns the end of the last run that changed something, if that was
// a successful update; else nil.
func (u *Updater) lastDone() (*installation.Line, error) {
	lines, err := installation.ReadJournal(installation.Journal(u.cfg.Layout.StateDir))
	for _, line := range slices.Backward(lines) {
		switch {
		case line.Step == installation.StepRolledBack:
			return nil, err
		case line.Step == installation.StepDone && line.Plan != nil && !line.Plan.DryRun:
			return &line, err
		}
	}
	return nil, err
}

// revertible returns lastDone if it can be reverted: its release is still
// installed, and the one before still exists.
func (u *Updater) revertible() (*installation.Line, error) {
	last, err := u.last()
	if err != nil {
		return nil, err
	}
	if last != nil && !last.Step.Final() {
		return nil, ErrUnfinished
	}
	done, err := u.lastDone()
	if err != nil {
		return nil, err
	}
	if done == nil {
		return nil, ErrNothingToRevert
	}
	installed, err := u.cfg.Layout.installed()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(u.cfg.Layout.program(done.Plan.From)); err != nil || installed != done.Plan.To {
		return nil, ErrNothingToRevert
	}
	return done, nil
}

// knows asks a release whether it can work with the live database: either its
// migrations have nothing to do, or the error is ErrNeedsRestore.
func (r *run) knows(ctx context.Context, version string) error {
	// A server that does not answer says nothing about what a release knows.
	if _, err := r.cfg.Database.names(ctx); err != nil {
		return err
	}
	err := r.migrateBy(ctx, version, r.cfg.Database.Name)
	var refused *exec.ExitError
	if errors.As(err, &refused) {
		return fmt.Errorf("%w (%w)", ErrNeedsRestore, err)
	}
	return err
}

// restoreBefore makes from the backup of an earlier run the database that a
// rollback puts in place of the live one. The journal records it, so that the
// remains of an interruption are recognised.
func (r *run) restoreBefore(ctx context.Context, of string) error {
	if err := r.write(installation.Line{Step: installation.StepBackup, Event: installation.EventBegun, Plan: &r.plan}); err != nil {
		return err
	}
	if err := r.fillBefore(ctx, of); err != nil {
		return r.abandon(installation.StepBackup, err).Reason
	}
	r.hook("restored")
	return nil
}

// fillBefore restores the backup of an earlier run into a database of this run.
// The service's own database is not touched before that has succeeded.
func (r *run) fillBefore(ctx context.Context, of string) error {
	d := r.cfg.Database
	if err := d.create(ctx, r.beforeDatabase()); err != nil {
		return fmt.Errorf("creating a database for the backup: %w", err)
	}
	if err := r.restore(ctx, filepath.Join(r.cfg.Layout.backup(of), dumpName), r.beforeDatabase()); err != nil {
		return errors.Join(err, d.drop(context.WithoutCancel(ctx), r.beforeDatabase()))
	}
	if err := d.admit(ctx, d.Name, r.beforeDatabase()); err != nil {
		return fmt.Errorf("copying the privileges of the live database to the backup's database: %w", err)
	}
	return nil
}
