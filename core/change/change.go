// Package change is what is done at once to a thing of a hypervisor, while a caller waits, in requests that are each sent once: jobs and
// other changes are kept off the thing, the audit row is written before anything is sent, what was begun is brought to its end when the
// caller leaves, and a failure has an audit row of its own beside that of the attempt.
package change

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
)

const (
	// slack is by how much a hold may outlast the change that it is for.
	slack = 20 * time.Second
	// recordLimit bounds the audit row of a change that failed.
	recordLimit = 5 * time.Second
)

// Change is one change of a thing.
type Change struct {
	DB *db.DB
	// Exclusive is the thing, as job.Spec.Exclusive of jobs on it.
	Exclusive string
	// Limit bounds all that is done.
	Limit time.Duration
	// Problem makes of a failure the problem that the caller gets, and may add to its audit row. Nil takes it as it is.
	Problem func(err error, row *audit.Entry) *problem.Error
}

// Do makes a change. Problems besides those of do: guest_busy while a job or another change works on the thing.
func (c Change) Do(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Limit)
	defer cancel()
	var hold *job.Hold
	err := c.DB.Tx(ctx, func(tx *db.Tx) (err error) {
		if hold, err = job.AcquireHold(ctx, c.DB, tx, c.Exclusive, c.Limit+slack); err != nil {
			return err
		}
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return err
	}
	err = do(ctx)
	if failed := hold.Release(ctx); failed != nil && err == nil {
		err = failed // until it has ended by itself no job is taken
	}
	if err == nil {
		return nil
	}
	return c.failed(ctx, err)
}

// failed writes a failure into the audit log.
func (c Change) failed(ctx context.Context, err error) error {
	attempt := audit.FromContext(ctx)
	var row audit.Entry
	if attempt != nil {
		row = attempt.Entry()
	}
	failure := problem.From(plugin.Problem(err))
	if c.Problem != nil {
		failure = c.Problem(err, &row)
	}
	if attempt == nil {
		return failure
	}
	row.Result, row.Error = audit.ResultFailed, string(failure.Code)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer cancel()
	if unwritten := (audit.Recorder{DB: c.DB}).Record(ctx, row); unwritten != nil {
		return failure.WithCause(errors.Join(err, fmt.Errorf("writing the audit row of a failed change: %w", unwritten)))
	}
	return failure
}

// ResolveLost judges a request whose answer was lost by what was read of the thing afterwards: done says that it is as the request wants
// it, and unread that it could not be read. The error is nil when it is done, and problem outcome_unknown when nobody knows.
func ResolveLost(lost error, thing string, done bool, unread error) error {
	known := problem.From(plugin.Problem(lost))
	switch {
	case unread != nil:
		return problem.New(problem.CodeOutcomeUnknown, "the hypervisor's answer was lost (%s), and the result cannot be determined now "+
			"(%s); nothing was sent again: check %s before you repeat the request",
			known.Detail, problem.From(unread).Detail, thing).WithCause(lost)
	case done:
		return nil
	}
	told := *known
	told.Members = maps.Clone(known.Members)
	told.Detail = fmt.Sprintf("%s; reading %s afterwards showed no change, and nothing was sent again", known.Detail, thing)
	return told.WithCause(lost)
}
