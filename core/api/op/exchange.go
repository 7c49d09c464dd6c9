package op

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/problem"
)

// adapter registers huma's operations with the router, each behind the checks
// that come before its input.
type adapter struct{ api *API }

var _ huma.Adapter = adapter{}

// Handle implements huma.Adapter.
func (ad adapter) Handle(declared *huma.Operation, bind func(huma.Context)) {
	operation := declared.Metadata["operation"].(*Operation)
	ad.api.config.Router.Handle(operation.Method, operation.Pattern, func(_ http.ResponseWriter, r *http.Request, params route.Params) {
		ad.api.serve(operation, declared, bind, r, params)
	})
}

// ServeHTTP implements huma.Adapter.
func (ad adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) { ad.api.ServeHTTP(w, r) }

// serve runs one operation: admission, body, then huma's binding and the handler.
func (a *API) serve(operation *Operation, declared *huma.Operation, bind func(huma.Context), r *http.Request, params route.Params) {
	ctx := r.Context()
	q := requestOf(ctx)
	q.operation, q.raw, q.params = operation, r, params
	if operation.Spec.Secret {
		q.w.keepPlain(r)
	}
	switch {
	case operation.Spec.Timeout == Unlimited:
		_ = http.NewResponseController(q.w).SetWriteDeadline(time.Time{}) // the upload sets it when all has arrived
	case !operation.Stream && !operation.Socket:
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, operation.timeout())
		defer cancel()
		if operation.timeout() > defaultTimeout {
			_ = http.NewResponseController(q.w).SetWriteDeadline(time.Now().Add(operation.timeout() + writeGrace))
		}
	}
	ctx, err := a.admit(ctx, q, r, params)
	if err != nil {
		a.fail(ctx, a.problem(ctx, err))
		return
	}
	if err := a.limitPublic(ctx, q, r); err != nil {
		a.fail(ctx, a.problem(ctx, err))
		return
	}
	var body []byte
	if !operation.Upload {
		body, err = readBody(ctx, q, r)
	}
	if err != nil {
		a.fail(ctx, a.problem(ctx, err))
		return
	}
	q.faults = append(q.faults, operation.pathFaults(params)...)
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		q.faults = append(q.faults, problem.Fault{Loc: []any{"query"}, Msg: "the query string is not well formed", Type: "query_invalid"})
	}
	q.faults = append(q.faults, operation.unfitParams(query, r.Header)...)
	q.plans = operation.planned(query)
	a.serveIdempotent(ctx, q, r, body, func(ctx context.Context) {
		bind(&exchange{ctx: ctx, declared: declared, r: r, w: q.w, params: params, query: query, body: body})
		if !q.w.begun && q.w.pending != 0 { // a status without a body
			q.w.WriteHeader(q.w.pending)
		}
	})
}

// timeout returns how long the handler may take.
func (o *Operation) timeout() time.Duration {
	if o.Spec.Timeout > 0 {
		return o.Spec.Timeout
	}
	return defaultTimeout
}

// exchange is one request and its response, as huma sees them.
type exchange struct {
	ctx      context.Context
	declared *huma.Operation
	r        *http.Request
	w        *responseWriter
	params   route.Params
	query    url.Values
	body     []byte
	status   int
}

var _ huma.Context = (*exchange)(nil)

// Operation and the following methods implement huma.Context on a request whose
// body has been read and checked already.
func (e *exchange) Operation() *huma.Operation  { return e.declared }
func (e *exchange) Context() context.Context    { return e.ctx }
func (e *exchange) TLS() *tls.ConnectionState   { return e.r.TLS }
func (e *exchange) Method() string              { return e.r.Method }
func (e *exchange) Host() string                { return e.r.Host }
func (e *exchange) RemoteAddr() string          { return e.r.RemoteAddr }
func (e *exchange) URL() url.URL                { return *e.r.URL }
func (e *exchange) Param(name string) string    { return e.params.Get(name) }
func (e *exchange) Query(name string) string    { return e.query.Get(name) }
func (e *exchange) BodyReader() io.Reader       { return bytes.NewReader(e.body) }
func (e *exchange) Status() int                 { return e.status }
func (e *exchange) SetHeader(name, v string)    { e.w.Header().Set(name, v) }
func (e *exchange) AppendHeader(name, v string) { e.w.Header().Add(name, v) }
func (e *exchange) BodyWriter() io.Writer       { return e.w }

// Header hides Accept: there is one format.
func (e *exchange) Header(name string) string {
	if name == "Accept" {
		return ""
	}
	return e.r.Header.Get(name)
}

// SetReadDeadline does nothing: the body was read before huma is asked.
func (e *exchange) SetReadDeadline(time.Time) error { return nil }

// Version implements huma.Context.
func (e *exchange) Version() huma.ProtoVersion {
	return huma.ProtoVersion{Proto: e.r.Proto, ProtoMajor: e.r.ProtoMajor, ProtoMinor: e.r.ProtoMinor}
}

// EachHeader implements huma.Context.
func (e *exchange) EachHeader(call func(name, value string)) {
	for name, values := range e.r.Header {
		for _, value := range values {
			call(name, value)
		}
	}
}

// GetMultipartForm implements huma.Context. Forms are read by Upload, as a
// stream.
func (e *exchange) GetMultipartForm() (*multipart.Form, error) { return nil, http.ErrNotMultipart }

// SetStatus keeps the status until there is a body to write, so that an answer
// that cannot be marshalled can still become a problem; statuses without a body
// go out at once.
func (e *exchange) SetStatus(status int) {
	e.status = status
	e.w.pending = status
	if status == http.StatusNoContent || status == http.StatusNotModified {
		e.w.WriteHeader(status)
	}
}
