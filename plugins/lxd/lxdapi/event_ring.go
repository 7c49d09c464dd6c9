package lxdapi

import "sync"

// EventRing keeps the last events that a Watch saw, and tells who follows it whether any is missing. Its methods may be called at
// the same time.
type EventRing struct {
	mu     sync.Mutex
	events []Event // the oldest is at next once it is full
	next   int
	// position counts the events and the ends of connections; what is before start is of an earlier connection.
	position, start uint64
	listens         bool
	changed         chan struct{} // nil while nobody waits
}

// NewEventRing makes a ring for so many events.
func NewEventRing(capacity int) *EventRing {
	return &EventRing{events: make([]Event, 0, max(capacity, 1))}
}

// Mark is the place behind the last event. listens is false while there is no connection: nothing can be followed then.
func (r *EventRing) Mark() (mark uint64, listens bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.position, r.listens
}

// Since gives the events after a mark, the oldest first, and the mark behind them. whole is false when some may be missing: the
// connection has ended since the mark, or they had to make room. Since(0) gives all that are kept.
func (r *EventRing) Since(mark uint64) (events []Event, next uint64, whole bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	wanted, kept := r.position-min(mark, r.position), uint64(len(r.events))
	for i := kept - min(wanted, kept); i < kept; i++ {
		events = append(events, r.events[(uint64(r.next)+i)%kept])
	}
	return events, r.position, r.listens && mark >= r.start && wanted <= kept
}

// Changed gives a channel that is closed at the next event, and when a connection begins or ends. Who waits for news gets the
// channel first and then looks.
func (r *EventRing) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return r.changed
}

// listen notes that a connection stands, or that none does any more.
func (r *EventRing) listen(stands bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listens == stands {
		return
	}
	if r.listens = stands; !stands {
		r.position++
		r.start = r.position
	}
	r.tell()
}

// add keeps one more event, in the place of the oldest where there is no room.
func (r *EventRing) add(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.position++
	if len(r.events) < cap(r.events) {
		r.events = append(r.events, e)
	} else {
		r.events[r.next] = e
		r.next = (r.next + 1) % len(r.events)
	}
	r.tell()
}

// tell wakes all waiters by closing the channel that they wait on. The caller
// holds the lock.
func (r *EventRing) tell() {
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}
