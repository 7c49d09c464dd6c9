package pve

import (
	"time"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/plugins/pve/pvessh"
)

// Timing holds the times of the driver. Zero values stand for the defaults.
type Timing struct {
	// Timeouts are those of one request.
	Timeouts pveapi.Timeouts
	// PollFirst and PollMost bound the wait between two looks at a running task.
	PollFirst time.Duration
	PollMost  time.Duration
	// Silence is how long a task is followed without any answer before the host
	// counts as unreachable. It must outlast the restart of pveproxy after an
	// update and the reload of a network.
	Silence time.Duration
	// ConsoleAlive is how often a terminal gets a sign of life.
	ConsoleAlive time.Duration
	// ConsoleFirst is how long the opening of a terminal waits for what comes
	// first. What cannot be shown says so within two seconds.
	ConsoleFirst time.Duration
	// SSH are the waits of a login to a node.
	SSH pvessh.Timeouts
}

// orDefault replaces zero values.
func (p Timing) orDefault() Timing {
	if p.PollFirst == 0 {
		p.PollFirst = 150 * time.Millisecond
	}
	if p.PollMost == 0 {
		p.PollMost = 2 * time.Second
	}
	if p.Silence == 0 {
		p.Silence = 2 * time.Minute
	}
	if p.ConsoleAlive == 0 {
		p.ConsoleAlive = 30 * time.Second
	}
	if p.ConsoleFirst == 0 {
		p.ConsoleFirst = 3 * time.Second
	}
	return p
}

// slower returns the next wait for a task that was followed for that long. It
// is at most a twentieth of that time, between PollMost and five times
// PollMost: the longer a task runs, the less a late notice of its end matters.
func (p Timing) slower(d, followed time.Duration) time.Duration {
	return min(d*3/2, max(p.PollMost, min(followed/20, 5*p.PollMost)))
}
