package poll

import (
	"sync/atomic"
	"time"
)

// Counters count the work of this instance's loop since its start.
type Counters struct {
	// Polls counts inventories asked for, those that failed included.
	Polls    int64
	Failures int64
	// Seconds is the time that they took in all, mostly waiting.
	Seconds float64
}

// counters count the polls of this instance.
type counters struct{ polls, failures, nanoseconds atomic.Int64 }

// done counts one poll.
func (c *counters) done(took time.Duration, ok bool) {
	c.polls.Add(1)
	c.nanoseconds.Add(int64(took))
	if !ok {
		c.failures.Add(1)
	}
}

// Counters returns the present values.
func (p *Poller) Counters() Counters {
	return Counters{
		Polls: p.count.polls.Load(), Failures: p.count.failures.Load(),
		Seconds: time.Duration(p.count.nanoseconds.Load()).Seconds(),
	}
}
