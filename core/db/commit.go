package db

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// commit commits, and finds out what became of a commit that was not answered. Once it is sent, PostgreSQL makes it or not
// whether we listen or not: the end of ctx would only lose the answer.
func (d *DB) commit(ctx context.Context, conn *pgx.Conn, tx pgx.Tx) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	change, err := assigned(ctx, conn)
	if err != nil {
		return err
	}
	sealed, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.commitLimit)
	defer cancel()
	err = tx.Commit(sealed)
	if err == nil || change == "" || undone(err) {
		return err
	}
	open := &unsettled{db: d, change: change, timeline: d.timeline.known(), cause: err}
	settling, stop := context.WithTimeout(context.WithoutCancel(ctx), d.settleLimit)
	defer stop()
	committed, known := open.settle(settling)
	switch {
	case !known:
		return open
	case committed:
		return nil
	}
	return fmt.Errorf("the transaction was undone: %w", err)
}

// assigned is the number by which PostgreSQL knows the transaction afterwards; empty for one that has changed nothing.
func assigned(ctx context.Context, conn *pgx.Conn) (string, error) {
	if conn.PgConn().TxStatus() != 'T' { // it has failed, and its commit says so
		return "", nil
	}
	var number *string
	if err := conn.QueryRow(ctx, "SELECT pg_current_xact_id_if_assigned()::text").Scan(&number); err != nil {
		return "", fmt.Errorf("reading the transaction's ID: %w", err)
	}
	if number == nil {
		return "", nil
	}
	return *number, nil
}

// undone reports whether the error of a commit says by itself that nothing was committed: the server refused it. What ends the
// whole session (FATAL, PANIC) may have come after the commit, and pgconn.SafeToRetry is no proof: pgx says so of a connection
// that it has closed while it waited for the answer.
func undone(err error) bool {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.SeverityUnlocalized == "ERROR"
	}
	return errors.Is(err, pgx.ErrTxCommitRollback)
}
