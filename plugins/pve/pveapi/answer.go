package pveapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// These bound the memory that one answer takes.
const (
	maxStream = 64 << 20 // bytes of an answer with many rows: about 150,000 guests
	maxSmall  = 8 << 20  // bytes of any other answer
	maxError  = 64 << 10 // bytes of a refusal
)

// Response is a successful answer whose body has not been read. The caller calls
// Close.
type Response struct {
	client *Client
	resp   *http.Response
	body   *limited
	stop   context.CancelCauseFunc
	// sent are the parameters of the request, which no refusal of them repeats.
	sent url.Values
}

// Close ends the answer. An unread rest is given up together with its
// connection.
func (a *Response) Close() {
	_ = a.resp.Body.Close()
	a.body.end()
	a.stop(nil)
}

// Rows reads the rows of the answer. It calls each after every row.
func (a *Response) Rows(d RowDecoder, each func() error) error {
	rows := NewRows(a.body)
	for {
		more, err := rows.Next(d)
		if err != nil {
			return a.readError(err)
		}
		if !more {
			// Nothing follows the JSON text, but only a body that was read to
			// its end returns its connection to the pool.
			_, _ = io.CopyN(io.Discard, a.body, 1<<10)
			return nil
		}
		if err := each(); err != nil {
			return err
		}
	}
}

// Meta returns the facts beside the data. Total is known only after the rows
// were read.
func (a *Response) Meta() Meta {
	var meta Meta
	if date, err := http.ParseTime(a.resp.Header.Get("Date")); err == nil {
		meta.Date = date
	}
	if a.resp.TLS != nil && len(a.resp.TLS.PeerCertificates) > 0 {
		leaf := a.resp.TLS.PeerCertificates[0]
		meta.Fingerprint, meta.Certificate = endpoint.Fingerprint(leaf), leaf
	}
	return meta
}

// all reads a small answer.
func (a *Response) all() ([]byte, error) {
	a.body.left = maxSmall
	raw, err := io.ReadAll(a.body)
	if err != nil {
		return nil, a.readError(err)
	}
	return raw, nil
}

// readError returns why an answer could not be read to its end.
func (a *Response) readError(err error) error {
	switch {
	case errors.Is(err, errSyntax), errors.Is(err, errDeep), errors.Is(err, errTooLarge), errors.Is(err, errShort):
		return a.protocol(err)
	default:
		return netError(a.resp.Request.Context(), err)
	}
}

// protocol returns the error for an answer that is not Proxmox VE's.
func (a *Response) protocol(err error) error {
	// Some servers answer something when the caller gives up and the connection
	// is being closed. That is the caller's cancelation.
	if ctx := a.resp.Request.Context(); ctx.Err() != nil {
		return netError(ctx, ctx.Err())
	}
	what := a.resp.Header.Get("Content-Type")
	if what == "" {
		what = "no content type"
	}
	return plugin.Errorf(plugin.Protocol, "the answer does not come from Proxmox VE (%s): %w", a.client.scrub(what), err)
}

// errTooLarge is the error of an answer that does not end within maxStream.
var errTooLarge = fmt.Errorf("the answer is larger than %d MiB", maxStream>>20)

// limited reads a body up to a limit, and stops the request if nothing comes
// for too long.
type limited struct {
	ctx   context.Context
	body  io.Reader
	left  int64
	stall time.Duration
	timer *time.Timer
}

// newLimited reads a body that is bounded in size and in the time between two
// reads. It calls stop when nothing comes for stall; end must be called.
func newLimited(ctx context.Context, body io.Reader, stop context.CancelCauseFunc, stall time.Duration) *limited {
	timer := time.AfterFunc(stall, func() { stop(errStalled) })
	return &limited{ctx: ctx, body: body, left: maxStream, stall: stall, timer: timer}
}

// Read reads, counts, and starts the time of the stall again.
func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		// One more byte distinguishes an answer of exactly the limit from a
		// longer one.
		if n, _ := io.ReadFull(l.body, make([]byte, 1)); n > 0 {
			return 0, errTooLarge
		}
		return 0, io.EOF
	}
	if int64(len(p)) > l.left {
		p = p[:l.left]
	}
	l.timer.Reset(l.stall)
	n, err := l.body.Read(p)
	l.timer.Stop()
	l.left -= int64(n)
	return n, err
}

// end stops the timer; without it the request would be ended after its answer
// was read.
func (l *limited) end() { l.timer.Stop() }
