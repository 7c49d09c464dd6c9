package poll

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hostler/hostler/core/db"
)

// locks are the advisory locks of this instance's polls, all held by one
// connection. A poll waits for the network, and one connection for each would
// leave none to work with when many hosts hang. PostgreSQL releases all of them
// when this process dies, and another instance takes over.
type locks struct {
	db   *db.DB
	mu   sync.Mutex
	conn *pgxpool.Conn
	held map[int32]bool
}

// newLocks returns the locks of clusters that this instance polls.
func newLocks(d *db.DB) *locks { return &locks{db: d, held: map[int32]bool{}} }

// try takes the lock. It returns false without waiting if this or another
// instance holds it.
func (l *locks) try(ctx context.Context, key int64) (bool, error) {
	k := int32(key)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[k] {
		return false, nil
	}
	if l.conn == nil {
		conn, err := l.db.Pool.Acquire(ctx)
		if err != nil {
			return false, db.Problem(fmt.Errorf("taking a connection for locks: %w", err))
		}
		l.conn = conn
	}
	var got bool
	if err := l.conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1, $2)", db.LockPoll, k).Scan(&got); err != nil {
		l.drop()
		return false, db.Problem(fmt.Errorf("taking a poll's lock: %w", err))
	}
	if got {
		l.held[k] = true
	}
	return got, nil
}

// wait takes the lock, and tries until the context ends.
func (l *locks) wait(ctx context.Context, key int64) error {
	for {
		got, err := l.try(ctx, key)
		if err != nil || got {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// free releases the lock.
func (l *locks) free(key int64) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	k := int32(key)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, k)
	if l.conn == nil {
		return
	}
	if _, err := l.conn.Exec(ctx, "SELECT pg_advisory_unlock($1, $2)", db.LockPoll, k); err != nil {
		l.drop()
	}
}

// close releases the connection. No lock may be held.
func (l *locks) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.held) > 0 {
		l.drop()
	} else if l.conn != nil {
		l.conn.Release()
		l.conn = nil
	}
}

// drop ends the connection and with it all locks. Running polls continue: each
// writes in one transaction that locks its cluster's row, so that the worst
// result is a cluster that is polled twice.
func (l *locks) drop() {
	if l.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = l.conn.Conn().Close(ctx)
		l.conn.Release()
		l.conn = nil
	}
}
