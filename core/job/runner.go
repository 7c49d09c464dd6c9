package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/riverqueue/river"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/plugin"
)

// riverWorker is the only worker that River knows.
type riverWorker struct {
	river.WorkerDefaults[riverArgs]
	queue *Queue
}

var _ river.Worker[riverArgs] = (*riverWorker)(nil)

// Work runs one job. The River row only brought the ID, so River does not learn
// the result.
func (s *riverWorker) Work(ctx context.Context, brought *river.Job[riverArgs]) error {
	s.queue.work(ctx, brought.Args.JobID, brought.ID, brought.Queue == unslottedQueue)
	return nil
}

// work runs a job from the lease to its end.
func (q *Queue) work(ctx context.Context, jobID, riverID int64, beside bool) {
	lease := q.acquireLease(ctx, jobID, riverID, beside)
	if lease == nil {
		return
	}
	defer q.hook(ctx, "over", jobID)
	defer lease.free()
	run, err := q.begin(ctx, lease, jobID, riverID)
	if err != nil {
		q.log.Warn("a job could not start; it will be tried again", "job", jobID, "error", err)
		return
	}
	if run == nil {
		return
	}
	stop := run.supervise()
	defer stop()
	q.hook(run.untilLost, "begun", jobID)
	err = run.perform()
	status, text, ended := run.endOf(err)
	q.hook(run.untilLost, "before-end", jobID)
	if !ended {
		if err := run.transcript.flush(run.untilLost); err != nil {
			run.log.Debug("the last lines of an interrupted run were not stored", "error", err)
		}
		q.releaseJobs(run.untilLost, "id = $2", jobID)
		run.log.Info("the job was interrupted and will be resumed", "cause", err)
		return
	}
	err = run.end(status, text)
	// The function of Run.AtEnd refused the success and was rolled back.
	if undone, verdict := Verdict(err); verdict {
		status = undone
		err = run.end(status, Text(err))
	}
	if err != nil {
		q.releaseJobs(run.untilLost, "id = $2", jobID)
		run.log.Warn("the job's end could not be stored; it will be resumed", "status", status, "error", err)
		return
	}
	run.log.Info("job ended", "status", status)
}

// begin turns a job with a lease into a run. It returns nil if the River row is
// void, or if the job is left to another instance: during an update two
// releases use the same database, and the older one does not know all kinds.
// The job is handed out again by resume.
func (q *Queue) begin(ctx context.Context, lease *lease, jobID, riverID int64) (*Run, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	tx, err := q.db.Pool.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("beginning a transaction: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	var before Status
	var events int
	var kind string
	var recent bool
	rows, err := tx.Query(ctx, `SELECT status, event_count, kind,
			coalesce((SELECT max(at) FROM job_events e WHERE e.job_id = jobs.id), created_at) > now() - $3::interval
		FROM jobs WHERE id = $1 AND river_id = $2 AND status IN ('queued', 'running') FOR UPDATE`, jobID, riverID, q.cfg.UnknownKindLimit)
	if err != nil {
		return nil, fmt.Errorf("reading the job: %w", err)
	}
	if !rows.Next() {
		rows.Close()
		return nil, rows.Err()
	}
	err = rows.Scan(&before, &events, &kind, &recent)
	rows.Close()
	if err = errors.Join(err, rows.Err()); err != nil {
		return nil, fmt.Errorf("reading the job: %w", err)
	}
	if q.workers[kind] == nil && recent {
		q.log.Debug("leaving a job to an instance that supports its kind", "job", jobID, "kind", kind)
		return nil, nil
	}
	crashed, err := q.takeOver(ctx, tx, jobID)
	if err != nil {
		return nil, err
	}
	j, err := one(tx.Query(ctx, `UPDATE jobs SET status = 'running', started_at = coalesce(started_at, now()),
			runs = runs + CASE WHEN $2 THEN 0 ELSE 1 END
		WHERE id = $1 RETURNING `+columns, jobID, crashed))
	if err != nil {
		return nil, fmt.Errorf("starting the job: %w", err)
	}
	switch {
	case before == Queued:
		err = appendStatus(ctx, tx, jobID, Running)
	case !crashed:
		err = appendEvent(ctx, tx, jobID, EventNote, fmt.Sprintf("the job was interrupted and continues (run %d)", j.Runs))
	}
	// The next job in line may find another free slot.
	if err = errors.Join(err, signal(ctx, tx, channelSlots, jobID)); err != nil {
		return nil, err
	}
	run := &Run{
		queue: q, job: j, riverID: riverID, session: lease.session, canceled: make(chan struct{}), crashed: crashed,
		log: q.log.With("job", jobID, "kind", j.Kind),
	}
	if err := json.Unmarshal(j.checkpoint, &run.progress); err != nil {
		return nil, fmt.Errorf("decoding the job's progress: %w", err)
	}
	if run.progress.Steps == nil {
		run.progress.Steps = map[string]*checkpoint{}
	}
	if err := tx.Commit(ctx); err != nil {
		return nil, fmt.Errorf("starting the job: %w", err)
	}
	run.transcript = newTranscript(run, events, q.cfg.MaxLines)
	run.untilLost, run.cancelLost = context.WithCancelCause(context.Background())
	run.untilStop, run.cancelStop = context.WithCancelCause(run.untilLost)
	if j.CancelRequestedAt != nil {
		close(run.canceled)
	}
	return run, nil
}

// supervise watches for everything that may end the run before its worker does,
// and writes the transcript, until the returned function is called.
func (r *Run) supervise() (stop func()) {
	q := r.queue
	q.mu.Lock()
	q.runs[r.job.ID] = r
	q.mu.Unlock()
	done := make(chan struct{})
	go r.transcript.loop(r.untilLost)
	go func() {
		stopping, suspended := q.stopping, q.suspended()
		for {
			select {
			case <-done:
				return
			case <-r.session.lost:
				_ = r.lose(errors.New("the connection with its lock was lost"))
				return
			case <-stopping:
				r.cancelStop(ErrStopping)
				stopping = nil
			case <-suspended:
				r.cancelStop(ErrSuspended)
				suspended = nil
			}
		}
	}()
	return func() {
		close(done)
		q.mu.Lock()
		delete(q.runs, r.job.ID)
		q.mu.Unlock()
		r.cancelLost(errors.New("the run is over"))
	}
}

// perform calls the worker. A panic becomes a failure of the job.
func (r *Run) perform() (err error) {
	work, cancel := context.WithCancelCause(r.untilStop)
	defer cancel(nil)
	// A cancellation may arrive between begin and here.
	r.queue.mu.Lock()
	r.cancelWork = cancel
	if r.isCanceled() {
		cancel(ErrCanceled)
	}
	r.queue.mu.Unlock()
	worker := r.queue.workers[r.job.Kind]
	switch {
	case worker == nil && r.open() != "":
		return Undetermined("no running instance of the service supports jobs of the kind %q%s", r.job.Kind, r.open())
	case worker == nil:
		return Fail("this release of the service does not know jobs of kind %q", r.job.Kind)
	case r.crashed:
		return r.isCrashed()
	case r.job.Runs > maxRuns:
		return Undetermined("the job was interrupted %d times and is not run again%s", maxRuns, r.open())
	}
	defer func() {
		if crash := recover(); crash != nil {
			// The value of a panic may contain anything, so only the log gets
			// it.
			r.log.Error("a worker crashed", "panic", crash, "stack", string(debug.Stack()))
			err = Fail("an internal error occurred while running the job; see the service's log for details%s", r.open())
		}
	}()
	err = worker.Run(work, r)
	if _, verdict := Verdict(err); err != nil && !verdict && work.Err() != nil {
		return &interruptedError{cause: context.Cause(work), err: err}
	}
	return err
}

// interruptedError is the error of a worker whose context had ended.
type interruptedError struct{ cause, err error }

func (c *interruptedError) Error() string { return fmt.Sprintf("%v (%v)", c.cause, c.err) }

func (c *interruptedError) Unwrap() []error { return []error{c.cause, c.err} }

// databaseUnavailable reports whether err means that the database is unreachable, and
// is not an error of a hypervisor that looks the same.
func databaseUnavailable(err error) bool {
	var h *plugin.Error
	return !errors.As(err, &h) && db.Unavailable(err)
}

// endOf turns the worker's result into the end of the job. It returns ended as
// false if the job is to be resumed.
func (r *Run) endOf(err error) (status Status, text string, ended bool) {
	var o *outcome
	var cut *interruptedError
	var p *problem.Error
	var h *plugin.Error
	switch {
	case err == nil:
		return Succeeded, "", true
	case errors.As(err, &o):
		return o.status, o.text, true
	case errors.Is(err, ErrLost), errors.Is(err, ErrStopping), errors.Is(err, ErrSuspended), databaseUnavailable(err),
		r.queue.cfg.IsUnavailable(err):
		return "", "", false
	case errors.As(err, &cut):
		if open := r.open(); open != "" {
			return Unknown, "the job was canceled" + open, true
		}
		return Canceled, "canceled", true
	case errors.As(err, &p):
		if p.Code != problem.CodeInternal {
			return Failed, detail(p), true
		}
	case errors.As(err, &h) && h.Kind != plugin.Internal, errors.Is(err, plugin.ErrGone):
		return Failed, Explain(err), true
	}
	r.log.Error("a job failed", "error", err)
	return Failed, "an internal error occurred; see the service's log for details", true
}
