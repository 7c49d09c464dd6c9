package lxdapi

import (
	"strconv"
	"strings"
	"testing"
)

// The ring keeps the last events in their order, and does not say that it has those that had to go.
func TestEventRing(t *testing.T) {
	t.Parallel()
	ring := NewEventRing(3)
	want := func(mark uint64, ids string, whole bool) {
		t.Helper()
		events, _, is := ring.Since(mark)
		var got []string
		for _, e := range events {
			got = append(got, e.Operation.ID)
		}
		if strings.Join(got, " ") != ids || is != whole {
			t.Errorf("since %d: %q, whole %v, want %q, %v", mark, got, is, ids, whole)
		}
	}
	add := func(numbers ...int) {
		for _, n := range numbers {
			ring.add(Event{Operation: Operation{ID: strconv.Itoa(n)}})
		}
	}
	want(0, "", false)
	if _, listens := ring.Mark(); listens {
		t.Error("listens before a connection stood")
	}
	ring.listen(true)
	want(0, "", true)
	add(1, 2)
	mark, listens := ring.Mark()
	if !listens {
		t.Error("does not listen")
	}
	want(0, "1 2", true)
	want(mark, "", true)
	add(3)
	want(mark, "3", true)
	add(4, 5) // the first two go
	want(0, "3 4 5", false)
	want(mark, "3 4 5", true)
	want(mark+100, "", true)
	add(6)
	want(mark, "4 5 6", false)

	// What came before the connection ended is kept, and nobody takes what comes after it for the next.
	mark, _ = ring.Mark()
	ring.listen(false)
	want(mark, "6", false)
	ring.listen(false) // a try that failed
	ring.listen(true)
	add(7)
	want(mark, "6 7", false)
	again, _ := ring.Mark()
	want(again, "", true)
	add(8)
	want(again, "8", true)
}

// Whoever waits for news hears of events and of the connection, and of each once.
func TestEventRingTells(t *testing.T) {
	t.Parallel()
	ring := NewEventRing(1)
	changed := ring.Changed()
	told := func(what string, want bool) {
		t.Helper()
		select {
		case <-changed:
			if !want {
				t.Error("told of ", what)
			}
			changed = ring.Changed()
		default:
			if want {
				t.Error("not told of ", what)
			}
		}
	}
	told("nothing", false)
	ring.listen(true)
	told("the connection", true)
	ring.listen(true)
	told("the same connection", false)
	if ring.Changed() != changed {
		t.Error("two that wait have two channels")
	}
	ring.add(Event{})
	told("an event", true)
	ring.add(Event{})
	told("a second event", true)
	ring.listen(false)
	told("the end of the connection", true)
	told("nothing more", false)
}
