package pveapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// These bound the buffer of a list that is read row by row.
const (
	rowBuffer = 32 << 10 // first size of the buffer
	minFill   = 2 << 10  // bytes to wait for before looking again
	maxRow    = 1 << 20  // a row, or a member beside the rows, may be this large
)

// RowDecoder takes the fields of one row.
type RowDecoder interface {
	// Reset starts a row. It may be called again for the same row when the row
	// was not complete in memory.
	Reset()
	// Field takes one member. Name and value point into a buffer and must not
	// be kept beyond the row.
	Field(name []byte, value Scalar)
}

// Rows reads an answer whose `data` is an array of objects as a stream: the
// memory does not grow with the number of rows. It also reads `data: {"data":
// [...]}`, and treats `data: null` as an empty list.
type Rows struct {
	src      io.Reader
	buf      []byte
	off, end int
	depth    int // objects that the array stands in
	state    int
	ended    error // io.EOF or what broke the source
}

// These are the places in an answer: before the list, at its first row, at
// another row, and behind it.
const (
	rowsBefore = iota
	rowsFirst
	rowsInside
	rowsAfter
)

// NewRows returns a reader for src. The caller closes whatever is behind src.
func NewRows(src io.Reader) *Rows {
	return &Rows{src: src, buf: make([]byte, rowBuffer)}
}

// Next reads the next row into d. It returns false after the last one, if the
// rest of the answer is complete.
func (r *Rows) Next(d RowDecoder) (bool, error) {
	if r.state == rowsBefore {
		if err := r.open(); err != nil {
			return false, err
		}
	}
	if r.state == rowsAfter {
		return false, nil
	}
	for {
		l := lexer{b: r.buf[r.off:r.end]}
		more, err := r.row(&l, d)
		switch {
		case err == nil && more:
			r.off += l.i
			r.state = rowsInside
			return true, nil
		case err == nil:
			r.off += l.i
			return false, r.close()
		case !errors.Is(err, errShort):
			return false, err
		}
		if err := r.fill(); err != nil {
			return false, err
		}
	}
}

// row reads the separator between two rows and the row.
func (r *Rows) row(l *lexer, d RowDecoder) (more bool, err error) {
	c, err := l.peek()
	if err != nil {
		return false, err
	}
	if c == ']' {
		l.i++
		return false, nil
	}
	if r.state == rowsInside {
		if err := l.take(','); err != nil {
			return false, err
		}
		if c, err = l.peek(); err != nil {
			return false, err
		}
	}
	d.Reset()
	if c == 'n' {
		return true, l.word("null")
	}
	return true, object(l, d)
}

// object reads one object field by field.
func object(l *lexer, d RowDecoder) error {
	if err := l.take('{'); err != nil {
		return err
	}
	c, err := l.peek()
	if err != nil {
		return err
	}
	if c == '}' {
		l.i++
		return nil
	}
	for {
		name, escaped, err := l.text()
		if err != nil {
			return err
		}
		if escaped {
			name = []byte(unescape(name))
		}
		if err := l.take(':'); err != nil {
			return err
		}
		value, err := l.value()
		if err != nil {
			return err
		}
		d.Field(name, value)
		if c, err = l.peek(); err != nil {
			return err
		}
		l.i++
		if c == '}' {
			return nil
		}
		if c != ',' {
			return errSyntax
		}
	}
}

// open reads up to the first row.
func (r *Rows) open() error {
	for {
		var c byte
		err := r.step(func(l *lexer) (err error) { c, err = l.peek(); return err })
		if err != nil {
			return err
		}
		switch c {
		case '[':
			r.off++
			r.state = rowsFirst
			return nil
		case 'n':
			if err := r.step(func(l *lexer) error { return l.word("null") }); err != nil {
				return err
			}
			return r.close()
		case '{':
			if r.depth == 2 {
				return errSyntax
			}
			r.off++
			r.depth++
			if err := r.find(); err != nil {
				return err
			}
		default:
			return errSyntax
		}
	}
}

// find skips the members of an object up to the value of data.
func (r *Rows) find() error {
	for found := false; !found; {
		err := r.step(func(l *lexer) error {
			name, _, err := l.text()
			if err != nil {
				return err
			}
			if err := l.take(':'); err != nil {
				return err
			}
			if found = string(name) == "data"; found {
				_, err = l.peek()
				return err
			}
			if _, err := l.value(); err != nil {
				return err
			}
			return l.take(',')
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// close reads what follows the rows, so that a truncated answer is noticed.
func (r *Rows) close() error {
	for ; r.depth > 0; r.depth-- {
		for ended := false; !ended; {
			err := r.step(func(l *lexer) error {
				c, err := l.peek()
				if err != nil {
					return err
				}
				l.i++
				if ended = c == '}'; ended {
					return nil
				}
				if c != ',' {
					return errSyntax
				}
				if _, _, err := l.text(); err != nil {
					return err
				}
				if err := l.take(':'); err != nil {
					return err
				}
				_, err = l.value()
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	r.state = rowsAfter
	return nil
}

// step runs f on the buffered bytes, and again with more if they were too few.
func (r *Rows) step(f func(*lexer) error) error {
	for {
		l := lexer{b: r.buf[r.off:r.end]}
		err := f(&l)
		if err == nil {
			r.off += l.i
			return nil
		}
		if !errors.Is(err, errShort) {
			return err
		}
		if err := r.fill(); err != nil {
			return err
		}
	}
}

// fill reads more after the rest in the buffer.
func (r *Rows) fill() error {
	if r.ended != nil {
		if errors.Is(r.ended, io.EOF) {
			return fmt.Errorf("cannot read rows: %w", io.ErrUnexpectedEOF)
		}
		return r.ended
	}
	if r.off > 0 {
		copy(r.buf, r.buf[r.off:r.end])
		r.end -= r.off
		r.off = 0
	}
	if r.end == len(r.buf) {
		if len(r.buf) >= maxRow {
			return fmt.Errorf("a row is larger than %d bytes: %w", maxRow, errSyntax)
		}
		grown := make([]byte, 2*len(r.buf))
		copy(grown, r.buf)
		r.buf = grown
	}
	// It asks for as much as there is already, so that a row that arrives in
	// small pieces is not parsed again for each of them.
	want := min(max(r.end-r.off, minFill), len(r.buf)-r.end)
	for idle := 0; idle < 100; {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		r.ended = err
		if want -= n; want <= 0 || err != nil {
			return nil
		}
		idle++
		if n > 0 {
			idle = 0
		}
	}
	return io.ErrNoProgress
}

// Object decodes one complete JSON object, such as the data of a small answer,
// with the decoder of a row.
func Object(data json.RawMessage, d RowDecoder) error {
	d.Reset()
	return object(&lexer{b: data}, d)
}
