package poll

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"time"
)

// copyRows builds rows in the binary format of PostgreSQL's COPY (PostgreSQL
// manual, "COPY", "Binary Format") in one buffer. So a poll of ten thousand
// guests needs no heap value for each figure and no look-up of encoders, which
// is most of the work of the general encoder.
type copyRows struct {
	buf []byte
	n   int
}

var (
	copyHeader  = append([]byte("PGCOPY\n\xff\r\n\x00"), make([]byte, 8)...)
	copyTrailer = []byte{0xff, 0xff}
	// postgresEpoch is the time from which PostgreSQL counts microseconds.
	postgresEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// textOID is the type text in PostgreSQL's catalog, for arrays of it.
const textOID = 25

// reader returns the whole COPY stream.
func (r *copyRows) reader() io.Reader {
	return io.MultiReader(bytes.NewReader(copyHeader), bytes.NewReader(r.buf), bytes.NewReader(copyTrailer))
}

// reset empties the buffer. It keeps the memory unless it has become large.
func (r *copyRows) reset() {
	if cap(r.buf) > 4<<20 {
		r.buf = nil
	}
	r.buf, r.n = r.buf[:0], 0
}

// row begins a row with that many fields.
func (r *copyRows) row(fields int16) {
	r.buf = binary.BigEndian.AppendUint16(r.buf, uint16(fields))
	r.n++
}

// size appends the length of a value, in PostgreSQL's binary format for COPY.
func (r *copyRows) size(n int) { r.buf = binary.BigEndian.AppendUint32(r.buf, uint32(int32(n))) }

// null appends the value null.
func (r *copyRows) null() { r.size(-1) }

// text appends a text.
func (r *copyRows) text(s string) {
	r.size(len(s))
	r.buf = append(r.buf, s...)
}

// optional writes a text, or null for an empty one.
func (r *copyRows) optional(s string) {
	if s == "" {
		r.null()
		return
	}
	r.text(s)
}

// joined writes one text that consists of two parts, without joining them in
// memory.
func (r *copyRows) joined(prefix, rest string) {
	r.size(len(prefix) + len(rest))
	r.buf = append(append(r.buf, prefix...), rest...)
}

// texts appends an array of texts.
func (r *copyRows) texts(list []string) {
	at := len(r.buf)
	r.size(0)
	if len(list) == 0 {
		r.size(0) // dimensions
		r.size(0) // no nulls
		r.size(textOID)
	} else {
		r.size(1)
		r.size(0)
		r.size(textOID)
		r.size(len(list))
		r.size(1) // the first index
		for _, s := range list {
			r.text(s)
		}
	}
	binary.BigEndian.PutUint32(r.buf[at:], uint32(len(r.buf)-at-4))
}

// bool appends a boolean.
func (r *copyRows) bool(v bool) {
	r.size(1)
	if v {
		r.buf = append(r.buf, 1)
	} else {
		r.buf = append(r.buf, 0)
	}
}

// int appends an 8-byte integer.
func (r *copyRows) int(v int64) {
	r.size(8)
	r.buf = binary.BigEndian.AppendUint64(r.buf, uint64(v))
}

// time appends a timestamp, in microseconds since 2000.
func (r *copyRows) time(t time.Time) { r.int(t.Sub(postgresEpoch).Microseconds()) }

// float appends a double.
func (r *copyRows) float(v float64) {
	r.size(8)
	r.buf = binary.BigEndian.AppendUint64(r.buf, math.Float64bits(v))
}

// count writes a number of bytes, seconds and the like; null for a negative
// one, which cannot be true.
func (r *copyRows) count(v *int64) {
	if v == nil || *v < 0 {
		r.null()
		return
	}
	r.int(*v)
}

// gauge writes a fraction or a number of cores.
func (r *copyRows) gauge(v *float64) {
	if v == nil || !sane(*v) {
		r.null()
		return
	}
	r.float(*v)
}

// sane reports whether a figure can be true. A fraction of all cores may exceed
// 1 because of the way it is measured; a million exceeds every machine.
func sane(v float64) bool { return v >= 0 && v <= 1e6 }
