package pve

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// consoleFrame is the largest input in one frame to Proxmox VE, in bytes: half
// of what its proxy accepts.
const consoleFrame = 64 << 10

// consoleRead is the size of one read, in bytes.
const consoleRead = 32 << 10

// console is an open console over a WebSocket. Reads and writes may happen at
// the same time; Close ends both.
type console struct {
	socket   *websocket.Conn
	kind     hypervisor.ConsoleKind
	password string
	// open ends with Close.
	open  context.Context
	close context.CancelFunc
	// lost is why the node does not answer any more, nil where it does. It is
	// asked once the console is whole, and has ended without a word.
	lost  func() error
	whole atomic.Bool

	// head is what came while the console was opened and was not read, and
	// coming what comes next, where somebody reads it already.
	head    []byte
	coming  chan arrival
	message io.Reader // the frame that is being read

	typing sync.Mutex // of frames, each in one piece
	mu     sync.Mutex
	ended  error
}

// arrival is the result of one read.
type arrival struct {
	data []byte
	err  error
}

// newConsole returns a console over a WebSocket. The function lost explains an
// end that the peer did not announce.
func newConsole(socket *websocket.Conn, kind hypervisor.ConsoleKind, lost func() error) *console {
	c := &console{socket: socket, kind: kind, lost: lost}
	c.open, c.close = context.WithCancel(context.Background())
	return c
}

// Kind implements hypervisor.Console.
func (c *console) Kind() hypervisor.ConsoleKind { return c.kind }

// Password implements hypervisor.Console.
func (c *console) Password() string { return c.password }

// Read implements hypervisor.Console.
func (c *console) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(c.head) == 0 && c.coming != nil {
		got := <-c.coming
		c.coming, c.head = nil, got.data
		if len(c.head) == 0 && got.err != nil {
			return 0, c.why(got.err)
		}
	}
	if len(c.head) > 0 {
		n := copy(p, c.head)
		if c.head = c.head[n:]; len(c.head) == 0 {
			c.head = nil
		}
		return n, nil
	}
	return c.receive(p)
}

// receive reads what Proxmox VE sends. The borders of frames have no meaning.
func (c *console) receive(p []byte) (int, error) {
	for {
		if c.message == nil {
			_, message, err := c.socket.Reader(c.open)
			if err != nil {
				return 0, c.why(err)
			}
			c.message = message
		}
		n, err := c.message.Read(p)
		if errors.Is(err, io.EOF) { // of the frame: that of the connection is another
			c.message, err = nil, nil
		}
		if n > 0 {
			return n, nil
		}
		if err != nil {
			return 0, c.why(err)
		}
	}
}

// await returns the first data, or nothing after the time. Data that come later
// are read by the next Read.
func (c *console) await(ctx context.Context, wait time.Duration) (got arrival, came bool) {
	if c.coming == nil {
		coming := make(chan arrival, 1)
		c.coming = coming
		go func() {
			p := make([]byte, consoleRead)
			n, err := c.receive(p)
			coming <- arrival{p[:n], err}
		}()
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case got = <-c.coming:
		c.coming = nil
		return got, true
	case <-timer.C:
	case <-ctx.Done():
	}
	return arrival{}, false
}

// Write implements hypervisor.Console.
func (c *console) Write(p []byte) (int, error) {
	sent := 0
	for sent < len(p) {
		part := p[sent:min(len(p), sent+consoleFrame)]
		frame := part
		if c.kind == hypervisor.ConsoleTerminal {
			frame = append(append(strconv.AppendInt([]byte("0:"), int64(len(part)), 10), ':'), part...)
		}
		if err := c.send(frame); err != nil {
			return sent, err
		}
		sent += len(part)
	}
	return sent, nil
}

// send sends one frame.
func (c *console) send(frame []byte) error {
	c.typing.Lock()
	defer c.typing.Unlock()
	return c.why(c.socket.Write(c.open, websocket.MessageBinary, frame))
}

// Resize implements hypervisor.Console.
func (c *console) Resize(ctx context.Context, columns, rows int) error {
	if err := errors.Join(ctx.Err(), hypervisor.CheckConsoleSize(columns, rows)); err != nil {
		return err
	}
	if c.kind != hypervisor.ConsoleTerminal {
		return c.reason()
	}
	return c.send([]byte("1:" + strconv.Itoa(columns) + ":" + strconv.Itoa(rows) + ":"))
}

// keepAlive sends a message of the terminal protocol from time to time, so that
// no proxy on the way takes a silent connection for a dead one.
func (c *console) keepAlive(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-c.open.Done():
			return
		case <-tick.C:
			if c.send([]byte("2")) != nil {
				return
			}
		}
	}
}

// why returns the reason of the console's end for an error. The first reason is
// kept: later errors follow from it.
func (c *console) why(err error) error {
	if err == nil {
		return nil
	}
	ended := c.reason()
	if ended == nil {
		ended = c.end(err)
		c.mu.Lock()
		if c.ended == nil {
			c.ended = ended
		}
		ended = c.ended
		c.mu.Unlock()
	}
	c.release()
	return ended
}

// end translates an error into the console's end. Proxmox VE closes the
// connection without a close frame when the program ends, and so does a program
// that was killed.
func (c *console) end(err error) error {
	var farewell websocket.CloseError
	switch {
	case errors.As(err, &farewell):
		return io.EOF
	case !errors.Is(err, io.EOF):
		return endpoint.NetworkError(context.Background(), err)
	}
	if c.whole.Load() {
		if lost := c.lost(); lost != nil {
			return lost
		}
	}
	return io.EOF
}

// reason returns why the console has ended, nil while it is open.
func (c *console) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// release closes the connection.
func (c *console) release() {
	c.close()
	_ = c.socket.CloseNow()
}

// Close implements hypervisor.Console.
func (c *console) Close() error {
	c.mu.Lock()
	if c.ended == nil {
		c.ended = net.ErrClosed
	}
	c.mu.Unlock()
	c.release()
	return nil
}

// consolePort is the answer of the calls that open a port for a console.
type consolePort struct {
	User     pveapi.Text `json:"user"`
	Ticket   pveapi.Text `json:"ticket"`
	Port     pveapi.Text `json:"port"`
	Password pveapi.Text `json:"password"`
	Task     pveapi.Text `json:"upid"`
}
