package pvesim

import "time"

// SetLatency changes what is added to every answer, on top of [Options.Latency].
func (c *Cluster) SetLatency(d time.Duration) { c.server.latency.Store(int64(max(d, 0))) }

// SetAuthDelay changes how late a 401 comes.
func (c *Cluster) SetAuthDelay(d time.Duration) {
	s := &c.server.settings
	s.mu.Lock()
	defer s.mu.Unlock()
	s.authDelay, s.authDelaySet = max(d, 0), true
}

// SetResourcesLag changes how old the figures in /cluster/resources may be;
// zero means always fresh.
func (c *Cluster) SetResourcesLag(d time.Duration) {
	s := &c.server.settings
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resourcesLag, s.resourcesLagSet = max(d, 0), true
}

// SetExitLag changes how long after its end a task's status still lacks its
// result: the real server writes the file that holds it a moment after the
// worker is gone.
func (c *Cluster) SetExitLag(d time.Duration) { c.server.exitLag.Store(int64(max(d, 0))) }

// SetUploadRoom sets how many bytes of a file go below /var/tmp, where each
// node keeps a file until it is copied to a storage; negative is any number.
func (c *Cluster) SetUploadRoom(bytes int64) { c.server.uploadRoom.Store(max(bytes, -1) + 1) }

// SetTaskDuration changes how long tasks run that start from now on; zero means
// that they are over at once.
func (c *Cluster) SetTaskDuration(d time.Duration) {
	s := &c.server.settings
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taskDuration, s.taskTimeSet = max(d, 0), true
}

// authDelay returns how long the answer to a wrong token is delayed.
func (c *Cluster) authDelay() time.Duration {
	s := &c.server.settings
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.authDelaySet {
		return s.authDelay
	}
	return c.opts.AuthDelay
}

// resourcesLag returns the age of the cluster's list.
func (c *Cluster) resourcesLag() time.Duration {
	s := &c.server.settings
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.resourcesLagSet {
		return s.resourcesLag
	}
	return c.opts.ResourcesLag
}

// taskDuration returns how long a task takes.
func (c *Cluster) taskDuration() time.Duration {
	s := &c.server.settings
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taskTimeSet {
		return s.taskDuration
	}
	return c.opts.TaskDuration
}
