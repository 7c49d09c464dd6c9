package hypervisor

import (
	"net"
	"sync"

	"github.com/hostler/hostler/sdk/plugin"
)

// Limits of a console's call, in bytes: the size of one message, and the data that
// one side may send before the other side acknowledges it. The window keeps a slow
// reader from filling the memory of the service or of the plugin.
const (
	consoleChunk  = 32 << 10
	consoleWindow = 256 << 10
)

// consoleMessage is one message of a console's call in either direction. It carries
// data, an acknowledgement of data (taken, in bytes), or a terminal size.
type consoleMessage struct {
	data          []byte
	taken         int
	columns, rows int
}

// consoleFlow is one end of a console's call. It carries data in both directions,
// each limited by what the other side has acknowledged, and the latest terminal
// size.
//
// Received data waits in the flow, so that the goroutine that receives messages
// never blocks: an answer that nobody reads must not hold up the acknowledgements
// behind it.
//
// The mutex mu protects all fields below it. The mutex sending is separate, because
// a send may block while the other side is slow, and accept must go on then.
type consoleFlow struct {
	sending sync.Mutex // a stream takes one message at a time
	send    func(consoleMessage) error

	mu      sync.Mutex
	changed *sync.Cond
	// under counts bytes sent and not acknowledged by the other side. held counts
	// bytes received and not acknowledged. untold is the part of held that the
	// reader has consumed.
	under, held, unacknowledged int
	waiting                     [][]byte
	columns, rows               int // as told and not looked at, zero for none
	ended                       error
}

// newConsoleFlow returns a flow that sends its messages with send. The caller
// passes received messages to accept and calls end when the call ends.
func newConsoleFlow(send func(consoleMessage) error) *consoleFlow {
	f := &consoleFlow{send: send}
	f.changed = sync.NewCond(&f.mu)
	return f
}

// sendMessage sends one message. A gRPC stream allows only one sender at a time.
func (f *consoleFlow) sendMessage(m consoleMessage) error {
	f.sending.Lock()
	defer f.sending.Unlock()
	return f.send(m)
}

// accept takes a message from the other side. An error means that the other side
// broke the protocol: it acknowledged more than was sent, or exceeded the window.
// The caller then ends the call.
func (f *consoleFlow) accept(m consoleMessage) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.taken < 0 || m.taken > f.under || len(m.data) > consoleWindow-f.held {
		return plugin.Errorf(plugin.Protocol, "the messages of a console exceed the agreed window")
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

// close ends the flow on behalf of this side. Received data is dropped, and a
// waiting reader or writer gets net.ErrClosed.
func (f *consoleFlow) close() {
	f.end(net.ErrClosed)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting, f.ended = nil, net.ErrClosed
}

// end ends the flow with a reason. The first reason wins. Data that was received
// before can still be read.
func (f *consoleFlow) end(reason error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended == nil {
		f.ended = reason
	}
	f.changed.Broadcast()
}

// reason returns why the flow has ended, or nil while it is open.
func (f *consoleFlow) reason() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

// next waits for data or a terminal size and returns one of them. A size takes
// precedence over data that was received before it: only the latest size matters.
// The error is the reason of the end, once all data is read.
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

// acknowledge records that the reader has consumed n bytes. It acknowledges them once they
// are a quarter of the window: one message for each keystroke would double the
// traffic.
func (f *consoleFlow) acknowledge(n int) error {
	f.mu.Lock()
	f.unacknowledged += n
	taken := f.unacknowledged
	if taken < consoleWindow/4 || f.ended != nil {
		f.mu.Unlock()
		return nil
	}
	f.unacknowledged, f.held = 0, f.held-taken
	f.mu.Unlock()
	return f.sendMessage(consoleMessage{taken: taken})
}

// Write sends data in chunks and waits while the window is full. It implements
// io.Writer.
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
		// The data is copied: gRPC may still read the message after the send, and
		// the caller of Write may reuse its slice.
		if err := f.sendMessage(consoleMessage{data: append([]byte(nil), p[sent:sent+n]...)}); err != nil {
			return sent, err
		}
		sent += n
	}
	return sent, nil
}
