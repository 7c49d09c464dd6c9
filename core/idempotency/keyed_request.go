package idempotency

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/hostler/hostler/core/db"
)

// KeyedRequest is one request with a key.
type KeyedRequest struct {
	store *Store
	key   Key

	mu     sync.Mutex
	record Record
	noted  bool // the record is committed
	kept   json.RawMessage
}

type useKey struct{}

// Begin opens the use of a key by a request and puts it into the context. request and roles are Record's.
func (s *Store) Begin(ctx context.Context, k Key, request string, roles map[int64]int) (context.Context, *KeyedRequest) {
	u := &KeyedRequest{store: s, key: k, record: Record{Request: request, Roles: roles}}
	return context.WithValue(ctx, useKey{}, u), u
}

// SaveData gives what the answer is made of besides what the audit row says, for the case that the service dies before it has
// answered: v as JSON, sealed, so it may hold what is shown once. A noun calls it in its transaction before the audit row is
// written, again whenever the transaction is made again. Without a key in the context it does nothing.
func SaveData(ctx context.Context, v any) error {
	u, _ := ctx.Value(useKey{}).(*KeyedRequest)
	if u == nil {
		return nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding the data of an answer: %w", err)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.kept = text
	return nil
}

// WriteRecord writes the key's record into the transaction that makes the change; jobID 0 is none. Where the request has made an earlier
// change already it does nothing. When the key is another request's the problem is InProgress, and the change must not be made.
func (u *KeyedRequest) WriteRecord(ctx context.Context, tx *db.Tx, jobID *int64, targetID string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.noted {
		return nil
	}
	u.record.Result = Result{TargetID: targetID, Data: u.kept}
	if jobID != nil {
		u.record.Result.JobID = *jobID
	}
	if err := u.store.insert(ctx, tx, u.key, &u.record); err != nil {
		if err == ErrInProgress {
			return InProgress()
		}
		return err
	}
	tx.OnCommit(func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.noted = true
	})
	return nil
}

// Complete adds the answer to the record. Without a change there is nothing to add it to.
func (u *KeyedRequest) Complete(ctx context.Context, a Response) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.noted {
		return nil
	}
	r := u.record
	r.Response = &a
	return u.store.complete(ctx, u.key, &r)
}

// Target is TargetID as a number; 0 when it is none.
func (m Result) Target() int64 {
	id, _ := strconv.ParseInt(m.TargetID, 10, 64)
	return id
}

// Decode decodes what was kept.
func (m Result) Decode(into any) error {
	if err := json.Unmarshal(m.Data, into); err != nil {
		return fmt.Errorf("decoding the data of an answer: %w", err)
	}
	return nil
}
