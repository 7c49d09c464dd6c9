// Package db opens the database and runs transactions on it.
//
// There is one database, PostgreSQL, and one pool of pgx connections. gorm
// works on that same pool through database/sql, so that one transaction can
// hold rows written by gorm, a job enqueued by River and a COPY: see Tx.
package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

// DB is the database. It is safe for use by many goroutines. Close it when all users have stopped.
type DB struct {
	// Pool is for COPY, LISTEN, advisory locks and everything else that wants pgx itself.
	Pool *pgxpool.Pool
	// SQL is the same pool for libraries that want database/sql.
	SQL  *sql.DB
	gorm *gorm.DB

	listener *Listener
	timeline timeline

	commitLimit, settleLimit time.Duration
}

// Config says how to open the database.
type Config struct {
	// URL is a PostgreSQL connection string.
	URL string
	// MaxConns bounds the pool; zero means 16.
	MaxConns int32
	Logger   hclog.Logger
	// Tracer hears of every statement but COPY; nil for none.
	Tracer pgx.QueryTracer
	// CommitLimit is how long a commit may take, whoever has stopped waiting
	// for it: one that waits for a standby, or for a disk. 20 s when zero.
	CommitLimit time.Duration
	// SettleLimit is how long DB.Tx asks for the outcome of a commit whose
	// connection broke; 5 s when zero.
	SettleLimit time.Duration
}

// Defaults of the limits for commits.
const (
	defaultCommitLimit = 20 * time.Second
	defaultSettleLimit = 5 * time.Second
)

// Open connects and checks that the database answers. It does not migrate.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	poolConfig, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		// The library's message may repeat the string with its password.
		return nil, errors.New("reading the database URL: it is not a PostgreSQL connection string")
	}
	poolConfig.MaxConns = cfg.MaxConns
	if poolConfig.MaxConns == 0 {
		poolConfig.MaxConns = 16
	}
	poolConfig.MaxConnIdleTime = 5 * time.Minute
	poolConfig.ConnConfig.RuntimeParams["timezone"] = "UTC"
	if poolConfig.ConnConfig.RuntimeParams["application_name"] == "" {
		poolConfig.ConnConfig.RuntimeParams["application_name"] = "hostlerd"
	}
	if poolConfig.ConnConfig.ConnectTimeout == 0 {
		poolConfig.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	poolConfig.ConnConfig.Tracer = cfg.Tracer
	poolConfig.ConnConfig.DialFunc = dialer(poolConfig.ConnConfig.ConnectTimeout)
	pool, err := pgxpool.NewWithConfig(ctx, poolConfig)
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	sqlDB := stdlib.OpenDBFromPool(pool)
	// The pool keeps idle connections; database/sql must not keep them a second time.
	sqlDB.SetMaxIdleConns(0)
	g, err := gorm.Open(postgres.New(postgres.Config{Conn: sqlDB}), &gorm.Config{
		Logger:                 &gormLogger{log: cfg.Logger},
		SkipDefaultTransaction: true,
		DisableAutomaticPing:   true,
		TranslateError:         false,
		NowFunc:                func() time.Time { return time.Now().UTC() },
	})
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("opening gorm: %w", err)
	}
	d := &DB{Pool: pool, SQL: sqlDB, gorm: g, listener: newListener(poolConfig.ConnConfig, cfg.Logger),
		commitLimit: cmp.Or(cfg.CommitLimit, defaultCommitLimit), settleLimit: cmp.Or(cfg.SettleLimit, defaultSettleLimit)}
	d.timeline.note(readTimeline(ctx, pool))
	return d, nil
}

// Listener is the process's one subscriber for notifications. It ends with Close.
func (d *DB) Listener() *Listener { return d.listener }

// Close waits for connections in use and closes all.
func (d *DB) Close() {
	d.listener.close()
	_ = d.SQL.Close()
	d.Pool.Close()
}

// Gorm is gorm for reading, or for a single statement that needs no transaction.
func (d *DB) Gorm(ctx context.Context) *gorm.DB { return d.gorm.WithContext(ctx) }

// IsDuplicate reports whether err is a violation of the named unique constraint
// or index; an empty name means any.
func IsDuplicate(err error, constraint string) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "23505" && (constraint == "" || refused.ConstraintName == constraint)
}
