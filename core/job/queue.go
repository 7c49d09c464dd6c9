package job

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
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
	// besideQueue is River's queue of jobs that take no slot, and besideMost how many of them an instance runs at a time.
	besideQueue = "beside"
	besideMost  = 64
)

// Config says how a Queue works. Zero values take the defaults.
type Config struct {
	// DB is the database. Beside its pool the queue keeps a connection of its own for locks, and River keeps one of the
	// pool; a running job takes one of the pool only while it writes.
	DB *db.DB
	// Keys seal the secrets among jobs' parameters; without them such a job is an error.
	Keys secret.Keys
	// Logger gets what users do not see. Nil logs nothing.
	Logger hclog.Logger
	// Workers is how many jobs run at the same time over all instances together; 4 by default. All instances on one
	// database must have the same.
	Workers int
	// ResumeEvery is how often to look for jobs that nobody runs; 3 s by default.
	ResumeEvery time.Duration
	// Settle is how long a request that was sent by a process that died, or whose answer was lost, may take to appear in
	// the hypervisor's task list; 8 s by default.
	Settle time.Duration
	// SendLimit bounds the one request that starts a task; 60 s by default.
	SendLimit time.Duration
	// LostLimit is how long a hypervisor that answers no more is tried again before a job on it ends as unknown; 15
	// minutes by default.
	LostLimit time.Duration
	// LookAgain ends a wait for a task that has lasted so long and begins it anew, in case the call hangs inside a plugin
	// that is otherwise alive; 10 minutes by default.
	LookAgain time.Duration
	// StrangeLimit is how long a job of a kind that this release does not know is left to instances that may know it, since
	// anything last happened to it; 10 minutes by default.
	StrangeLimit time.Duration
	// StopLimit is how long Stop waits for running jobs to reach a safe point; 7 s by default.
	StopLimit time.Duration
	// MaxLines bounds the transcript of one job; 100,000 by default.
	MaxLines int
	// Unable reports whether a worker's error means that this instance cannot do the job and another may: the job is then not
	// ended but left to be taken up. It may ask the database. Nil stands for never.
	Unable func(err error) bool
	// Place is where this instance is: jobs of this Spec.Place run on instances that have it. Empty for none.
	Place string
	// GoneLimit is how long no instance of a place may be seen before its jobs are given to any other, which ends them; 15 minutes
	// by default.
	GoneLimit time.Duration
	// Heartbeat hears of every look for jobs that nobody runs; nil hears nothing.
	Heartbeat *heartbeat.Monitor
}

// Queue enqueues jobs and runs them. Make it with New, Register every kind, then Start it. Enqueue, List and the other
// reading calls also work on one that was not started.
type Queue struct {
	cfg     Config
	db      *db.DB
	log     hclog.Logger
	workers map[string]Worker
	// beside are the kinds whose jobs take no slot.
	beside map[string]bool
	river  *river.Client[pgx.Tx]
	locks  *locks
	hub    *Hub

	suspension *suspension

	// instance names this queue among all of the database, also those that were.
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
	// hook is called at named points of a run; only tests set it.
	hook func(ctx context.Context, point string, jobID int64)
}

// New makes a queue. It does not touch the database.
func New(cfg Config) (*Queue, error) {
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	setDefault(&cfg.Workers, 4)
	setDefault(&cfg.ResumeEvery, 3*time.Second)
	setDefault(&cfg.Settle, 8*time.Second)
	setDefault(&cfg.SendLimit, time.Minute)
	setDefault(&cfg.LostLimit, 15*time.Minute)
	setDefault(&cfg.LookAgain, 10*time.Minute)
	setDefault(&cfg.StrangeLimit, 10*time.Minute)
	setDefault(&cfg.GoneLimit, 15*time.Minute)
	setDefault(&cfg.StopLimit, 7*time.Second)
	setDefault(&cfg.MaxLines, 100_000)
	if cfg.Unable == nil {
		cfg.Unable = func(error) bool { return false }
	}
	q := &Queue{
		cfg: cfg, db: cfg.DB, log: cfg.Logger, workers: map[string]Worker{}, beside: map[string]bool{},
		stopping: make(chan struct{}), runs: map[int64]*Run{}, instance: rand.Text(),
		hook: func(context.Context, string, int64) {},
	}
	q.locks = newLocks(cfg.DB, cfg.Logger)
	q.hub = newHub()
	q.suspension = newSuspension()
	riverWorkers := river.NewWorkers()
	river.AddWorker(riverWorkers, &riverWorker{queue: q})
	queues := map[string]river.QueueConfig{besideQueue: {MaxWorkers: besideMost}}
	for _, place := range []string{"", cfg.Place} {
		queues[queueAt(place)] = river.QueueConfig{MaxWorkers: cfg.Workers}
	}
	var err error
	q.river, err = river.NewClient(riverpgxv5.New(cfg.DB.Pool), &river.Config{
		Queues:  queues,
		Workers: riverWorkers,
		Logger:  slog.New(&riverLog{log: cfg.Logger.Named("river")}),
		// River announces no insert that comes within the cooldown of the one before; it is found by the next poll.
		FetchCooldown:               10 * time.Millisecond,
		FetchPollInterval:           500 * time.Millisecond,
		JobTimeout:                  -1,
		CompletedJobRetentionPeriod: time.Hour,
	})
	if err != nil {
		return nil, fmt.Errorf("making the queue's client: %w", err)
	}
	return q, nil
}

func setDefault[T comparable](value *T, standard T) {
	var zero T
	if *value == zero {
		*value = standard
	}
}

// Register says which worker does the jobs of a kind. It panics when the kind has one already, and must not be called
// after Start.
func (q *Queue) Register(kind string, w Worker) {
	if q.workers[kind] != nil {
		panic(fmt.Sprintf("job kind %q is registered twice", kind))
	}
	if q.started {
		panic(fmt.Sprintf("job kind %q is registered after the start", kind))
	}
	q.workers[kind] = w
}

// RegisterBeside is Register for a kind whose jobs mostly wait for somebody: they take none of the slots that all others share, and
// keep none of them waiting.
func (q *Queue) RegisterBeside(kind string, w Worker) {
	q.Register(kind, w)
	q.beside[kind] = true
}

// Hub is what tells of new events; it works from Start to Stop.
func (q *Queue) Hub() *Hub { return q.hub }

// Stopping is closed once Stop was called.
func (q *Queue) Stopping() <-chan struct{} { return q.stopping }

// Start begins to run jobs, those first that a dead process left. It returns at once; the context only bounds the start.
func (q *Queue) Start(ctx context.Context) error {
	if q.started {
		return errors.New("the queue was started already")
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

func (q *Queue) background(ctx context.Context, fn func(context.Context)) {
	q.tasks.Go(func() { fn(ctx) })
}

// Stop takes no new work, lets running jobs come to a safe point and leaves them to be resumed by the next start or
// another instance. It returns after StopLimit, or when the context ends, at the latest.
func (q *Queue) Stop(ctx context.Context) error {
	q.stopOnce.Do(func() { close(q.stopping) })
	if !q.started {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, q.cfg.StopLimit)
	defer cancel()
	// What does not come to a safe point in time ends with the process, and not by a crash.
	q.letGo(ctx, "true")
	err := q.river.Stop(ctx)
	if err != nil {
		// Whoever is still at work loses its lock, so that the next start takes the job over.
		hurry, done := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer done()
		q.locks.close()
		_ = q.river.StopAndCancel(hurry)
	}
	q.cancel()
	q.unlisten()
	q.tasks.Wait()
	if err != nil {
		return fmt.Errorf("stopping the queue: a job did not come to a safe point: %w", err)
	}
	return nil
}
