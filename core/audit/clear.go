package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
)

// ClearPhrase is the phrase that confirms Clear.
const ClearPhrase = "clear audit log"

// Clear deletes the rows older than before, or all for nil, and returns their
// number. confirm must be ClearPhrase. The deleted rows leave an anchor, so
// that the rest can still be verified; rows without a place leave none. With
// before, rows that somebody has altered stay, so that no anchor hides them,
// and the audit log records their number. The row of the attempt is written after
// the deletion in the same transaction, and so stays. A time in the future is
// refused.
//
// Clearing all rows is also the way out of a broken chain: later rows can be
// verified again.
func (c *Chain) Clear(ctx context.Context, before *time.Time, confirm string) (deleted int64, err error) {
	if before != nil && before.After(time.Now()) {
		return 0, problem.InvalidField("must not be in the future", "in_future", "body", "before")
	}
	err = plan.Begin(ctx).Finish(ctx, plan.Confirmation{
		Code: problem.CodeConfirmRequired, Phrase: ClearPhrase, Given: confirm == ClearPhrase,
		Why: "clearing the audit log cannot be undone: type the phrase to confirm",
	}, func(ctx context.Context, p *plan.Plan) error { return c.tell(ctx, before, p) })
	if err != nil {
		return 0, err
	}
	err = c.db.Tx(ctx, func(tx *db.Tx) error {
		var err error
		altered := int64(0)
		if before == nil {
			deleted, err = c.removeAll(ctx, tx)
		} else {
			deleted, altered, err = c.remove(ctx, tx, "a.at < $1 AND a.id <> ALL($2)", *before)
		}
		if err != nil {
			return fmt.Errorf("clearing the audit log: %w", err)
		}
		Describe(ctx, func(e *Entry) {
			e.TargetKind = "audit"
			e.Detail("deleted", deleted)
			if before == nil {
				e.Detail("everything", true)
			} else {
				e.Detail("before", before.UTC().Format(time.RFC3339Nano))
			}
			if altered > 0 {
				e.Detail("altered_kept", altered)
			}
		})
		return Write(ctx, tx)
	})
	return deleted, err
}

// tell writes into the plan what will be deleted. It does not contain the
// number of rows, because each request for the plan adds one.
func (c *Chain) tell(ctx context.Context, before *time.Time, p *plan.Plan) error {
	var oldest *time.Time
	err := c.db.Pool.QueryRow(ctx, "SELECT min(at) FROM audit WHERE $1::timestamptz IS NULL OR at < $1", before).Scan(&oldest)
	if err != nil {
		return db.Problem(fmt.Errorf("planning to clear the audit log: %w", err))
	}
	switch {
	case oldest == nil:
		p.Warn("There are no such entries.")
	case before == nil:
		p.AddSince(plan.KindData, "", *oldest, "All entries of the audit log are deleted.")
	default:
		p.AddSince(plan.KindData, "", *oldest, "The entries of the audit log before %s are deleted.", before.UTC().Format(time.RFC3339))
	}
	return nil
}

// pruneBatch is the number of rows that one transaction of Prune deletes.
const pruneBatch = 20_000

// Prune deletes the rows older than before like Clear, for the retention, as
// the system, in transactions of at most 20,000 rows. Each transaction that
// deletes rows writes a row audit.prune. It can be interrupted at any point;
// the next call continues. It returns the number of deleted rows.
func (c *Chain) Prune(ctx context.Context, before time.Time) (int64, error) {
	if before.After(time.Now()) {
		return 0, errors.New("pruning the audit log: the time is in the future")
	}
	total := int64(0)
	for {
		n, err := c.pruneOnce(ctx, before)
		total += n
		if err != nil || n < pruneBatch {
			return total, err
		}
	}
}

// pruneOnce removes one batch of rows older than before.
func (c *Chain) pruneOnce(ctx context.Context, before time.Time) (n int64, err error) {
	err = c.db.Tx(ctx, func(tx *db.Tx) error {
		var err error
		altered := int64(0)
		n, altered, err = c.remove(ctx, tx, "a.id IN (SELECT id FROM audit WHERE at < $1 AND id <> ALL($3) ORDER BY at, id LIMIT $2)", before,
			pruneBatch)
		if err != nil {
			return fmt.Errorf("pruning the audit log: %w", err)
		}
		if n == 0 {
			return nil
		}
		entry := Entry{
			ActorType: ActorSystem, Action: "audit.prune", TargetKind: "audit", Result: ResultOK,
			Details: map[string]any{"before": before.UTC().Format(time.RFC3339Nano), "deleted": n},
		}
		if altered > 0 {
			entry.Detail("altered_kept", altered)
		}
		return WriteEntry(tx, entry)
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// removal deletes rows and their places, and leaves an anchor without mac for
// every range of places. PostgreSQL does this alone, on disk if memory is too
// small, and returns the deleted rows. %[1]s is the condition on a, %[2]s are
// the columns.
const removal = `WITH gone AS (DELETE FROM audit a WHERE %[1]s RETURNING %[2]s),
	pending AS (DELETE FROM audit_pending p USING gone WHERE p.audit_id = gone.id),
	blanked AS (DELETE FROM audit_blanked b USING gone WHERE b.audit_id = gone.id RETURNING b.audit_id, b.mac),
	links AS (DELETE FROM audit_links l USING gone WHERE l.audit_id = gone.id RETURNING l.seq, l.audit_id, l.previous, l.hash),
	beside AS (SELECT seq, hash, lag(seq) OVER w IS DISTINCT FROM seq - 1 AS first, lead(seq) OVER w IS DISTINCT FROM seq + 1 AS last
	FROM links WINDOW w AS (ORDER BY seq)),
	bounds AS (SELECT seq, hash, last, CASE WHEN first THEN seq ELSE lag(seq) OVER (ORDER BY seq) END AS first FROM beside
	WHERE first OR last),
	runs AS (INSERT INTO audit_anchors (first, last, hash) SELECT first, seq, hash FROM bounds WHERE last)
	SELECT l.seq, l.previous, l.hash, b.mac, gone.* FROM gone LEFT JOIN links l ON l.audit_id = gone.id
	LEFT JOIN blanked b ON b.audit_id = gone.id`

// maxAltered is how many altered rows a deletion skips; with more of them only
// clearing everything helps.
const maxAltered = 10_000

// errAltered undoes a deletion that met rows which must stay.
var errAltered = errors.New("entries of the audit log were altered")

// remove deletes the rows that meet a condition, and returns their number. Rows
// that do not match their place stay, and altered counts them: otherwise
// somebody could make a row old enough to be deleted, and get a genuine anchor
// for it. The last parameter of the condition is the list of ids that it must
// leave out.
func (c *Chain) remove(ctx context.Context, tx *db.Tx, condition string, args ...any) (n, altered int64, err error) {
	if err := lockAnchors(ctx, tx); err != nil {
		return 0, 0, err
	}
	_, hash, err := c.head(ctx, tx)
	if err != nil {
		return 0, 0, err
	}
	keyed := hash != nil
	if !keyed { // without a key nothing had a place
		if hash, err = nobody(); err != nil {
			return 0, 0, err
		}
	}
	keep := []int64{}
	for again := true; again; {
		err := pgx.BeginFunc(ctx, tx.Pgx, func(try pgx.Tx) error {
			rows, err := try.Query(ctx, fmt.Sprintf(removal, condition, hashed), append([]any{binaryResults}, append(args, keep)...)...)
			if err != nil {
				return fmt.Errorf("removing rows: %w", err)
			}
			before := len(keep)
			if n, keep, err = checkGone(rows, hash, keep); err == nil && len(keep) > before {
				err = errAltered
			}
			return err
		})
		again = errors.Is(err, errAltered)
		switch {
		case err != nil && !again:
			return 0, 0, err
		case len(keep) > maxAltered:
			return 0, 0, fmt.Errorf("more than %d %w: verify the audit log, and clear all of it to start over", maxAltered, errAltered)
		}
	}
	if !keyed {
		return n, int64(len(keep)), nil
	}
	return n, int64(len(keep)), signAnchors(ctx, tx, hash)
}

// checkGone counts the deleted rows, and adds those to altered that do not
// match their place. A row without a place counts as unaltered.
func checkGone(rows pgx.Rows, hash *hasher, altered []int64) (n int64, _ []int64, err error) {
	defer rows.Close()
	for rows.Next() {
		if err := isBinary(rows); err != nil {
			return 0, altered, err
		}
		n++
		raw := rows.RawValues()
		if raw[0] == nil {
			continue
		}
		var previous digest
		whole := copy(previous[:], raw[1]) == len(previous) && len(raw[1]) == len(previous)
		if !whole || !hash.fits(int8(raw[0]), previous, raw[2], raw[3], raw[4:]) {
			altered = append(altered, int8(raw[4]))
		}
	}
	if err := rows.Err(); err != nil {
		return 0, altered, fmt.Errorf("removing rows: %w", err)
	}
	return n, altered, nil
}

// lockAnchors locks the chain's end and the anchors. An anchor without a mac is
// this transaction's own from here on.
func lockAnchors(ctx context.Context, tx *db.Tx) error {
	if err := lockChain(ctx, tx); err != nil {
		return err
	}
	if _, err := tx.Pgx.Exec(ctx, "LOCK TABLE audit_anchors IN SHARE ROW EXCLUSIVE MODE"); err != nil {
		return fmt.Errorf("locking the anchors: %w", err)
	}
	if _, err := tx.Pgx.Exec(ctx, "DELETE FROM audit_anchors WHERE mac IS NULL"); err != nil {
		return fmt.Errorf("removing anchors without a proof: %w", err)
	}
	return nil
}

// removeAll deletes everything that is committed, also places without a row,
// and leaves one anchor.
func (c *Chain) removeAll(ctx context.Context, tx *db.Tx) (n int64, err error) {
	if err := lockAnchors(ctx, tx); err != nil {
		return 0, err
	}
	end, hash, err := c.end(ctx, tx)
	if err != nil {
		return 0, err
	}
	// One statement sees one moment: a row that is committed later stays, and
	// stays pending.
	err = tx.Pgx.QueryRow(ctx, `WITH gone AS (DELETE FROM audit RETURNING id), pending AS (DELETE FROM audit_pending),
		blanked AS (DELETE FROM audit_blanked), links AS (DELETE FROM audit_links), anchors AS (DELETE FROM audit_anchors)
		SELECT count(*) FROM gone`).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("removing all rows: %w", err)
	}
	if end.seq == 0 {
		return n, nil
	}
	mac := hash.anchor(1, end.seq, end.hash)
	if _, err := tx.Pgx.Exec(ctx, "INSERT INTO audit_anchors (first, last, hash, mac) VALUES (1, $1, $2, $3)", end.seq, end.hash[:],
		mac[:]); err != nil {
		return 0, fmt.Errorf("writing an anchor: %w", err)
	}
	return n, c.save(ctx, tx, hash, end)
}
