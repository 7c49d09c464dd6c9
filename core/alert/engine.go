package alert

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/heartbeat"
	"github.com/hostler/hostler/core/setting"
)

// These are the times of the engine.
const (
	// defaultEvery is the time between two cycles, and seldomEvery between two
	// looks at what changes slowly.
	defaultEvery = 30 * time.Second
	seldomEvery  = 10 * time.Minute
	// settle is for how long after the end of a greater matter what follows
	// from it is still folded under it: guests start again.
	settle = 10 * time.Minute
	// maxWait is for how long at most something waits for a greater matter that
	// is a breach already to be raised before it.
	maxWait = 10 * time.Minute
	// keep is how long alerts that are resolved are kept, and maxPrune how many
	// are removed at a time.
	keep     = 365 * 24 * time.Hour
	maxPrune = 10_000
)

// Config is what an Engine needs.
type Config struct {
	DB *db.DB
	// Update gives the release of the service that can be installed, and "" for
	// none; nil knows of none.
	Update func(context.Context) (string, error)
	// Now is the time; nil takes the database's, so that all instances have the same. For tests.
	Now func() time.Time
	// Every is the time between two cycles; 30 s when zero.
	Every time.Duration
	// KeepPlans has the database plan each statement once, which suits a fleet
	// that keeps its size. For tests, which play hours.
	KeepPlans bool
	Logger    hclog.Logger
	// Heartbeat hears of every turn of the loop; nil hears nothing.
	Heartbeat *heartbeat.Monitor
}

// Engine evaluates rules. It is safe for concurrent use, also by several
// instances on one database.
type Engine struct {
	Config
	log hclog.Logger
}

// NewEngine returns an engine on a migrated database; Run starts its loop.
func NewEngine(c Config) *Engine {
	if c.Every <= 0 {
		c.Every = defaultEvery
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	return &Engine{Config: c, log: c.Logger}
}

// Run evaluates the rules until the context ends.
func (e *Engine) Run(ctx context.Context) {
	// Instances look more often than there are cycles, so that no cycle is lost
	// when one instance ends.
	look := e.Every / 3
	e.Heartbeat.Beat(0)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if _, err := e.Cycle(ctx); err != nil && ctx.Err() == nil {
			e.log.Warn("alert rules could not be evaluated", "error", err)
		}
		e.Heartbeat.Beat(look)
		timer.Reset(look)
	}
}

// Cycle evaluates all rules if a cycle is due and no other instance is
// evaluating, and reports whether it did. All changes are made in one
// transaction.
func (e *Engine) Cycle(ctx context.Context) (done bool, err error) {
	due, seldom, err := e.due(ctx, e.DB.Pool, "")
	if err != nil || !due {
		return false, err
	}
	c := &cycle{engine: e}
	interval, err := setting.Get(ctx, e.DB, setting.PollInterval)
	if err != nil {
		return false, err
	}
	c.fresh = time.Duration(3*interval)*time.Second + 30*time.Second
	if c.backupDays, err = setting.Get(ctx, e.DB, setting.BackupMaxAge); err != nil {
		return false, err
	}
	if seldom && e.Update != nil {
		if c.update, err = e.Update(ctx); err != nil {
			e.log.Warn("could not check for a newer release", "error", err)
			c.updateUnknown = true
		}
	}
	err = e.DB.Tx(ctx, func(tx *db.Tx) error {
		c.begin(tx.Pgx)
		var err error
		if done, c.seldom, err = e.due(ctx, tx.Pgx, " FOR UPDATE SKIP LOCKED", c); err != nil || !done {
			return err
		}
		// A rare check that is due only since a moment waits for the next
		// cycle.
		c.seldom = c.seldom && seldom
		return c.run(ctx)
	})
	return done && err == nil, err
}

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// due reports whether a cycle is due, and whether the rare checks are. It tells
// the cycle the time and how long ago the last one was. A clock that was set
// back makes one due at once.
func (e *Engine) due(ctx context.Context, q querier, lock string, into ...*cycle) (due, seldom bool, err error) {
	var now time.Time
	var last, rare *time.Time
	err = q.QueryRow(ctx, `SELECT clock_timestamp(), last_at, seldom_at FROM alert_cycle`+lock).Scan(&now, &last, &rare)
	if errors.Is(err, pgx.ErrNoRows) { // another instance is at it
		return false, false, nil
	}
	if err != nil {
		return false, false, db.Problem(fmt.Errorf("reading the time of the last cycle: %w", err))
	}
	if e.Now != nil {
		now = e.Now()
	}
	// Timers are not exact: a cycle that is a little early must not wait for a
	// whole look.
	passed := func(since *time.Time, every time.Duration) bool {
		return since == nil || now.Before(*since) || now.Sub(*since) >= every-min(every/10, 5*time.Second)
	}
	for _, c := range into {
		c.now = now
		c.elapsed, c.elapsedSeldom = between(last, now, e.Every), between(rare, now, seldomEvery)
	}
	return passed(last, e.Every), passed(rare, seldomEvery), nil
}

// between returns how much of the time since the last look counts. Nobody knows
// what happened in more than three times the usual time, nor in a time that
// goes backwards.
func between(last *time.Time, now time.Time, every time.Duration) float64 {
	if last == nil {
		return 0
	}
	return max(0, min(now.Sub(*last), 3*every)).Seconds()
}
