package updater

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hostler/hostler/updater/installation"
)

// Resume completes a run that was interrupted by a kill or a power cut. Without
// one it returns nil.
func (u *Updater) Resume(ctx context.Context) (*Result, error) {
	release, err := u.begin()
	if err != nil {
		return nil, err
	}
	defer release()
	line, err := u.last()
	if err != nil {
		return nil, err
	}
	if line == nil {
		return nil, u.unknown(ctx)
	}
	if line.Step.Final() {
		return nil, nil
	}
	switch {
	case !line.Step.Known():
		return nil, fmt.Errorf("the journal contains the unknown step %q: a newer updater wrote it; resume with that updater", line.Step)
	case line.Plan == nil:
		return nil, errors.New("the journal's last line has no plan")
	}
	r := &run{Updater: u, id: line.Run, plan: *line.Plan}
	u.log.Info("found an interrupted update", "run", r.id, "step", line.Step, "event", line.Event)
	// From here on the run must end: a signal does not interrupt it again.
	ctx = context.WithoutCancel(ctx)
	reason := fmt.Errorf("the updater was interrupted in the step %s", line.Step)
	if text, err := u.begunBecause(*line); err != nil {
		return nil, err
	} else if text != "" {
		reason = errors.New(text)
	}
	if err := u.cfg.Database.silence(ctx); err != nil {
		u.log.Warn("the database server does not answer yet", "error", err)
	}
	switch how := remedyOf(line.Step); how {
	case abandon:
		return r.abandon(line.Step, reason), nil
	case forward:
		if line.Event == installation.EventEnded {
			return r.confirmed(ctx), nil
		}
		if err := r.make(ctx, stage{installation.StepHealth, r.again}); err != nil {
			return r.putBack(ctx, backward, fmt.Errorf("%s: %w", installation.StepHealth, err)), nil
		}
		r.finish(ctx)
		return r.end(installation.StepDone, nil), nil
	default:
		return r.putBack(ctx, how, reason), nil
	}
}

// confirmed ends an update that was found healthy: the copy of the old database
// may be gone, so that there is only the way forward.
func (r *run) confirmed(ctx context.Context) *Result {
	if err := r.start(ctx); err != nil {
		return &Result{Run: r.id, From: r.plan.From, To: r.plan.To, Step: installation.StepHealth, Reason: err}
	}
	r.finish(ctx)
	return r.end(installation.StepDone, nil)
}

// begunBecause returns the reason for which a run began to roll back; empty if
// it did not.
func (u *Updater) begunBecause(last installation.Line) (string, error) {
	lines, err := installation.ReadJournal(installation.Journal(u.cfg.Layout.StateDir))
	for _, line := range slices.Backward(lines) {
		if line.Run == last.Run && line.Step == last.Step && line.Event == installation.EventBegun {
			return line.Text, err
		}
	}
	return "", err
}

// unknown looks for databases of updates when there is no journal. If the
// server does not answer, that is no error: the machine may have no database
// yet.
func (u *Updater) unknown(ctx context.Context) error {
	if _, err := u.leftovers(ctx); errors.Is(err, ErrUnknownDatabase) {
		return err
	}
	return nil
}

// again is the health check of a service that may not run yet after a power
// cut.
func (r *run) again(ctx context.Context) error {
	if err := r.start(ctx); err != nil {
		return err
	}
	return r.health(ctx)
}
