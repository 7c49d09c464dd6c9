package pvesim

import "time"

// clock is real time plus an offset, so that a test can let time pass. It is
// guarded by the cluster's mutex.
type clock struct {
	offset time.Duration
	// held is the real time at which the clock was stopped; zero while it runs.
	held time.Time
}

// now returns the time of the cluster.
func (k *clock) now() time.Time {
	if !k.held.IsZero() {
		return k.held.Add(k.offset)
	}
	return time.Now().Add(k.offset)
}

// StopClock stops the cluster's clock: from now on it moves by Advance only,
// however slow the machine is.
func (c *Cluster) StopClock() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock.held = time.Now()
}

// Advance moves the cluster's clock forward: running tasks end, the broadcast
// behind /cluster/resources is renewed, tokens expire. A negative duration is
// taken as zero.
func (c *Cluster) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock.offset += max(d, 0)
	c.settle()
}

// Now returns the cluster's time.
func (c *Cluster) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clock.now()
}
