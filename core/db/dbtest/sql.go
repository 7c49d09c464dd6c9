package dbtest

import (
	"context"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db"
)

// patience bounds one statement of a test, so that a hanging one fails.
const patience = 2 * time.Minute

// Exec runs a statement, or without arguments several ones. An error ends the
// test. It works in cleanup functions, too, because it ignores the end of the
// test's context.
func Exec(t testing.TB, d *db.DB, sql string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	if _, err := d.Pool.Exec(ctx, sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// Value returns the only value of a query's first row. An error, or a query
// without rows, ends the test.
func Value[T any](t testing.TB, d *db.DB, sql string, args ...any) (v T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	if err := d.Pool.QueryRow(ctx, sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// SQL has Exec and Value for one database. Fixtures embed it.
type SQL struct {
	t testing.TB
	d *db.DB
}

// On returns the statements for a database.
func On(t testing.TB, d *db.DB) SQL { return SQL{t, d} }

// Exec is the function Exec on this database.
func (s SQL) Exec(sql string, args ...any) {
	s.t.Helper()
	Exec(s.t, s.d, sql, args...)
}

// Value returns the value of an expression or a query as PostgreSQL writes it
// as text; "null" for NULL and for no row.
func (s SQL) Value(sql string, args ...any) string {
	s.t.Helper()
	return Value[string](s.t, s.d, "SELECT coalesce(("+sql+")::text, 'null')", args...)
}
