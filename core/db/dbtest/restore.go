package dbtest

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Restore creates a database from a dump in plain SQL and returns its URL. The
// dump must not contain commands of psql, such as \connect or COPY data. The
// database is dropped after the test.
func Restore(t testing.TB, dump string) string {
	t.Helper()
	text, err := os.ReadFile(dump)
	if err != nil {
		t.Fatal(err)
	}
	address := EmptyURL(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.PgConn().Exec(ctx, string(text)).ReadAll(); err != nil {
		t.Fatalf("restoring %s: %v", dump, err)
	}
	return address
}
