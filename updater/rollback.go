package updater

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/hostler/hostler/updater/installation"
)

// putBack undoes the changes of a run as far as its remedy says, and ends the
// run when the old version is healthy. If it never is, the run stays
// unfinished, and Resume tries again.
func (r *run) putBack(ctx context.Context, how remedy, reason error) *Result {
	step := installation.StepFailed
	if how == backward {
		step = installation.StepRolledBack
	}
	text := ""
	if reason != nil {
		text = reason.Error()
	}
	r.hook("before rollback")
	if err := r.writeOnce(installation.Line{Step: r.undoing(how), Event: installation.EventBegun, Text: text, Plan: &r.plan}); err != nil {
		r.log.Error("cannot write the journal; the rollback continues without it", "error", err)
	}
	if err := r.undo(ctx, how); err != nil {
		err = fmt.Errorf("restoring the old version: %w", err)
		r.log.Error("the rollback failed; hostler-updater resume retries it", "error", err)
		// it is logged
		_ = r.writeOnce(installation.Line{Step: r.undoing(how), Event: installation.EventFailed, Text: text + "; " + err.Error(), Plan: &r.plan})
		return &Result{Run: r.id, From: r.plan.From, To: r.plan.To, Step: r.undoing(how), Reason: errors.Join(reason, err)}
	}
	r.hook("after rollback")
	r.clean(ctx)
	return r.end(step, reason)
}

// undoing returns the step under which the journal records the rollback.
func (r *run) undoing(how remedy) installation.Step {
	if how == backward {
		return installation.StepRollback
	}
	return installation.StepStop
}

// undo goes back, as far as the steps that were made demand.
func (r *run) undo(ctx context.Context, how remedy) error {
	var err error
	switch {
	case how == restart:
		err = r.patiently(ctx, r.reveal)
	case !r.isBack(ctx):
		err = r.goBack(ctx)
	}
	if err != nil {
		return err
	}
	if err := r.start(ctx); err != nil {
		return err
	}
	if err := r.healthy(ctx, r.plan.From, min(r.cfg.Settled, 2*time.Second)); err != nil {
		return err
	}
	// Only now nobody needs the copy, or the database that it has replaced.
	for _, name := range []string{r.beforeDatabase(), r.failedDatabase()} {
		if err := r.cfg.Database.drop(ctx, name); err != nil {
			r.log.Warn("cannot drop a database; the next run retries", "database", name, "error", err)
		}
	}
	return nil
}

// isBack reports that only the start is missing: a later attempt must not stop
// a running service.
func (r *run) isBack(ctx context.Context) bool {
	installed, err := r.cfg.Layout.installed()
	if err != nil || installed != r.plan.From {
		return false
	}
	names, err := r.cfg.Database.names(ctx)
	return err == nil && slices.Contains(names, r.cfg.Database.Name) && !slices.Contains(names, r.beforeDatabase())
}

// goBack restores link and database, and completes an interrupted attempt. The
// live database is unreachable while the link moves: after a power cut the
// machine may start the service at any moment, and neither version may meet the
// other one's database.
func (r *run) goBack(ctx context.Context) error {
	if err := r.stop(ctx); err != nil {
		return err
	}
	r.hook("stopped for rollback")
	if err := r.patiently(ctx, r.putAside); err != nil {
		return err
	}
	r.hook("between renames")
	if err := r.cfg.Layout.point(r.plan.From); err != nil {
		return err
	}
	r.hook("link back")
	if err := r.patiently(ctx, r.reveal); err != nil {
		return err
	}
	r.hook("database back")
	return nil
}

// patiently repeats an action on the database, which may be away for a while.
func (r *run) patiently(ctx context.Context, do func(context.Context) error) error {
	deadline := time.Now().Add(r.cfg.DatabaseWait)
	for {
		once, cancel := contextWithin(ctx, r.cfg.MigrateTime)
		err := do(once)
		cancel()
		if err == nil || errors.Is(err, os.ErrNotExist) || time.Now().After(deadline) {
			return err
		}
		r.log.Warn("cannot restore the database yet; retrying", "database", r.cfg.Database.Name, "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// putAside renames the live database if there is a copy to replace it.
func (r *run) putAside(ctx context.Context) error {
	d := r.cfg.Database
	names, err := d.names(ctx)
	if err != nil || !slices.Contains(names, d.Name) || !slices.Contains(names, r.beforeDatabase()) {
		return err
	}
	if err := d.drop(ctx, r.failedDatabase()); err != nil {
		return fmt.Errorf("making room for the failed database: %w", err)
	}
	if err := d.rename(ctx, d.Name, r.failedDatabase()); err != nil {
		return fmt.Errorf("renaming the failed database: %w", err)
	}
	return nil
}

// reveal gives the live name to the copy from before the migrations. Without a
// copy nothing was migrated, and the database that was put aside gets its name
// back.
func (r *run) reveal(ctx context.Context) error {
	d := r.cfg.Database
	names, err := d.names(ctx)
	if err != nil || slices.Contains(names, d.Name) {
		return err // it is back, or was never away
	}
	for _, name := range []string{r.beforeDatabase(), r.failedDatabase()} {
		if !slices.Contains(names, name) {
			continue
		}
		if err := d.rename(ctx, name, d.Name); err != nil {
			return fmt.Errorf("renaming the database %s to the live name: %w", name, err)
		}
		return nil
	}
	return fmt.Errorf("neither the live database nor its copy exists: %w", os.ErrNotExist)
}
