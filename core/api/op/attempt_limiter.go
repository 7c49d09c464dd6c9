package op

import (
	"context"
	"sync"
	"time"

	"github.com/hostler/hostler/core/audit"
)

// Limits of the audit rows for refused attempts.
const (
	// attemptRows is how many refused attempts get a row each in a window: of
	// one user, and of callers who are not known for one operation and one
	// reason. Whatever is beyond shares one row by operation and reason: nobody
	// may fill the database with what they are refused.
	attemptRows   = 60
	attemptWindow = time.Minute
	// maxReasons is how many operations and reasons of one user get such a row
	// in a window. Further ones share one more.
	maxReasons = 20
)

// severalAttempts is the action of a row for refused attempts of different operations.
const severalAttempts = "audit.attempts"

// attemptLimiter counts refused attempts. It holds one window for each user,
// and for callers who are not known one for each operation and reason.
type attemptLimiter struct {
	rows   int
	window time.Duration
	write  func(audit.Entry)

	mu      sync.Mutex
	windows map[attemptKey]*attemptCount
}

// attemptKey has a user, or the reason of callers who are not known.
type attemptKey struct {
	user int64
	attemptReason
}

// attemptReason is what refused attempts are counted by.
type attemptReason struct{ action, code string }

// attemptCount is a window: how many attempts got a row each, and the others.
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

// end closes a window and writes the rows of those that got none.
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

// newAttemptLimiter writes its rows by the API's recorder.
func newAttemptLimiter(a *API) *attemptLimiter {
	return &attemptLimiter{rows: attemptRows, window: attemptWindow, windows: map[attemptKey]*attemptCount{}, write: func(entry audit.Entry) {
		a.write(context.Background(), entry)
	}}
}
