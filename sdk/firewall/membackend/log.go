package membackend

import (
	"context"

	"github.com/hostler/hostler/sdk/firewall"
)

var _ firewall.LogReader = (*Firewall)(nil)

// AddLog appends lines to the log of a scope, and adds the scope. Log numbers
// the lines itself.
func (e *Endpoint) AddLog(scope firewall.Scope, lines ...firewall.LogLine) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.add(scope)
	s.log = append(s.log, lines...)
}

// Log implements firewall.LogReader. A line without an entry belongs to every
// period.
func (f *Firewall) Log(ctx context.Context, scope firewall.Scope, query firewall.LogQuery) (log firewall.Log, err error) {
	err = f.read(ctx, "Log", func(e *Endpoint) error {
		s, err := f.at(e, scope, "log")
		if err != nil {
			return err
		}
		if err := query.Check(); err != nil {
			return err
		}
		for _, line := range s.log {
			if entry := line.Entry; entry != nil && (!query.Since.IsZero() && entry.Time.Before(query.Since) ||
				!query.Until.IsZero() && entry.Time.After(query.Until)) {
				continue
			}
			log.Total++
			line.N = log.Total
			if log.Total > query.Start && len(log.Lines) < query.Lines() {
				log.Lines = append(log.Lines, line)
			}
		}
		return nil
	})
	return log, err
}
