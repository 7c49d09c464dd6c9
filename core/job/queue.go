package job

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/heartbeat"
	"github.com/hostler/hostler/core/secret"
)

const (
	riverQueue = "jobs"
	// unslottedQueue is River's queue for jobs that take no slot. maxUnslotted is
	// the number of them that an instance runs at a time.
	unslottedQueue = "beside"
	maxUnslotted   = 64
)

// Config configures a Queue. Zero values mean the defaults.
type Config struct {
	// DB is the database. The queue opens one connection in addition to the
	// pool, for locks. River keeps one connection of the pool; a running job
	// uses one only while it writes.
	DB *db.DB
	// Keys encrypt the secrets among jobs' parameters. Without them a job with
	// a secret is an error.
	Keys secret.Keys
	// Logger receives what users do not see. Nil logs nothing.
	Logger hclog.Logger
	// Workers is the number of jobs that run at the same time on all instances
	// together, 4 by default. All instances on one database must have the same
	// value.
	Workers int
	// ResumeEvery is the interval of the search for abandoned jobs, 3 s by
	// default.
	ResumeEvery time.Duration
	// Settle is how long a request may take to appear in the hypervisor's task
	// list, if its sender died or its answer was lost. The default is 8 s.
	Settle time.Duration
	// SendLimit bounds the request that starts a task, 60 s by default.
	SendLimit time.Duration
	// UnreachableLimit is how long a hypervisor that does not answer is retried before
	// a job ends as unknown, 15 minutes by default.
	UnreachableLimit time.Duration
	// WaitLimit ends a wait for a task after this time and starts it again, in
	// case the call hangs in a plugin that is otherwise alive. The default is
	// 10 minutes.
	WaitLimit time.Duration
	// UnknownKindLimit is how long a job of an unknown kind is left to instances of
	// another release that may know it, since the last event of the job. The
	// default is 10 minutes.
	UnknownKindLimit time.Duration
	// StopLimit is how long Stop waits for running jobs to reach a safe point,
	// 7 s by default.
	StopLimit time.Duration
	// MaxLines limits the transcript of one job, 100,000 lines by default.
	MaxLines int
	// IsUnavailable reports whether a worker's error means that this instance cannot
	// do the job but another one may. The job then does not end and can be
	// taken up elsewhere. The function may query the database. Nil means never.
	IsUnavailable func(err error) bool
	// Place is the place of this instance: it also runs jobs with this
	// Spec.Place. Empty means none.
	Place string
	// PlaceLostLimit is how long a place may have no instance before its jobs are
	// given to any other instance, which ends them. The default is 15 minutes.
	PlaceLostLimit time.Duration
	// Heartbeat is notified of every search for abandoned jobs. Nil disables
	// it.
	Heartbeat *heartbeat.Monitor
}

// Queue enqueues jobs and runs them. Create it with New, call Register for
// every kind, then Start. Enqueue, List and the other reading methods also work
// on a queue that was not started.
type Queue struct {
	cfg     Config
	db      *db.DB
	log     hclog.Logger
	workers map[string]Worker
	// unslotted contains the kinds whose jobs take no slot.
	unslotted map[string]bool
	river     *river.Client[pgx.Tx]
	// queues are River's queues from which this instance takes jobs.
	queues map[string]river.QueueConfig
	locks  *locks
	hub    *Hub

	suspension *suspension

	// instance identifies this queue among all queues that the database has
	// ever seen.
	instance string
	// stopping is closed when no new work may begin.
	stopping chan struct{}
	stopOnce sync.Once
	started  bool
	cancel   context.CancelFunc
	unlisten func()
	tasks    sync.WaitGroup

	mu   sync.Mutex
	runs map[int64]*Run
	// hook is called at named points of a run. Only tests set it.
	hook func(ctx context.Context, point string, jobID int64)
}

// New returns a queue. It does not use the database.
func New(cfg Config) (*Queue, error) {
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	setDefault(&cfg.Workers, 4)
	setDefault(&cfg.ResumeEvery, 3*time.Second)
	setDefault(&cfg.Settle, 8*time.Second)
	setDefault(&cfg.SendLimit, time.Minute)
	setDefault(&cfg.UnreachableLimit, 15*time.Minute)
	setDefault(&cfg.WaitLimit, 10*time.Minute)
	setDefault(&cfg.UnknownKindLimit, 10*time.Minute)
	setDefault(&cfg.PlaceLostLimit, 15*time.Minute)
	setDefault(&cfg.StopLimit, 7*time.Second)
	setDefault(&cfg.MaxLines, 100_000)
	if cfg.IsUnavailable == nil {
		cfg.IsUnavailable = func(error) bool { return false }
	}
	q := &Queue{
		cfg: cfg, db: cfg.DB, log: cfg.Logger, workers: map[string]Worker{}, unslotted: map[string]bool{},
		stopping: make(chan struct{}), runs: map[int64]*Run{}, instance: rand.Text(),
		hook: func(context.Context, string, int64) {},
	}
	q.locks = newLocks(cfg.DB, cfg.Logger)
	q.hub = newHub()
	q.suspension = newSuspension()
	riverWorkers := river.NewWorkers()
	river.AddWorker(riverWorkers, &riverWorker{queue: q})
	q.queues = map[string]river.QueueConfig{unslottedQueue: {MaxWorkers: maxUnslotted}}
	for _, place := range []string{"", cfg.Place} {
		q.queues[queueAt(place)] = river.QueueConfig{MaxWorkers: cfg.Workers}
	}
	var err error
	q.river, err = river.NewClient(riverpgxv5.New(cfg.DB.Pool), &river.Config{
		Queues:  maps.Clone(q.queues),
		Workers: riverWorkers,
		Logger:  slog.New(&riverLog{log: cfg.Logger.Named("river")}),
		// River does not announce an insert within the cooldown of the previous
		// one; the next poll finds it.
		FetchCooldown:               10 * time.Millisecond,
		FetchPollInterval:           500 * time.Millisecond,
		JobTimeout:                  -1,
		CompletedJobRetentionPeriod: time.Hour,
	})
	if err != nil {
		return nil, fmt.Errorf("creating the queue's client: %w", err)
	}
	return q, nil
}

// setDefault replaces a zero value by the default.
func setDefault[T comparable](value *T, standard T) {
	var zero T
	if *value == zero {
		*value = standard
	}
}

// Register sets the worker for a kind of job. It panics if the kind has one
// already, or after Start.
func (q *Queue) Register(kind string, w Worker) {
	if q.workers[kind] != nil {
		panic(fmt.Sprintf("job kind %q is registered twice", kind))
	}
	if q.started {
		panic(fmt.Sprintf("job kind %q is registered after the start", kind))
	}
	q.workers[kind] = w
}

// RegisterUnslotted is Register for a kind whose jobs mostly wait for a person.
// They take none of the shared slots and therefore delay no other job.
func (q *Queue) RegisterUnslotted(kind string, w Worker) {
	q.Register(kind, w)
	q.unslotted[kind] = true
}

// Hub returns the hub, which works from Start to Stop.
func (q *Queue) Hub() *Hub { return q.hub }

// Stopping returns a channel that is closed when Stop is called.
func (q *Queue) Stopping() <-chan struct{} { return q.stopping }

// Start begins to run jobs, first those that a dead process left behind. It
// returns at once; the context bounds only the start.
func (q *Queue) Start(ctx context.Context) error {
	if q.started {
		return errors.New("the queue was already started")
	}
	q.started = true
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	q.cancel = cancel
	q.background(background, q.locks.keep)
	q.unlisten = q.hub.listen(q.db.Listener())
	q.background(background, q.watchCancels)
	q.background(background, q.resumeLoop)
	if err := q.river.Start(background); err != nil {
		cancel()
		q.unlisten()
		q.tasks.Wait()
		return db.Problem(fmt.Errorf("starting the queue: %w", err))
	}
	q.background(background, q.fetchLoop)
	return nil
}

// background runs fn until the queue stops; Stop waits for it.
func (q *Queue) background(ctx context.Context, fn func(context.Context)) {
	q.tasks.Go(func() { fn(ctx) })
}

// Stop accepts no new work, lets running jobs reach a safe point, and leaves
// them to be resumed by the next start or by another instance. It returns after
// StopLimit or at the end of the context at the latest.
func (q *Queue) Stop(ctx context.Context) error {
	q.stopOnce.Do(func() { close(q.stopping) })
	if !q.started {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, q.cfg.StopLimit)
	defer cancel()
	// A job that does not reach a safe point in time ends with the process.
	// That must not count as a crash.
	q.releaseJobs(ctx, "true")
	err := q.river.Stop(ctx)
	if err != nil {
		// Runs that are still active lose their locks, so that the next start
		// takes their jobs over.
		hurry, done := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer done()
		q.locks.close()
		_ = q.river.StopAndCancel(hurry)
	}
	q.cancel()
	q.unlisten()
	q.tasks.Wait()
	if err != nil {
		return fmt.Errorf("stopping the queue: a job did not reach a safe point: %w", err)
	}
	return nil
}
