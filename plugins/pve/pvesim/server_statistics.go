package pvesim

import (
	"maps"
	"sync"
)

// Stats is what a cluster has been asked since the start or the last reset.
type Stats struct {
	// Requests counts by method and path template, for example "GET /nodes/{node}/qemu". Paths outside the API count as "(unknown)".
	Requests map[string]int64 `json:"requests"`
	// Total is the sum of Requests.
	Total int64 `json:"total"`
	// BytesIn and BytesOut are body bytes.
	BytesIn  int64 `json:"bytes_in"`
	BytesOut int64 `json:"bytes_out"`
	// ConnectionsOpen is the present number of client connections, ConnectionsTotal how many were accepted.
	ConnectionsOpen  int64 `json:"connections_open"`
	ConnectionsTotal int64 `json:"connections_total"`
}

type statistics struct {
	mu sync.Mutex
	s  Stats
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

func (s *statistics) connection(delta int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.s.ConnectionsOpen += delta
	s.s.ConnectionsTotal += max(delta, 0)
}

func (s *statistics) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.s = Stats{Requests: map[string]int64{}, ConnectionsOpen: s.s.ConnectionsOpen}
}

// Stats returns the counters.
func (c *Cluster) Stats() Stats {
	c.stats.mu.Lock()
	defer c.stats.mu.Unlock()
	out := c.stats.s
	out.Requests = maps.Clone(out.Requests)
	return out
}

// ResetStats sets the counters to zero; open connections stay counted.
func (c *Cluster) ResetStats() { c.stats.reset() }
