package job

import (
	"strconv"
	"sync"

	"github.com/hostler/hostler/core/db"
)

// Channels of NOTIFY. The payload is the ID of a job. A notification only wakes
// listeners; the tables have the information.
const (
	channelEvents = "job_events" // a job has new events or another status
	channelSlots  = "job_slots"  // a slot may be free
	channelCancel = "job_cancel" // a job shall be canceled
)

// Hub notifies followers of a job that there is something new, whichever
// instance wrote it.
type Hub struct {
	mu      sync.Mutex
	byJob   map[int64]map[*Subscription]bool
	slots   chan struct{}
	cancels chan struct{} // holds one wake-up
}

// Subscription notifies one follower of one job.
type Subscription struct {
	// C receives a value when there may be new events since the last look.
	// Several events may cause one value, and a value may come without an
	// event, so the follower reads the table. A slow follower loses nothing and
	// delays nobody.
	C   <-chan struct{}
	c   chan struct{}
	hub *Hub
	id  int64
}

// newHub returns a hub without listeners.
func newHub() *Hub {
	return &Hub{byJob: map[int64]map[*Subscription]bool{}, slots: make(chan struct{}), cancels: make(chan struct{}, 1)}
}

// Subscribe follows a job. Subscribe first and read the table afterwards,
// otherwise an event in between is missed. The caller closes the subscription.
func (h *Hub) Subscribe(jobID int64) *Subscription {
	s := &Subscription{c: make(chan struct{}, 1), hub: h, id: jobID}
	s.C = s.c
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byJob[jobID] == nil {
		h.byJob[jobID] = map[*Subscription]bool{}
	}
	h.byJob[jobID][s] = true
	return s
}

// Close ends the subscription. It may be called more than once.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	delete(s.hub.byJob[s.id], s)
	if len(s.hub.byJob[s.id]) == 0 {
		delete(s.hub.byJob, s.id)
	}
}

// slotFreed returns a channel that is closed when a slot may have become free
// after the call.
func (h *Hub) slotFreed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.slots
}

// listen receives notifications until stop is called.
func (h *Hub) listen(l *db.Listener) (stop func()) {
	return l.Listen(db.Subscriber{Channels: []string{channelEvents, channelSlots, channelCancel}, OnNotify: h.dispatch,
		OnReconnect: h.wakeAll})
}

// dispatch wakes the listeners of a notification.
func (h *Hub) dispatch(channel, payload string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch channel {
	case channelEvents:
		if id, err := strconv.ParseInt(payload, 10, 64); err == nil {
			for s := range h.byJob[id] {
				wake(s.c)
			}
		}
	case channelSlots:
		close(h.slots)
		h.slots = make(chan struct{})
	case channelCancel:
		wake(h.cancels)
	}
}

// wakeAll wakes everybody after the connection for notifications was lost: any
// of them may have been missed.
func (h *Hub) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, subscriptions := range h.byJob {
		for s := range subscriptions {
			wake(s.c)
		}
	}
	close(h.slots)
	h.slots = make(chan struct{})
	wake(h.cancels)
}

// wake sends a value unless one is waiting already.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
