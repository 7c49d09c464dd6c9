package schedule

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
)

// lasting are the problems that do not pass by waiting: they switch the
// schedule off. Every other problem costs one run, except a lost database: then
// the schedule stays due.
var lasting = []problem.Code{
	problem.CodeForbidden, problem.CodeNotFound, problem.CodeEntitlementRequired, problem.CodeInvalid, problem.CodeSelfTarget,
	problem.CodeConfirmRequired,
}

// prepare checks the schedule as its writer and returns what starts its job.
func (s *Store) prepare(ctx context.Context, row *Schedule) (Enqueue, error) {
	kind, known := s.kinds[row.JobKind]
	if !known {
		return nil, problem.New(problem.CodeNotFound, "jobs of the kind %s cannot be scheduled", row.JobKind)
	}
	writer, err := s.writerOf(ctx, row)
	if err != nil {
		return nil, err
	}
	enqueue, err := kind.Prepare(identity.WithCaller(ctx, writer), row.Params)
	if err != nil {
		return nil, asWriter(row, err)
	}
	if enqueue == nil {
		return nil, fmt.Errorf("the kind %s prepared no job", row.JobKind)
	}
	return once(enqueue), nil
}

// writerOf returns the user with whose present rights the schedule runs; nil
// for the service itself.
func (s *Store) writerOf(ctx context.Context, row *Schedule) (*identity.Caller, error) {
	if row.Seeded {
		return nil, nil
	}
	gone := func(what string) error {
		return problem.New(problem.CodeForbidden, "%s, who last saved the schedule, %s", row.Writer.Email, what)
	}
	if row.Writer.ID == nil {
		return nil, gone("is no longer a user")
	}
	caller, err := s.cfg.Users.CallerOf(ctx, *row.Writer.ID)
	if err == nil {
		return caller, nil
	}
	switch problem.CodeOf(err) {
	case problem.CodeNotFound:
		return nil, gone("is no longer a user")
	case problem.CodeForbidden:
		return nil, gone("is not active")
	}
	return nil, err
}

// asWriter adds to a refusal whose rights were too few: the user who reads it
// may well have them.
func asWriter(row *Schedule, err error) error {
	p := problem.From(err)
	if p.Code != problem.CodeForbidden || row.Writer == nil {
		return err
	}
	told := problem.New(p.Code, "the rights of %s, who last saved the schedule, are not sufficient: %s", row.Writer.Email, p.Detail)
	told.Members = p.Members
	return told
}

// errPrepareAgain reports that the transaction was given up for another one
// after the job had been written.
var errPrepareAgain = errors.New("the job must be prepared again")

// once returns an Enqueue that fails when it is called again: db.Tx may repeat
// its function, but an Enqueue may be called only once.
func once(enqueue Enqueue) Enqueue {
	called := false
	return func(ctx context.Context, tx *db.Tx) (*job.Job, error) {
		if called {
			return nil, errPrepareAgain
		}
		called = true
		made, err := enqueue(ctx, tx)
		if err == nil && made == nil {
			err = errors.New("no job was enqueued")
		}
		return made, err
	}
}

// fire does what a due schedule requests: it starts the job, skips the run, or
// switches the schedule off. It returns false if the schedule has changed since
// it was read: another instance has it, or a user has written it.
func (s *Store) fire(ctx context.Context, row *Schedule) (bool, error) {
	if _, known := s.kinds[row.JobKind]; !known {
		return s.leave(ctx, row)
	}
	limited, cancel := context.WithTimeout(ctx, s.cfg.PrepareLimit)
	defer cancel()
	enqueue, err := s.guarded(limited, row)
	if errors.Is(err, context.DeadlineExceeded) {
		err = problem.New(problem.CodeTimeout, "the checks before the run took too long").WithCause(err)
	}
	s.hook(row.ID)
	started := false
	if err == nil {
		started, err = s.start(ctx, row, enqueue)
	}
	switch {
	case err == nil:
		return started, nil
	case ctx.Err() != nil:
		return false, ctx.Err() // the service is stopping; the schedule stays due
	case errors.Is(err, errPrepareAgain):
		return false, nil
	case problem.CodeOf(err) == problem.CodeDatabaseUnavailable:
		return false, err // the schedule stays due, and runs once the database is back
	}
	return s.fail(ctx, row, problem.From(err))
}

// leaveFor is how long a due schedule of a kind that this release does not know is left to an instance that may know it.
const leaveFor = time.Minute

// leave is fire for a kind that this release does not know. During an update
// another release on the same database may know it; so the schedule is left for
// a while, which costs at most one run, and an old release does not switch off
// what a new one has.
func (s *Store) leave(ctx context.Context, row *Schedule) (bool, error) {
	now, err := s.now(ctx, s.db.Pool)
	if err != nil || now.Before(row.NextRunAt.Add(leaveFor)) {
		return false, err
	}
	return s.fail(ctx, row, problem.New(problem.CodeInvalidState, "no running instance supports jobs of the kind %s", row.JobKind))
}

// guarded is prepare with a recover: a panic costs only this run.
func (s *Store) guarded(ctx context.Context, row *Schedule) (enqueue Enqueue, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			s.log.Error("preparing a schedule's job panicked", "schedule", row.ID, "panic", cause, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	return s.prepare(ctx, row)
}

// claim locks a schedule that is due and unchanged; nil if it is not, or if
// another instance holds it.
func (s *Store) claim(ctx context.Context, tx *db.Tx, was *Schedule) (row *Schedule, now time.Time, err error) {
	if now, err = s.now(ctx, tx.Pgx); err != nil {
		return nil, now, err
	}
	row, err = one(ctx, tx.Pgx, "id = $1 AND enabled AND next_run_at = $2 AND updated_at = $3 AND next_run_at <= $4 FOR UPDATE SKIP LOCKED",
		was.ID, was.NextRunAt, was.UpdatedAt, now)
	return row, now, err
}

// start enqueues the job and sets the next time of the schedule, in one
// transaction.
func (s *Store) start(ctx context.Context, was *Schedule, enqueue Enqueue) (started bool, err error) {
	err = s.db.Tx(ctx, func(tx *db.Tx) error {
		started = false
		row, now, err := s.claim(ctx, tx, was)
		if err != nil || row == nil {
			return err
		}
		made, err := enqueue(job.WithSchedule(ctx, row.ID), tx)
		if err != nil {
			return err
		}
		next, err := s.following(row, now)
		if err != nil {
			return err
		}
		_, err = tx.Pgx.Exec(ctx, "UPDATE schedules SET next_run_at = $2, last_run_at = $3, last_job_id = $4, last_error = '' WHERE id = $1",
			row.ID, next, now, made.ID)
		if err != nil {
			return fmt.Errorf("advancing the schedule: %w", err)
		}
		entry := s.entry(row, "schedule.fire",
			map[string]any{"target": map[string]any{"kind": made.Target.Kind, "id": made.Target.ID, "name": made.Target.Name}})
		entry.JobID, entry.TeamID, entry.HostID, entry.Result = &made.ID, made.TeamID, made.HostID, audit.ResultOK
		started = true
		return audit.WriteEntry(tx, entry)
	})
	return started, err
}

// following returns the next time of a schedule after now. The problem is
// invalid for an expression that cannot be read any more or has no next time.
func (s *Store) following(row *Schedule, now time.Time) (time.Time, error) {
	e, err := NewExpression(row.Cron, row.Timezone)
	if err != nil {
		return time.Time{}, problem.New(problem.CodeInvalid, "%s", err)
	}
	next := e.Next(now)
	if next.IsZero() {
		return next, problem.New(problem.CodeInvalid, "the cron expression never matches again")
	}
	return next, nil
}

// fail stores why a due schedule started no job: it skips this run, or switches
// the schedule off if the next run would fail too.
func (s *Store) fail(ctx context.Context, was *Schedule, cause *problem.Error) (handled bool, err error) {
	why := told(cause)
	if cause.Code == problem.CodeInternal {
		s.log.Error("a schedule could not start its job", "schedule", was.ID, "error", cause)
	}
	err = s.db.Tx(ctx, func(tx *db.Tx) error {
		handled = false
		row, now, err := s.claim(ctx, tx, was)
		if err != nil || row == nil {
			return err
		}
		next, unreadable := s.following(row, now)
		action, result := "schedule.fire", audit.ResultFailed
		switch {
		case slices.Contains(lasting, cause.Code):
			action, result = "schedule.disable", audit.ResultOK
			err = disable(ctx, tx, row.ID, why)
		case unreadable != nil:
			action, result, why = "schedule.disable", audit.ResultOK, told(problem.From(unreadable))
			err = disable(ctx, tx, row.ID, why)
		default:
			_, err = tx.Pgx.Exec(ctx, "UPDATE schedules SET next_run_at = $2, last_error = $3 WHERE id = $1", row.ID, next, why)
		}
		if err != nil {
			return fmt.Errorf("recording why a schedule started no job: %w", err)
		}
		entry := s.entry(row, action, map[string]any{"reason": why})
		entry.Result = result
		if result != audit.ResultOK {
			entry.Error = string(cause.Code)
		}
		handled = true
		return audit.WriteEntry(tx, entry)
	})
	return handled, err
}

// maxTold limits a stored reason, in bytes.
const maxTold = 500

// told returns a problem in the form that the schedule stores.
func told(p *problem.Error) string {
	detail := p.Detail
	if p.Code == problem.CodeInvalid && len(p.Faults) > 0 {
		detail = fmt.Sprintf("its parameters are no longer valid: %v: %s", p.Faults[0].Loc[len(p.Faults[0].Loc)-1], p.Faults[0].Msg)
	}
	if len(detail) > maxTold {
		detail = detail[:maxTold] + "…"
	}
	return strings.ToValidUTF8(strings.ReplaceAll(detail, "\x00", ""), "")
}

func disable(ctx context.Context, tx *db.Tx, id int64, why string) error {
	_, err := tx.Pgx.Exec(ctx, `UPDATE schedules SET enabled = false, next_run_at = NULL, disabled_reason = $2, last_error = $2,
		updated_at = clock_timestamp() WHERE id = $1`, id, why)
	return err
}

// entry returns an audit entry for an action of the service itself.
func (s *Store) entry(row *Schedule, action string, details map[string]any) audit.Entry {
	all := map[string]any{"job_kind": row.JobKind, "writer": "the service itself"}
	if row.Writer != nil {
		all["writer"] = row.Writer.Email
	}
	maps.Copy(all, details)
	return audit.Entry{
		ActorType: audit.ActorSystem, Action: action, TargetKind: "schedule", TargetID: strconv.FormatInt(row.ID, 10), TargetName: row.Name,
		Result: audit.ResultOK, Details: all,
	}
}
