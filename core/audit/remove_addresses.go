package audit

import (
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// The addresses of old rows can be taken out and nothing else of them. A row's place keeps the hash of what the row was, so that the
// places behind it fit as before; beside it stands a proof, made with the chain's key, that this very row with an empty address is what
// the service has made of it.

// addressColumn is the place of the address in hashed.
const addressColumn = 14

// blank returns the proof that the row at a place with the hash original has
// become the row with the hash blanked. It is made with the chain's key, so
// that only the service can make it.
func (h *hasher) blank(seq int64, original []byte, blanked digest) digest {
	h.begin(domainBlank, seq)
	h.mac.Write(original)
	h.mac.Write(blanked[:])
	return h.sum()
}

// fits reports whether a row is the one that got its place with a hash, or the
// one that the service made of it by removing its address. proof is nil if
// there is no such claim.
func (h *hasher) fits(seq int64, previous digest, hash, proof []byte, columns [][]byte) bool {
	own := h.row(seq, previous, columns)
	if hmac.Equal(own[:], hash) {
		return true
	}
	if proof == nil || len(hash) != len(own) || len(columns[addressColumn]) > 0 {
		return false
	}
	want := h.blank(seq, hash, own)
	return hmac.Equal(want[:], proof)
}

// blankBatch is the number of rows that one transaction of RemoveAddresses changes.
const blankBatch = 5000

// RemoveAddresses removes the addresses from rows older than before, as the system, in
// transactions of at most 5,000 rows. Each transaction that changes rows writes
// a row audit.blank. Rows that somebody has altered stay unchanged, and so do
// those without a place. It can be interrupted at any point; the next call
// continues. It returns the number of changed rows.
func (c *Chain) RemoveAddresses(ctx context.Context, before time.Time) (total int64, err error) {
	if before.After(time.Now()) {
		return 0, errors.New("removing addresses from the audit log: the time is in the future")
	}
	after := position{}
	for {
		var n, seen int64
		err := c.db.Tx(ctx, func(tx *db.Tx) (err error) {
			at := after
			if n, seen, err = c.blankOnce(ctx, tx, before, &at); err != nil {
				return fmt.Errorf("removing addresses from the audit log: %w", err)
			}
			after = at
			return nil
		})
		if err != nil {
			return total, err
		}
		if total += n; seen < blankBatch {
			return total, nil
		}
	}
}

// position is a row in the order of time.
type position struct {
	at time.Time
	id int64
}

// blankOnce handles the next rows after a position, which it moves. It returns
// how many addresses it removed, and how many rows it read.
func (c *Chain) blankOnce(ctx context.Context, tx *db.Tx, before time.Time, after *position) (n, seen int64, err error) {
	if err := lockChain(ctx, tx); err != nil { // a clearing must not meet rows that are half done
		return 0, 0, err
	}
	_, hash, err := c.head(ctx, tx)
	if err != nil || hash == nil {
		return 0, 0, err
	}
	rows, err := tx.Pgx.Query(ctx, "SELECT l.seq, l.previous, l.hash, "+hashed+` FROM audit a JOIN audit_links l ON l.audit_id = a.id
		WHERE a.at < $1 AND a.address <> '' AND (a.at, a.id) > ($2, $3) ORDER BY a.at, a.id LIMIT $4 FOR UPDATE OF a`, binaryResults, before,
		after.at, after.id, blankBatch)
	if err != nil {
		return 0, 0, fmt.Errorf("reading old rows: %w", err)
	}
	var ids []int64
	var proofs [][]byte
	for rows.Next() {
		if err := isBinary(rows); err != nil {
			rows.Close()
			return 0, 0, err
		}
		raw := rows.RawValues()
		seq, columns := int8(raw[0]), raw[3:]
		seen++
		*after = position{timestamp(columns[1]), int8(columns[0])}
		var previous digest
		if len(raw[1]) != len(previous) || len(raw[2]) != len(previous) {
			continue
		}
		copy(previous[:], raw[1])
		if whole := hash.row(seq, previous, columns); !hmac.Equal(whole[:], raw[2]) {
			continue // what somebody has altered must not get a proof
		}
		columns[addressColumn] = []byte{}
		proof := hash.blank(seq, raw[2], hash.row(seq, previous, columns))
		ids, proofs = append(ids, after.id), append(proofs, proof[:])
	}
	if err := rows.Err(); err != nil {
		return 0, 0, fmt.Errorf("reading old rows: %w", err)
	}
	if len(ids) == 0 {
		return 0, seen, nil
	}
	batch := &pgx.Batch{}
	batch.Queue("UPDATE audit SET address = '' WHERE id = ANY($1)", ids)
	batch.Queue(`INSERT INTO audit_blanked (audit_id, mac) SELECT * FROM unnest($1::bigint[], $2::bytea[])
		ON CONFLICT (audit_id) DO UPDATE SET mac = EXCLUDED.mac`, ids, proofs)
	if err := tx.Pgx.SendBatch(ctx, batch).Close(); err != nil {
		return 0, 0, fmt.Errorf("writing rows without addresses: %w", err)
	}
	return int64(len(ids)), seen, WriteEntry(tx, Entry{
		ActorType: ActorSystem, Action: "audit.blank", TargetKind: "audit", Result: ResultOK,
		Details: map[string]any{"before": before.UTC().Format(time.RFC3339Nano), "rows": len(ids)},
	})
}
