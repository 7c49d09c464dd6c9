// Package pvesimtest starts the simulator inside a test.
package pvesimtest

import (
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

// Start builds a cluster, starts it on loopback and closes it when the test ends. What would make a test slow is off
// unless the options ask for it: failed authentication answers at once, tasks are over at once and /cluster/resources does not lag.
func Start(t testing.TB, opts pvesim.Options) *pvesim.Cluster {
	t.Helper()
	if opts.AuthDelay == 0 {
		opts.AuthDelay = -1
	}
	if opts.TaskDuration == 0 {
		opts.TaskDuration = -1
	}
	if opts.ResourcesLag == 0 {
		opts.ResourcesLag = -1
	}
	c, err := pvesim.New(opts)
	if err != nil {
		t.Fatalf("building simulator: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("closing simulator: %v", err)
		}
	})
	if _, err := c.Start("127.0.0.1:0"); err != nil {
		t.Fatalf("starting simulator: %v", err)
	}
	return c
}
