package job

import (
	"strconv"
	"sync"

	"github.com/hostler/hostler/core/db"
)

// Channels of NOTIFY. The payload is a job's id; it only wakes, the tables are the truth.
const (
	channelEvents = "job_events" // a job has new events or another status
	channelSlots  = "job_slots"  // a slot may be free
	channelCancel = "job_cancel" // a job shall be canceled
)

// Hub tells those who follow a job that there is something new, whichever instance wrote it.
type Hub struct {
	mu      sync.Mutex
	byJob   map[int64]map[*Subscription]bool
	slots   chan struct{}
	cancels chan struct{} // holds one wake-up
}

// Subscription wakes one follower of one job.
type Subscription struct {
	// C holds a value when there may be new events since the last look. Many events may be one value, and a value may
	// come without an event: look into the table. A follower that is slow loses nothing and holds up nobody.
	C   <-chan struct{}
	c   chan struct{}
	hub *Hub
	id  int64
}

func newHub() *Hub {
	return &Hub{byJob: map[int64]map[*Subscription]bool{}, slots: make(chan struct{}), cancels: make(chan struct{}, 1)}
}

// Subscribe follows a job. Subscribe first and read the table then, or an event between the two is missed. The caller
// closes the subscription.
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

// Close ends the subscription; it may be called more than once.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	delete(s.hub.byJob[s.id], s)
	if len(s.hub.byJob[s.id]) == 0 {
		delete(s.hub.byJob, s.id)
	}
}

// slotFreed is closed when a slot may have become free after the call.
func (h *Hub) slotFreed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.slots
}

// listen hears until stop is called.
func (h *Hub) listen(l *db.Listener) (stop func()) {
	return l.Listen(db.Subscriber{Channels: []string{channelEvents, channelSlots, channelCancel}, Heard: h.dispatch, Missed: h.wakeAll})
}

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

// wakeAll makes good what was said while nobody listened.
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

// wake leaves a value for a receiver, unless one waits there already.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
