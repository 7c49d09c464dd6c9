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
	// defaultUpload is the largest upload where its declaration says nothing, in bytes.
	defaultUpload = 1 << 30
	// How many sockets and uploads together one user may begin at once, and how
	// many more in each second thereafter.
	begunAtOnce = 20
	begunRate   = 1
	// formBuffer is how much of a form is read at once, in bytes.
	formBuffer = 1 << 20
)

// UploadBody is the body of an Upload while it arrives. It is an io.Reader that
// nothing is gathered behind.
type UploadBody struct {
	// Media is the body's media type, one of Spec.Content.
	Media string
	// Size in bytes as the sender says; -1 when it does not.
	Size int64

	body    io.Reader
	control *http.ResponseController
	idle    time.Duration
	most    time.Duration
	rate    int64
	kind    string // the whole of Content-Type
	read    int64
	// since is when the present time of measuring began, and had what had been read then.
	since time.Time
	had   int64
	// failed is what a Read has failed with: readers of forms drop an error and read again.
	failed error
	whole  atomic.Bool           // the last byte has arrived
	ended  atomic.Pointer[error] // why nothing more is let in
}

// Read reads what has arrived. Its errors are problems that the handler
// returns: too_large, request_timeout for a sender that stops or is too slow,
// canceled for one that leaves. Once it has failed it fails the same way again.
func (f *UploadBody) Read(p []byte) (n int, err error) {
	if f.failed != nil {
		return 0, f.failed
	}
	n, err = f.readNext(p)
	f.failed = err
	return n, err
}

// Err is what a Read has failed with, nil before that. A parser of the body may
// fail of the rest that it got, and say less.
func (f *UploadBody) Err() error {
	if errors.Is(f.failed, io.EOF) {
		return nil
	}
	return f.failed
}

// readNext is Read before anything has failed.
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

// checkRate is the refusal of a sender that is too slow.
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

// Form reads the body as a form of parts, in pieces of 1 MiB. A body that is no
// such form is the problem malformed, also of the parts.
func (f *UploadBody) Form() (*multipart.Reader, error) {
	_, params, err := mime.ParseMediaType(f.kind)
	if err != nil || params["boundary"] == "" {
		return nil, problem.New(problem.CodeMalformed, "the Content-Type of the form has no boundary")
	}
	return multipart.NewReader(bufio.NewReaderSize(f, formBuffer), params["boundary"]), nil
}

// end lets nothing more in, not even what a Read waits for.
func (f *UploadBody) end(cause error) {
	f.ended.Store(&cause)
	_ = f.control.SetReadDeadline(time.Now())
}

// explain is the cause of an upload's end. That the time for all is over is the
// sender's fault until the last byte has arrived.
func (f *UploadBody) explain(cause error) error {
	if errors.Is(cause, context.DeadlineExceeded) && !f.whole.Load() {
		return problem.New(problem.CodeRequestTimeout, "the body did not arrive within %s", f.most).WithCause(cause)
	}
	return cause
}

// enter counts a socket or an upload of the caller: how many are open, and how fast they are begun.
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

// Upload declares a POST whose body is a file, read while it arrives. The body
// is asked for only after all that refuses a request: role, team, entitlement,
// input, existence, capability, its media type (one of Spec.Content, else 415)
// and its size (Spec.MaxBody bytes, 1 GiB when zero, else 413). A sender that
// sends nothing for Spec.Idle (30 s when zero), or whose last byte is not there
// after Spec.Timeout (an hour when zero), is left with 408 request_timeout. The
// upload ends at once when its sender may no longer do it. One user has at most
// two under way in an instance and begins 20 at once and one more a second;
// more are rate_limited. It takes no Idempotency-Key: what was sent would have
// to be kept.
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

// formSchema describes a form.
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

// upload runs the handler beside its guard, which it ends before it returns.
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
