package pvesim

import (
	"errors"
	"fmt"
	"time"
)

// NetworkApply is how the next applies of a node's network go. The file is in
// force whatever becomes of them.
type NetworkApply struct {
	// Hangs lets the task run for ever.
	Hangs bool `json:"hangs"`
	// Cuts lets the node answer nobody from then on, whatever its file says.
	Cuts bool `json:"cuts"`
	// Fails is what the reload ends with; empty is success where the node can be reached.
	Fails string `json:"fails"`
}

// SetNetworkApply changes how the next applies of a node's network go.
func (c *Cluster) SetNetworkApply(name string, a NetworkApply) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodeByName(name)
	if n == nil {
		return fmt.Errorf("no node %q", name)
	}
	n.apply = a
	return nil
}

// Times of an apply.
const (
	// applyAnswer is how long the answer to an apply has to leave the node before it is cut off.
	applyAnswer = 100 * time.Millisecond
	// forEver is longer than any test lasts.
	forEver = 10000 * time.Hour
)

// applyNetwork starts the task that puts the staged file into force. A node
// whose address leads nowhere afterwards answers nobody, until somebody
// restores its network at the console; the task notices nothing of it.
func applyNetwork(r *request) (result, *apiError) {
	n, c := r.node, r.c
	return ok(c.startTask(n, r.who, "srvreload", "networking", &task{
		begin: func(t *task, now time.Time) (time.Duration, error) {
			if n.staged != nil {
				before := n.file
				n.before, n.file, n.staged = &before, *n.staged, nil
			}
			if n.apply.Cuts || !n.reachable() {
				t.say(now, "warning: %s: no way out", n.ip)
				time.AfterFunc(applyAnswer, func() { _, _ = c.AddFault(Fault{Kind: FaultRefuse, Match: Match{Node: n.name}}) })
			}
			if n.apply.Hangs {
				return forEver, nil
			}
			return c.taskDuration(), nil
		},
		finish: func(t *task, now time.Time) error {
			if n.apply.Fails == "" {
				return nil
			}
			t.say(now, "error: %s", n.apply.Fails)
			return errors.New("command 'ifreload -a' failed: exit code 1")
		},
	}))
}
