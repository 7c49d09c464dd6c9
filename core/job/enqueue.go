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

// Priorities of River: what was begun goes on before something new begins.
const (
	priorityResumed = 1
	priorityNew     = 2
)

// riverArgs is what River carries.
type riverArgs struct {
	JobID int64 `json:"job_id"`
}

// Kind is River's name for all our jobs; ours is in the jobs table.
func (riverArgs) Kind() string { return "job" }

type scheduleKey struct{}

// WithSchedule makes the jobs that are enqueued with the context those of a schedule.
func WithSchedule(ctx context.Context, scheduleID int64) context.Context {
	return context.WithValue(ctx, scheduleKey{}, scheduleID)
}

// Enqueue writes a job into the caller's transaction; it begins once that has committed. The requester is the context's
// caller, and the job's id goes into the context's audit attempt; the row of the trail is the caller's to write. When
// another unfinished job holds spec.Exclusive, or a Hold is there, the answer is problem guest_busy, and nothing was
// written.
func (q *Queue) Enqueue(ctx context.Context, tx *db.Tx, spec Spec) (*Job, error) {
	if q.workers[spec.Kind] == nil {
		return nil, fmt.Errorf("no worker is registered for jobs of kind %q", spec.Kind)
	}
	params, secrets, err := encodeParams(spec.Params)
	if err != nil {
		return nil, err
	}
	asked := json.RawMessage("{}")
	if spec.Asked != nil {
		if asked, err = json.Marshal(spec.Asked); err != nil {
			return nil, fmt.Errorf("encoding what was asked for: %w", err)
		}
	}
	j, err := insert(ctx, tx.Pgx, spec, params, asked)
	if err != nil {
		return nil, err
	}
	if err := q.seal(ctx, tx.Pgx, j, secrets); err != nil {
		return nil, err
	}
	if err := q.hand(ctx, tx.Pgx, j, priorityNew); err != nil {
		return nil, err
	}
	if err := appendStatus(ctx, tx.Pgx, j.ID, Queued); err != nil {
		return nil, err
	}
	audit.Describe(ctx, func(e *audit.Entry) { e.JobID = &j.ID })
	return j, nil
}

// A team or a user who went away since the request was let in is none: the job is then the instance's.
const (
	livingTeam = "(SELECT id FROM teams WHERE id = $2 FOR KEY SHARE)"
	livingUser = "(SELECT id FROM users WHERE id = $9 FOR KEY SHARE)"
)

// insert writes our row. A unique violation would abort the caller's transaction, so a conflict writes nothing, and
// the loop meets the case that the other job ended meanwhile.
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
	if err := notHeld(ctx, tx, spec.Exclusive); err != nil {
		return nil, err
	}
	if err := freeElsewhere(ctx, tx, spec.Exclusive); err != nil {
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
			return nil, busyWith(other, kind)
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return nil, fmt.Errorf("looking for the other job: %w", err)
		}
	}
	return nil, problem.New(problem.CodeGuestBusy, "other jobs on the same thing come and go; try again")
}

// seal keeps the secrets among the job's parameters.
func (q *Queue) seal(ctx context.Context, tx pgx.Tx, j *Job, secrets json.RawMessage) error {
	if secrets == nil {
		return nil
	}
	if q.cfg.Keys == nil {
		return errors.New("a job with a secret among its parameters, and no keys to seal it with")
	}
	sealed, err := q.cfg.Keys.Seal(secret.New(string(secrets)), place(j.ID))
	if err != nil {
		return fmt.Errorf("sealing the job's secrets: %w", err)
	}
	if _, err := tx.Exec(ctx, "UPDATE jobs SET sealed = $2 WHERE id = $1", j.ID, sealed); err != nil {
		return fmt.Errorf("writing the job's secrets: %w", err)
	}
	return nil
}

// hand gives the job to River under a new row and makes that row the only one that counts.
func (q *Queue) hand(ctx context.Context, tx pgx.Tx, j *Job, priority int) error {
	inserted, err := q.river.InsertTx(ctx, tx, riverArgs{JobID: j.ID}, &river.InsertOpts{
		Queue: q.queueOf(j), MaxAttempts: 1, Priority: priority,
	})
	if err != nil {
		return fmt.Errorf("handing the job to the queue: %w", err)
	}
	if _, err := tx.Exec(ctx, "UPDATE jobs SET river_id = $2 WHERE id = $1", j.ID, inserted.Job.ID); err != nil {
		return fmt.Errorf("noting the queue's row: %w", err)
	}
	j.riverID = &inserted.Job.ID
	return nil
}

// longestRead is how much of a text is looked at, in bytes.
const longestRead = 64 << 10

// clean makes text that PostgreSQL takes, on one line and no longer than limit bytes, without the secrets and what looks like one.
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
