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

// Until asks ok until it says yes. After three minutes in vain the test ends; what says for what it waited. The longer it waits
// the less often it asks: a question costs what is waited for processor time, too.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	Succeeds(t, what, func() error {
		if !ok() {
			return errors.New("it is not so")
		}
		return nil
	})
}

// Succeeds is Until for a check that says in its error what is missing.
func Succeeds(t testing.TB, what string, check func() error) {
	t.Helper()
	for began := time.Now(); ; {
		err := check()
		waited := time.Since(began)
		if err == nil {
			return
		}
		if waited > limit {
			t.Fatalf("waited in vain for this: %s: %v", what, err)
		}
		time.Sleep(min(max(waited/10, shortest), longest))
	}
}
