package pvesim

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// frameReader is all that a client's frames carry, one after the other.
type frameReader struct {
	socket *consoleSocket
	left   []byte
}

// Read implements io.Reader over the payloads of frames.
func (f *frameReader) Read(p []byte) (int, error) {
	for len(f.left) == 0 {
		next, err := f.socket.next()
		if err != nil {
			return 0, err
		}
		f.left = next
	}
	n := copy(p, f.left)
	f.left = f.left[n:]
	return n, nil
}

// line reads to a line feed, which it takes off.
func (f *frameReader) line(limit int) (string, error) {
	return f.until('\n', limit)
}

// until reads up to a byte, at most limit bytes.
func (f *frameReader) until(end byte, limit int) (string, error) {
	var b strings.Builder
	for one := make([]byte, 1); b.Len() < limit; {
		if _, err := io.ReadFull(f, one); err != nil {
			return "", err
		}
		if one[0] == end {
			return b.String(), nil
		}
		b.WriteByte(one[0])
	}
	return "", errors.New("a message of the terminal has no end")
}

// number reads digits and the colon behind them.
func (f *frameReader) number() (int, error) {
	text, err := f.until(':', 8)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("a message of the terminal has the number %q", text)
	}
	return int(n), nil
}

// terminal parses the messages of a client of termproxy: "0:LENGTH:DATA" is
// typed text, "1:COLUMNS:ROWS:" is a new size, and "2" is a sign of life. It
// returns at the end of the connection or at the first message that breaks this
// protocol.
func (f *frameReader) terminal(typed io.Writer, resize func(columns, rows int), alive func()) error {
	for one := make([]byte, 2); ; {
		if _, err := io.ReadFull(f, one[:1]); err != nil {
			return err
		}
		if one[0] == '2' {
			alive()
			continue
		}
		if one[0] != '0' && one[0] != '1' {
			return fmt.Errorf("the terminal has no message %q", one[0])
		}
		if _, err := io.ReadFull(f, one[1:]); err != nil {
			return err
		}
		if one[1] != ':' {
			return errors.New("a message of the terminal has no colon")
		}
		first, err := f.number()
		if err != nil {
			return err
		}
		if one[0] == '0' {
			if _, err := io.CopyN(typed, f, int64(first)); err != nil {
				return err
			}
			continue
		}
		rows, err := f.number()
		if err != nil {
			return err
		}
		resize(first, rows)
	}
}

// frameWriter writes frames.
type frameWriter struct{ socket *consoleSocket }

// Write sends data as one binary frame.
func (f frameWriter) Write(p []byte) (int, error) {
	if err := f.socket.send(frameBinary, p); err != nil {
		return 0, err
	}
	return len(p), nil
}
