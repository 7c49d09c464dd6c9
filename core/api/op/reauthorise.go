package op

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Rights tells when a caller's rights may have changed.
type Rights interface {
	// Watch yields a channel that holds one wake-up, however many came; stop ends it.
	Watch(userID int64) (woken <-chan struct{}, stop func())
}

// Settings of the repeated check of a caller's rights during a long answer.
const (
	// reauthoriseGap is the least time between two looks of one answer that
	// were woken: a storm of wake-ups becomes a few.
	reauthoriseGap = 100 * time.Millisecond
	// reauthorising is how many answers are looked at together: all are woken
	// at once after a break of the database.
	reauthorising = 4
)

// guard watches over an answer that takes long, and calls end once its reader
// may no longer have it: at the next wake-up, and at the latest after
// Config.Reauthorise. What cannot be found out, because the database is away,
// ends nothing: a handler has nothing to send then either. It returns when ctx
// ends.
func (q *request) watchRights(ctx context.Context, end func(cause error)) {
	if q.operation.Spec.Public {
		return
	}
	var woken <-chan struct{}
	ticker := time.NewTicker(q.api.config.Reauthorise)
	defer ticker.Stop()
	if caller := identity.FromContext(ctx); caller != nil && q.api.config.Rights != nil {
		var stop func()
		woken, stop = q.api.config.Rights.Watch(caller.UserID)
		defer stop()
		// What changed between the admission and the watch woke nobody.
		if q.ended(ctx, end) {
			return
		}
	}
	for {
		looked := time.Now()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-woken:
			pause(ctx, reauthoriseGap-time.Since(looked))
		}
		if q.ended(ctx, end) {
			return
		}
	}
}

// ended looks whether the reader may read on, and calls end when not.
func (q *request) ended(ctx context.Context, end func(cause error)) bool {
	select {
	case q.api.reauthorising <- struct{}{}:
		defer func() { <-q.api.reauthorising }()
	case <-ctx.Done():
		return true
	}
	err := q.reauthorise(ctx)
	if err == nil || problem.From(err).Status() >= 500 {
		return false
	}
	end(fmt.Errorf("the reader may no longer read the answer: %w", err))
	return true
}

// pause waits for a duration, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// reauthorise makes the checks of admit anew, as of now.
func (q *request) reauthorise(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, q.api.config.Reauthorise+time.Second)
	defer cancel()
	before := identity.FromContext(ctx)
	now, err := q.api.authenticate(ctx, q.raw)
	if err != nil {
		return err
	}
	// A handler may have built its filter from the roles at the beginning.
	if before == nil || now.UserID != before.UserID || !maps.Equal(now.Teams, before.Teams) {
		return problem.New(problem.CodeForbidden, "the caller's roles have changed")
	}
	again := &request{api: q.api, id: q.id, operation: q.operation}
	if err := q.api.authorize(ctx, again, now, q.params); err != nil {
		return err
	}
	if again.missing != nil {
		return again.missing
	}
	if err := q.api.entitled(ctx, &q.operation.Spec); err != nil {
		return err
	}
	return q.api.capable(ctx, again)
}
