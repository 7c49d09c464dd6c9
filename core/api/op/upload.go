package op

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Settings of uploads.
const (
	// defaultUpload is the maximum size in bytes of an upload whose declaration
	// has no MaxBody.
	defaultUpload = 1 << 30
	// begunAtOnce is how many sockets and uploads together one user can begin
	// at once. begunRate is how many more the user can begin per second after
	// that.
	begunAtOnce = 20
	begunRate   = 1
	// formBuffer is the number of bytes of a form that are read at a time.
	formBuffer = 1 << 20
)

// UploadBody is the body of an Upload while it arrives. It is an io.Reader that
// passes the data on without collecting it.
type UploadBody struct {
	// Media is the media type of the body. It is one of Spec.Content.
	Media string
	// Size is the size in bytes that the sender declared, or -1.
	Size int64

	body    io.Reader
	control *http.ResponseController
	idle    time.Duration
	most    time.Duration
	rate    int64
	kind    string // the whole of Content-Type
	read    int64
	// since is the beginning of the current measurement of the rate. had is how
	// much had been read at that time.
	since time.Time
	had   int64
	// failed is the first error of Read. Parsers of forms drop an error and
	// read again, so it is kept.
	failed error
	whole  atomic.Bool           // the last byte has arrived
	ended  atomic.Pointer[error] // why nothing more is let in
}

// Read implements io.Reader. Its errors are problems that the handler returns:
// too_large, request_timeout if the sender pauses for too long or is too slow,
// and canceled if it disconnects. After an error, Read returns the same error
// again.
func (f *UploadBody) Read(p []byte) (n int, err error) {
	if f.failed != nil {
		return 0, f.failed
	}
	n, err = f.readNext(p)
	f.failed = err
	return n, err
}

// Err returns the error of Read, or nil if there was none. Use it when a parser
// of the body has failed: the parser only reports that its input was
// incomplete, and Err has the reason.
func (f *UploadBody) Err() error {
	if errors.Is(f.failed, io.EOF) {
		return nil
	}
	return f.failed
}

// readNext does the work of Read until something fails.
func (f *UploadBody) readNext(p []byte) (int, error) {
	if err := f.checkRate(); err != nil {
		return 0, err
	}
	deadline := time.Now().Add(f.idle)
	_ = f.control.SetReadDeadline(deadline) // only the real server has deadlines
	if cause := f.ended.Load(); cause != nil {
		return 0, *cause
	}
	n, err := f.body.Read(p)
	if f.read += int64(n); f.read == f.Size || errors.Is(err, io.EOF) {
		f.whole.Store(true)
	}
	var large *http.MaxBytesError
	var network net.Error
	silent := errors.As(err, &network) && network.Timeout() && !time.Now().Before(deadline)
	cause := f.ended.Load()
	switch {
	// The server itself cancels the context of a request whose body it could
	// not read in time.
	case cause != nil && !(silent && errors.Is(*cause, context.Canceled)):
		return 0, *cause
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case errors.As(err, &large):
		return n, tooLarge(large.Limit)
	case silent:
		return n, problem.New(problem.CodeRequestTimeout, "no data of the body arrived for %s", f.idle)
	}
	return n, problem.New(problem.CodeCanceled, "the body ended too early").WithCause(fmt.Errorf("reading the body: %w", err))
}

// checkRate returns the refusal of a sender that is slower than Spec.Rate. It
// measures over periods of Spec.Idle.
func (f *UploadBody) checkRate() error {
	switch now := time.Now(); {
	case f.rate == 0:
	case f.since.IsZero():
		f.since = now
	case now.Sub(f.since) >= f.idle:
		if arrived, wanted := f.read-f.had, int64(float64(f.rate)*now.Sub(f.since).Seconds()); arrived < wanted {
			return problem.New(problem.CodeRequestTimeout, "the body arrived too slowly: less than %d bytes per second", f.rate)
		}
		f.since, f.had = now, f.read
	}
	return nil
}

// Form reads the body as a multipart form, 1 MiB at a time. If the body is not
// a form, the problem is malformed; the parts report it, too.
func (f *UploadBody) Form() (*multipart.Reader, error) {
	_, params, err := mime.ParseMediaType(f.kind)
	if err != nil || params["boundary"] == "" {
		return nil, problem.New(problem.CodeMalformed, "the Content-Type of the form has no boundary")
	}
	return multipart.NewReader(bufio.NewReaderSize(f, formBuffer), params["boundary"]), nil
}

// end stops the upload with a cause. It also interrupts a Read that waits for
// data.
func (f *UploadBody) end(cause error) {
	f.ended.Store(&cause)
	_ = f.control.SetReadDeadline(time.Now())
}

// explain returns the error for the cause of an upload's end. If the time limit
// passed before the last byte arrived, it is the fault of the sender (408),
// otherwise it is a timeout of the service.
func (f *UploadBody) explain(cause error) error {
	if errors.Is(cause, context.DeadlineExceeded) && !f.whole.Load() {
		return problem.New(problem.CodeRequestTimeout, "the body did not arrive within %s", f.most).WithCause(cause)
	}
	return cause
}

// enter counts a socket or an upload of the caller. It limits how many are open
// at the same time and how fast new ones begin. The caller must call leave at
// the end.
func (a *API) enter(ctx context.Context, open *openLimiter) (leave func(), err error) {
	if caller := identity.FromContext(ctx); caller != nil {
		if wait := a.begun.admit(strconv.FormatInt(caller.UserID, 10)); wait > 0 {
			limited := problem.New(problem.CodeRateLimited, "you start too many of these requests; wait before the next one")
			limited.RetryAfter = int(wait/time.Second) + 1
			return nil, limited
		}
	}
	return open.enter(ctx)
}

// Upload declares a POST whose body is a file, which the handler reads while it
// arrives. The service asks for the body only after every other check: role,
// team, entitlement, input, existence, capability, media type (one of
// Spec.Content, else 415) and size (Spec.MaxBody bytes, 1 GiB when zero, else
// 413).
//
// The limits are:
//
//   - A sender that sends nothing for Spec.Idle (30 s when zero), or is not
//     done after Spec.Timeout (an hour when zero), gets 408 request_timeout.
//   - The upload ends at once when the sender loses the right to make it.
//   - One user can have two uploads under way per instance, and can begin 20
//     at once and one more per second; more are refused with rate_limited.
//
// An upload takes no Idempotency-Key, since the service would have to keep the
// file to compare it.
func Upload[I, O any](a *API, path string, handler func(context.Context, *I, *UploadBody) (*O, error), spec Spec) {
	if len(spec.Content) == 0 {
		panic(fmt.Sprintf("op: the upload %s names no media type", spec.ID))
	}
	if spec.Timeout == 0 {
		spec.Timeout = defaultDownload
	}
	operation := a.declare(http.MethodPost, path, spec, reflect.TypeFor[I]())
	if operation.bodyDeclared {
		panic(fmt.Sprintf("op: the input of the upload %s has its own body", spec.ID))
	}
	operation.Upload = true
	declared := operation.describe()
	content := map[string]*huma.MediaType{}
	for _, media := range spec.Content {
		content[media] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	}
	declared.RequestBody = &huma.RequestBody{Required: true, Description: "The file", Content: content}
	a.nameBodies(spec.ID, reflect.TypeFor[I](), reflect.TypeFor[O]())
	huma.Register(a.huma, declared, func(ctx context.Context, in *I) (*O, error) {
		out, err := upload(ctx, a, in, handler)
		if err != nil {
			return nil, a.refusal(ctx, err)
		}
		return out, nil
	})
	if len(spec.Form) > 0 { // told now, since huma would ask for a body of its own
		body := a.declared(operation).RequestBody
		body.Description = "A form with the file"
		body.Content["multipart/form-data"].Schema = formSchema(spec.Form)
	}
	a.finish(operation)
}

// formSchema returns the schema of a form for the OpenAPI document.
func formSchema(parts []FormPart) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	for _, p := range parts {
		part := &huma.Schema{Type: p.Type, Description: p.Doc}
		if p.Type == "file" {
			part.Type, part.Format = huma.TypeString, "binary"
		}
		if p.Example != nil {
			part.Examples = []any{p.Example}
		}
		s.Properties[p.Name] = part
		if p.Required {
			s.Required = append(s.Required, p.Name)
		}
	}
	return s
}

// upload runs the handler of an upload together with the watch of the sender's
// rights, which has ended when it returns.
func upload[I, O any](ctx context.Context, a *API, in *I, handler func(context.Context, *I, *UploadBody) (*O, error)) (*O, error) {
	q := requestOf(ctx)
	if err := q.ready(ctx); err != nil {
		return nil, err
	}
	f, err := q.incoming()
	if err != nil {
		return nil, err
	}
	leave, err := a.enter(ctx, a.uploads)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, cancel := context.WithCancelCause(ctx)
	var guarding sync.WaitGroup
	guarding.Go(func() { q.watchRights(ctx, cancel) })
	guarding.Go(func() {
		<-ctx.Done()
		if cause := context.Cause(ctx); cause != errFinished {
			f.end(f.explain(cause))
		}
	})
	defer guarding.Wait()
	defer cancel(errFinished)
	out, err := handler(ctx, in, f)
	_ = f.control.SetWriteDeadline(time.Now().Add(writeGrace))
	if err != nil {
		if late := f.Err(); late != nil && problem.CodeOf(late) == problem.CodeRequestTimeout {
			// The server reads on a little before it answers, and cancels the
			// context of what it cannot read.
			_ = f.control.SetReadDeadline(time.Now())
			return nil, late
		}
		if cause := context.Cause(ctx); cause != nil {
			return nil, f.explain(cause) // what the handler says of its ended context is less
		}
		return nil, err
	}
	return out, a.succeed(ctx, q)
}

// incoming looks at the head of the body, before any of it is read.
func (q *request) incoming() (*UploadBody, error) {
	spec, r := &q.operation.Spec, q.raw
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	encoding := r.Header.Get("Content-Encoding")
	if err != nil || !slices.Contains(spec.Content, media) || (encoding != "" && encoding != "identity") {
		return nil, problem.New(problem.CodeUnsupportedMedia, "send the file as %s, without Content-Encoding",
			strings.Join(spec.Content, " or "))
	}
	limit := spec.MaxBody
	if limit <= 0 {
		limit = defaultUpload
	}
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	f := &UploadBody{Media: media, Size: r.ContentLength, body: http.MaxBytesReader(q.w, r.Body, limit),
		control: http.NewResponseController(q.w), idle: spec.Idle, most: q.operation.timeout(), rate: spec.Rate,
		kind: r.Header.Get("Content-Type")}
	if f.idle <= 0 {
		f.idle = chunkTime
	}
	return f, nil
}
