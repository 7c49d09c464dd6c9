// Package dbtest gives every test its own migrated database on a real
// PostgreSQL server.
//
//	d := dbtest.New(t)                        // an empty, migrated database
//	dbtest.Exec(t, d, "INSERT INTO ...")      // fails the test on errors
//	n := dbtest.Value[int64](t, d, "SELECT count(*) FROM ...")
//
// The first test of a process starts a server (Server). Databases are cloned
// from a migrated template, which takes milliseconds, and are dropped after the
// test; tests may run in parallel. The data directory with the template is
// cached in the user's cache folder, by PostgreSQL version and schema.
//
// Tests that kill, freeze or fill a server use their own one (NewServer).
package dbtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"sync"
	"testing"
	"time"

	"crypto/rand"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/migrations"
)

// New returns a migrated, empty database, which is closed and dropped after the
// test.
func New(t testing.TB) *db.DB {
	t.Helper()
	return Open(t, URL(t))
}

// Open opens the database at a URL and closes it after the test. Several calls
// with one URL act like several instances of the service.
func Open(t testing.TB, databaseURL string) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), db.Config{URL: databaseURL, Logger: hclog.NewNullLogger()})
	if err != nil {
		t.Fatalf("opening the test database: %v", err)
	}
	t.Cleanup(d.Close)
	return d
}

// URL creates a migrated, empty database and returns its URL. It is dropped
// after the test, even if connections to it are still open.
func URL(t testing.TB) string {
	t.Helper()
	name, err := template()
	if err != nil {
		t.Fatalf("making the template database: %v", err)
	}
	return create(t, "TEMPLATE "+name)
}

// EmptyURL is like URL, but the database has no tables.
func EmptyURL(t testing.TB) string {
	t.Helper()
	return create(t, "")
}

func create(t testing.TB, clause string) string {
	t.Helper()
	server, err := Server()
	if err != nil {
		t.Fatalf("starting PostgreSQL: %v", err)
	}
	admin, err := administrator()
	if err != nil {
		t.Fatalf("connecting to PostgreSQL: %v", err)
	}
	name := "test_" + randomName()
	if _, err := admin.pool.Exec(t.Context(), fmt.Sprintf("CREATE DATABASE %s %s%s", name, clause, admin.strategy)); err != nil {
		t.Fatalf("making the test database: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if _, err := admin.pool.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Logf("dropping the test database: %v", err)
		}
	})
	return withDatabase(server, name)
}

// administration creates and drops databases.
type administration struct {
	pool *pgxpool.Pool
	// strategy is the end of CREATE DATABASE. Copying files is faster than
	// writing the copy to the write-ahead log. PostgreSQL before 15 always
	// copies files and does not know the option.
	strategy string
}

// administrator connects once per process: a new connection for each database
// would take a fifth of the time.
var administrator = sync.OnceValues(func() (a administration, err error) {
	server, err := Server()
	if err != nil {
		return a, err
	}
	config, err := pgxpool.ParseConfig(server)
	if err != nil {
		return a, err
	}
	config.MaxConns = 2
	if a.pool, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		return a, err
	}
	err = a.pool.QueryRow(context.Background(),
		"SELECT CASE WHEN current_setting('server_version_num')::int >= 150000 THEN ' STRATEGY file_copy' ELSE '' END").Scan(&a.strategy)
	return a, err
})

// template returns the name of the migrated database from which others are
// cloned. A server of this package has it from the cache; an existing server
// gets it once per schema.
var template = sync.OnceValues(func() (string, error) {
	server, err := Server()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return makeTemplate(ctx, server)
})

// makeTemplate creates the template if it does not exist. It migrates a draft
// and renames it at the end, so that a process that dies in between leaves no
// half-migrated template. An advisory lock serializes the test processes that
// share a server.
func makeTemplate(ctx context.Context, server string) (string, error) {
	sum, err := digest()
	if err != nil {
		return "", err
	}
	name := "template_" + sum
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return "", fmt.Errorf("connecting: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	// Other test processes may share the server.
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", db.LockMigrate); err != nil {
		return "", fmt.Errorf("waiting for the template: %w", err)
	}
	var there bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&there); err != nil {
		return "", fmt.Errorf("looking for the template: %w", err)
	}
	if there {
		return name, nil
	}
	draft := name + "_" + randomName()
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+draft); err != nil {
		return "", fmt.Errorf("creating the template: %w", err)
	}
	d, err := db.Open(ctx, db.Config{URL: withDatabase(server, draft), Logger: hclog.NewNullLogger()})
	if err != nil {
		return "", err
	}
	err = d.Migrate(ctx)
	d.Close()
	if err != nil {
		return "", err
	}
	if _, err := conn.Exec(ctx, fmt.Sprintf("ALTER DATABASE %s RENAME TO %s", draft, name)); err != nil {
		return "", fmt.Errorf("naming the template: %w", err)
	}
	return name, nil
}

// digest identifies the schema: the migrations of the service and those of the
// job queue.
func digest() (string, error) {
	h := sha256.New()
	queue, err := rivermigrate.New(riverpgxv5.New(nil), nil)
	if err != nil {
		return "", fmt.Errorf("reading the queue's migrations: %w", err)
	}
	for _, m := range queue.AllVersions() {
		_, _ = fmt.Fprintln(h, m.Version, m.Name, m.SQLUp)
	}
	files, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		return "", err
	}
	for _, f := range files {
		text, err := migrations.FS.ReadFile(f)
		if err != nil {
			return "", err
		}
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

func withDatabase(server, name string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	u.Path = "/" + name
	return u.String()
}

func randomName() string { return hex.EncodeToString([]byte(rand.Text()))[:20] }
