package hypervisor

import (
	"net"
	"sync"

	"github.com/hostler/hostler/sdk/plugin"
)

// Bounds of what is under way on a console's call, in bytes: of one message, and of all that the other side has not taken.
const (
	consoleChunk  = 32 << 10
	consoleWindow = 256 << 10
)

// consoleMessage is what either side sends, whichever it is.
type consoleMessage struct {
	data          []byte
	taken         int
	columns, rows int
}

// consoleFlow is one side's end of a console's call: data in both directions, each bounded by what the other side has taken, and the last
// size that was told. What is received waits here, so that the call's messages can always be received: an answer that nobody reads
// must not hold up the word that the reader goes on.
type consoleFlow struct {
	sending sync.Mutex // a stream takes one message at a time
	send    func(consoleMessage) error

	mu      sync.Mutex
	changed *sync.Cond
	// under is what was sent and is not taken, held what was received and not said to be taken, untold the part of it that is taken.
	under, held, untold int
	waiting             [][]byte
	columns, rows       int // as told and not looked at, zero for none
	ended               error
}

func newConsoleFlow(send func(consoleMessage) error) *consoleFlow {
	f := &consoleFlow{send: send}
	f.changed = sync.NewCond(&f.mu)
	return f
}

// tell sends one message.
func (f *consoleFlow) tell(m consoleMessage) error {
	f.sending.Lock()
	defer f.sending.Unlock()
	return f.send(m)
}

// accept takes in what the other side has sent; an error is that side's fault.
func (f *consoleFlow) accept(m consoleMessage) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.taken < 0 || m.taken > f.under || len(m.data) > consoleWindow-f.held {
		return plugin.Errorf(plugin.Protocol, "a console's messages exceed what was agreed")
	}
	f.under -= m.taken
	if len(m.data) > 0 {
		f.held += len(m.data)
		f.waiting = append(f.waiting, m.data)
	}
	if m.columns > 0 && m.rows > 0 {
		f.columns, f.rows = m.columns, m.rows
	}
	f.changed.Broadcast()
	return nil
}

// close ends the flow for this side's own reason: what was received is dropped.
func (f *consoleFlow) close() {
	f.end(net.ErrClosed)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting, f.ended = nil, net.ErrClosed
}

// end ends the flow for a reason; the first one counts. What was received can still be read.
func (f *consoleFlow) end(reason error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended == nil {
		f.ended = reason
	}
	f.changed.Broadcast()
}

// reason is why the flow has ended, nil while it goes on.
func (f *consoleFlow) reason() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

// next waits for data or a size, and gives either.
func (f *consoleFlow) next(p []byte) (n, columns, rows int, err error) {
	f.mu.Lock()
	for len(f.waiting) == 0 && f.columns == 0 && f.ended == nil {
		f.changed.Wait()
	}
	defer f.mu.Unlock()
	switch {
	case f.columns > 0:
		columns, rows = f.columns, f.rows
		f.columns, f.rows = 0, 0
		return 0, columns, rows, nil
	case len(f.waiting) == 0:
		return 0, 0, 0, f.ended
	}
	n = copy(p, f.waiting[0])
	if f.waiting[0] = f.waiting[0][n:]; len(f.waiting[0]) == 0 {
		f.waiting[0] = nil
		if f.waiting = f.waiting[1:]; len(f.waiting) == 0 {
			f.waiting = nil // the room of a burst is given back
		}
	}
	return n, 0, 0, nil
}

// took says that so much of the data is done with. It is told when it is worth a message.
func (f *consoleFlow) took(n int) error {
	f.mu.Lock()
	f.untold += n
	taken := f.untold
	if taken < consoleWindow/4 || f.ended != nil {
		f.mu.Unlock()
		return nil
	}
	f.untold, f.held = 0, f.held-taken
	f.mu.Unlock()
	return f.tell(consoleMessage{taken: taken})
}

// Write sends data as the other side takes it.
func (f *consoleFlow) Write(p []byte) (sent int, err error) {
	for sent < len(p) {
		f.mu.Lock()
		for f.under >= consoleWindow && f.ended == nil {
			f.changed.Wait()
		}
		if f.ended != nil {
			defer f.mu.Unlock()
			return sent, f.ended
		}
		n := min(len(p)-sent, consoleChunk, consoleWindow-f.under)
		f.under += n
		f.mu.Unlock()
		// A message may not be changed once it is sent.
		if err := f.tell(consoleMessage{data: append([]byte(nil), p[sent:sent+n]...)}); err != nil {
			return sent, err
		}
		sent += n
	}
	return sent, nil
}
