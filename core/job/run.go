package job

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// Run is one run of one job as its worker sees it. Its methods may be called
// from several goroutines.
type Run struct {
	queue   *Queue
	job     *Job
	riverID int64
	session *session
	log     hclog.Logger

	// untilLost ends when the run has lost its job. untilStop ends earlier,
	// when the service stops. The worker's own context ends even earlier, when
	// the job is canceled.
	untilLost, untilStop   context.Context
	cancelLost, cancelStop context.CancelCauseFunc
	cancelWork             context.CancelCauseFunc
	canceled               chan struct{}

	transcript *transcript
	progress   progress
	// crashed is true if the job must not be done, because the service crashes
	// while it does it.
	crashed bool
	// atEnd is called in the transaction that ends the job as succeeded.
	atEnd func(ctx context.Context, tx *db.Tx) error
}

// progress is the content of jobs.progress: the worker's checkpoint, and those
// of its steps.
type progress struct {
	Work  json.RawMessage        `json:"work,omitempty"`
	Steps map[string]*checkpoint `json:"steps,omitempty"`
}

// Job returns the job as it was when the run began.
func (r *Run) Job() Job { return *r.job }

// Params decodes the job's parameters, including secrets.
func (r *Run) Params(into any) error {
	var secrets json.RawMessage
	if r.job.sealed != nil {
		if r.queue.cfg.Keys == nil {
			return errors.New("a job has encrypted parameters, but there are no keys to decrypt them")
		}
		opened, err := r.queue.cfg.Keys.Open(r.job.sealed, place(r.job.ID))
		if err != nil {
			return fmt.Errorf("decrypting the job's secrets: %w", err)
		}
		secrets = json.RawMessage(opened.Reveal())
	}
	return decodeParams(r.job.params, secrets, into)
}

// Redact removes a text from the transcript and from the job's error from now on,
// in every spelling. The log of a task may repeat a secret of its request. An
// empty text is ignored.
func (r *Run) Redact(secret string) { r.transcript.hide(secret) }

// Log adds a line of the hypervisor's task log to the transcript. It must not
// contain a secret.
func (r *Run) Log(line string) { r.transcript.add(EventLog, line) }

// Note adds a line of the service to the transcript, formatted as by
// fmt.Sprintf. It must not contain a secret.
func (r *Run) Note(format string, args ...any) {
	r.transcript.add(EventNote, fmt.Sprintf(format, args...))
}

// SetProgress sets the finished part of the job, 0 to 1, for work without a task that
// reports it.
func (r *Run) SetProgress(done float64) {
	r.transcript.mu.Lock()
	defer r.transcript.mu.Unlock()
	r.transcript.share, r.transcript.storedProgress = min(max(done, 0), 1), true
}

// LoadCheckpoint decodes the checkpoint that SaveCheckpoint stored last, in this run or
// an earlier one. Without a checkpoint it leaves into unchanged.
func (r *Run) LoadCheckpoint(into any) error {
	if r.progress.Work == nil {
		return nil
	}
	if err := json.Unmarshal(r.progress.Work, into); err != nil {
		return fmt.Errorf("decoding the job's checkpoint: %w", err)
	}
	return nil
}

// SaveCheckpoint stores a checkpoint, and the transcript so far, before it
// returns. An error means that the run must end. The checkpoint is stored in
// plain text and must not contain a secret.
func (r *Run) SaveCheckpoint(ctx context.Context, v any) error {
	work, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding the job's checkpoint: %w", err)
	}
	r.progress.Work = work
	return r.save(ctx, nil)
}

// SetTask records the hypervisor's task for users to see. Run.Do calls it.
func (r *Run) SetTask(ctx context.Context, id string) error { return r.save(ctx, &id) }

// Context returns a context that ends when the run must end whatever it is doing:
// the service stops, this instance is suspended, or the run lost its job. A
// cancellation of the job does not end it. Its cause is an error that leaves
// the job to be resumed.
func (r *Run) Context() context.Context { return r.untilStop }

// Stopping returns a channel that is closed when the service stops.
func (r *Run) Stopping() <-chan struct{} { return r.untilStop.Done() }

// Canceled returns a channel that is closed when somebody requests to cancel
// the job.
func (r *Run) Canceled() <-chan struct{} { return r.canceled }

// save stores the progress, and the ID of a new task, if this run still has the
// job.
func (r *Run) save(ctx context.Context, taskID *string) error {
	if err := r.transcript.flush(ctx); err != nil {
		return err
	}
	encoded, err := json.Marshal(r.progress)
	if err != nil {
		return fmt.Errorf("encoding the job's progress: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	// A checkpoint that differs from the previous one is progress, so the count
	// of crashes starts again.
	tag, err := r.queue.db.Pool.Exec(ctx, `
		UPDATE jobs SET progress = $3, task_id = coalesce($4, task_id),
			task_lines = CASE WHEN $4::text IS NULL OR $4 = task_id THEN task_lines ELSE 0 END,
			share = CASE WHEN $4::text IS NULL OR $4 = task_id THEN share END,
			crashed = CASE WHEN progress = $3 THEN crashed ELSE '{}' END
		WHERE id = $1 AND river_id = $2 AND status = 'running'`,
		r.job.ID, r.riverID, encoded, taskID)
	if err != nil {
		return r.lose(fmt.Errorf("storing the job's progress: %w", err))
	}
	if tag.RowsAffected() == 0 {
		return r.lose(errors.New("storing the job's progress: another run owns the job"))
	}
	if taskID != nil && *taskID != r.job.TaskID {
		r.job.TaskID = *taskID
		r.transcript.restart()
	}
	return nil
}

// lose ends the run: nothing that it does from now on would be stored.
func (r *Run) lose(cause error) error {
	err := fmt.Errorf("%w: %w", ErrLost, cause)
	r.cancelLost(err)
	return err
}

// holds verifies with the database that the run still has its job, and whether
// the job should be canceled. It is called before everything that cannot be
// undone.
func (r *Run) holds() error {
	if r.untilLost.Err() != nil {
		return context.Cause(r.untilLost)
	}
	ctx, cancel := context.WithTimeout(r.untilLost, statementLimit)
	defer cancel()
	var canceled bool
	err := r.queue.db.Pool.QueryRow(ctx,
		"SELECT cancel_requested_at IS NOT NULL FROM jobs WHERE id = $1 AND river_id = $2 AND status = 'running'",
		r.job.ID, r.riverID).Scan(&canceled)
	if err != nil {
		return r.lose(fmt.Errorf("checking the job: %w", err))
	}
	if canceled {
		r.queue.mu.Lock()
		r.requestCancel()
		r.queue.mu.Unlock()
	}
	// The lock must be alive as well. Its loss may not have been noticed yet.
	if !r.session.alive() {
		return r.lose(errors.New("the connection with its lock is lost"))
	}
	return nil
}

// interrupted returns why the run should not go on now, or nil. A cancellation
// is not such a reason.
func (r *Run) interrupted() error {
	if r.untilStop.Err() != nil {
		return context.Cause(r.untilStop)
	}
	return nil
}

// isCanceled reports whether the job should be canceled.
func (r *Run) isCanceled() bool {
	select {
	case <-r.canceled:
		return true
	default:
		return false
	}
}

// requestCancel notifies the worker. Calls after the first do nothing. The
// caller holds the queue's mutex.
func (r *Run) requestCancel() {
	if r.isCanceled() {
		return
	}
	close(r.canceled)
	if r.cancelWork != nil {
		r.cancelWork(ErrCanceled)
	}
}

// AtEnd sets a function that is called in the transaction that ends the job as
// succeeded, so that the result of the job and its end are stored together or
// not at all. If it returns a verdict, what it wrote is rolled back and the
// verdict is the end of the job. With any other error the job is resumed. The
// function may be called more than once. It must do nothing that a transaction
// cannot roll back.
func (r *Run) AtEnd(do func(ctx context.Context, tx *db.Tx) error) { r.atEnd = do }

// end stores the end of the job.
func (r *Run) end(status Status, text string) error {
	ctx, cancel := context.WithTimeout(r.untilLost, 10*time.Second)
	defer cancel()
	if text != "" {
		r.Note("%s", text)
	}
	if err := r.transcript.flush(ctx); err != nil {
		return err
	}
	shown := ""
	if status == Failed || status == Unknown {
		shown = clean(text, 2000, r.transcript.secrets()...)
	}
	if status == Succeeded && r.atEnd != nil {
		return r.queue.db.Tx(ctx, func(tx *db.Tx) error {
			if err := r.atEnd(ctx, tx); err != nil {
				return err
			}
			return r.storeEnd(ctx, tx.Pgx, status, shown)
		})
	}
	tx, err := r.queue.db.Pool.Begin(ctx)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if err := r.storeEnd(ctx, tx, status, shown); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("storing the job's end: %w", err)
	}
	return nil
}

// storeEnd writes the end into a transaction.
func (r *Run) storeEnd(ctx context.Context, tx pgx.Tx, status Status, shown string) error {
	tag, err := tx.Exec(ctx, `UPDATE jobs SET status = $3, error = $4, finished_at = now(), sealed = NULL,
			share = CASE WHEN $3 = 'succeeded' AND share IS NOT NULL THEN 1 ELSE share END
		WHERE id = $1 AND river_id = $2 AND status = 'running'`, r.job.ID, r.riverID, status, shown)
	if err != nil {
		return fmt.Errorf("storing the job's end: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return errors.New("storing the job's end: another run owns the job")
	}
	if err := appendStatus(ctx, tx, r.job.ID, status); err != nil {
		return err
	}
	if err := r.notifyFailure(ctx, tx, status, shown); err != nil {
		return err
	}
	// River would record it a moment later, and never if this process dies in
	// between.
	_, err = tx.Exec(ctx, "UPDATE river_job SET state = 'completed', finalized_at = now() WHERE id = $1 AND state = 'running'", r.riverID)
	if err != nil {
		return fmt.Errorf("closing the queue's row: %w", err)
	}
	return nil
}

// detail returns the text of a problem for users.
func detail(p *problem.Error) string {
	remedy, _ := p.Members["remedy"].(string)
	return cmp.Or(p.Detail, p.Code.Title()) + grantHint(clean(remedy, 500))
}
