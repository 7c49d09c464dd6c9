package toyhv

import (
	"net/http"
	"regexp"
	"slices"
	"time"
)

// snapshot is a snapshot and the state that it keeps; the server's lock guards it.
type snapshot struct {
	Snapshot
	state string
}

// snapshotName is the form of a snapshot's name.
var snapshotName = regexp.MustCompile(`^[a-z][a-zA-Z0-9-]{0,62}$`)

func (s *Server) listSnapshots(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, err := s.find(r)
	if err != nil {
		return nil, err
	}
	list := make([]Snapshot, len(g.snapshots))
	for i, shot := range g.snapshots {
		list[i] = shot.Snapshot
	}
	return list, nil
}

func (s *Server) takeSnapshot(r *http.Request) (any, error) {
	name, note := r.URL.Query().Get("name"), r.URL.Query().Get("note")
	if !snapshotName.MatchString(name) {
		return nil, &refused{http.StatusBadRequest, Refusal{Error: "a snapshot's name begins with a letter", Field: "name"}}
	}
	return s.change(r, "snapshot", func(g *guest) (func(), error) {
		if g.snapshot(name) >= 0 {
			return nil, refuse(http.StatusConflict, "a snapshot with this name already exists")
		}
		g.snapshots = append(g.snapshots, snapshot{Snapshot{name, note, time.Now()}, g.State})
		return func() {}, nil
	})
}

func (s *Server) restoreSnapshot(r *http.Request) (any, error) {
	return s.change(r, "restore", func(g *guest) (func(), error) {
		i := g.snapshot(r.PathValue("snapshot"))
		if i < 0 {
			return nil, refuse(http.StatusNotFound, "no such snapshot")
		}
		state := "down" // no memory is kept
		if r.URL.Query().Get("start") != "" {
			state = "up"
		}
		return func() { g.State = state }, nil
	})
}

func (s *Server) deleteSnapshot(r *http.Request) (any, error) {
	return s.change(r, "forget", func(g *guest) (func(), error) {
		i := g.snapshot(r.PathValue("snapshot"))
		if i < 0 {
			return nil, refuse(http.StatusNotFound, "no such snapshot")
		}
		g.snapshots = slices.Delete(g.snapshots, i, i+1)
		return func() {}, nil
	})
}

// snapshot is the index of the snapshot of that name; -1 for none. It needs the lock.
func (g *guest) snapshot(name string) int {
	return slices.IndexFunc(g.snapshots, func(shot snapshot) bool { return shot.Name == name })
}
