package audit

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// anchor stands for a range of places whose rows were deleted.
type anchor struct {
	first, last int64
	hash        digest // of the last of them
	mac         []byte
}

// genuine reports whether the anchor was written by a holder of the key.
func (a *anchor) genuine(hash *hasher) bool {
	own := hash.anchor(a.first, a.last, a.hash)
	return hmac.Equal(own[:], a.mac)
}

// scanAnchor reads one anchor.
func scanAnchor(row pgx.CollectableRow) (anchor, error) {
	var a anchor
	var hash []byte
	err := row.Scan(&a.first, &a.last, &hash, &a.mac)
	if len(hash) == len(a.hash) {
		copy(a.hash[:], hash)
	} else {
		a.mac = []byte{} // it is none of ours
	}
	return a, err
}

// anchorAt returns the anchor that begins at a place; nil if there is none.
func anchorAt(ctx context.Context, tx *db.Tx, first int64) (*anchor, error) {
	rows, err := tx.Pgx.Query(ctx, "SELECT first, last, hash, mac FROM audit_anchors WHERE first = $1", first)
	if err != nil {
		return nil, fmt.Errorf("reading an anchor: %w", err)
	}
	a, err := pgx.CollectOneRow(rows, scanAnchor)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading an anchor: %w", err)
	}
	return &a, nil
}

// nobody returns a hasher with a key with which nothing in the database was
// made.
func nobody() (*hasher, error) {
	key := make([]byte, 32)
	_, err := rand.Read(key)
	return newHasher(key), err
}

// anchorPage is the number of anchors that are read at a time.
const anchorPage = 1000

// signAnchors signs anchors without a mac and joins neighbours. Anchors that
// are not genuine stay unchanged: joined they would look genuine.
func signAnchors(ctx context.Context, tx *db.Tx, hash *hasher) error {
	var run *anchor
	changed := false
	after := int64(math.MinInt64)
	for {
		rows, err := tx.Pgx.Query(ctx, "SELECT first, last, hash, mac FROM audit_anchors WHERE first > $1 ORDER BY first LIMIT $2", after,
			anchorPage)
		if err != nil {
			return fmt.Errorf("reading anchors: %w", err)
		}
		page, err := pgx.CollectRows(rows, scanAnchor)
		if err != nil {
			return fmt.Errorf("reading anchors: %w", err)
		}
		var writes pgx.Batch
		for _, a := range page {
			after = a.first
			fresh := a.mac == nil
			switch {
			case !fresh && !a.genuine(hash):
			case run != nil && run.last+1 == a.first:
				run.last, run.hash, changed = a.last, a.hash, true
				writes.Queue("DELETE FROM audit_anchors WHERE first = $1", a.first)
			default:
				queueAnchor(&writes, hash, run, changed)
				run, changed = &a, fresh
			}
		}
		if len(page) < anchorPage {
			queueAnchor(&writes, hash, run, changed)
		}
		if err := tx.Pgx.SendBatch(ctx, &writes).Close(); err != nil {
			return fmt.Errorf("writing anchors: %w", err)
		}
		if len(page) < anchorPage {
			return nil
		}
	}
}

// queueAnchor adds the statement that stores a changed anchor.
func queueAnchor(writes *pgx.Batch, hash *hasher, a *anchor, changed bool) {
	if a == nil || !changed {
		return
	}
	mac := hash.anchor(a.first, a.last, a.hash)
	writes.Queue("UPDATE audit_anchors SET last = $2, hash = $3, mac = $4 WHERE first = $1", a.first, a.last, a.hash[:], mac[:])
}
