package lxdapi

import "sync"

// EventRing keeps the last events that a Watch read, and tells its readers
// whether they missed any. It is safe for concurrent use.
//
// A reader takes a Mark, and then again and again calls Changed, reads with
// Since, and waits on the channel. Calling Changed first makes sure that no
// event is missed in between.
type EventRing struct {
	mu     sync.Mutex
	events []Event // the oldest is at next once it is full
	next   int
	// position counts the events and the ends of connections; what is before start is of an earlier connection.
	position, start uint64
	listens         bool
	changed         chan struct{} // nil while nobody waits
}

// NewEventRing returns a ring that keeps the given number of events.
func NewEventRing(capacity int) *EventRing {
	return &EventRing{events: make([]Event, 0, max(capacity, 1))}
}

// Mark returns the position after the last event. listens is false while no
// connection exists; then nothing can be followed.
func (r *EventRing) Mark() (mark uint64, listens bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.position, r.listens
}

// Since returns the events after a mark, oldest first, and the mark after them.
// whole is false if some may be missing: the connection broke since the mark,
// or events were dropped to make room. Since(0) returns all events that are
// kept.
func (r *EventRing) Since(mark uint64) (events []Event, next uint64, whole bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	wanted, kept := r.position-min(mark, r.position), uint64(len(r.events))
	for i := kept - min(wanted, kept); i < kept; i++ {
		events = append(events, r.events[(uint64(r.next)+i)%kept])
	}
	return events, r.position, r.listens && mark >= r.start && wanted <= kept
}

// Changed returns a channel that is closed at the next event, and when a
// connection begins or ends. Get the channel before looking at the events.
func (r *EventRing) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return r.changed
}

// listen records that a connection exists, or that none does. The end of a
// connection advances the position, so that older marks are no longer whole.
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

// add keeps an event and drops the oldest one if the ring is full.
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
