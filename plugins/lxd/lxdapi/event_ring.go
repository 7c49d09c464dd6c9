package lxdapi

import (
	"sync"
	"time"
)

// repeats is how many events back one is looked for that may be the same.
const repeats = 64

// EventRing keeps the last events that a Watch saw, and tells from when on none is missing. Its methods may be called at the
// same time.
type EventRing struct {
	mu       sync.Mutex
	events   []Event // the oldest is at next once it is full
	next     int
	complete time.Time
}

// NewEventRing makes a ring for so many events.
func NewEventRing(capacity int) *EventRing {
	return &EventRing{events: make([]Event, 0, max(capacity, 1))}
}

// Events gives what is kept, the oldest first, and the time of the server's clock from which on nothing is missing. It is zero
// while nobody listens.
func (r *EventRing) Events() (events []Event, complete time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	events = append(events, r.events[r.next:]...)
	return append(events, r.events[:r.next]...), r.complete
}

// listening notes that the server tells of everything from t on.
func (r *EventRing) listening(t time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.complete = t
}

// add keeps one more event, in the place of the oldest where there is no room. It is not kept twice.
func (r *EventRing) add(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := 1; i <= min(repeats, len(r.events)); i++ {
		if r.events[(r.next-i+len(r.events))%len(r.events)].same(e) {
			return
		}
	}
	if len(r.events) < cap(r.events) {
		r.events = append(r.events, e)
		return
	}
	if lost := r.events[r.next].Time; !r.complete.IsZero() && !lost.Before(r.complete) {
		r.complete = lost.Add(time.Nanosecond)
	}
	r.events[r.next] = e
	r.next = (r.next + 1) % len(r.events)
}
