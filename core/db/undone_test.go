package db_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hostler/hostler/core/db"
)

// Only the server's refusal of the commit itself is certain; a session that it ends may have committed before.
func TestUndone(t *testing.T) {
	t.Parallel()
	for severity, want := range map[string]bool{"ERROR": true, "FATAL": false, "PANIC": false} {
		if got := db.Undone(&pgconn.PgError{SeverityUnlocalized: severity, Code: "57P01"}); got != want {
			t.Errorf("%s: %v", severity, got)
		}
	}
	if !db.Undone(pgx.ErrTxCommitRollback) || db.Undone(pgconn.ErrConnClosed) {
		t.Error("a roll-back is certain, and a closed connection is not")
	}
}
