package op

import (
	"context"
	"sync"
	"time"

	"github.com/hostler/hostler/core/audit"
)

// Limits of the audit rows for refused attempts.
const (
	// attemptRows is how many refused attempts get their own entry in a window:
	// per user, and for unknown callers per operation and reason. Further ones
	// share one entry per operation and reason, so that nobody can fill the
	// database with refused requests.
	attemptRows   = 60
	attemptWindow = time.Minute
	// maxReasons is how many combinations of operation and reason of one user
	// get such a shared entry in a window. All others share one more.
	maxReasons = 20
)

// severalAttempts is the action of the entry for refused attempts of different
// operations.
const severalAttempts = "audit.attempts"

// attemptLimiter counts refused attempts. It has one window per user, and for
// unknown callers one per operation and reason.
type attemptLimiter struct {
	rows   int
	window time.Duration
	write  func(audit.Entry)

	mu      sync.Mutex
	windows map[attemptKey]*attemptCount
}

// attemptKey identifies a window: a user, or the operation and reason of
// unknown callers.
type attemptKey struct {
	user int64
	attemptReason
}

// attemptReason is what refused attempts are counted by.
type attemptReason struct{ action, code string }

// attemptCount is a window: how many attempts got their own entry, and the
// others.
type attemptCount struct {
	rows    int
	further map[attemptReason]*furtherAttempts
}

// furtherAttempts counts the attempts beyond the limit and keeps the last one
// as an example.
type furtherAttempts struct {
	count int
	last  audit.Entry
}

// admit reports whether the attempt gets a row of its own; otherwise it is
// counted in a row that ends the window.
func (s *attemptLimiter) admit(entry audit.Entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	reason := attemptReason{entry.Action, entry.Error}
	key := attemptKey{attemptReason: reason}
	if entry.ActorID != nil {
		key = attemptKey{user: *entry.ActorID}
	}
	window := s.windows[key]
	if window == nil {
		window = &attemptCount{further: map[attemptReason]*furtherAttempts{}}
		s.windows[key] = window
		time.AfterFunc(s.window, func() { s.end(key) })
	}
	if window.rows < s.rows {
		window.rows++
		return true
	}
	if window.further[reason] == nil && len(window.further) >= maxReasons {
		reason = attemptReason{action: severalAttempts}
	}
	further := window.further[reason]
	if further == nil {
		further = &furtherAttempts{}
		window.further[reason] = further
	}
	further.count++
	further.last = entry
	return false
}

// end closes a window and writes the shared entries.
func (s *attemptLimiter) end(key attemptKey) {
	s.mu.Lock()
	window := s.windows[key]
	delete(s.windows, key)
	s.mu.Unlock()
	for reason, further := range window.further {
		last := &further.last
		// They came from anywhere and were about anything.
		s.write(audit.Entry{ActorType: last.ActorType, ActorID: last.ActorID, ActorEmail: last.ActorEmail, Action: reason.action,
			Result: last.Result, Error: reason.code, Details: map[string]any{"further_attempts": further.count}})
	}
}

// newAttemptLimiter returns a limiter that writes through the API's recorder.
func newAttemptLimiter(a *API) *attemptLimiter {
	return &attemptLimiter{rows: attemptRows, window: attemptWindow, windows: map[attemptKey]*attemptCount{}, write: func(entry audit.Entry) {
		a.write(context.Background(), entry)
	}}
}
