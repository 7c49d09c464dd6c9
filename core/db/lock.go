package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Classes of advisory locks: the first half of a two-part key, so that no two subjects meet.
const (
	LockMigrate int64 = 0x686f73746c6572 // one-part key: "hostler"

	LockPoll    int32 = 1 // by cluster or host
	LockJob     int32 = 2 // by job: held while a worker runs it
	LockJobSlot int32 = 3 // by slot: the bound on jobs over all instances
	LockKeys    int32 = 4 // rotation of the secrets' key
	LockEnrol   int32 = 5 // which servers are enrolled
	LockAudit   int32 = 7 // the end of the audit log's chain

	LockIdempotency   int32 = 8  // by idempotency key: held by the transaction of its change
	LockRemoteWrite   int32 = 9  // who sends samples to a receiver
	LockGuestID       int32 = 10 // by cluster: which id a guest gets that a job is to make
	LockNotify        int32 = 14 // who decides which channels are told
	LockSharedCluster int32 = 15 // by what jobs exclude one another on, in clusters that several teams have enrolled
	LockHold          int32 = 11 // by what jobs exclude one another on: shared by what enqueues one, alone by what holds them off
)

// Lock is an advisory lock held by a connection of its own; PostgreSQL frees it
// when this process dies.
type Lock struct {
	conn  *pgxpool.Conn
	class int32
	id    int32
	// unlock is the function that frees it.
	unlock string
}

// TryLock takes the lock, or returns nil without waiting when another session
// holds it. Ids beyond 32 bits share locks, which costs waiting and never
// correctness.
func (d *DB) TryLock(ctx context.Context, class int32, id int64) (*Lock, error) {
	return d.tryLock(ctx, class, id, "pg_try_advisory_lock", "pg_advisory_unlock")
}

// TryLockShared is TryLock for a lock that several sessions may hold at once,
// as long as none holds it by TryLock.
func (d *DB) TryLockShared(ctx context.Context, class int32, id int64) (*Lock, error) {
	return d.tryLock(ctx, class, id, "pg_try_advisory_lock_shared", "pg_advisory_unlock_shared")
}

// tryLock takes an advisory lock on a connection of its own. The lock lives as
// long as the connection.
func (d *DB) tryLock(ctx context.Context, class int32, id int64, lock, unlock string) (*Lock, error) {
	conn, err := d.Pool.Acquire(ctx)
	if err != nil {
		return nil, Problem(fmt.Errorf("taking a connection: %w", err))
	}
	l := &Lock{conn: conn, class: class, id: int32(id), unlock: unlock}
	var got bool
	if err := conn.QueryRow(ctx, "SELECT "+lock+"($1, $2)", l.class, l.id).Scan(&got); err != nil {
		conn.Release()
		return nil, Problem(fmt.Errorf("taking an advisory lock: %w", err))
	}
	if !got {
		conn.Release()
		return nil, nil
	}
	return l, nil
}

// Held asks the server whether the lock is still ours: it is lost when the connection breaks.
func (l *Lock) Held(ctx context.Context) bool {
	return l.conn.Conn().Ping(ctx) == nil
}

// Unlock frees the lock and gives the connection back. It must be called once.
func (l *Lock) Unlock() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := l.conn.Exec(ctx, "SELECT "+l.unlock+"($1, $2)", l.class, l.id); err != nil {
		// A connection that may still hold the lock must not go back to the pool.
		_ = l.conn.Conn().Close(ctx)
	}
	l.conn.Release()
}
