package poll

import "time"

// Age makes what is remembered of clusters' memberships older.
func (p *Poller) Age(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, last := range p.memberships {
		last.at = last.at.Add(-by)
		p.memberships[id] = last
	}
}
