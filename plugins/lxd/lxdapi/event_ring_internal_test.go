package lxdapi

import (
	"strconv"
	"testing"
	"time"
)

// The ring keeps the last events in their order, and does not say that it has those that had to go.
func TestEventRing(t *testing.T) {
	t.Parallel()
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	ring := NewEventRing(3)
	if events, complete := ring.Events(); len(events) != 0 || !complete.IsZero() {
		t.Errorf("%+v, %v", events, complete)
	}
	ring.listening(at(2))
	for i := 1; i <= 4; i++ {
		ring.add(Event{Time: at(i), Action: strconv.Itoa(i)})
		ring.add(Event{Time: at(i), Action: strconv.Itoa(i)})
	}
	ring.add(Event{Time: at(2), Action: "2"})
	events, complete := ring.Events()
	if len(events) != 3 || events[0].Action != "2" || events[2].Action != "4" || !complete.Equal(at(2)) {
		t.Errorf("%+v, %v", events, complete)
	}
	ring.add(Event{Time: at(5), Action: "5"}) // the second one goes
	events, complete = ring.Events()
	if len(events) != 3 || events[0].Action != "3" || events[2].Action != "5" || !complete.Equal(at(2).Add(1)) {
		t.Errorf("%+v, %v", events, complete)
	}
	running := Event{Time: at(6), Operation: &Operation{ID: "a", StatusCode: 103}}
	ended := Event{Time: at(6), Operation: &Operation{ID: "a", StatusCode: 200}}
	for _, e := range []Event{running, ended, running} {
		ring.add(e)
	}
	if events, _ = ring.Events(); events[1].Operation.StatusCode != 103 || events[2].Operation.StatusCode != 200 {
		t.Errorf("%+v", events)
	}
	ring.listening(time.Time{})
	ring.add(Event{Time: at(9)})
	if _, complete = ring.Events(); !complete.IsZero() {
		t.Errorf("complete from %v on though nobody listens", complete)
	}
}
