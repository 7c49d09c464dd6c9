package job

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/riverqueue/river"
)

// ErrSuspended ends a run because its instance must not run jobs at present.
// The job stays unfinished, and another instance continues it.
var ErrSuspended = errors.New("this instance is not running jobs at present")

// suspension says whether this instance runs jobs.
type suspension struct {
	mu sync.Mutex
	on bool
	// begun is closed while the instance is suspended, and replaced when that
	// ends.
	begun chan struct{}
	// changed receives a value when on has changed.
	changed chan struct{}
}

// newSuspension returns a suspension that is off.
func newSuspension() *suspension {
	return &suspension{begun: make(chan struct{}), changed: make(chan struct{}, 1)}
}

// Suspend lets running jobs reach a safe point and begins none until Unsuspend
// is called. Other instances continue them and those that wait. It returns at
// once and may be called before Start and more than once. Enqueuing continues.
func (q *Queue) Suspend() { q.suspension.set(true) }

// Unsuspend ends Suspend.
func (q *Queue) Unsuspend() { q.suspension.set(false) }

// set switches the suspension and wakes fetchLoop.
func (s *suspension) set(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.on == on {
		return
	}
	if s.on = on; on {
		close(s.begun)
	} else {
		s.begun = make(chan struct{})
	}
	wake(s.changed)
}

// suspended returns a channel that is closed while the instance is suspended.
func (q *Queue) suspended() <-chan struct{} {
	q.suspension.mu.Lock()
	defer q.suspension.mu.Unlock()
	return q.suspension.begun
}

// isSuspended reports whether the instance is suspended.
func (q *Queue) isSuspended() bool {
	q.suspension.mu.Lock()
	defer q.suspension.mu.Unlock()
	return q.suspension.on
}

// fetchLoop lets River hand jobs to this instance unless it is suspended. Jobs
// that it took without running them would have to be found by others first.
func (q *Queue) fetchLoop(ctx context.Context) {
	fetching := true
	for {
		if want := !q.isSuspended(); want != fetching {
			if err := q.fetch(ctx, want); err != nil && ctx.Err() == nil {
				q.log.Warn("jobs are not being handed out yet", "wanted", want, "error", err)
			} else {
				fetching = want
			}
		}
		select {
		case <-q.suspension.changed:
		case <-time.After(time.Second):
		case <-q.stopping:
			return
		case <-ctx.Done():
			return
		}
	}
}

// fetch switches the handing out of jobs on or off.
func (q *Queue) fetch(ctx context.Context, on bool) error {
	var failed error
	for name, config := range q.queues {
		failed = errors.Join(failed, q.fetchFrom(ctx, name, config, on))
	}
	return failed
}

// fetchFrom is fetch for one of River's queues.
func (q *Queue) fetchFrom(ctx context.Context, queue string, config river.QueueConfig, on bool) error {
	if on {
		err := q.river.Queues().Add(queue, config)
		var there *river.QueueAlreadyAddedError
		if errors.As(err, &there) {
			return nil
		}
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	err := q.river.Queues().Remove(ctx, queue)
	var gone *river.QueueNotFoundError
	if errors.As(err, &gone) {
		return nil
	}
	return err
}
