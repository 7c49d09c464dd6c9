package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Priorities in River: a job that was begun continues before a new one begins.
const (
	priorityResumed = 1
	priorityNew     = 2
)

// riverArgs is the payload of a River row. Everything else is in the table
// jobs.
type riverArgs struct {
	JobID int64 `json:"job_id"`
}

// Kind returns River's name for all jobs. The kinds of this package are in the
// table jobs.
func (riverArgs) Kind() string { return "job" }

// scheduleKey is the key of the schedule in a context.
type scheduleKey struct{}

// WithSchedule returns a context with which enqueued jobs belong to a schedule.
func WithSchedule(ctx context.Context, scheduleID int64) context.Context {
	return context.WithValue(ctx, scheduleKey{}, scheduleID)
}

// Enqueue writes a job into the caller's transaction. The job begins after the
// commit. It is requested by the caller in the context, and its ID is added to
// the context's audit attempt; the caller writes the audit row. If another
// unfinished job has spec.Exclusive, or a Hold has it, the problem is
// guest_busy and nothing was written.
func (q *Queue) Enqueue(ctx context.Context, tx *db.Tx, spec Spec) (*Job, error) {
	// A job without worker would only fail later. This is a mistake of the
	// programmer.
	if q.workers[spec.Kind] == nil {
		return nil, fmt.Errorf("no worker is registered for jobs of kind %q", spec.Kind)
	}
	params, secrets, err := encodeParams(spec.Params)
	if err != nil {
		return nil, err
	}
	asked := json.RawMessage("{}")
	if spec.PublicParams != nil {
		if asked, err = json.Marshal(spec.PublicParams); err != nil {
			return nil, fmt.Errorf("encoding the job's request: %w", err)
		}
	}
	j, err := insert(ctx, tx.Pgx, spec, params, asked)
	if err != nil {
		return nil, err
	}
	if err := q.seal(ctx, tx.Pgx, j, secrets); err != nil {
		return nil, err
	}
	if err := q.insertRiverRow(ctx, tx.Pgx, j, priorityNew); err != nil {
		return nil, err
	}
	if err := appendStatus(ctx, tx.Pgx, j.ID, Queued); err != nil {
		return nil, err
	}
	audit.Describe(ctx, func(e *audit.Entry) { e.JobID = &j.ID })
	return j, nil
}

// SQL for the team and the user of a job. If one was deleted since the request
// was admitted, the job belongs to nobody. The lock keeps a parallel deletion
// from violating the foreign key.
const (
	livingTeam = "(SELECT id FROM teams WHERE id = $2 FOR KEY SHARE)"
	livingUser = "(SELECT id FROM users WHERE id = $9 FOR KEY SHARE)"
)

// insert writes the row of the table jobs. A unique violation would abort the
// caller's transaction, so a conflict inserts nothing. The loop handles a
// competing job that ends between the insert and the query for it.
func insert(ctx context.Context, tx pgx.Tx, spec Spec, params, asked json.RawMessage) (*Job, error) {
	var userID *int64
	var email string
	if caller := identity.FromContext(ctx); caller != nil {
		userID, email = &caller.UserID, caller.Email
	}
	var schedule *int64
	if id, ok := ctx.Value(scheduleKey{}).(int64); ok {
		schedule = &id
	}
	// Holds first: their lock also orders this transaction with one that
	// creates a hold.
	if err := checkNotHeld(ctx, tx, spec.Exclusive); err != nil {
		return nil, err
	}
	if err := checkFreeElsewhere(ctx, tx, spec.Exclusive); err != nil {
		return nil, err
	}
	for range 3 {
		j, err := one(tx.Query(ctx, `
			INSERT INTO jobs (kind, team_id, host_id, target_kind, target_id, target_name, exclusive, params, requested_by, requested_by_email,
			schedule_id, asked, place)
			VALUES ($1, `+livingTeam+`, NULLIF($3, 0::bigint), $4, $5, $6, NULLIF($7, ''), $8, `+livingUser+`, $10, $11, $12,
				NULLIF($13, ''))
			ON CONFLICT (exclusive) WHERE status IN ('queued', 'running') DO NOTHING
			RETURNING `+columns,
			spec.Kind, spec.TeamID, spec.HostID, spec.Target.Kind, spec.Target.ID, clean(spec.Target.Name, 256),
			spec.Exclusive, params, userID, email, schedule, asked, spec.Place))
		if err != nil {
			return nil, fmt.Errorf("writing the job: %w", err)
		}
		if j != nil {
			return j, nil
		}
		var other int64
		var kind string
		err = tx.QueryRow(ctx, "SELECT id, kind FROM jobs WHERE exclusive = $1 AND status IN ('queued', 'running')",
			spec.Exclusive).Scan(&other, &kind)
		if err == nil {
			return nil, busyProblem(other, kind)
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return nil, fmt.Errorf("reading the other job: %w", err)
		}
	}
	return nil, problem.New(problem.CodeGuestBusy, "other jobs keep starting on the same object; try again")
}

// seal encrypts and stores the secrets among the job's parameters.
func (q *Queue) seal(ctx context.Context, tx pgx.Tx, j *Job, secrets json.RawMessage) error {
	if secrets == nil {
		return nil
	}
	if q.cfg.Keys == nil {
		return errors.New("a job has a secret parameter, but there are no keys to encrypt it")
	}
	sealed, err := q.cfg.Keys.Seal(secret.New(string(secrets)), place(j.ID))
	if err != nil {
		return fmt.Errorf("encrypting the job's secrets: %w", err)
	}
	if _, err := tx.Exec(ctx, "UPDATE jobs SET sealed = $2 WHERE id = $1", j.ID, sealed); err != nil {
		return fmt.Errorf("writing the job's secrets: %w", err)
	}
	return nil
}

// insertRiverRow inserts a River row for the job and makes it the only one that counts.
// MaxAttempts is 1: retries are decided here, not by River.
func (q *Queue) insertRiverRow(ctx context.Context, tx pgx.Tx, j *Job, priority int) error {
	inserted, err := q.river.InsertTx(ctx, tx, riverArgs{JobID: j.ID}, &river.InsertOpts{
		Queue: q.queueOf(j), MaxAttempts: 1, Priority: priority,
	})
	if err != nil {
		return fmt.Errorf("adding the job to the queue: %w", err)
	}
	if _, err := tx.Exec(ctx, "UPDATE jobs SET river_id = $2 WHERE id = $1", j.ID, inserted.Job.ID); err != nil {
		return fmt.Errorf("recording the queue's row: %w", err)
	}
	j.riverID = &inserted.Job.ID
	return nil
}

// longestRead is the part of a text that is searched for secrets, in bytes. It
// bounds the time for a text of any length.
const longestRead = 64 << 10

// clean returns text in a form that PostgreSQL accepts, on one line of at most
// limit bytes, without control characters, without the given secrets and
// without texts that look like secrets.
func clean(s string, limit int, secrets ...string) string {
	s = s[:min(len(s), longestRead)]
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return r
		case r == '\n' || r == '\r':
			return ' '
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
			return -1
		}
		return r
	}, strings.ToValidUTF8(sdk.HideSecrets(s, secrets...), "\uFFFD"))
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit-len("…")], "") + "…"
}
