// Package terminal carries what is typed in a terminal to a console of the service, and shows there what the console shows.
package terminal

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/term"

	"github.com/hostler/hostler/client/output"
)

// Terminal is the one that a program runs in, or the files that stand for it.
type Terminal struct {
	in, out *os.File
	// typed says that in is a terminal; else it is a file or a pipe that ends.
	typed bool
	last  atomic.Int64 // time of the last output, in nanoseconds
	keys  KeyFilter
}

// New makes the terminal of two files. What is typed there goes through keys, unless it is piped in.
func New(in, out *os.File, keys KeyFilter) *Terminal {
	return &Terminal{in: in, out: out, typed: term.IsTerminal(int(in.Fd())), keys: keys}
}

// Size is that of the terminal, in bounds that the service takes.
func (t *Terminal) Size() (columns, rows int, ok bool) {
	columns, rows, err := term.GetSize(int(t.out.Fd()))
	return min(columns, 1000), min(rows, 1000), err == nil && columns > 0 && rows > 0
}

// Show carries what is typed here to the console, and shows what it shows, until one side ends. What is piped in ends once the console has
// shown nothing for so long as silence.
func (t *Terminal) Show(ctx context.Context, conn *websocket.Conn, silence time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if t.typed {
		before, err := term.MakeRaw(int(t.in.Fd()))
		if err != nil {
			return fmt.Errorf("changing the terminal: %w", err)
		}
		defer func() { _ = term.Restore(int(t.in.Fd()), before) }()
		go t.followSize(ctx, conn)
	}
	t.last.Store(time.Now().UnixNano())
	left := make(chan struct{})
	go func() {
		defer close(left)
		t.send(ctx, conn, silence)
		_ = conn.Close(websocket.StatusNormalClosure, "") // the reader below ends then
	}()
	for {
		kind, data, err := conn.Read(ctx)
		if err != nil {
			select {
			case <-left:
				return nil
			default:
			}
			if ctx.Err() != nil {
				return nil
			}
			return EndError(err)
		}
		if kind == websocket.MessageText {
			var n struct{ Notice string }
			if json.Unmarshal(data, &n) != nil || n.Notice == "" {
				continue
			}
			data = []byte("[" + output.CleanLine(n.Notice) + "]\r\n")
		}
		if _, err := t.out.Write(data); err != nil {
			return fmt.Errorf("showing the console: %w", err)
		}
		t.last.Store(time.Now().UnixNano())
	}
}

// send carries what is typed until its end.
func (t *Terminal) send(ctx context.Context, conn *websocket.Conn, silence time.Duration) {
	keys := t.keys
	if !t.typed {
		keys = plain{}
	}
	buffer := make([]byte, 16<<10)
	for {
		n, err := t.in.Read(buffer)
		typed, leave := keys.Filter(buffer[:n])
		if len(typed) > 0 && conn.Write(ctx, websocket.MessageBinary, typed) != nil || leave {
			return
		}
		if err == io.EOF && !t.typed {
			t.await(ctx, silence)
		}
		if err != nil {
			return
		}
	}
}

// await waits until the console has shown nothing for so long.
func (t *Terminal) await(ctx context.Context, silence time.Duration) {
	t.last.Store(time.Now().UnixNano())
	for {
		left := silence - time.Since(time.Unix(0, t.last.Load()))
		if left <= 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(left):
		}
	}
}

// followSize tells the console the terminal's size whenever it changes.
func (t *Terminal) followSize(ctx context.Context, conn *websocket.Conn) {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	defer signal.Stop(changed)
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
		if columns, rows, ok := t.Size(); ok {
			if conn.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"resize":{"columns":%d,"rows":%d}}`, columns, rows)) != nil {
				return
			}
		}
	}
}
