package dbtest

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// Statements counts the statements of a database that Counting opened. It does
// not count COPY.
type Statements struct{ n atomic.Int64 }

// Count returns how many statements were sent while f ran, by all goroutines.
func (s *Statements) Count(f func()) int64 {
	before := s.n.Load()
	f()
	return s.n.Load() - before
}

// TraceQueryStart implements pgx.QueryTracer.
func (s *Statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	s.n.Add(1)
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (s *Statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// Counting opens the database at a URL and counts its statements. The database
// is closed after the test.
func Counting(t testing.TB, databaseURL string) (*db.DB, *Statements) {
	t.Helper()
	s := &Statements{}
	d, err := db.Open(t.Context(), db.Config{URL: databaseURL, Logger: hclog.NewNullLogger(), Tracer: s})
	if err != nil {
		t.Fatalf("opening the test database: %v", err)
	}
	t.Cleanup(d.Close)
	return d, s
}
