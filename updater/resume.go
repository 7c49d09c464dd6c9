package updater

import (
	"context"
	"fmt"
)

// Resume brings a run to its end that was cut off, by a kill or a power cut. Without one it does nothing and returns nil.
func (u *Updater) Resume(ctx context.Context) (*Result, error) {
	release, err := u.begin()
	if err != nil {
		return nil, err
	}
	defer release()
	line, err := u.last()
	if err != nil || line == nil || line.Step.Final() {
		return nil, err
	}
	if line.Plan == nil {
		return nil, fmt.Errorf("the journal's last line has no plan")
	}
	r := &run{Updater: u, id: line.Run, plan: *line.Plan}
	u.log.Info("an update was cut off", "run", r.id, "step", line.Step, "event", line.Event)
	// What is begun here must come to an end: a signal does not cut it off again.
	ctx = context.WithoutCancel(ctx)
	reason := fmt.Errorf("the updater was cut off in the step %s", line.Step)
	if line.Step == StepRollback || line.Step == StepStop && line.Text != "" {
		reason = fmt.Errorf("%s", line.Text)
	}
	switch how := line.Step.remedy(); how {
	case abandon:
		return r.abandon(line.Step, reason), nil
	case forward:
		if err := r.make(ctx, stage{StepHealth, r.again}); err != nil {
			return r.putBack(ctx, backward, fmt.Errorf("%s: %w", StepHealth, err)), nil
		}
		r.finish(ctx)
		return r.end(StepDone, nil), nil
	default:
		return r.putBack(ctx, how, reason), nil
	}
}

// again is the health check of a service that may not run yet after a power cut.
func (r *run) again(ctx context.Context) error {
	if err := r.start(ctx); err != nil {
		return err
	}
	return r.health(ctx)
}
