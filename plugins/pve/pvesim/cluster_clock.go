package pvesim

import "time"

// clock is real time plus an offset, so that a test can let time pass. It is guarded by the cluster's mutex.
type clock struct {
	offset time.Duration
}

func (k *clock) now() time.Time { return time.Now().Add(k.offset) }

// Advance moves the cluster's clock forward: running tasks end, the broadcast behind /cluster/resources is renewed, tokens expire.
// A negative duration is taken as zero.
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
