package job

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// A job may end the process that runs it, by using up its memory for example,
// and would end the next one that takes it up. So a row of jobs names the
// instance that runs it, from the beginning of a run until the run ends in
// order: with the job, or by letting go of it because the service stops, does
// no jobs for now, or has lost its connection to the database. An instance that
// another one still finds there has crashed. Each checkpoint that differs from
// the one before ends the row of crashes: such a job gets further each time.

const (
	// MaxCrashes is the number of instances that may crash in a row while they
	// run a job without progress. The job ends after that.
	MaxCrashes = 2
	// maxRuns limits how often a job is begun that makes progress each time.
	maxRuns = 50
)

// takeOver records, in the transaction that begins a run, that this instance
// runs the job. It returns true if so many instances have crashed on the job
// that it must not run again.
func (q *Queue) takeOver(ctx context.Context, tx pgx.Tx, jobID int64) (tooMany bool, err error) {
	err = tx.QueryRow(ctx, `UPDATE jobs SET runner = $2,
			crashed = CASE WHEN runner <> $2 THEN array_append(crashed, runner) ELSE crashed END
		WHERE id = $1 RETURNING cardinality(crashed) >= $3`, jobID, q.instance, MaxCrashes).Scan(&tooMany)
	if err != nil {
		return false, fmt.Errorf("recording the job's runner: %w", err)
	}
	return tooMany, nil
}

// isCrashed returns the end of a job on which too many instances have crashed.
// Its task, as far as known, stays in its row.
func (r *Run) isCrashed() error {
	text := fmt.Sprintf("the service crashed %d times in a row while running this job, so it does not run the job again", MaxCrashes)
	switch open := r.open(); {
	case open != "":
		return Undetermined("%s%s; the state on the hypervisor is unknown", text, open)
	case r.job.HostID != nil && r.begun():
		return Undetermined("%s; the job had begun its work, and the state on the hypervisor is unknown", text)
	}
	return Fail("%s", text)
}

// begun reports whether the job has done anything that it has a checkpoint of.
func (r *Run) begun() bool {
	if r.progress.Work != nil || r.job.TaskID != "" {
		return true
	}
	for name := range r.progress.Steps {
		if r.StepStarted(name) {
			return true
		}
	}
	return false
}

// releaseJobs records that this instance does not run the jobs of a condition any
// more although they have not ended: it has not crashed on them. Earlier
// crashes are then no longer consecutive, unless another instance runs the job
// now.
func (q *Queue) releaseJobs(ctx context.Context, condition string, args ...any) {
	// The run's context has often ended when this is called.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementLimit)
	defer cancel()
	_, err := q.db.Pool.Exec(ctx, `UPDATE jobs SET runner = nullif(runner, $1),
			crashed = CASE WHEN runner = $1 THEN '{}' ELSE array_remove(crashed, $1) END
		WHERE (runner = $1 OR $1 = ANY (crashed)) AND status = 'running' AND `+condition, append([]any{q.instance}, args...)...)
	if err != nil {
		q.log.Warn("a job may be counted as crashed although its run ended cleanly", "error", err)
	}
}
