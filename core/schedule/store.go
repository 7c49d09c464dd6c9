package schedule

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/heartbeat"
	"github.com/hostler/hostler/core/identity"
)

// Users finds the writer of a schedule.
type Users interface {
	// CallerOf is the user with the roles of this moment: problem not_found for one who is gone, forbidden for one who is
	// not active.
	CallerOf(ctx context.Context, userID int64) (*identity.Caller, error)
}

// Config is what a Store needs.
type Config struct {
	DB    *db.DB
	Users Users
	// Kinds are those that schedules may ask for.
	Kinds []Kind
	// Logger gets what users do not see. Nil logs nothing.
	Logger hclog.Logger
	// Now is the time; nil takes the database's, so that all instances have the same. For tests.
	Now func() time.Time
	// CheckInterval is how long the ticker sleeps at most, and so how late it sees what another instance wrote; 15 s when zero.
	CheckInterval time.Duration
	// Heartbeat hears of every turn of the ticker; nil hears nothing.
	Heartbeat *heartbeat.Monitor
	// PrepareLimit bounds the checks before a due job is started; 30 s when zero.
	PrepareLimit time.Duration
}

// Store keeps schedules and starts their jobs. It is safe for concurrent use,
// also by several instances on one database.
type Store struct {
	cfg   Config
	db    *db.DB
	log   hclog.Logger
	kinds map[string]Kind
	// woken tells the ticker that a schedule was written.
	woken chan struct{}
	// hook is called between Prepare and the transaction; only tests set it.
	hook func(id int64)
}

// New returns a store on a migrated database. It panics if two kinds have the
// same name.
func New(cfg Config) *Store {
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	if cfg.CheckInterval <= 0 {
		cfg.CheckInterval = 15 * time.Second
	}
	if cfg.PrepareLimit <= 0 {
		cfg.PrepareLimit = 30 * time.Second
	}
	s := &Store{cfg: cfg, db: cfg.DB, log: cfg.Logger, kinds: map[string]Kind{}, woken: make(chan struct{}, 1), hook: func(int64) {}}
	for _, kind := range cfg.Kinds {
		if _, twice := s.kinds[kind.Name]; twice || kind.Name == "" || kind.Prepare == nil {
			panic(fmt.Sprintf("the kind of schedule %q is registered twice, or has no name or no Prepare", kind.Name))
		}
		s.kinds[kind.Name] = kind
	}
	return s
}

// Kinds returns the kinds of jobs that schedules can start, by name.
func (s *Store) Kinds() []Kind {
	all := make([]Kind, 0, len(s.kinds))
	for _, kind := range s.kinds {
		all = append(all, kind)
	}
	slices.SortFunc(all, func(a, b Kind) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// List returns a page of the schedules in the order of their creation, and the
// number of all.
func (s *Store) List(ctx context.Context, offset, limit int) (schedules []*Schedule, total int, err error) {
	batch := &pgx.Batch{}
	batch.Queue("SELECT count(*) FROM schedules").QueryRow(func(row pgx.Row) error { return row.Scan(&total) })
	batch.Queue("SELECT "+columns+" FROM schedules ORDER BY id OFFSET $1 LIMIT $2", offset, limit).Query(func(rows pgx.Rows) error {
		schedules, err = db.CollectRows(rows, scan)
		return err
	})
	if err := s.db.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, 0, db.Problem(fmt.Errorf("listing schedules: %w", err))
	}
	return schedules, total, nil
}

// now returns the time by which schedules are due.
func (s *Store) now(ctx context.Context, q querier) (time.Time, error) {
	if s.cfg.Now != nil {
		return s.cfg.Now(), nil
	}
	rows, err := q.Query(ctx, "SELECT clock_timestamp()")
	if err != nil {
		return time.Time{}, db.Problem(fmt.Errorf("reading the database's time: %w", err))
	}
	now, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[time.Time])
	return now, db.Problem(err)
}

// wake makes the ticker look at once.
func (s *Store) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}
