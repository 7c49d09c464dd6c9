package lxdapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

const (
	// These limits keep a faulty or hostile server from exhausting the memory
	// of the plugin.
	maxList  = 48 << 20 // bytes of an array: about 20,000 instances
	maxSmall = 8 << 20  // bytes of any other answer
	maxError = 64 << 10 // bytes of a refusal
	maxRows  = 100_000  // elements of an array
	maxSpace = 64 << 10 // bytes of white space in a row: encoding/json looks through all of it with each piece that comes
)

// The types of answers. It is the type that tells how to read one: Incus gives 200 to one of the type error.
const (
	typeSync  = "sync"
	typeAsync = "async"
	typeError = "error"
)

var (
	// These errors become errors of kind Timeout and Protocol.
	errSlow     = errors.New("the answer arrived too slowly")
	errTooLarge = errors.New("the answer is too large")
	errShape    = errors.New("the answer has an unexpected form")
)

// answer is a response whose body has not been read. It must be closed.
type answer struct {
	ctx   context.Context
	resp  *http.Response
	body  *bounded
	timer *time.Timer
	stop  context.CancelCauseFunc
}

// newAnswer wraps a response. The body may have at most limit bytes, and must
// be read within the given time, or stop cancels the request with errSlow.
func newAnswer(resp *http.Response, limit int64, within time.Duration, stop context.CancelCauseFunc) *answer {
	timer := time.AfterFunc(within, func() { stop(errSlow) })
	return &answer{ctx: resp.Request.Context(), resp: resp, body: &bounded{body: resp.Body, left: limit}, timer: timer, stop: stop}
}

// close ends the response. Unread parts of the body are dropped together with
// the connection.
func (a *answer) close() {
	a.timer.Stop()
	_ = a.resp.Body.Close()
	a.stop(nil)
}

// meta returns what the headers and the connection say: the ETag, the server's
// clock and its certificate.
func (a *answer) meta() Meta {
	meta := Meta{ETag: a.resp.Header.Get("ETag")}
	if date, err := http.ParseTime(a.resp.Header.Get("Date")); err == nil {
		meta.Date = date
	}
	if a.resp.TLS != nil && len(a.resp.TLS.PeerCertificates) > 0 {
		leaf := a.resp.TLS.PeerCertificates[0]
		meta.Fingerprint, meta.Certificate = endpoint.Fingerprint(leaf), leaf
	}
	return meta
}

// head is the envelope around what was asked for.
type head struct {
	Type      string `json:"type"`
	ErrorCode int    `json:"error_code"`
	Error     string `json:"error"`
}

// metadataReader reads the value of metadata.
type metadataReader func(*json.Decoder) error

// object decodes metadata into one value. null leaves the value unchanged.
func object(into any) metadataReader {
	return func(d *json.Decoder) error { return d.Decode(into) }
}

// rows decodes an array into a slice of at most maxRows elements. null is an
// empty array.
func rows[T any](into *[]T) metadataReader {
	return visit(func(row *T) error {
		if len(*into) == maxRows {
			return errTooLarge
		}
		*into = append(*into, *row)
		return nil
	})
}

// visit decodes an array element by element, so that only one element is in
// memory. An error of each ends it.
func visit[T any](each func(*T) error) metadataReader {
	return func(d *json.Decoder) error {
		open, err := d.Token()
		if err != nil || open == nil {
			return err
		}
		if open != json.Delim('[') {
			return errShape
		}
		for count := 0; d.More(); count++ {
			if count == maxRows {
				return errTooLarge
			}
			var row T
			if err := d.Decode(&row); err != nil {
				return err
			}
			if err := each(&row); err != nil {
				return err
			}
		}
		_, err = d.Token()
		return err
	}
}

// members decodes an object member by member, each with the reader that each
// returns for its key. Members with a nil reader are skipped.
func members(each func(key string) metadataReader) metadataReader {
	return func(d *json.Decoder) error {
		open, err := d.Token()
		if err != nil || open == nil {
			return err
		}
		if open != json.Delim('{') {
			return errShape
		}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return err
			}
			read := each(fmt.Sprint(key))
			if read == nil {
				read = object(new(json.RawMessage))
			}
			if err := read(d); err != nil {
				return err
			}
		}
		_, err = d.Token()
		return err
	}
}

// envelope decodes the response. A response of the type "error" is an error
// whatever its HTTP status: Incus sends some with status 200.
func (a *answer) envelope(metadata metadataReader) (head, error) {
	h, err := a.decode(metadata)
	if err != nil {
		return head{}, a.readError(err)
	}
	switch h.Type {
	case typeSync, typeAsync:
		return h, nil
	case typeError:
		return h, refuse(h.ErrorCode, h.Error)
	}
	return head{}, a.protocol(errShape)
}

// decode reads the envelope of a response with a stream decoder, so that a
// large list never is in memory twice. metadata reads the member of that name.
// The order of the members does not matter, and data after the object is an
// error.
func (a *answer) decode(metadata metadataReader) (head, error) {
	d := json.NewDecoder(a.body)
	var h head
	err := members(func(key string) metadataReader {
		switch key {
		case "type":
			return object(&h.Type)
		case "error_code":
			return object(&h.ErrorCode)
		case "error":
			return object(&h.Error)
		case "metadata":
			return metadata
		}
		return nil
	})(d)
	if err != nil {
		return head{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return head{}, errors.Join(errShape, err)
	}
	return h, nil
}

// readError returns why a response could not be read: it came too slowly, the
// connection broke, or it is not LXD's.
func (a *answer) readError(err error) error {
	switch {
	case errors.Is(context.Cause(a.ctx), errSlow):
		return plugin.Errorf(plugin.Timeout, "%w", errSlow)
	case a.ctx.Err() != nil:
		return endpoint.NetworkError(a.ctx, a.ctx.Err())
	case a.body.broken != nil:
		return endpoint.NetworkError(a.ctx, a.body.broken)
	}
	return a.protocol(err)
}

// protocol returns the error for a response that does not come from LXD. The
// content type helps to find out what answers instead, such as a proxy.
func (a *answer) protocol(err error) error {
	what := a.resp.Header.Get("Content-Type")
	if what == "" {
		what = "no content type"
	}
	return plugin.Errorf(plugin.Protocol, "the answer does not come from LXD or Incus "+
		"(%s): %s", scrub(what), scrub(err.Error())).WithCause(err)
}

// bounded reads a body up to a limit and returns errTooLarge beyond it. It also
// limits runs of white space, which encoding/json scans again with every piece
// that arrives.
type bounded struct {
	body   io.Reader
	left   int64
	space  int   // white space at the end of what was read
	broken error // what ended the body before its end
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one byte more tells an answer of exactly the limit from one that goes on
	}
	n, err := b.body.Read(p)
	if int64(n) > b.left {
		return 0, errTooLarge
	}
	for _, c := range p[:n] {
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			b.space = 0
		} else if b.space++; b.space > maxSpace {
			return 0, errTooLarge
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.broken = err
	}
	b.left -= int64(n)
	return n, err
}
