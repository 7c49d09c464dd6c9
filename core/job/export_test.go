package job

import "context"

// Hook is called at named points of every run: begun, before-send, after-send, waiting, before-end,
// and over, when it has given up its lock.
func (q *Queue) Hook(fn func(ctx context.Context, point string, jobID int64)) { q.hook = fn }

// Listed is the statement of List from its tables on.
const Listed = listed

// BreakLocks cuts the connection that holds the queue's locks, as a broken network would.
func (q *Queue) BreakLocks() {
	if s, ok := q.locks.current(context.Background(), nil); ok {
		s.close()
	}
}
