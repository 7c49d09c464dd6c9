// Package maintenance does the service's own housekeeping, each piece as a job of a kind that schedules may ask for: what is
// over is deleted in batches, and samples are rolled up. The schedules that come with the service are in the migrations.
//
// At most one job of a kind is unfinished at a time, on all instances together. A job ends at a batch when it is
// canceled or the service stops, and a resumed one goes on with what is left. A job that deleted something leaves one row
// in the audit log, by the system; audit.prune leaves those of the audit log itself.
package maintenance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
)

// Sessions deletes sessions and what belongs to them; *identity.Store does.
type Sessions interface {
	// Prune deletes one batch of what is over, and says how many rows; none when nothing is left.
	Prune(ctx context.Context) (int64, error)
}

// AuditLog shortens the audit log.
type AuditLog interface {
	// Prune deletes the rows that are older, with its own row in the audit log, and says how many; with an error too, those
	// that went before it.
	Prune(ctx context.Context, before time.Time) (int64, error)
	// RemoveAddresses takes the addresses out of the rows that are older, with its own row in the audit log, and says of how many; with
	// an error too, those of which it did before it.
	RemoveAddresses(ctx context.Context, before time.Time) (int64, error)
}

// Config is what the housekeeping works with.
type Config struct {
	DB       *db.DB
	Queue    *job.Queue
	Sessions Sessions
	// Replays deletes idempotency keys; *idempotency.Store does. Nil keeps them.
	Replays Sessions
	// Consoles deletes tickets and recordings of consoles; *console.Store does. Nil keeps them.
	Consoles Sessions
	// Bundles deletes bundles that nothing refers to; *bundle.Store does. Nil keeps them.
	Bundles Sessions
	// Drafts deletes ended firewall drafts; *draft.Store does. Nil keeps them.
	Drafts   Sessions
	AuditLog AuditLog
}

// Runner knows the kinds of maintenance jobs.
type Runner struct {
	db    *db.DB
	queue *job.Queue
	kinds []kindOfJob
}

// kindOfJob is one kind of job.
type kindOfJob struct {
	kind, summary string
	// counts is what the audit log calls that which is deleted; empty when the job leaves rows there itself.
	counts string
	work   func(ctx context.Context, p *progress) error
}

// New makes the jobs; Register them before the queue starts.
func New(c Config) *Runner {
	return &Runner{db: c.DB, queue: c.Queue, kinds: []kindOfJob{
		{"sessions.prune", "Delete expired sessions, log-in counters, idempotency keys, console tickets and recordings, unused bundles, and " +
			"ended firewall drafts",
			"rows", sessions{c.Sessions, c.Replays, c.Consoles, c.Bundles, c.Drafts}.prune},
		{"jobs.prune", "Delete ended jobs and their transcripts after the retention period", "jobs", jobs{c.DB}.prune},
		{"metrics.maintain", "Roll up metric samples and delete old ones after the retention period", "partitions", metrics{c.DB}.maintain},
		{"audit.prune", "Delete audit entries after the retention period", "", trail{c.DB, c.AuditLog}.prune},
	}}
}

// Register tells the queue who does the jobs.
func (u *Runner) Register() {
	for _, c := range u.kinds {
		u.queue.Register(c.kind, job.WorkerFunc(func(ctx context.Context, run *job.Run) error { return u.perform(ctx, run, c) }))
	}
}

// Kinds are the jobs as schedules ask for them, none with parameters. A caller must be an admin of the instance.
func (u *Runner) Kinds() []schedule.Kind {
	kinds := make([]schedule.Kind, len(u.kinds))
	for i, c := range u.kinds {
		kinds[i] = schedule.NewKind(c.kind, c.summary, func(ctx context.Context, _ struct{}) (schedule.Enqueue, error) {
			if caller := identity.FromContext(ctx); caller != nil && caller.Instance() < identity.Admin {
				return nil, problem.New(problem.CodeForbidden, "this requires the role %s",
					identity.Admin).With("role", identity.Admin.String())
			}
			return func(ctx context.Context, tx *db.Tx) (*job.Job, error) { return u.queue.Enqueue(ctx, tx, c.spec()) }, nil
		})
	}
	return kinds
}

func (c kindOfJob) spec() job.Spec {
	return job.Spec{Kind: c.kind, Target: job.Target{Kind: "instance", Name: "Hostler"}, Exclusive: "maintenance:" + c.kind}
}

// progress is one run of a job.
type progress struct {
	run *job.Run
	// Deleted counts what this and earlier runs of the job deleted and no row of the audit log tells yet.
	Deleted int64 `json:"deleted"`
}

func (u *Runner) perform(ctx context.Context, run *job.Run, c kindOfJob) error {
	p := &progress{run: run}
	if err := run.LoadCheckpoint(p); err != nil {
		return err
	}
	err := c.work(ctx, p)
	// A job that will be resumed counts on.
	if err != nil && !errors.Is(context.Cause(ctx), job.ErrCanceled) {
		return err
	}
	return errors.Join(err, u.record(context.WithoutCancel(ctx), p, c))
}

// record leaves the row in the audit log.
func (u *Runner) record(ctx context.Context, p *progress, c kindOfJob) error {
	if p.Deleted == 0 || c.counts == "" {
		return nil
	}
	id := p.run.Job().ID
	err := u.db.Tx(ctx, func(tx *db.Tx) error {
		return audit.WriteEntry(tx, audit.Entry{
			ActorType: audit.ActorSystem, Action: c.kind, TargetKind: "instance", JobID: &id, Result: audit.ResultOK,
			Details: map[string]any{c.counts: p.Deleted},
		})
	})
	if err != nil {
		return err
	}
	p.Deleted = 0
	return p.run.SaveCheckpoint(ctx, p)
}

// count adds what was deleted to the job's checkpoint.
func (p *progress) count(ctx context.Context, n int64) error {
	if n == 0 {
		return nil
	}
	p.Deleted += n
	// What is done is done, even when the job was canceled meanwhile.
	return p.run.SaveCheckpoint(context.WithoutCancel(ctx), p)
}

// drain calls batch until it finds nothing any more, and says how many it deleted in this run.
func (p *progress) drain(ctx context.Context, batch func(context.Context) (int64, error)) (total int64, err error) {
	for ctx.Err() == nil {
		n, err := batch(ctx)
		total += n
		if err = errors.Join(err, p.count(ctx, n)); err != nil || n == 0 {
			return total, err
		}
	}
	return total, context.Cause(ctx)
}

// before is so many days ago on the database's clock, by which the rows were written.
func before(ctx context.Context, d *db.DB, days int) (time.Time, error) {
	var t time.Time
	if err := d.Pool.QueryRow(ctx, "SELECT now() - $1::int * interval '24 hours'", days).Scan(&t); err != nil {
		return t, db.Problem(fmt.Errorf("reading the time: %w", err))
	}
	return t.UTC(), nil
}

// plural is a number with its word.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
