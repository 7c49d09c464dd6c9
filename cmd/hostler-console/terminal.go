package main

import (
	"bytes"
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
)

// escape is Ctrl-], which begins what is meant for this program.
const escape = 0x1d

// terminal is the one that this program runs in, or the files that stand for it.
type terminal struct {
	in, out *os.File
	// typed says that in is a terminal; else it is a file or a pipe that ends.
	typed bool
	last  atomic.Int64 // time of the last output, in nanoseconds
}

func newTerminal(in, out *os.File) *terminal {
	return &terminal{in: in, out: out, typed: term.IsTerminal(int(in.Fd()))}
}

// size is that of the terminal, in bounds that the service takes.
func (t *terminal) size() (columns, rows int, ok bool) {
	columns, rows, err := term.GetSize(int(t.out.Fd()))
	return min(columns, 1000), min(rows, 1000), err == nil && columns > 0 && rows > 0
}

// show carries what is typed here to the console, and shows what it shows, until one side ends.
func (t *terminal) show(ctx context.Context, conn *websocket.Conn, silence time.Duration) error {
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
			return ending(err)
		}
		if kind == websocket.MessageText {
			var n struct{ Notice string }
			if json.Unmarshal(data, &n) != nil || n.Notice == "" {
				continue
			}
			data = []byte("[" + printable(n.Notice) + "]\r\n")
		}
		if _, err := t.out.Write(data); err != nil {
			return fmt.Errorf("showing the console: %w", err)
		}
		t.last.Store(time.Now().UnixNano())
	}
}

// send carries what is typed until its end.
func (t *terminal) send(ctx context.Context, conn *websocket.Conn, silence time.Duration) {
	keys := keyboard{plain: !t.typed}
	buffer := make([]byte, 16<<10)
	for {
		n, err := t.in.Read(buffer)
		typed, leave := keys.typed(buffer[:n])
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
func (t *terminal) await(ctx context.Context, silence time.Duration) {
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
func (t *terminal) followSize(ctx context.Context, conn *websocket.Conn) {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	defer signal.Stop(changed)
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
		if columns, rows, ok := t.size(); ok {
			if conn.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"resize":{"columns":%d,"rows":%d}}`, columns, rows)) != nil {
				return
			}
		}
	}
}

// keyboard takes out what is meant for this program: Ctrl-] and a point leave, Ctrl-] twice is one, and before anything else it is itself.
type keyboard struct {
	// plain passes everything on.
	plain   bool
	escaped bool
}

// typed gives what goes to the console, and whether to leave after it.
func (k *keyboard) typed(p []byte) (out []byte, leave bool) {
	if k.plain {
		return bytes.Clone(p), false
	}
	for _, b := range p {
		switch {
		case k.escaped && b == '.':
			return out, true
		case k.escaped && b == escape:
			k.escaped = false
			out = append(out, escape)
		case k.escaped:
			k.escaped = false
			out = append(out, escape, b)
		case b == escape:
			k.escaped = true
		default:
			out = append(out, b)
		}
	}
	return out, false
}
