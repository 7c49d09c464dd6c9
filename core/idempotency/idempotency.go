// Package idempotency remembers for a day what was done under a client's Idempotency-Key, so that a client that got no answer may
// ask again without having it done twice (IETF draft-ietf-httpapi-idempotency-key-header).
//
// core/api/op opens a KeyedRequest for a request with a key. The row of the key is written by the transaction that makes the change,
// beside its row of the audit log: the key is known if and only if the change was made, whatever died meanwhile. The answer joins it
// when it is complete. Where that did not come to pass, the answer is made again from what the row says of the change, and from
// what the noun gave to SaveData. Rows are sealed: an answer may hold a secret that is shown once, and a request's hash would help to
// guess a password in it.
package idempotency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
)

// KeyLifetime is how long a key is known.
const KeyLifetime = 24 * time.Hour

// SealedTable is the column with sealed values.
var SealedTable = secret.Table{Name: "idempotency_keys", Column: "sealed", Key: []string{"caller", "key"}}

// Key is a client's key; that of another caller is another one.
type Key struct{ Caller, Name string }

func (k Key) place() secret.Binding {
	return secret.Binding{Table: SealedTable.Name, Column: SealedTable.Column, Row: secret.Row(k.Caller, k.Name)}
}

// lockID is the key's number among advisory locks. Two keys that share one cost a client another try.
func (k Key) lockID() int32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(k.Caller + "\x00" + k.Name))
	return int32(h.Sum32())
}

// Result is what is known of the change.
type Result struct {
	// JobID is 0 where no job was made.
	JobID    int64  `json:"job_id,omitempty"`
	TargetID string `json:"target_id,omitempty"`
	// Data is what the noun gave to SaveData, as JSON; nil for none.
	Data json.RawMessage `json:"kept,omitempty"`
}

// Response is an answer as it was sent.
type Response struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header"`
	Body   []byte            `json:"body"`
}

// Record is what is remembered of a key.
type Record struct {
	// Request tells the request from others: what it is made of is its writer's affair.
	Request string `json:"request"`
	// Roles are those that the caller had, by team.
	Roles  map[int64]int `json:"roles,omitempty"`
	Result Result        `json:"made"`
	// Response is nil as long as it was not complete.
	Response *Response `json:"answer,omitempty"`
}

// Store keeps records.
type Store struct {
	DB   *db.DB
	Keys *secret.Box
}

// ErrInProgress: another request with the same key is being served.
var ErrInProgress = errors.New("another request with this Idempotency-Key is in progress")

// Find gives the record of a key; nil when there is none, or none any more.
func (s *Store) Find(ctx context.Context, k Key) (*Record, error) {
	var sealed []byte
	err := s.DB.Pool.QueryRow(ctx, "SELECT sealed FROM idempotency_keys WHERE caller = $1 AND key = $2 AND created_at > now() - $3::interval",
		k.Caller, k.Name, KeyLifetime).Scan(&sealed)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading an idempotency key: %w", err))
	}
	text, err := s.Keys.Open(sealed, k.place())
	if err != nil {
		return nil, fmt.Errorf("decrypting the record of an idempotency key: %w", err)
	}
	r := &Record{}
	if err := json.Unmarshal([]byte(text.Reveal()), r); err != nil {
		return nil, fmt.Errorf("decoding the record of an idempotency key: %w", err)
	}
	return r, nil
}

// insert writes the record into the transaction of the change. ErrInProgress: another request has the key, or had it at the same
// moment; this change must not be made.
func (s *Store) insert(ctx context.Context, tx *db.Tx, k Key, r *Record) error {
	sealed, err := s.seal(k, r)
	if err != nil {
		return err
	}
	var alone bool
	if err := tx.Pgx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1, $2)", db.LockIdempotency, k.lockID()).Scan(&alone); err != nil {
		return fmt.Errorf("locking an idempotency key: %w", err)
	}
	if !alone {
		return ErrInProgress
	}
	tag, err := tx.Pgx.Exec(ctx, `INSERT INTO idempotency_keys AS had (caller, key, sealed) VALUES ($1, $2, $3)
		ON CONFLICT (caller, key) DO UPDATE SET sealed = excluded.sealed, created_at = now() WHERE had.created_at <= now() - $4::interval`,
		k.Caller, k.Name, sealed, KeyLifetime)
	if err != nil {
		return fmt.Errorf("recording an idempotency key: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrInProgress
	}
	return nil
}

// complete adds the answer to the record of a key.
func (s *Store) complete(ctx context.Context, k Key, r *Record) error {
	sealed, err := s.seal(k, r)
	if err != nil {
		return err
	}
	if _, err := s.DB.Pool.Exec(ctx, "UPDATE idempotency_keys SET sealed = $3 WHERE caller = $1 AND key = $2", k.Caller, k.Name,
		sealed); err != nil {
		return db.Problem(fmt.Errorf("storing the answer under an idempotency key: %w", err))
	}
	return nil
}

func (s *Store) seal(k Key, r *Record) ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding the record of an idempotency key: %w", err)
	}
	return s.Keys.Seal(secret.New(string(text)), k.place())
}

// pruneBatch is how many rows one call of Prune deletes.
const pruneBatch = 5000

// Prune deletes one batch of keys that are over, and says how many; none when nothing is left.
func (s *Store) Prune(ctx context.Context) (int64, error) {
	tag, err := s.DB.Pool.Exec(ctx, `DELETE FROM idempotency_keys WHERE (caller, key) IN (
		SELECT caller, key FROM idempotency_keys WHERE created_at <= now() - $1::interval LIMIT $2 FOR UPDATE SKIP LOCKED)`, KeyLifetime,
		pruneBatch)
	if err != nil {
		return 0, db.Problem(fmt.Errorf("deleting expired idempotency keys: %w", err))
	}
	return tag.RowsAffected(), nil
}

// InProgress is the problem of ErrInProgress.
func InProgress() error {
	busy := problem.New(problem.CodeRequestInProgress,
		"another request with this Idempotency-Key is in progress; send it again in a moment to get its answer").WithCause(ErrInProgress)
	busy.RetryAfter = 1
	return busy
}
