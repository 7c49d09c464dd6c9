// Package dbtest gives every test a fresh, migrated database of its own on a real PostgreSQL.
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

// New gives a migrated, empty database that is dropped after the test. Tests may run in parallel.
func New(t testing.TB) *db.DB {
	t.Helper()
	return Open(t, URL(t))
}

// Open opens a database and closes it after the test: a second instance on the database of URL.
func Open(t testing.TB, databaseURL string) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), db.Config{URL: databaseURL, Logger: hclog.NewNullLogger()})
	if err != nil {
		t.Fatalf("opening the test database: %v", err)
	}
	t.Cleanup(d.Close)
	return d
}

// URL makes a migrated, empty database and returns its address. It is dropped after the test.
func URL(t testing.TB) string {
	t.Helper()
	name, err := template()
	if err != nil {
		t.Fatalf("making the template database: %v", err)
	}
	return create(t, "TEMPLATE "+name)
}

// EmptyURL is like URL, without any table.
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

// administration makes and drops databases.
type administration struct {
	pool *pgxpool.Pool
	// strategy ends CREATE DATABASE: what is copied as files needs no write-ahead log. Before 15, PostgreSQL knows no other way and not the
	// word.
	strategy string
}

// administrator lives as long as the process: a new connection for each database would be a fifth of all.
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

// template is the name of a migrated database that others are cloned from. The server of the tests has it already, unless there
// is no cache folder; one from outside gets it once per schema.
var template = sync.OnceValues(func() (string, error) {
	server, err := Server()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return makeTemplate(ctx, server)
})

// makeTemplate makes the template where it is not there yet.
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

// digest stands for the schema: for our migrations and those of the queue.
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
