package updater

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrAskedFor is the reason of a roll-back that somebody wanted.
var ErrAskedFor = errors.New("it was asked for")

// ErrNothingToRevert: the last run was no update that went well, or what it replaced is not there any more.
var ErrNothingToRevert = errors.New("there is no update that could be taken back")

// ErrNeedsRestore: the old version cannot work with the database as it is now.
var ErrNeedsRestore = errors.New("the old version does not know the database as it is now: it needs the backup from before the update, and what was written since is lost")

// Revert takes the last update back though it went well. Where the old version knows the database as it is, the data
// stay; otherwise restore must be true, and the backup from before the update takes the database's place.
func (u *Updater) Revert(ctx context.Context, restore bool) (*Result, error) {
	release, err := u.begin()
	if err != nil {
		return nil, err
	}
	defer release()
	done, err := u.lastDone()
	if err != nil {
		return nil, err
	}
	r := &run{Updater: u, id: newID(), plan: Plan{From: done.Plan.From, To: done.Plan.To}}
	if restore {
		err = r.restoreBefore(ctx, done.Run)
	} else if err = r.knows(ctx, r.plan.From); err != nil {
		err = fmt.Errorf("%w (%w)", ErrNeedsRestore, err)
	}
	if err != nil {
		r.clean(context.WithoutCancel(ctx))
		return nil, err
	}
	return r.putBack(context.WithoutCancel(ctx), backward, ErrAskedFor), nil
}

// lastDone is the end of the last run when that was an update that went well, and its old release is there still.
func (u *Updater) lastDone() (*Line, error) {
	line, err := u.last()
	switch {
	case err != nil:
		return nil, err
	case line == nil || line.Step.Final() && line.Step != StepDone || line.Plan == nil || line.Plan.DryRun:
		return nil, ErrNothingToRevert
	case !line.Step.Final():
		return nil, ErrUnfinished
	}
	installed, err := u.cfg.Layout.installed()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(u.cfg.Layout.program(line.Plan.From)); err != nil || installed != line.Plan.To {
		return nil, ErrNothingToRevert
	}
	return line, nil
}

// knows asks a release whether it can work with the live database: its migrations have nothing to do, or refuse.
func (r *run) knows(ctx context.Context, version string) error {
	return r.migrateBy(ctx, version, r.cfg.Database.Name)
}

// restoreBefore makes the database that a roll-back puts into the live one's place from the backup of an earlier run.
func (r *run) restoreBefore(ctx context.Context, of string) error {
	d := r.cfg.Database
	if err := d.create(ctx, r.beforeDatabase()); err != nil {
		return fmt.Errorf("making a database for the backup: %w", err)
	}
	if err := r.restore(ctx, filepath.Join(r.cfg.Layout.backup(of), dumpName), r.beforeDatabase()); err != nil {
		return errors.Join(err, d.drop(context.WithoutCancel(ctx), r.beforeDatabase()))
	}
	return nil
}
