package op

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Settings of downloads.
const (
	// fileChunk is how many bytes of a file are collected before they are sent.
	// Until then a failure is an ordinary problem.
	fileChunk = 64 << 10
	// chunkTime is how long a reader may take to accept one chunk before the download ends.
	chunkTime = 30 * time.Second
	// defaultDownload is how long a download may take if its declaration has no
	// Timeout.
	defaultDownload = time.Hour
)

// File is the response of a Download. It is an io.Writer that collects at most
// one chunk in memory. The handler must call Open first.
type File struct {
	mu      sync.Mutex
	ended   atomic.Bool // by end, which may have to wait for mu
	ctx     context.Context
	q       *request
	control *http.ResponseController
	cancel  context.CancelCauseFunc
	headers http.Header
	head    bool
	begun   bool
	buffer  bytes.Buffer
	err     error
}

var (
	// errHeadersOnly ends the handler of a HEAD request, which has no body.
	errHeadersOnly = errors.New("only the headers are wanted")
	// errFinished ends the context of a download whose handler has returned.
	errFinished = errors.New("the download is over")
)

// Open sets the media type, with the charset if it has one, and the name under
// which a browser saves the file. It sends nothing yet. An error means that
// nothing more is needed; the handler must return it.
func (f *File) Open(contentType, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.headers = http.Header{
		"Content-Type":        {contentType},
		"Content-Disposition": {mime.FormatMediaType("attachment", map[string]string{"filename": name})},
		"X-Accel-Buffering":   {"no"},
	}
	if f.head {
		if err := f.begin(); err != nil {
			return err
		}
		return errHeadersOnly
	}
	return nil
}

// Write appends to the file. An error means that the client has disconnected or
// may no longer read. The handler must return it; its context has ended, too.
func (f *File) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return 0, f.err
	}
	if f.headers == nil {
		return 0, errors.New("writing to a file that was not opened")
	}
	written := 0
	for len(p) > 0 {
		n := min(len(p), fileChunk-f.buffer.Len())
		f.buffer.Write(p[:n])
		p, written = p[n:], written+n
		if f.buffer.Len() == fileChunk {
			if err := f.send(); err != nil {
				return written, err
			}
		}
	}
	return written, nil
}

// begin writes the entry of the audit log and then sends the headers, so that
// nothing is read without a record.
func (f *File) begin() error {
	if f.begun {
		return nil
	}
	if !f.head {
		if err := f.q.api.recordBegin(f.ctx, f.q); err != nil {
			return f.stop(fmt.Errorf("recording a download: %w", err))
		}
	}
	f.begun = true
	for name, values := range f.headers {
		f.q.w.Header()[name] = values
	}
	f.q.w.WriteHeader(http.StatusOK)
	return nil
}

// send sends what was collected.
func (f *File) send() error {
	if err := f.begin(); err != nil {
		return err
	}
	_ = f.control.SetWriteDeadline(time.Now().Add(chunkTime)) // only the real server has deadlines
	if f.ended.Load() {
		return f.stop(errors.New("the download was ended"))
	}
	if _, err := f.q.w.Write(f.buffer.Bytes()); err != nil {
		return f.stop(fmt.Errorf("sending a file: %w: %w", errReaderGone, err))
	}
	// What is compressed must not wait in the compressor: a reader sees a file
	// that is broken off begin, and then break.
	if err := f.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return f.stop(fmt.Errorf("sending a file: %w: %w", errReaderGone, err))
	}
	f.buffer.Reset()
	return nil
}

// stop ends the download with its first error and cancels the handler.
func (f *File) stop(cause error) error {
	if f.err == nil {
		f.err = cause
	}
	f.cancel(f.err)
	return f.err
}

// end stops the output, including what is being sent.
func (f *File) end(cause error) {
	f.ended.Store(true)
	_ = f.control.SetWriteDeadline(time.Now())
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = f.stop(cause)
}

// finish sends the rest of a file after the handler has returned.
func (f *File) finish() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.err != nil:
		return f.err
	case f.headers == nil:
		return errors.New("the handler of a download opened no file")
	case f.head:
		return nil
	}
	return f.send()
}

// Download declares an operation that answers GET with a file of any length,
// which is sent while the handler writes it. The handler opens the file and
// writes to it. Spec.Content lists the media types that the file can have.
//
// A failure before the first 64 KiB were sent is an ordinary problem. After
// that the connection is broken off, so that half a file never looks complete.
// The same happens when the reader loses the right to read, or has other roles
// than at the beginning. A reader that takes longer than 30 s for one chunk, or
// longer than Spec.Timeout (an hour when zero) for all, is disconnected. One
// user can have two downloads under way per instance; more are refused with
// rate_limited.
//
// A download can declare an audit action. Its entry is in the audit log before
// the first byte is sent. A download that is broken off gets a second entry.
func Download[I any](a *API, path string, handler func(context.Context, *I, *File) error, spec Spec) {
	if len(spec.Content) == 0 {
		panic(fmt.Sprintf("op: the download %s names no media type", spec.ID))
	}
	if spec.Timeout == 0 {
		spec.Timeout = defaultDownload
	}
	operation := a.declare(http.MethodGet, path, spec, reflect.TypeFor[I]())
	operation.Download = true
	declared := operation.describe()
	content := map[string]*huma.MediaType{}
	for _, media := range spec.Content {
		content[media] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
		if media == "application/json" {
			content[media].Schema = &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
		}
	}
	declared.Responses = map[string]*huma.Response{"200": {Description: "A file", Content: content}}
	type file struct{ Body func(huma.Context) }
	huma.Register(a.huma, declared, func(ctx context.Context, in *I) (*file, error) {
		q := requestOf(ctx)
		if err := q.ready(ctx); err != nil {
			return nil, a.refusal(ctx, err)
		}
		return &file{func(e huma.Context) {
			err := download(ctx, q, e.Method() == http.MethodHead, in, handler)
			if err == nil {
				return
			}
			begun := q.w.begun
			if !begun { // end may have passed the deadline
				_ = http.NewResponseController(q.w).SetWriteDeadline(time.Now().Add(chunkTime))
			}
			a.fail(ctx, a.problem(ctx, err))
			if begun {
				panic(http.ErrAbortHandler)
			}
		}}, nil
	})
	a.finish(operation)
}

// download runs the handler of a download together with the watch of the
// reader's rights, which has ended when it returns.
func download[I any](ctx context.Context, q *request, head bool, in *I, handler func(context.Context, *I, *File) error) error {
	leave, err := q.api.downloads.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithCancelCause(ctx)
	f := &File{ctx: ctx, q: q, control: http.NewResponseController(q.w), cancel: cancel, head: head}
	var guarding sync.WaitGroup
	guarding.Go(func() { q.watchRights(ctx, cancel) })
	guarding.Go(func() {
		<-ctx.Done()
		if cause := context.Cause(ctx); cause != errFinished {
			f.end(cause)
		}
	})
	defer guarding.Wait()
	defer cancel(errFinished)
	err = handler(ctx, in, f)
	if errors.Is(err, errHeadersOnly) {
		err = nil
	}
	if err == nil {
		err = f.finish()
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause // what the handler says of its ended context is less
	}
	return err
}
