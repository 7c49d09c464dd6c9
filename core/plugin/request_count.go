package plugin

import (
	"context"
	"slices"
	"sync"
	"time"

	sdk "github.com/hostler/hostler/sdk/plugin"
)

// SentRequests is the number of requests of a plugin to one address since the
// last question.
type SentRequests struct {
	// Plugin is the name of the driver or backend.
	Plugin string
	sdk.RequestCount
}

// takeTimeout limits the question to one plugin.
const takeTimeout = 2 * time.Second

// TakeRequests asks every running plugin for the requests that it has sent to
// hypervisors since the last question. The count of a process is lost when the
// process dies. A plugin that does not answer or does not count is left out.
func (m *Manager) TakeRequests(ctx context.Context) []SentRequests {
	m.mu.Lock()
	supervisors := make([]*supervisor, 0, len(m.supervisors))
	for _, s := range m.supervisors {
		supervisors = append(supervisors, s)
	}
	m.mu.Unlock()
	var mu sync.Mutex
	var all []SentRequests
	var asked sync.WaitGroup
	for _, s := range supervisors {
		p, _, _ := s.running()
		if p == nil {
			continue
		}
		asked.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, takeTimeout)
			defer cancel()
			counts, err := sdk.TakeRequests(ctx, p.conn)
			if err != nil {
				if sdk.KindOf(err) != sdk.Unsupported {
					s.logger.Debug("a plugin does not report its requests", "error", err)
				}
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for _, c := range counts {
				if c.Requests > 0 && c.Busy >= 0 {
					all = append(all, SentRequests{s.driver(), c})
				}
			}
		})
	}
	asked.Wait()
	return all
}

// driver returns the name by which hosts know the plugin: that of its
// hypervisor if it serves several kinds.
func (s *supervisor) driver() string {
	i := slices.IndexFunc(s.pins, func(p Pin) bool { return p.Kind == sdk.KindHypervisor })
	return s.pins[max(i, 0)].Name
}
