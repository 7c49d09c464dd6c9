package op

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// guard ends a stream once its reader may no longer have it. What cannot be found out, because the database is away,
// ends nothing: a handler has nothing to send then either.
func (q *request) guard(ctx context.Context, s *EventStream) {
	if q.operation.Spec.Public {
		return
	}
	ticker := time.NewTicker(q.api.config.Readmit)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := q.readmit(ctx); err != nil && problem.From(err).Status() < 500 {
			s.end(fmt.Errorf("the reader of the stream may no longer read it: %w", err))
			return
		}
	}
}

// readmit makes the checks of admit anew, as of now.
func (q *request) readmit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, q.api.config.Readmit+time.Second)
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
	return q.api.entitled(ctx, &q.operation.Spec)
}
