package poll

import (
	"context"
	"time"
)

// Age makes what is remembered of clusters' memberships older.
func (p *Poller) Age(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, last := range p.memberships {
		last.at = last.at.Add(-by)
		p.memberships[id] = last
	}
}

// CycleOf runs a cycle of a cluster that was listed as due, whatever has become of it since.
func (p *Poller) CycleOf(ctx context.Context, cluster int64) error {
	return p.cycle(ctx, unit{cluster: cluster})
}
