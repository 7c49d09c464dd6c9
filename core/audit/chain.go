package audit

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/secret"
)

// SealedTable is the column with the key of the chain, for the rotation of keys.
var SealedTable = secret.Table{Name: "audit_chain", Column: "key", Key: []string{"id"}}

// keyPlace is what the encrypted key of the chain is bound to.
var keyPlace = secret.Binding{Table: SealedTable.Name, Column: SealedTable.Column, Row: secret.Row(1)}

// Chain makes changes of the audit log in the database visible. Every row gets a
// place (1, 2, 3 …) with the hash of the place before, and a hash over that and
// all columns of the row, made with a key that is sealed by the key file. Who
// can write to the database but does not have that file cannot make matching
// hashes.
//
// Writers need not know about it: a trigger records each new row as pending in
// the writer's transaction, and one Sealer at a time gives places to committed
// rows. So places follow the order in which rows became visible and not their
// ids; a long transaction holds up nobody, and its rows get later places.
// Deleted rows leave an anchor; see Clear.
//
// Verify cannot see: a change of a row in the moment before it gets its place,
// which somebody who holds the chain's lock can prolong (Report.Unsealed and
// the sealer's log show that); a row that somebody adds in the way of the
// service; changes by somebody who also has the key file; and a whole database
// that was set back to an earlier state together with its audit log. For the
// last case Verify returns the last place and hash, which can be noted elsewhere.
type Chain struct {
	db   *db.DB
	keys secret.Keys

	mu     sync.Mutex
	sealed string // what the key was opened from
	opened *hasher
}

// NewChain returns the chain of the database's audit log. keys must be the keys of
// all instances.
func NewChain(d *db.DB, keys secret.Keys) *Chain { return &Chain{db: d, keys: keys} }

// lockChain waits for everybody who appends to the chain or removes parts of
// it, on all instances. Writers of rows do not take this lock.
func lockChain(ctx context.Context, tx *db.Tx) error {
	if _, err := tx.Pgx.Exec(ctx, "SELECT pg_advisory_xact_lock($1, 0)", db.LockAudit); err != nil {
		return fmt.Errorf("waiting for the end of the audit chain: %w", err)
	}
	return nil
}

// head is the end of the chain: the last place and its hash.
type head struct {
	seq  int64
	hash digest
	// genuine: it was written by who has the key. sealed is that key as it is stored.
	genuine bool
	sealed  []byte
}

// head reads the end of the chain. Before the first row got a place there is
// none, and the hasher is nil.
func (c *Chain) head(ctx context.Context, tx *db.Tx) (h head, hash *hasher, err error) {
	var kept, mac []byte
	err = tx.Pgx.QueryRow(ctx, "SELECT key, seq, hash, mac FROM audit_chain WHERE id = 1").Scan(&h.sealed, &h.seq, &kept, &mac)
	if errors.Is(err, pgx.ErrNoRows) {
		return head{}, nil, nil
	}
	if err != nil {
		return head{}, nil, fmt.Errorf("reading the end of the audit chain: %w", err)
	}
	if hash, err = c.hasher(h.sealed); err != nil {
		return head{}, nil, err
	}
	h.genuine = len(kept) == len(h.hash)
	copy(h.hash[:], kept)
	own := hash.head(h.seq, h.hash)
	h.genuine = h.genuine && hmac.Equal(mac, own[:])
	return h, hash, nil
}

// end is head for continuing the chain. It makes the key if there is none.
// After an end that is not genuine it continues with a gap that no anchor
// covers: so the forgery stays visible, and later rows are still protected.
func (c *Chain) end(ctx context.Context, tx *db.Tx) (h head, hash *hasher, err error) {
	if h, hash, err = c.head(ctx, tx); err != nil {
		return h, hash, err
	}
	if hash == nil {
		if h.sealed, err = c.newKey(); err != nil {
			return h, nil, err
		}
		if hash, err = c.hasher(h.sealed); err != nil {
			return h, nil, err
		}
	}
	last, err := lastPlace(ctx, tx)
	if err != nil {
		return h, nil, err
	}
	if last > math.MaxInt64-2 {
		return h, nil, errors.New("the audit chain has no position left: someone has added a forged one at its end")
	}
	if fresh := h.seq == 0 && last == 0; !fresh && (!h.genuine || last > h.seq) {
		h.seq, h.hash = last+1, digest{}
	}
	return h, hash, nil
}

// lastPlace returns the last place that any table mentions.
func lastPlace(ctx context.Context, tx *db.Tx) (last int64, err error) {
	err = tx.Pgx.QueryRow(ctx,
		"SELECT greatest((SELECT max(seq) FROM audit_links), (SELECT last FROM audit_anchors ORDER BY first DESC LIMIT 1), 0)").Scan(&last)
	if err != nil {
		return 0, fmt.Errorf("reading the last position of the audit chain: %w", err)
	}
	return last, nil
}

// newKey creates the key of the chain. It is encrypted in the database: who can
// change rows there cannot compute valid hashes.
func (c *Chain) newKey() ([]byte, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	sealed, err := c.keys.Seal(secret.New(hex.EncodeToString(key)), keyPlace)
	if err != nil {
		return nil, fmt.Errorf("encrypting the key of the audit chain: %w", err)
	}
	return sealed, nil
}

// hasher returns the hasher for the key. It opens the key again only if it is
// another one, or was sealed again.
func (c *Chain) hasher(sealed []byte) (*hasher, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opened == nil || c.sealed != string(sealed) {
		text, err := c.keys.Open(sealed, keyPlace)
		if err != nil {
			return nil, fmt.Errorf("decrypting the key of the audit chain: %w", err)
		}
		key, err := hex.DecodeString(text.Reveal())
		if err != nil {
			return nil, errors.New("decrypting the key of the audit chain: it is not a key")
		}
		c.opened, c.sealed = newHasher(key), string(sealed)
	}
	return c.opened.clone(), nil
}

// save writes the end of the chain.
func (c *Chain) save(ctx context.Context, tx *db.Tx, hash *hasher, h head) error {
	mac := hash.head(h.seq, h.hash)
	_, err := tx.Pgx.Exec(ctx, `INSERT INTO audit_chain (id, key, seq, hash, mac) VALUES (1, $1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, mac = excluded.mac`, h.sealed, h.seq, h.hash[:], mac[:])
	if err != nil {
		return fmt.Errorf("writing the end of the audit chain: %w", err)
	}
	return nil
}
