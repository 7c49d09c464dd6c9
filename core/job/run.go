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

// Run is one run of one job, as its worker sees it. Its methods may be called from several goroutines.
type Run struct {
	queue   *Queue
	job     *Job
	riverID int64
	session *session
	log     hclog.Logger

	// untilLost ends when the run has lost its job. untilStop ends before, when the service stops; the worker's own context ends
	// before that, when the job shall be canceled.
	untilLost, untilStop   context.Context
	cancelLost, cancelStop context.CancelCauseFunc
	cancelWork             context.CancelCauseFunc
	canceled               chan struct{}

	transcript *transcript
	progress   progress
	// atEnd is done in the transaction that ends the job as succeeded.
	atEnd func(ctx context.Context, tx *db.Tx) error
}

// progress is what jobs.progress holds.
type progress struct {
	Work  json.RawMessage        `json:"work,omitempty"`
	Steps map[string]*checkpoint `json:"steps,omitempty"`
}

// Job is the job as it was when the run began.
func (r *Run) Job() Job { return *r.job }

// Params decodes the job's parameters, with the secrets among them.
func (r *Run) Params(into any) error {
	var secrets json.RawMessage
	if r.job.sealed != nil {
		if r.queue.cfg.Keys == nil {
			return errors.New("a job with sealed parameters, and no keys to open them with")
		}
		opened, err := r.queue.cfg.Keys.Open(r.job.sealed, place(r.job.ID))
		if err != nil {
			return fmt.Errorf("opening the job's secrets: %w", err)
		}
		secrets = json.RawMessage(opened.Reveal())
	}
	return decodeParams(r.job.params, secrets, into)
}

// Hide keeps a text out of the transcript from now on, as a task's log may repeat a secret that its request had. An empty one is nothing.
func (r *Run) Hide(secret string) { r.transcript.hide(secret) }

// Log adds a line of the hypervisor's task log to the transcript. It never holds a secret.
func (r *Run) Log(line string) { r.transcript.add(EventLog, line) }

// Note adds a line of ours to the transcript, built as by fmt.Sprintf. It never holds a secret.
func (r *Run) Note(format string, args ...any) {
	r.transcript.add(EventNote, fmt.Sprintf(format, args...))
}

// Share says how much of what the job does is done, from 0 to 1, where no task's log tells.
func (r *Run) Share(done float64) {
	r.transcript.mu.Lock()
	defer r.transcript.mu.Unlock()
	r.transcript.share, r.transcript.told = min(max(done, 0), 1), true
}

// Progress decodes the checkpoint that SaveProgress stored last, in this run or an earlier one; without one, into stays.
func (r *Run) Progress(into any) error {
	if r.progress.Work == nil {
		return nil
	}
	if err := json.Unmarshal(r.progress.Work, into); err != nil {
		return fmt.Errorf("decoding the job's checkpoint: %w", err)
	}
	return nil
}

// SaveProgress stores a checkpoint, and what the transcript has so far, before it returns. An error means that the run
// must end. A checkpoint is stored as it is: it never holds a secret.
func (r *Run) SaveProgress(ctx context.Context, v any) error {
	work, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding the job's checkpoint: %w", err)
	}
	r.progress.Work = work
	return r.save(ctx, nil)
}

// SetTask notes the hypervisor's task that the job started, for users to see. Run.Do does it by itself.
func (r *Run) SetTask(ctx context.Context, id string) error { return r.save(ctx, &id) }

// Life is a context that ends when the run must end whatever it does: because the service stops, or does no jobs for now, or because the
// run lost its job. A cancel of the job does not end it. Its cause is an error that leaves the job to be resumed.
func (r *Run) Life() context.Context { return r.untilStop }

// Stopping is closed when the service stops.
func (r *Run) Stopping() <-chan struct{} { return r.untilStop.Done() }

// Canceled is closed when somebody asked to cancel the job.
func (r *Run) Canceled() <-chan struct{} { return r.canceled }

// save stores the progress, and the id of a new task, if this run still has the job.
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
	tag, err := r.queue.db.Pool.Exec(ctx, `
		UPDATE jobs SET progress = $3, task_id = coalesce($4, task_id),
			task_lines = CASE WHEN $4::text IS NULL OR $4 = task_id THEN task_lines ELSE 0 END,
			share = CASE WHEN $4::text IS NULL OR $4 = task_id THEN share END
		WHERE id = $1 AND river_id = $2 AND status = 'running'`,
		r.job.ID, r.riverID, encoded, taskID)
	if err != nil {
		return r.lose(fmt.Errorf("storing the job's progress: %w", err))
	}
	if tag.RowsAffected() == 0 {
		return r.lose(errors.New("storing the job's progress: another run has the job"))
	}
	if taskID != nil && *taskID != r.job.TaskID {
		r.job.TaskID = *taskID
		r.transcript.restart()
	}
	return nil
}

// lose ends the run: what it does from now on would not be kept.
func (r *Run) lose(cause error) error {
	err := fmt.Errorf("%w: %w", ErrLost, cause)
	r.cancelLost(err)
	return err
}

// holds asks the database whether the run still has its job, and whether somebody asked to cancel it; it is asked before
// everything that cannot be undone.
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
		return r.lose(fmt.Errorf("asking for the job: %w", err))
	}
	if canceled {
		r.queue.mu.Lock()
		r.requestCancel()
		r.queue.mu.Unlock()
	}
	if !r.session.alive() {
		return r.lose(errors.New("the connection with its lock is gone"))
	}
	return nil
}

// interrupted is why the run should not go on now, or nil. That its job shall be canceled is no reason.
func (r *Run) interrupted() error {
	if r.untilStop.Err() != nil {
		return context.Cause(r.untilStop)
	}
	return nil
}

func (r *Run) isCanceled() bool {
	select {
	case <-r.canceled:
		return true
	default:
		return false
	}
}

// requestCancel tells the worker; calls after the first do nothing. The queue's lock is held.
func (r *Run) requestCancel() {
	if r.isCanceled() {
		return
	}
	close(r.canceled)
	if r.cancelWork != nil {
		r.cancelWork(ErrCanceled)
	}
}

// AtEnd has do called in the transaction that ends the job as succeeded, so that what the job has made and its end are there together or
// not at all. A verdict of do's undoes what it has written, and is how the job ends then; with any other error the job is resumed. It may
// be called more than once. do is for statements alone: it must do nothing that a transaction cannot undo.
func (r *Run) AtEnd(do func(ctx context.Context, tx *db.Tx) error) { r.atEnd = do }

// end stores how the job ended.
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
		shown = clean(r.transcript.without(text), 2000)
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
		return errors.New("storing the job's end: another run has the job")
	}
	if err := appendStatus(ctx, tx, r.job.ID, status); err != nil {
		return err
	}
	if err := r.tell(ctx, tx, status, shown); err != nil {
		return err
	}
	// River would note it a moment later, and never when this process dies in between.
	_, err = tx.Exec(ctx, "UPDATE river_job SET state = 'completed', finalized_at = now() WHERE id = $1 AND state = 'running'", r.riverID)
	if err != nil {
		return fmt.Errorf("closing the queue's row: %w", err)
	}
	return nil
}

// detail is the text of an error that a user may read.
func detail(p *problem.Error) string {
	remedy, _ := p.Members["remedy"].(string)
	return cmp.Or(p.Detail, p.Code.Title()) + granting(clean(remedy, 500))
}
