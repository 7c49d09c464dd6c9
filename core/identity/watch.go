package identity

import (
	"strconv"
	"sync"

	"github.com/hostler/hostler/core/db"
)

// channelIdentity is announced by triggers whenever somebody's rights may have become less: the payload is the user's id.
const channelIdentity = "identity"

// watch wakes those who serve a user for long, whichever instance changed the user's rights.
type watch struct {
	begin sync.Once

	mu     sync.Mutex
	byUser map[int64]map[chan struct{}]bool
}

// Watch tells when the user's rights may have changed: a log-out, a revoked session or key, a new password, another role,
// a deactivation. woken holds one wake-up, however many came; one may also come for nothing, so look anew. A notification
// can be lost with the database: whoever serves for long looks now and then besides. The caller calls stop.
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
		s.db.Listener().Listen(db.Subscriber{Channels: []string{channelIdentity}, Heard: w.heard, Missed: w.wakeAll})
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

func (w *watch) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, waiting := range w.byUser {
		wake(waiting)
	}
}

// wake leaves a value for each, unless one waits there already.
func wake(waiting map[chan struct{}]bool) {
	for c := range waiting {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
