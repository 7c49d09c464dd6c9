package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// What can be wrong with a place of the chain.
const (
	BreakAltered   = "altered"   // the row is not what it was
	BreakRemoved   = "removed"   // the row, or its place, is gone
	BreakReordered = "reordered" // the place does not follow the one before it
	BreakInserted  = "inserted"  // the row never got a place
	BreakHead      = "head"      // the end of the chain is not what the service wrote
	BreakAnchor    = "anchor"    // the note of a clearing is not what the service wrote
)

// Break is the first fault of the audit log.
type Break struct {
	Kind string
	// Seq is the place in the chain; 0 where there is none.
	Seq int64
	// ID is that of the row; 0 where it is not known.
	ID int64
	// Text says it in words for people, without anything of the row's content.
	Text string
}

// Report is the result of Verify.
type Report struct {
	// Break is nil when everything fits.
	Break *Break
	// Verified counts the places that fit, up to the break. Cleared counts those that anchors span.
	Verified, Cleared int64
	// Unsealed counts rows without a place yet.
	Unsealed int64
	// Seq and Hash are the last place and its hash, in hexadecimal digits.
	// Noted elsewhere they prove a later audit log to be the same.
	Seq  int64
	Hash string
}

// verifyPage is the number of places that are read at a time.
const verifyPage = 1000

// Verify reads the whole chain in the state of one moment, page by page, and
// returns the first fault. An error means that the chain could not be read, not
// that it is broken.
func (c *Chain) Verify(ctx context.Context) (report Report, err error) {
	err = c.db.Tx(ctx, func(tx *db.Tx) error {
		report = Report{}
		if _, err := tx.Pgx.Exec(ctx, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"); err != nil {
			return fmt.Errorf("starting the verification: %w", err)
		}
		v := verifier{tx: tx, expected: 1, report: &report}
		var broken *Break
		err := v.run(ctx, c)
		if errors.As(err, &broken) {
			report.Break = broken
			return nil
		}
		return err
	})
	if err != nil {
		return Report{}, fmt.Errorf("verifying the audit log: %w", err)
	}
	return report, nil
}

// Error lets a Break pass through the verifier as an error.
func (b *Break) Error() string { return b.Text }

// verifier walks along the chain.
type verifier struct {
	tx   *db.Tx
	hash *hasher
	// expected is the next place, and previous the hash of the one before.
	expected int64
	previous digest
	anchors  int64
	report   *Report
}

// run compares all rows with the chain.
func (v *verifier) run(ctx context.Context, c *Chain) error {
	if err := v.tx.Pgx.QueryRow(ctx, "SELECT count(*) FROM audit_pending").Scan(&v.report.Unsealed); err != nil {
		return fmt.Errorf("counting new rows: %w", err)
	}
	end, hash, err := c.head(ctx, v.tx)
	if err != nil {
		return err
	}
	v.hash = hash
	if hash == nil {
		if v.hash, err = nobody(); err != nil { // whatever is there does not fit then
			return err
		}
	}
	v.report.Seq, v.report.Hash = end.seq, fmt.Sprintf("%x", end.hash)
	after := int64(math.MinInt64)
	for {
		n, last, err := v.page(ctx, after)
		if err != nil {
			return err
		}
		if n < verifyPage {
			break
		}
		after = last
	}
	if err := v.end(ctx, end, hash != nil); err != nil {
		return err
	}
	return v.outside(ctx)
}

// page checks the places after one, and returns their number and the last one.
func (v *verifier) page(ctx context.Context, after int64) (n int, last int64, err error) {
	rows, err := v.tx.Pgx.Query(ctx, "SELECT l.seq, l.audit_id, l.previous, l.hash, "+
		"(SELECT mac FROM audit_blanked b WHERE b.audit_id = l.audit_id), "+hashed+" FROM audit_links l "+
		rowOfEach("l")+" WHERE l.seq > $1 ORDER BY l.seq LIMIT $2", binaryResults, after, verifyPage)
	if err != nil {
		return 0, 0, fmt.Errorf("reading the chain: %w", err)
	}
	page, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) ([][]byte, error) {
		if err := isBinary(rows); err != nil {
			return nil, err
		}
		return copied(row.RawValues()), nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("reading the chain: %w", err)
	}
	for _, raw := range page {
		last = int8(raw[0])
		if err := v.place(ctx, last, int8(raw[1]), raw[2], raw[3], raw[4], raw[5:]); err != nil {
			return 0, 0, err
		}
	}
	return len(page), last, nil
}

// copied copies values: a gap makes another query while the page is being
// checked.
func copied(raw [][]byte) [][]byte {
	size := 0
	for _, value := range raw {
		size += len(value)
	}
	buffer := make([]byte, 0, size)
	all := make([][]byte, len(raw))
	for i, value := range raw {
		if value != nil {
			start := len(buffer)
			buffer = append(buffer, value...)
			all[i] = buffer[start:len(buffer):len(buffer)]
		}
	}
	return all
}

// place checks one place and its row.
func (v *verifier) place(ctx context.Context, seq, id int64, previous, hash, blanked []byte, columns [][]byte) error {
	for seq > v.expected {
		if err := v.step(ctx, seq); err != nil {
			return err
		}
	}
	switch {
	case seq < v.expected:
		return &Break{BreakAnchor, seq, id, fmt.Sprintf("row %d (id %d) exists, but is recorded as cleared", seq, id)}
	case columns[0] == nil:
		return &Break{BreakRemoved, seq, id, fmt.Sprintf("row %d (id %d) was removed", seq, id)}
	case !bytes.Equal(previous, v.previous[:]):
		return &Break{BreakReordered, seq, id, fmt.Sprintf("row %d (id %d) does not follow the previous row: their order was changed",
			seq, id)}
	}
	if len(hash) != len(v.previous) || !v.hash.fits(seq, v.previous, hash, blanked, columns) {
		return &Break{BreakAltered, seq, id, fmt.Sprintf("row %d (id %d) was altered", seq, id)}
	}
	copy(v.previous[:], hash)
	v.expected++
	v.report.Verified++
	return nil
}

// step passes deleted places. before is the next existing place.
func (v *verifier) step(ctx context.Context, before int64) error {
	a, err := anchorAt(ctx, v.tx, v.expected)
	if err != nil {
		return err
	}
	switch {
	case a == nil && before-v.expected == 1:
		return &Break{BreakRemoved, v.expected, 0, fmt.Sprintf("row %d was removed", v.expected)}
	case a == nil:
		return &Break{BreakRemoved, v.expected, 0, fmt.Sprintf("rows %d to %d were removed", v.expected, before-1)}
	case !a.genuine(v.hash) || a.last >= before:
		return &Break{BreakAnchor, v.expected, 0, fmt.Sprintf("the record that rows from %d on were cleared was altered", v.expected)}
	}
	v.report.Cleared += a.last - a.first + 1
	v.anchors++
	v.expected, v.previous = a.last+1, a.hash
	return nil
}

// end compares the result with the end that the service wrote.
func (v *verifier) end(ctx context.Context, end head, there bool) error {
	begun := v.expected > 1
	if !there && !begun {
		return v.leftover(ctx)
	}
	if !end.genuine {
		return &Break{BreakHead, end.seq, 0, "the record of the chain's end was altered"}
	}
	for v.expected <= end.seq {
		if err := v.step(ctx, end.seq+1); err != nil {
			return err
		}
	}
	if v.expected != end.seq+1 || v.previous != end.hash {
		return &Break{BreakHead, end.seq, 0, "the record of the chain's end was altered"}
	}
	return v.leftover(ctx)
}

// leftover looks for anchors that cover nothing.
func (v *verifier) leftover(ctx context.Context) error {
	var count, first int64
	if err := v.tx.Pgx.QueryRow(ctx, "SELECT count(*), coalesce(max(first), 0) FROM audit_anchors").Scan(&count, &first); err != nil {
		return fmt.Errorf("counting anchors: %w", err)
	}
	if count != v.anchors {
		return &Break{BreakAnchor, first, 0, fmt.Sprintf("there are %d records of clearings, but %d have a position", count, v.anchors)}
	}
	return nil
}

// outside looks for rows that were not written in the service's way.
func (v *verifier) outside(ctx context.Context) error {
	var id int64
	err := v.tx.Pgx.QueryRow(ctx, `SELECT id FROM audit a WHERE NOT EXISTS (SELECT FROM audit_links l WHERE l.audit_id = a.id)
		AND NOT EXISTS (SELECT FROM audit_pending p WHERE p.audit_id = a.id) ORDER BY id LIMIT 1`).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading rows outside the chain: %w", err)
	}
	return &Break{BreakInserted, 0, id,
		fmt.Sprintf("the row with id %d has no position in the chain: it was inserted manually, or its position was removed", id)}
}
