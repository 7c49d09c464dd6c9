package job

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// A job may end the process that runs it, by using up its memory for example, and would end the next one that takes it up. So a row of
// jobs names the instance that runs it, from the beginning of a run until the run ends in order: with the job, or by letting go of it
// because the service stops, does no jobs for now, or has lost its connection to the database. An instance that is still named when the
// next run begins has crashed, unless it is seen again. A step of the job that is done ends the row of crashes: such a job gets further
// each time, and has few steps.

const (
	// MostCrashes is how many instances may crash one after the other while they run a job. Then the job ends.
	MostCrashes = 2
	// silentLooks is for how many times Config.ResumeEvery an instance must not be seen before a job is ended because of it.
	silentLooks = 5
)

// suspects are the instances that seem to have crashed while they ran a job.
type suspects struct {
	ids []string
	// added says that the last of them was not known before, and lately that it was found a short while ago: it may yet be seen again.
	added, lately bool
}

// suspects reads, under the job's lock, which instances seem to have crashed on it.
func (q *Queue) suspects(ctx context.Context, tx pgx.Tx, jobID int64) (s suspects, err error) {
	var runner *string
	err = tx.QueryRow(ctx, `SELECT runner, coalesce(crashed_at > now() - $3::interval, false),
			ARRAY(SELECT c FROM unnest(crashed) AS c WHERE c <> $2
				AND NOT EXISTS (SELECT FROM job_instances i WHERE i.id = c AND i.seen_at > jobs.crashed_at))
		FROM jobs WHERE id = $1`, jobID, q.instance, silentLooks*q.cfg.ResumeEvery).Scan(&runner, &s.lately, &s.ids)
	if err != nil {
		return s, fmt.Errorf("reading who ran the job: %w", err)
	}
	if runner != nil && *runner != q.instance && !slices.Contains(s.ids, *runner) {
		s.ids, s.added = append(s.ids, *runner), true
	}
	return s, nil
}

// tooMany reports whether the job must not be begun again.
func (s suspects) tooMany() bool { return len(s.ids) >= MostCrashes }

// wait reports whether one of them may yet be seen again, before the job is ended because of it.
func (s suspects) wait() bool { return s.tooMany() && (s.added || s.lately) }

// note writes them down, and which instance runs the job now; empty for none.
func (s suspects) note(ctx context.Context, tx pgx.Tx, jobID int64, runner string) error {
	_, err := tx.Exec(ctx, `UPDATE jobs SET runner = NULLIF($2, ''), crashed = $3, crashed_at = CASE WHEN $4 THEN now() ELSE crashed_at END
		WHERE id = $1`, jobID, runner, append([]string{}, s.ids...), s.added)
	if err != nil {
		return fmt.Errorf("noting who runs the job: %w", err)
	}
	return nil
}

// isCrashed is the end of a job that too many instances have crashed on. What is known of its task stays in its row.
func (r *Run) isCrashed() error {
	text := fmt.Sprintf("the service crashed %d times in a row while it ran this job, so it does not run the job again", MostCrashes)
	switch open := r.open(); {
	case open != "":
		return Undetermined("%s%s; the state at the hypervisor is unknown", text, open)
	case r.job.HostID != nil && r.begun():
		return Undetermined("%s; the job had begun its work, and the state at the hypervisor is unknown", text)
	}
	return Fail("%s", text)
}

// done counts the steps that are done.
func (p *progress) done() (n int) {
	for _, cp := range p.Steps {
		if cp.State == stepDone {
			n++
		}
	}
	return n
}

// begun reports whether the job has done something that it has a checkpoint of.
func (r *Run) begun() bool {
	if r.progress.Work != nil || r.job.TaskID != "" {
		return true
	}
	for name := range r.progress.Steps {
		if r.Begun(name) {
			return true
		}
	}
	return false
}

// letGo notes that the run has ended in order although its job has not: this instance has not crashed on it, and those before it have not
// done so one after the other. Where that cannot be written, the instance is seen again, or says so when it stops.
func (r *Run) letGo() {
	ctx, cancel := context.WithTimeout(context.Background(), statementLimit)
	defer cancel()
	if err := r.queue.letGo(ctx, "id = $2", r.job.ID); err != nil {
		r.log.Debug("that the run has ended in order was not kept", "error", err)
	}
}

// letGo lets go of those jobs of this instance that a condition names.
func (q *Queue) letGo(ctx context.Context, condition string, args ...any) error {
	_, err := q.db.Pool.Exec(ctx, `UPDATE jobs SET runner = NULL, crashed = '{}', crashed_at = NULL
		WHERE runner = $1 AND status = 'running' AND `+condition, append([]any{q.instance}, args...)...)
	if err != nil {
		return fmt.Errorf("letting go of jobs: %w", err)
	}
	return nil
}

// beSeen notes that this instance lives, and forgets those that were not seen for long.
func (q *Queue) beSeen(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	batch := &pgx.Batch{}
	batch.Queue("INSERT INTO job_instances (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET seen_at = now()", q.instance)
	batch.Queue("DELETE FROM job_instances WHERE seen_at < now() - interval '1 day'")
	if err := q.db.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("noting that this instance lives: %w", err)
	}
	return nil
}
