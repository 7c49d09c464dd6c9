package toyhv

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// guest is a guest with its snapshots, the oldest first; the server's lock guards it.
type guest struct {
	Guest
	number    int // counts all guests that there ever were
	since     time.Time
	snapshots []snapshot
}

// Guests lists all guests in the order in which they were made.
func (s *Server) Guests() []Guest {
	s.mu.Lock()
	defer s.mu.Unlock()
	order := make([]*guest, 0, len(s.guests))
	for _, g := range s.guests {
		order = append(order, g)
	}
	slices.SortFunc(order, func(a, b *guest) int { return cmp.Compare(a.number, b.number) })
	all := make([]Guest, len(order))
	for i, g := range order {
		all[i] = g.present()
	}
	return all
}

// NewGuest makes a guest of a type in a state, locked by lock when that is not empty.
func (s *Server) NewGuest(kind, state, lock string) Guest {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	uuid := make([]byte, 16)
	_, _ = rand.Read(uuid) // never fails
	g := &guest{number: s.made, since: time.Now().Add(-time.Minute), Guest: Guest{
		Name: kind + "-" + strconv.Itoa(s.made), UUID: hex.EncodeToString(uuid), Type: kind, Node: Node, State: state, Lock: lock,
		Cores: 2, Memory: 2 << 30,
	}}
	s.guests[g.Name] = g
	return g.present()
}

// Rename gives a guest another name and reports whether it was there and the new name was free.
func (s *Server) Rename(name, other string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, taken := s.guests[name], s.guests[other]
	if g == nil || taken != nil {
		return false
	}
	delete(s.guests, name)
	g.Name = other
	s.guests[other] = g
	return true
}

// present is the guest as it is now. It needs the lock.
func (g *guest) present() Guest {
	now := g.Guest
	if g.State != "down" {
		used, seconds := int64(1<<30), time.Since(g.since).Seconds()/4
		now.Used, now.CPU = &used, &seconds
	}
	return now
}

func (s *Server) guest(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, err := s.find(r)
	if err != nil {
		return nil, err
	}
	answer := g.present()
	answer.Now = time.Now()
	return answer, nil
}

// find gives the guest of a request, and none when it is not the one that the request means. It needs the lock.
func (s *Server) find(r *http.Request) (*guest, error) {
	g, uuid := s.guests[r.PathValue("name")], r.URL.Query().Get("uuid")
	if g == nil || uuid != "" && uuid != g.UUID {
		return nil, refuse(http.StatusNotFound, "no such guest")
	}
	return g, nil
}
