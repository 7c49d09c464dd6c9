package waittest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hostler/hostler/internal/waittest"
)

// What comes at once is seen at once, and what comes late by a tenth of a second late, for few questions.
func TestUntil(t *testing.T) {
	t.Parallel()
	for _, comes := range []time.Duration{0, time.Millisecond, 100 * time.Millisecond, 10 * time.Second, 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			began, asked := time.Now(), 0
			waittest.Until(t, "the time has come", func() bool { asked++; return time.Since(began) >= comes })
			late := time.Since(began) - comes
			if most := 50 + int(comes/(100*time.Millisecond)); late > 100*time.Millisecond || late > 2*time.Millisecond+comes/9 || asked > most {
				t.Errorf("what comes after %s was seen %s late, by %d questions", comes, late, asked)
			}
		})
	}
}
