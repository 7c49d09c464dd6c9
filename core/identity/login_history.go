package identity

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
)

// Limits of the log-in history of an account.
const (
	// loginLife is for how long a log-in stays in the history of its account,
	// and maxLogins how many do.
	loginLife = 90 * 24 * time.Hour
	maxLogins = 1000
)

// These are the methods in the history, besides FactorTOTP, FactorRecovery and
// FactorPasskey.
const (
	byPassword = "password"
	byProvider = "provider"
)

// method returns for the history how the user was proven.
func (a arrival) method() string {
	if a.provider > 0 {
		return byProvider
	}
	return cmp.Or(a.factor, byPassword)
}

// Login is one log-in to an account, or a failed attempt.
type Login struct {
	At time.Time
	// Outcome is ok, or how the audit log calls the end of a try.
	Outcome string
	// Error is the problem of a try; empty for a log-in.
	Error string
	// Method is what proved who it is; empty for a try.
	Method string
	// Address is where it came from, UserAgent the browser's own words; empty for a try.
	Address, UserAgent string
	// NewPlace says that neither the browser nor the network was known to the account.
	NewPlace bool
}

// noteLogin writes a log-in into the account's history, and deletes the oldest
// beyond maxLogins.
func noteLogin(ctx context.Context, tx *db.Tx, userID int64, method string, from Client, newPlace bool) error {
	_, err := tx.Pgx.Exec(ctx, "INSERT INTO logins (user_id, method, address, user_agent, new_place) VALUES ($1, $2, $3, $4, $5)", userID,
		method, line(from.Address), line(from.UserAgent), newPlace)
	if err == nil {
		_, err = tx.Pgx.Exec(ctx, `DELETE FROM logins WHERE user_id = $1 AND id <= (
			SELECT id FROM logins WHERE user_id = $1 ORDER BY id DESC OFFSET $2 LIMIT 1)`, userID, maxLogins)
	}
	if err != nil {
		return fmt.Errorf("recording the log-in: %w", err)
	}
	return nil
}

// history is the statement of Logins: $1 is the user's id, $2 the same as text,
// $3 how far it goes back. Failed attempts come from the audit log. A row of
// their own would make the answer slower for an existing account than for an
// unknown one.
const history = `SELECT at, 'ok' AS outcome, '' AS error, method, address, user_agent, new_place FROM logins
		WHERE user_id = $1 AND at > now() - $3::interval
	UNION ALL
	SELECT at, result, error, '', address, '', false FROM audit WHERE target_kind = 'user' AND target_id = $2
		AND action IN ('auth.login', 'auth.login_provider') AND result <> 'ok' AND at > now() - $3::interval`

// Logins returns one page of the log-ins and failed attempts of the last 90
// days, the newest first, and the number of all. It does not contain attempts
// that were refused before the account was looked up, such as those over a
// limit, and those that the audit log has deleted.
func (s *Store) Logins(ctx context.Context, userID int64, offset, limit int) (all []Login, total int, err error) {
	args := []any{userID, strconv.FormatInt(userID, 10), loginLife}
	batch := &pgx.Batch{}
	batch.Queue("SELECT count(*) FROM ("+history+") h", args...).QueryRow(func(row pgx.Row) error { return row.Scan(&total) })
	batch.Queue("SELECT * FROM ("+history+") h ORDER BY at DESC, outcome OFFSET $4 LIMIT $5", append(args, offset, limit)...).
		Query(func(rows pgx.Rows) error {
			all, err = db.CollectRows(rows, pgx.RowToStructByPos[Login])
			return err
		})
	if err := s.db.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, 0, db.Problem(fmt.Errorf("listing log-ins: %w", err))
	}
	return all, total, nil
}

// describeExport names the account whose data are exported.
func describeExport(ctx context.Context, userID int64) {
	audit.Describe(ctx, func(e *audit.Entry) { e.TargetKind, e.TargetID = "user", strconv.FormatInt(userID, 10) })
}
