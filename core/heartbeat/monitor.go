// Package heartbeat tells a loop that turns from one that is stuck. The loop says at each turn when it will come round again; who
// watches asks how long it is overdue.
package heartbeat

import (
	"sync/atomic"
	"time"
)

// Pulse is one loop's sign of life. A nil one takes beats and is never late, so that a loop may be left unwatched. The zero
// value is not late until its first beat is. Beat and Late may be called at the same time.
type Monitor struct {
	// due is when the next beat must come, by the monotonic clock, for the machine's clock may be set; nil before the first.
	due atomic.Pointer[time.Time]
}

// Beat says that the loop is at its turn and comes round within next.
func (p *Monitor) Beat(next time.Duration) {
	if p != nil {
		p.due.Store(new(time.Now().Add(next)))
	}
}

// Begun reports whether there was a beat.
func (p *Monitor) Begun() bool { return p != nil && p.due.Load() != nil }

// Late is for how long the next beat has been due; zero when it is not.
func (p *Monitor) Late() time.Duration {
	if p == nil {
		return 0
	}
	due := p.due.Load()
	if due == nil {
		return 0
	}
	return max(0, time.Since(*due))
}
