package job

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// locks holds all advisory locks of this instance on one connection outside the
// pool. A busy pool cannot delay a lock, and one connection is enough for any
// number of jobs. If it breaks, PostgreSQL frees all its locks, and all runs
// that began under it end.
type locks struct {
	db  *db.DB
	log hclog.Logger

	mu      sync.Mutex
	now     *session
	changed chan struct{} // closed and replaced when now changes
	closed  bool
}

// session is one lifetime of the connection.
type session struct {
	mu   sync.Mutex // one statement at a time
	conn *pgx.Conn
	// held contains the locks of this session. PostgreSQL would grant a session
	// the same lock twice.
	held map[lockKey]bool
	// lost is closed when the connection has broken.
	lost     chan struct{}
	lostOnce sync.Once
}

// lockKey identifies an advisory lock by its class and ID.
type lockKey struct {
	class int32
	id    int32
}

// statementLimit bounds one statement on a session. It is not derived from a
// caller's context: pgx closes a connection whose statement is cut off, and all
// runs of the instance would end with it.
const statementLimit = 5 * time.Second

// newLocks returns locks without a connection; keep connects.
func newLocks(d *db.DB, log hclog.Logger) *locks {
	return &locks{db: d, log: log.Named("locks"), changed: make(chan struct{})}
}

// keep connects, watches the connection and reconnects until ctx ends. Then it
// closes the connection.
func (l *locks) keep(ctx context.Context) {
	defer l.close()
	wait := 100 * time.Millisecond
	for ctx.Err() == nil {
		s, err := l.connect(ctx)
		if err != nil {
			l.log.Warn("cannot connect for locks", "error", err)
			pause(ctx, wait)
			wait = min(2*wait, 2*time.Second)
			continue
		}
		wait = 100 * time.Millisecond
		if !l.set(s) {
			s.close()
			return
		}
		s.watch(ctx)
		l.set(nil)
		s.close()
		if ctx.Err() == nil {
			l.log.Warn("the connection that held the locks is lost; jobs that ran under it will be resumed")
		}
	}
}

// connect opens the connection for locks with settings that detect a dead peer.
func (l *locks) connect(ctx context.Context) (*session, error) {
	cfg := l.db.Pool.Config().ConnConfig.Copy()
	cfg.RuntimeParams["application_name"] += " job locks"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	// A process that froze, or whose machine lost power, must not keep its
	// locks for ever. The pings of watch keep a living session below the limit.
	// A server that does not know a setting refuses only that statement.
	for _, setting := range []string{"idle_session_timeout = '20s'", "tcp_keepalives_idle = 5", "tcp_keepalives_interval = 3",
		"tcp_keepalives_count = 3"} {
		if _, err := conn.Exec(ctx, "SET "+setting); err != nil {
			l.log.Debug("the server does not accept a setting", "setting", setting, "error", err)
		}
	}
	return &session{conn: conn, held: map[lockKey]bool{}, lost: make(chan struct{})}, nil
}

// set replaces the current session. It returns false if the locks were closed.
func (l *locks) set(s *session) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed && s != nil {
		return false
	}
	l.now = s
	close(l.changed)
	l.changed = make(chan struct{})
	return true
}

// close gives up all locks and prevents new connections.
func (l *locks) close() {
	l.mu.Lock()
	s := l.now
	l.closed, l.now = true, nil
	l.mu.Unlock()
	if s != nil {
		s.close()
	}
}

// current waits for a living session. It returns false when the locks are
// closed, or when stop or ctx ends.
func (l *locks) current(ctx context.Context, stop <-chan struct{}) (*session, bool) {
	for {
		l.mu.Lock()
		s, changed, closed := l.now, l.changed, l.closed
		l.mu.Unlock()
		if closed {
			return nil, false
		}
		if s != nil && !s.isLost() {
			return s, true
		}
		select {
		case <-changed:
		case <-time.After(50 * time.Millisecond):
		case <-stop:
			return nil, false
		case <-ctx.Done():
			return nil, false
		}
	}
}

// watch pings the server every second until the session is lost.
func (s *session) watch(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.lost:
			return
		case <-tick.C:
			if !s.alive() {
				return
			}
		}
	}
}

// alive pings the server. A session that does not answer is lost.
func (s *session) alive() bool {
	_, err := s.query("SELECT true")
	return err == nil
}

// isLost reports whether the session is lost.
func (s *session) isLost() bool {
	select {
	case <-s.lost:
		return true
	default:
		return false
	}
}

// try takes a lock. It returns false if another session, or this one, has it.
func (s *session) try(class int32, id int64) (bool, error) {
	key := lockKey{class, int32(id)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[key] {
		return false, nil
	}
	got, err := s.queryLocked("SELECT pg_try_advisory_lock($1, $2)", key.class, key.id)
	if err == nil && got {
		s.held[key] = true
	}
	return got, err
}

// free releases a lock. A lock that is already lost is ignored.
func (s *session) free(class int32, id int64) {
	key := lockKey{class, int32(id)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.held[key] {
		return
	}
	delete(s.held, key)
	_, _ = s.queryLocked("SELECT pg_advisory_unlock($1, $2)", key.class, key.id)
}

// query runs a statement that returns one boolean.
func (s *session) query(sql string, args ...any) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queryLocked(sql, args...)
}

// queryLocked is query for callers that hold the mutex. After a failure it is
// unknown which locks the session has, so the session counts as lost.
func (s *session) queryLocked(sql string, args ...any) (bool, error) {
	if s.isLost() {
		return false, ErrLost
	}
	ctx, cancel := context.WithTimeout(context.Background(), statementLimit)
	defer cancel()
	var got bool
	if err := s.conn.QueryRow(ctx, sql, args...).Scan(&got); err != nil {
		s.lose()
		return false, fmt.Errorf("%w: checking the lock connection: %w", ErrLost, err)
	}
	return got, nil
}

// lose marks the session as lost; calls after the first do nothing.
func (s *session) lose() { s.lostOnce.Do(func() { close(s.lost) }) }

// close closes the connection and with it all locks.
func (s *session) close() {
	s.lose()
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.conn.Close(ctx)
}

// pause waits for a duration, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
