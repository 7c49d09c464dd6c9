package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/problem"
)

// Reader follows the feed. Its methods are for one goroutine.
type Reader struct {
	feed        *Feed
	sight       Filter
	key, digest string
	at          *link
	// first are messages that wait; missed is what happened since the reader's cursor.
	first  []Message
	missed *batch
	// sent is when the last message was given, and moved the cursor that the
	// reader was last told of.
	sent time.Time
}

// Join begins to follow the feed. last is the Message.ID of the last message
// that the reader processed; an empty one begins now. The first message is
// hello. It has the present cursor, unless missed changes follow. A reset after
// it means that the reader must load everything again; later messages continue
// from there. The caller closes the reader. The problem is
// database_unavailable.
func (f *Feed) Join(ctx context.Context, sight Filter, last string) (*Reader, error) {
	j := &joining{sight: sight, done: make(chan struct{})}
	if last != "" {
		if c, err := parseCursor(last); err == nil {
			j.cursor = &c
		} else {
			j.reset = ResetUnknown
		}
	}
	r := &Reader{feed: f, sight: sight, key: sight.key(), digest: sight.digest()}
	f.mu.Lock()
	if f.running.Err() != nil {
		f.mu.Unlock()
		return nil, problem.New(problem.CodeStopping, "the service is stopping")
	}
	f.count(sight, 1)
	f.joining = append(f.joining, j)
	f.start()
	f.mu.Unlock()
	f.rouse()
	select {
	case <-j.done:
	case <-ctx.Done():
		r.Close()
		return nil, fmt.Errorf("waiting for the feed: %w", context.Cause(ctx))
	}
	if j.err != nil {
		r.Close()
		return nil, j.err
	}
	r.at, r.missed = j.at, j.missed
	r.greet(j)
	return r, nil
}

// count adds to the number of readers. The caller holds the feed's lock.
func (f *Feed) count(sight Filter, n int) {
	f.readers += n
	if sight.Figures {
		f.figures += n
	}
	if sight.wants(Task) {
		f.tasks += n
	}
}

// greet makes the first messages.
func (r *Reader) greet(j *joining) {
	now := j.now.String()
	switch {
	case j.reset != "":
		r.first = append(r.first, resetMessage(now, j.reset))
	case j.missed == nil:
		r.first = append(r.first, r.hello(now, j.interval, false))
	default:
		missed := j.missed.message(r.sight, r.key, r.digest)
		hello := r.hello("", j.interval, true)
		if missed.Event == "" { // nothing that the reader is told
			hello.ID = now
			r.first = append(r.first, hello)
			return
		}
		r.first = append(r.first, hello, missed)
	}
}

// hello is a reader's first message: whether its cursor was taken up again, and
// how often hosts are polled, so that the page knows how old a figure may be.
func (r *Reader) hello(id string, interval int, resumed bool) Message {
	data, _ := json.Marshal(struct { // of what can be marshaled
		Version      string `json:"version"`
		Resumed      bool   `json:"resumed"`
		PollInterval int    `json:"poll_interval_s"`
	}{r.feed.Version, resumed, interval})
	return Message{ID: id, Event: "hello", Data: data}
}

// Next waits for the next message, at least a tenth of a second after the last
// one. Changes in between become one message with the last state of each
// object. The caller must not modify the data, because other readers have the
// same. The error is that of the context, or that the feed is closed.
func (r *Reader) Next(ctx context.Context) (Message, error) {
	if len(r.first) > 0 {
		m := r.first[0]
		r.first = r.first[1:]
		r.sent = time.Now()
		return m, nil
	}
	var batches []*batch
	for {
		select {
		case <-r.at.ready:
		case <-ctx.Done():
			return Message{}, fmt.Errorf("following the feed: %w", context.Cause(ctx))
		case <-r.feed.running.Done():
			return Message{}, problem.New(problem.CodeStopping, "the service is stopping")
		}
		if wait := gap - time.Since(r.sent); wait > 0 {
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return Message{}, fmt.Errorf("following the feed: %w", context.Cause(ctx))
			}
		}
		batches = r.take(batches[:0])
		m := Message{}
		if len(batches) == 1 {
			m = batches[0].message(r.sight, r.key, r.digest)
		} else {
			m = merge(batches).compose(r.sight, r.digest)
		}
		if m.Event == "" && time.Since(r.sent) < refresh-gap {
			continue // nothing for this reader; a cursor that is a little old is as good
		}
		r.sent = time.Now()
		return m, nil
	}
}

// take moves over all links that are ready.
func (r *Reader) take(batches []*batch) []*batch {
	for {
		select {
		case <-r.at.ready:
			batches = append(batches, r.at.batch)
			r.at = r.at.next
		default:
			return batches
		}
	}
}

// Close ends the reader. It is called once.
func (r *Reader) Close() {
	f := r.feed
	f.mu.Lock()
	f.count(r.sight, -1)
	f.mu.Unlock()
	f.rouse() // the last one ends the pump
}
