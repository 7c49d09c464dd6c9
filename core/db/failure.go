package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"github.com/hostler/hostler/core/problem"
)

// SQLSTATEs of a server that works and yet cannot take the statement (PostgreSQL's manual, appendix A). They are nobody's
// mistake, and pass when somebody mends the server.
const (
	stateDiskFull = "53100"
	stateMemory   = "53200"
	stateReadOnly = "25006"
	stateIO       = "58030"
)

// Problem turns an error of a database that does not do its work into the problem that callers are told; other errors stay. Codes:
// database_unavailable, with the member reason where the server says one (memory, read_only, io); database_full;
// outcome_unknown for what UnsettledOutcome finds.
func Problem(err error) error {
	if err == nil {
		return nil
	}
	var known *problem.Error
	if errors.As(err, &known) && known.Code != problem.CodeInternal {
		return err
	}
	if UnsettledOutcome(err) != nil {
		return problem.New(problem.CodeOutcomeUnknown,
			"the connection to the database was lost while the change was being stored, and it is unknown whether it was stored: look "+
				"for this answer's request_id in the audit log before you repeat the request, or send the same request with the same "+
				"Idempotency-Key").WithCause(err)
	}
	if !Unavailable(err) {
		return err
	}
	switch state(err) {
	case stateDiskFull:
		return problem.New(problem.CodeDatabaseFull,
			"the database's disk is full: nothing can be changed until it has space again; reading works").WithCause(err)
	case stateMemory:
		return problem.New(problem.CodeDatabaseUnavailable, "the database is out of memory; try again in a moment").With("reason",
			"memory").WithCause(err)
	case stateReadOnly:
		return problem.New(problem.CodeDatabaseUnavailable, "the database is read-only and accepts no changes at the "+
			"moment").With("reason",
			"read_only").WithCause(err)
	case stateIO:
		return problem.New(problem.CodeDatabaseUnavailable, "the database's disk is failing; see the database server's "+
			"log").With("reason", "io").WithCause(err)
	}
	return problem.New(problem.CodeDatabaseUnavailable, "the database does not answer; try again in a moment").WithCause(err)
}

// Unavailable reports whether err means that the database cannot be reached, or cannot do its work now, rather than that a statement
// was wrong.
func Unavailable(err error) bool {
	var connect *pgconn.ConnectError
	var lost *broken
	if errors.As(err, &connect) || errors.As(err, &lost) {
		return true
	}
	if code := state(err); code != "" {
		switch code {
		// Shutting down, crashed, starting up, the database is dropped, idle for too long; too many connections.
		case "57P01", "57P02", "57P03", "57P04", "57P05", "25P03", "53300":
			return true
		case stateDiskFull, stateMemory, stateReadOnly, stateIO:
			return true
		}
		return strings.HasPrefix(code, "08") // connection exceptions
	}
	var network *net.OpError
	if errors.As(err, &network) {
		return true
	}
	return pgconn.SafeToRetry(err) || errors.Is(err, errNoConnection) || errors.Is(err, pgconn.ErrConnClosed) ||
		errors.Is(err, puddle.ErrClosedPool) ||
		errors.Is(err, sql.ErrConnDone) || errors.Is(err, driver.ErrBadConn)
}

// state is the SQLSTATE of what the server said; empty when it said nothing.
func state(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// errNoConnection: the pool had no connection within the time.
var errNoConnection = errors.New("no connection to the database became available in time")

// acquiring is the error of a pool that gave no connection. The end of the time for it means that the database is away or
// overrun; that the caller left means nothing.
func acquiring(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && !errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("taking a connection: %w: %w", errNoConnection, err)
	}
	return fmt.Errorf("taking a connection: %w", err)
}
