package op

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Rights tells when the rights of a user may have changed. Package identity has
// the implementation of the service.
type Rights interface {
	// Watch returns a channel that receives a wake-up when the rights may have
	// changed. Several wake-ups in a row become one. stop ends the watch.
	Watch(userID int64) (woken <-chan struct{}, stop func())
}

// Settings of the repeated check of a caller's rights during a long answer.
const (
	// reauthoriseGap is the minimum time between two checks of one answer that
	// were caused by a wake-up. It turns many wake-ups into a few checks.
	reauthoriseGap = 100 * time.Millisecond
	// reauthorising is how many answers are checked at the same time. After an
	// interruption of the database connection, all answers are woken at once.
	reauthorising = 4
)

// watchRights checks again and again whether the reader of a long answer may
// still read it, and calls end if not. It checks at each wake-up, and otherwise
// after Config.Reauthorise. If the check fails because the database is
// unavailable, the answer goes on: without the database, the handler has
// nothing to send. watchRights returns when ctx ends.
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

// ended checks the rights once. It calls end and returns true if the reader may
// no longer read, and also returns true if ctx has ended.
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

// reauthorise repeats the checks of admit with the present state of the
// database. It also refuses callers whose roles differ from those at the
// beginning, because the handler may have built its filter from them.
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
