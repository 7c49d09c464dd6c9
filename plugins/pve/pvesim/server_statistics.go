package pvesim

import (
	"maps"
	"slices"
	"sync"
)

// Stats is what a cluster has been asked since the start or the last reset.
type Stats struct {
	// Requests counts by method and path template, for example "GET
	// /nodes/{node}/qemu". Paths outside the API count as "(unknown)".
	Requests map[string]int64 `json:"requests"`
	// Total is the sum of Requests.
	Total int64 `json:"total"`
	// BytesIn and BytesOut are body bytes.
	BytesIn  int64 `json:"bytes_in"`
	BytesOut int64 `json:"bytes_out"`
	// ConnectionsOpen is the present number of client connections,
	// ConnectionsTotal how many were accepted.
	ConnectionsOpen  int64 `json:"connections_open"`
	ConnectionsTotal int64 `json:"connections_total"`
	// Privileges are those that were looked for, sorted, by who asked:
	// "service@pve!lifecycle". Not all of them need be held: one of several may
	// do, and of a list what lacks one is left out.
	Privileges map[string][]string `json:"privileges"`
}

// statistics counts what the server does.
type statistics struct {
	mu sync.Mutex
	s  Stats
	// privileges are those of Stats.Privileges.
	privileges map[string]map[string]bool
}

// request counts a request when it arrives, so that whoever has its answer finds it counted.
func (s *statistics) request(key string, bytesIn int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.s.Requests[key]++
	s.s.Total++
	s.s.BytesIn += bytesIn
}

// answer counts a body before it is sent.
func (s *statistics) answer(bytesOut int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.s.BytesOut += int64(bytesOut)
}

// privilege keeps what was looked for.
func (s *statistics) privilege(who string, anyOf []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.privileges[who]
	if seen == nil {
		seen = map[string]bool{}
		s.privileges[who] = seen
	}
	for _, p := range anyOf {
		seen[p] = true
	}
}

// connection counts an opened or closed connection.
func (s *statistics) connection(delta int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.s.ConnectionsOpen += delta
	s.s.ConnectionsTotal += max(delta, 0)
}

// reset sets the counters to zero, except that of open connections.
func (s *statistics) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.s = Stats{Requests: map[string]int64{}, ConnectionsOpen: s.s.ConnectionsOpen}
	s.privileges = map[string]map[string]bool{}
}

// Stats returns the counters.
func (c *Cluster) Stats() Stats {
	c.stats.mu.Lock()
	defer c.stats.mu.Unlock()
	out := c.stats.s
	out.Requests = maps.Clone(out.Requests)
	out.Privileges = map[string][]string{}
	for who, seen := range c.stats.privileges {
		out.Privileges[who] = slices.Sorted(maps.Keys(seen))
	}
	return out
}

// ResetStats sets the counters to zero; open connections stay counted.
func (c *Cluster) ResetStats() { c.stats.reset() }
