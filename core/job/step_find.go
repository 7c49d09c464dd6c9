package job

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// find looks for the task of a request whose answer is unknown. It returns nil
// when the step has another state.
func (r *Run) find(step Step, cp *checkpoint) error {
	if r.givesUp(step) {
		r.Note("checking whether the hypervisor accepted the request")
	}
	settled, err := r.settled(cp)
	if err != nil {
		return err
	}
	lost := r.newRetrier()
	for {
		// The time is taken before the list is read, so the last reading is
		// complete.
		final := time.Now().After(settled)
		task, reaches, err := r.findTask(step, cp)
		switch {
		case r.interrupted() != nil:
			return r.interrupted()
		case err != nil:
			if !lost.retry(err) {
				return Undetermined("a request was sent but its answer was lost, and the hypervisor's task list cannot be read: %s",
					Explain(err))
			}
			lost.wait(r.untilStop, nil)
			continue
		case task != "":
			lost.reset()
			r.Note("found the task that the request had started")
			return r.adopt(cp, task)
		case !final:
			lost.reset()
			pause(r.untilStop, min(time.Second, r.queue.cfg.Settle/4))
			continue
		}
		err = r.absent(step, cp, reaches)
		_, verdict := Verdict(err)
		switch {
		case err == nil:
			return r.send(step, cp, repeatReason(reaches))
		case verdict, r.interrupted() != nil, databaseUnavailable(err):
			return r.interruptedOr(err)
		case !lost.retry(err):
			return Undetermined("a request was sent but its answer was lost, and it could not be determined whether it was carried "+
				"out: %s", Explain(err))
		}
		lost.wait(r.untilStop, nil)
	}
}

// unlisted is the text for a request whose task is missing in a list that does
// not reach back to it.
const unlisted = "the hypervisor's task list does not reach back to the request, so it is unknown whether it was carried out"

// absent decides about a request whose task is not in the list. It returns nil
// if the request may be repeated.
func (r *Run) absent(step Step, cp *checkpoint, reaches bool) error {
	switch {
	case !reaches && r.givesUp(step):
		return Undetermined("canceled after a request was sent; %s", unlisted)
	case step.OnMissing != nil:
		if err := step.OnMissing(r.untilStop, cp.Mark, reaches); err != nil {
			return err
		}
	case !reaches:
		return Undetermined("a request was sent but its answer was lost; %s", unlisted)
	}
	switch {
	case r.givesUp(step) && reaches:
		return Stopped("canceled; the request did not reach the hypervisor")
	case r.givesUp(step):
		return Undetermined("canceled after a request was sent; %s", unlisted)
	case cp.Sends >= maxSends:
		return Undetermined("a request was sent twice, its answer was lost both times, and the hypervisor's task list has no matching " +
			"task")
	}
	return nil
}

// repeatReason returns why a request is repeated.
func repeatReason(reaches bool) string {
	if reaches {
		return "the request did not reach the hypervisor; sending it again"
	}
	return "it is unknown whether the request reached the hypervisor; sending it again, which is safe for this request"
}

// settled returns the time from which an accepted request is certainly in the
// hypervisor's list: the settling time after the first run began to look,
// however many runs were interrupted since.
func (r *Run) settled(cp *checkpoint) (time.Time, error) {
	ctx, cancel := context.WithTimeout(r.untilLost, statementLimit)
	defer cancel()
	var now time.Time
	if err := r.queue.db.Pool.QueryRow(ctx, "SELECT now()").Scan(&now); err != nil {
		return time.Time{}, r.lose(fmt.Errorf("reading the database's time: %w", err))
	}
	// A beginning in the future is from a database clock that was set back
	// since.
	if cp.LookingSince.IsZero() || cp.LookingSince.After(now) {
		cp.LookingSince = now
		if err := r.save(r.untilLost, nil); err != nil {
			return time.Time{}, err
		}
	}
	return time.Now().Add(r.queue.cfg.Settle - now.Sub(cp.LookingSince)), nil
}

// findTask returns the ID of the step's task in the hypervisor's list, or an
// empty string. The result reaches says that the list is complete back to the
// request, allowing for different clocks.
func (r *Run) findTask(step Step, cp *checkpoint) (task string, reaches bool, err error) {
	ctx, cancel := context.WithTimeout(r.untilStop, time.Minute)
	defer cancel()
	task, reaches, err = r.findTaskWith(ctx, step, step.Open, cp)
	if step.Watch != nil && (Refused(err) || refusedByUs(err)) {
		// A task that another credential does not see may exist all the same.
		if task, _, other := r.findTaskWith(ctx, step, step.Watch, cp); other == nil && task != "" {
			return task, true, nil
		}
	}
	return task, reaches, err
}

// findTaskWith is findTask with a host that it opens.
func (r *Run) findTaskWith(ctx context.Context, step Step, open func(context.Context) (hypervisor.Host, error),
	cp *checkpoint) (task string,
	reaches bool, err error) {
	host, err := open(ctx)
	if err != nil {
		return "", false, err
	}
	defer func() { _ = host.Close() }()
	query := step.Query()
	query.Limit, query.Since = 500, cp.Mark.Add(-skew)
	list, err := host.Tasks(ctx, query)
	if err != nil {
		return "", false, err
	}
	var candidates []hypervisor.Task
	for _, task := range list.Tasks {
		if !task.Started.Before(query.Since) && step.IsOurs(task) {
			candidates = append(candidates, task)
		}
	}
	slices.SortFunc(candidates, func(a, b hypervisor.Task) int { return a.Started.Compare(b.Started) })
	for _, task := range candidates {
		// An earlier job may have started the same kind of task on the guest a
		// moment ago. Its task is in its row.
		var taken bool
		err := r.queue.db.Pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM jobs WHERE task_id = $1 AND id <> $2)", task.ID, r.job.ID).Scan(&taken)
		if err != nil {
			return "", false, r.lose(fmt.Errorf("reading the task's job: %w", err))
		}
		if !taken {
			return task.ID, true, nil
		}
	}
	return "", list.ReachesBackTo(query.Since), nil
}

// retrier bounds how long an unreachable hypervisor is retried.
type retrier struct {
	run   *Run
	since time.Time
	delay time.Duration
}

// refusedLimit applies to an answer that is a refusal. The token may just be
// being replaced.
const refusedLimit = time.Minute

// newRetrier returns a patience for one series of calls.
func (r *Run) newRetrier() *retrier { return &retrier{run: r} }

// retry reports whether to retry after err. It notes the first failure of a
// series in the transcript.
func (p *retrier) retry(err error) bool {
	limit := p.run.queue.cfg.UnreachableLimit
	if Refused(err) || refusedByUs(err) {
		limit = min(limit, refusedLimit)
	}
	if p.since.IsZero() {
		p.since, p.delay = time.Now(), 500*time.Millisecond
		p.run.Note("could not ask the hypervisor (%s); trying again", Explain(err))
	}
	return time.Since(p.since) < limit
}

// refusedByUs reports whether the service itself cannot make the call, because
// the host or its token was removed.
func refusedByUs(err error) bool {
	var known *problem.Error
	return errors.As(err, &known) && known.Status() < http.StatusInternalServerError
}

// wait waits a little longer each time, or less if hurry is closed.
func (p *retrier) wait(ctx context.Context, hurry <-chan struct{}) {
	timer := time.NewTimer(p.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-hurry:
	case <-ctx.Done():
	}
	p.delay = min(2*p.delay, 15*time.Second)
}

// reset ends a series of failures.
func (p *retrier) reset() {
	if !p.since.IsZero() {
		p.since = time.Time{}
		p.run.Note("the hypervisor answers again")
	}
}
