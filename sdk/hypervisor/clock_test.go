package hypervisor_test

import (
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// What an answer says of a clock is counted from the middle of its way, and nothing is said where that is too uncertain.
func TestClockAhead(t *testing.T) {
	t.Parallel()
	sent := time.Date(2026, 1, 31, 12, 0, 0, 500e6, time.UTC)
	const none = 1e9
	for name, c := range map[string]struct {
		date time.Time
		took time.Duration
		want float64
	}{
		"the same":           {sent.Truncate(time.Second), 0, 0},
		"within the second":  {sent.Truncate(time.Second), time.Second, -0.5},
		"ahead":              {sent.Truncate(time.Second).Add(90 * time.Second), 2 * time.Second, 89},
		"behind":             {sent.Truncate(time.Second).Add(-time.Hour), 2 * time.Second, -3601},
		"an answer too slow": {sent.Truncate(time.Second), 5 * time.Second, none},
		"a clock set back":   {sent.Truncate(time.Second), -time.Second, none},
		"no date":            {time.Time{}, 0, none},
	} {
		got := hypervisor.ClockAhead(c.date, sent, sent.Add(c.took))
		if c.want == none && got != nil || c.want != none && (got == nil || *got != c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
