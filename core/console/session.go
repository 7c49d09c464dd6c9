package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/console/rfb"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/setting"
	"github.com/hostler/hostler/sdk/hypervisor"
)

const (
	// resizeLimit bounds sending a new size to a terminal, and admitLimit the
	// login of an RFB client.
	resizeLimit = 5 * time.Second
	admitLimit  = 30 * time.Second
	// endLimit is how long Serve waits for the reader to report why a console
	// ended, after writing to it failed.
	endLimit = time.Second
)

// Socket is the user's end of a console. Messages are binary, except Control
// and the notice of a recording. One goroutine reads while another one writes.
type Socket interface {
	// Read returns the next message. It returns io.EOF if the user has left.
	Read() (text bool, data []byte, err error)
	Write(text bool, data []byte) error
	// End closes the socket with a reason; nil for a console that has ended
	// normally. Only the first call has an effect.
	End(cause error)
}

// Control is a text message from the user.
type Control struct {
	Resize *Size `json:"resize"`
}

// Size is the size of a terminal, each 1 to 1000.
type Size struct {
	Columns int `json:"columns"`
	Rows    int `json:"rows"`
}

// Notice is the first text message if the output of the console is recorded.
type Notice struct {
	Recorded bool   `json:"recorded"`
	Notice   string `json:"notice"`
}

// Session is a console between its ticket and its end.
type Session struct {
	// Idle is how long the session may be silent in both directions before the
	// caller must end it.
	Idle time.Duration

	store    *Store
	target   Target
	order    Request
	link     *link
	password string
	recorded bool
	recorder *recorder
	// closing is set when the user's side ends. The errors of the console that
	// follow are expected and not reported.
	closing atomic.Bool
	in, out atomic.Int64
	// received is what an RFB client sent after its login in the same message;
	// Serve passes it on to the console.
	received []byte // what of a message was not read yet, of a graphical console
}

// Redeem uses a ticket for the console of the object that it names. If the
// console is not held here any more, it is opened again. find returns the
// object; it gets the node of a shell. Problems: ticket_invalid, and those of
// find and of Issue. The caller closes the session.
func (s *Store) Redeem(ctx context.Context, kind string, id int64, ticket string,
	find func(ctx context.Context, node string) (Target, error)) (_ *Session, err error) {
	r, err := s.redeem(ctx, kind, id, ticket)
	if err != nil {
		return nil, err
	}
	x := &Session{store: s, order: r.order, link: s.take(r.id)}
	defer func() {
		if err != nil {
			x.Close()
		}
	}()
	if x.target, err = find(ctx, r.node); err != nil {
		return nil, err
	}
	if x.link == nil {
		if x.link, err = s.dial(ctx, x.target, r.order); err != nil {
			return nil, err
		}
	}
	if x.Kind() == hypervisor.ConsoleGraphical {
		x.password = password(ticket)
	}
	if x.recorded, err = s.recorded(ctx, x.target, x.Kind()); err != nil {
		return nil, err
	}
	seconds, err := setting.Get(ctx, s.DB, setting.ConsoleIdle)
	if err != nil {
		return nil, err
	}
	x.Idle = time.Duration(seconds) * cmp.Or(s.IdleUnit, time.Second)
	audit.Describe(ctx, func(e *audit.Entry) {
		e.Detail("kind", string(x.Kind()))
		if x.recorded {
			e.Detail("recorded", true)
		}
	})
	return x, nil
}

// Kind returns what the console carries.
func (x *Session) Kind() hypervisor.ConsoleKind { return x.link.console.Kind() }

// Close ends the console if Serve has not done so.
func (x *Session) Close() {
	if x.link != nil {
		x.link.Close()
	}
}

// Serve copies between socket and console until one side ends, and describes
// the console in the audit entry of the context. Output that the user does not
// take is not read from the hypervisor: the sender waits, and no memory fills.
func (x *Session) Serve(ctx context.Context, socket Socket) (err error) {
	began := time.Now()
	defer func() {
		audit.Describe(ctx, func(e *audit.Entry) {
			e.Detail("seconds", int64(time.Since(began).Seconds()))
			e.Detail("bytes_in", x.in.Load())
			e.Detail("bytes_out", x.out.Load())
		})
	}()
	defer x.Close()
	stop := context.AfterFunc(ctx, x.leave)
	defer stop()
	if x.recorded {
		if err := x.record(ctx, socket); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, x.recorder.close()) }()
	}
	if x.Kind() == hypervisor.ConsoleGraphical {
		if err := x.admit(socket); err != nil {
			return err
		}
	}
	sent := make(chan error, 1)
	var watching sync.WaitGroup
	defer watching.Wait()
	watched, end := context.WithCancel(ctx)
	defer end()
	if x.target.Guest == nil {
		watching.Go(func() { x.store.watchShell(watched, x.target.HostID, socket.End) })
	}
	go func() {
		err := x.send(socket)
		if !x.closing.Load() {
			socket.End(err)
		}
		sent <- err
	}()
	err = x.receive(ctx, socket)
	if broken := (*brokenError)(nil); errors.As(err, &broken) {
		// Usually the console has just ended, and its reader reports why.
		select {
		case told := <-sent:
			return told
		case <-time.After(endLimit):
			err = plugin.Problem(broken.cause)
		}
	}
	x.leave()
	<-sent
	return err
}

// leave ends the console because its user has left, or must.
func (x *Session) leave() {
	x.closing.Store(true)
	x.link.Close()
}

// send copies the output of the console to the user. nil is the console's end.
func (x *Session) send(socket Socket) error {
	buffer := make([]byte, pieceSize)
	for {
		data, err := x.link.read(buffer)
		if len(data) > 0 {
			if x.recorder != nil {
				if err := x.recorder.output(data); err != nil {
					return err
				}
			}
			if err := socket.Write(false, data); err != nil {
				return err
			}
			x.out.Add(int64(len(data)))
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return plugin.Problem(err)
		}
	}
}

// brokenError is an error of a write to the console.
type brokenError struct{ cause error }

func (e *brokenError) Error() string { return "the console accepts no more input: " + e.cause.Error() }

// receive copies the user's input to the console. io.EOF means that the user
// has left.
func (x *Session) receive(ctx context.Context, socket Socket) error {
	if len(x.received) > 0 {
		if err := x.typed(x.received); err != nil {
			return err
		}
		x.received = nil
	}
	for {
		text, data, err := socket.Read()
		if err != nil {
			return err
		}
		if !text {
			if err := x.typed(data); err != nil {
				return err
			}
			continue
		}
		if err := x.control(ctx, data); err != nil {
			return err
		}
	}
}

// typed sends input to the console.
func (x *Session) typed(data []byte) error {
	if err := x.link.write(data); err != nil {
		return &brokenError{err}
	}
	x.in.Add(int64(len(data)))
	return nil
}

// mostSize is the largest number of columns and of rows of a terminal.
const mostSize = 1000

// control handles a text message.
func (x *Session) control(ctx context.Context, data []byte) error {
	var c Control
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&c)
	size := c.Resize
	if err != nil || decoder.More() || size == nil || size.Columns < 1 || size.Columns > mostSize || size.Rows < 1 || size.Rows > mostSize {
		return problem.New(problem.CodeMalformed,
			`a text message must be {"resize":{"columns":80,"rows":24}} with numbers from 1 to %d; send input as binary messages`,
			mostSize)
	}
	limited, cancel := context.WithTimeout(ctx, resizeLimit)
	defer cancel()
	if err := x.link.console.Resize(limited, size.Columns, size.Rows); err != nil {
		return &brokenError{err}
	}
	if x.recorder != nil {
		return x.recorder.resize(size.Columns, size.Rows)
	}
	return nil
}

// admit lets the user's RFB client log in with the password of the ticket.
func (x *Session) admit(socket Socket) error {
	late := time.AfterFunc(admitLimit, func() { socket.End(problem.New(problem.CodeTimeout, "the client did not log in to the console")) })
	defer late.Stop()
	err := rfb.Admit(&client{x, socket}, x.password)
	var wrong *rfb.ProtocolError
	switch {
	case errors.Is(err, rfb.ErrPassword):
		return problem.New(problem.CodeTicketInvalid, "the password does not match the ticket")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return io.EOF // it has left
	case errors.As(err, &wrong):
		return problem.New(problem.CodeMalformed, "the client violated the RFB protocol: %s", wrong.What)
	}
	return err
}

// client is the RFB client behind a socket as an io.ReadWriter. What it sends
// after the login stays in session.received.
type client struct {
	session *Session
	socket  Socket
}

func (c *client) Write(p []byte) (int, error) { return len(p), c.socket.Write(false, p) }

func (c *client) Read(p []byte) (int, error) {
	for len(c.session.received) == 0 {
		text, data, err := c.socket.Read()
		if err != nil {
			return 0, err
		}
		if text {
			return 0, problem.New(problem.CodeMalformed, "send RFB in binary messages")
		}
		c.session.received = data
	}
	n := copy(p, c.session.received)
	c.session.received = c.session.received[n:]
	return n, nil
}
