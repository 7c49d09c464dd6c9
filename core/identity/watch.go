package identity

import (
	"strconv"
	"sync"

	"github.com/hostler/hostler/core/db"
)

// channelIdentity is the channel on which triggers announce that the rights of
// a user may have become less. The payload is the user's id.
const channelIdentity = "identity"

// watch wakes the handlers that serve a user for a long time, on every
// instance.
type watch struct {
	begin sync.Once

	mu     sync.Mutex
	byUser map[int64]map[chan struct{}]bool
}

// Watch returns a channel that receives a value when the rights of a user may
// have changed: after a log-out, a revoked session or key, a new password,
// another role, a deactivation. The channel holds one value, however many
// changes there were, and a value may come without a change; the receiver reads
// the rights again. A notification can be lost with the connection to the
// database, so that handlers must also check from time to time. The caller
// calls stop.
func (s *Store) Watch(userID int64) (woken <-chan struct{}, stop func()) {
	w := &s.watch
	c := make(chan struct{}, 1)
	w.mu.Lock()
	if w.byUser == nil {
		w.byUser = map[int64]map[chan struct{}]bool{}
	}
	if w.byUser[userID] == nil {
		w.byUser[userID] = map[chan struct{}]bool{}
	}
	w.byUser[userID][c] = true
	w.mu.Unlock()
	w.begin.Do(func() {
		s.db.Listener().Listen(db.Subscriber{Channels: []string{channelIdentity}, OnNotify: w.heard, OnReconnect: w.wakeAll})
	})
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.byUser[userID], c)
		if len(w.byUser[userID]) == 0 {
			delete(w.byUser, userID)
		}
	}
}

// heard wakes the handlers of one user. A payload that is no id wakes all: a
// missed change would be worse than a needless check.
func (w *watch) heard(_, payload string) {
	id, err := strconv.ParseInt(payload, 10, 64)
	if err != nil {
		w.wakeAll()
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	wake(w.byUser[id])
}

// wakeAll wakes all handlers, after notifications may have been lost.
func (w *watch) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, waiting := range w.byUser {
		wake(waiting)
	}
}

// wake puts a value into each channel that has none.
func wake(waiting map[chan struct{}]bool) {
	for c := range waiting {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
