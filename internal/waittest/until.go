// Package waittest is for tests that wait for what others do.
package waittest

import (
	"errors"
	"testing"
	"time"
)

const (
	// limit is how long anything may take at most. It bounds what hangs and says nothing of speed.
	limit = 3 * time.Minute
	// shortest and longest bound the time between two questions.
	shortest, longest = 2 * time.Millisecond, 100 * time.Millisecond
)

// Until calls ok until it returns true, and ends the test after three minutes; what names the condition in the message. It polls less
// often the longer it waits, because polling takes processor time from what is waited for.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	Succeeds(t, what, func() error {
		if !ok() {
			return errors.New("it does not hold")
		}
		return nil
	})
}

// Succeeds is Until for a check whose error says what is missing.
func Succeeds(t testing.TB, what string, check func() error) {
	t.Helper()
	for began := time.Now(); ; {
		err := check()
		waited := time.Since(began)
		if err == nil {
			return
		}
		if waited > limit {
			t.Fatalf("gave up waiting: %s: %v", what, err)
		}
		time.Sleep(min(max(waited/10, shortest), longest))
	}
}
