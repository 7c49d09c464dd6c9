package dbtest

import (
	"context"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db"
)

// patience bounds one statement of a test: it is for what hangs.
const patience = 2 * time.Minute

// Exec runs statements, several only without arguments. One that fails ends the test.
func Exec(t testing.TB, d *db.DB, sql string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	if _, err := d.Pool.Exec(ctx, sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// Value is the one value of a query's one row. A query that fails or has no row ends the test.
func Value[T any](t testing.TB, d *db.DB, sql string, args ...any) (v T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	if err := d.Pool.QueryRow(ctx, sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// SQL is Exec and Value on one database, for fixtures to embed.
type SQL struct {
	t testing.TB
	d *db.DB
}

// On is for statements on the database.
func On(t testing.TB, d *db.DB) SQL { return SQL{t, d} }

// Exec is the function of the same name.
func (s SQL) Exec(sql string, args ...any) {
	s.t.Helper()
	Exec(s.t, s.d, sql, args...)
}

// Value is the value of an expression or a query as PostgreSQL writes it, and "null" for NULL or no row.
func (s SQL) Value(sql string, args ...any) string {
	s.t.Helper()
	return Value[string](s.t, s.d, "SELECT coalesce(("+sql+")::text, 'null')", args...)
}
