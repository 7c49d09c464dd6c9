package updater

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// putBack undoes what a run has changed, as far as its remedy says, and ends the run once the old version is healthy. When
// that does not come true the run stays unfinished, and Resume tries again.
func (r *run) putBack(ctx context.Context, how remedy, reason error) *Result {
	step := StepFailed
	if how == backward {
		step = StepRolledBack
	}
	text := ""
	if reason != nil {
		text = reason.Error()
	}
	r.hook("before rollback")
	if err := r.write(Line{Step: r.undoing(how), Event: Begun, Text: text, Plan: &r.plan}); err != nil {
		r.log.Error("the roll-back goes on without a journal", "error", err)
	}
	if err := r.undo(ctx, how); err != nil {
		err = fmt.Errorf("putting the old version back: %w", err)
		r.log.Error("the roll-back is not at its end; resume tries again", "error", err)
		_ = r.write(Line{Step: r.undoing(how), Event: Failed, Text: text + "; " + err.Error(), Plan: &r.plan}) // it is logged
		return &Result{Run: r.id, From: r.plan.From, To: r.plan.To, Step: r.undoing(how), Reason: errors.Join(reason, err)}
	}
	r.hook("after rollback")
	r.clean(ctx)
	return r.end(step, reason)
}

// undoing is the step under which a journal tells what is going on.
func (r *run) undoing(how remedy) Step {
	if how == backward {
		return StepRollback
	}
	return StepStop
}

func (r *run) undo(ctx context.Context, how remedy) error {
	if how == backward {
		if err := r.stop(ctx); err != nil {
			return err
		}
		r.hook("stopped for rollback")
		if err := r.exchange(ctx); err != nil {
			return err
		}
		r.hook("database back")
		if err := r.cfg.Layout.point(r.plan.From); err != nil {
			return err
		}
		r.hook("link back")
	}
	if err := r.start(ctx); err != nil {
		return err
	}
	if err := r.healthy(ctx, r.plan.From, min(r.cfg.Settled, 2*time.Second)); err != nil {
		return err
	}
	// Only now the copy, or what it has replaced, is of no use.
	for _, name := range []string{r.beforeDatabase(), r.failedDatabase()} {
		if err := r.cfg.Database.drop(ctx, name); err != nil {
			r.log.Warn("a database stays until the next run", "database", name, "error", err)
		}
	}
	return nil
}

// exchange puts the copy of the live database into its place, and does what is left of that when it was cut off.
func (r *run) exchange(ctx context.Context) error {
	d := r.cfg.Database
	deadline := time.Now().Add(r.cfg.DatabaseWait)
	for {
		err := r.exchangeOnce(ctx)
		if err == nil || errors.Is(err, os.ErrNotExist) || time.Now().After(deadline) {
			return err
		}
		r.log.Warn("the database cannot be put back yet", "database", d.Name, "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

func (r *run) exchangeOnce(ctx context.Context) error {
	ctx, cancel := contextWithin(ctx, r.cfg.MigrateTime)
	defer cancel()
	d := r.cfg.Database
	live, err := d.exists(ctx, d.Name)
	if err != nil {
		return fmt.Errorf("looking at the databases: %w", err)
	}
	before, err := d.exists(ctx, r.beforeDatabase())
	if err != nil {
		return fmt.Errorf("looking at the databases: %w", err)
	}
	switch {
	case !before && live:
		return nil // it is back, or was never copied
	case !before:
		return fmt.Errorf("neither the live database nor its copy is there: %w", os.ErrNotExist)
	case live:
		if err := d.drop(ctx, r.failedDatabase()); err != nil {
			return fmt.Errorf("making room for the failed database: %w", err)
		}
		if err := d.rename(ctx, d.Name, r.failedDatabase()); err != nil {
			return fmt.Errorf("putting the failed database aside: %w", err)
		}
		r.hook("between renames")
	}
	if err := d.rename(ctx, r.beforeDatabase(), d.Name); err != nil {
		return fmt.Errorf("putting the copy into its place: %w", err)
	}
	return nil
}
