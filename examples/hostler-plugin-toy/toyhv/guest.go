package toyhv

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Guests lists all guests by id.
func (s *Server) Guests() []Guest {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Guest, 0, len(s.guests))
	for _, g := range s.guests {
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b Guest) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// NewGuest makes a guest of a type in a state, locked by lock when that is not empty.
func (s *Server) NewGuest(kind, state, lock string) Guest {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextID++
	g := &Guest{
		ID: s.nextID, Type: kind, Node: Node, Name: kind + "-" + strconv.FormatInt(s.nextID, 10), State: state, Lock: lock,
		Cores: 2, Memory: 2 << 30,
	}
	s.guests[g.ID] = g
	return *g
}

func (s *Server) guest(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, err := s.find(r)
	if err != nil {
		return nil, err
	}
	answer := *g
	answer.Now = time.Now()
	return answer, nil
}

// find needs the lock.
func (s *Server) find(r *http.Request) (*Guest, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	g := s.guests[id]
	if err != nil || g == nil {
		return nil, refuse(http.StatusNotFound, "no such guest")
	}
	return g, nil
}
