package feed

import (
	"strconv"
	"sync"
)

// Reasons of a reset.
const (
	// ResetUnknown is a cursor that is none of this database's.
	ResetUnknown = "unknown"
	// ResetExpired is a cursor from before the short history begins.
	ResetExpired = "expired"
	// ResetRights is another sight: what the reader may see, or has asked for, is not what it was.
	ResetRights = "rights"
	// ResetTooMany is more change than is told one by one.
	ResetTooMany = "many"
)

// batch is one part of the history, for all readers.
type batch struct {
	origin string
	// at is the position after it.
	at     position
	items  []*item
	scopes []scopeChange
	// reset is set when nothing but loading anew helps.
	reset string

	mu sync.Mutex
	// made are the messages by sight.
	made map[string]Message
}

// Message is one event for a reader.
type Message struct {
	// ID is what the reader comes back with, as Last-Event-ID. Empty leaves it at the one before.
	ID string
	// Event is hello, changes or reset; empty with an ID moves on the reader's
	// cursor and says nothing.
	Event string
	// Data is JSON.
	Data []byte
}

// message returns the message for the readers of one sight. If there is nothing
// for them, it is empty and has an ID.
func (b *batch) message(s Filter, key, digest string) Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m, made := b.made[key]; made {
		return m
	}
	m := b.compose(s, digest)
	if b.made == nil {
		b.made = map[string]Message{}
	}
	b.made[key] = m
	return m
}

// compose makes the message for one sight. A reader whose rights a move of a
// host changes loads anew: the feed tells changes, and what became visible or
// invisible with the host is none.
func (b *batch) compose(s Filter, digest string) Message {
	id := cursor{b.origin, digest, b.at}.String()
	reason := b.reset
	for _, c := range b.scopes {
		if reason == "" && s.sees(c.from) != s.sees(c.to) {
			reason = ResetRights
		}
	}
	if reason != "" {
		return resetMessage(id, reason)
	}
	data := []byte(`{"changes":[`)
	empty := len(data)
	for _, i := range b.items {
		before := len(data)
		data = i.appendTo(data, s)
		if before == empty && len(data) > before { // no comma before the first
			data = append(data[:empty], data[empty+1:]...)
		}
	}
	if len(data) == empty {
		return Message{ID: id}
	}
	return Message{ID: id, Event: "changes", Data: append(data, "]}"...)}
}

// resetMessage tells a reader to load everything anew, and why.
func resetMessage(id, reason string) Message {
	return Message{ID: id, Event: "reset", Data: []byte(`{"reason":` + strconv.Quote(reason) + `}`)}
}

// merge joins several batches. The last state of each object takes the place of
// its first.
func merge(batches []*batch) *batch {
	if len(batches) == 1 {
		return batches[0]
	}
	last := batches[len(batches)-1]
	m := &batch{origin: last.origin, at: last.at}
	at := map[key]int{}
	for _, b := range batches {
		if b.reset != "" {
			m.reset = b.reset
		}
		m.scopes = append(m.scopes, b.scopes...)
		for _, i := range b.items {
			if n, known := at[i.key]; known {
				m.items[n] = i.after(m.items[n])
				continue
			}
			at[i.key] = len(m.items)
			m.items = append(m.items, i)
		}
	}
	return m
}
