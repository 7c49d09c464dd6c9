package op

import (
	"context"
	"sync"
	"time"

	"github.com/hostler/hostler/core/audit"
)

const (
	// attemptRows is how many refused attempts of callers who are not known get a row each, for one operation and one
	// reason in a window. Whatever is beyond shares one row: nobody without an account may fill the database.
	attemptRows   = 60
	attemptWindow = time.Minute
)

// attemptLimiter counts refused attempts of callers who are not known. It holds one window for each operation and reason.
type attemptLimiter struct {
	rows   int
	window time.Duration
	write  func(audit.Entry)

	mu      sync.Mutex
	windows map[attemptKey]*attemptCount
}

type attemptKey struct{ action, code string }

type attemptCount struct {
	seen int
	last audit.Entry
}

// admit reports whether the attempt gets a row of its own; otherwise it is counted in the row that ends the window.
func (s *attemptLimiter) admit(entry audit.Entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := attemptKey{entry.Action, entry.Error}
	count := s.windows[key]
	if count == nil {
		count = &attemptCount{}
		s.windows[key] = count
		time.AfterFunc(s.window, func() { s.end(key) })
	}
	count.seen++
	count.last = entry
	return count.seen <= s.rows
}

// end closes a window and writes the row of those that got none.
func (s *attemptLimiter) end(key attemptKey) {
	s.mu.Lock()
	count := s.windows[key]
	delete(s.windows, key)
	s.mu.Unlock()
	if further := count.seen - s.rows; further > 0 {
		entry := count.last
		// They came from anywhere and were about anything.
		entry.Address, entry.RequestID, entry.TargetKind, entry.TargetID, entry.TargetName = "", "", "", "", ""
		entry.Details = map[string]any{"further_attempts": further}
		s.write(entry)
	}
}

// newAttemptLimiter writes its rows by the API's recorder.
func newAttemptLimiter(a *API) *attemptLimiter {
	return &attemptLimiter{rows: attemptRows, window: attemptWindow, windows: map[attemptKey]*attemptCount{}, write: func(entry audit.Entry) {
		a.write(context.Background(), entry)
	}}
}
