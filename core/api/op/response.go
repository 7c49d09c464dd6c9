package op

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// responseWriter is the ResponseWriter of a request. It knows whether the
// answer has begun, which decides if a failure can still become a problem, and
// it can keep a copy of the answer for the Idempotency-Key.
type responseWriter struct {
	http.ResponseWriter
	begun bool
	// status is the status that was sent. It is 0 before that, and when only
	// Write was called.
	status int
	// pending is the status that the first Write sends; 0 means 200.
	pending int
	// discard drops what is written. It is set when the answer has failed and a
	// problem will follow.
	discard bool
	// copy keeps what is written. Nothing is kept if it is nil.
	copy *bytes.Buffer
}

// WriteHeader writes the status once. A second call, as after an error in the
// middle of an answer, is ignored.
func (w *responseWriter) WriteHeader(status int) {
	if !w.begun {
		w.begun, w.status = true, status
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter. It drops the rest of an answer that has
// failed, and keeps a copy of the answer if one is needed.
func (w *responseWriter) Write(p []byte) (int, error) {
	if w.discard {
		return len(p), nil
	}
	if !w.begun && w.pending != 0 {
		w.WriteHeader(w.pending)
	}
	w.begun = true
	if w.copy != nil {
		w.copy.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the server's own writer.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// document returns the JSON body of a problem: the members of RFC 9457, the
// error ID, the members of the problem itself and the ID of the request. A
// member of the problem cannot replace one of the fixed members. For a 422,
// detail is the list of faults.
func document(p *problem.Error, requestID string) []byte {
	var detail any = p.Detail
	if p.Code == problem.CodeInvalid {
		detail = p.Faults
		if len(p.Faults) == 0 {
			detail = []problem.Fault{{Loc: []any{"body"}, Msg: p.Detail, Type: "value_error"}}
		}
	}
	body := object{{"type", "about:blank"}, {"title", p.Code.Title()}, {"status", p.Status()}, {"detail", detail}, {"error", p.Code}}
	reserved := len(body)
	for _, name := range slices.Sorted(maps.Keys(p.Members)) {
		if name != "request_id" && !slices.ContainsFunc(body[:reserved], func(m member) bool { return m.key == name }) {
			body = append(body, member{name, p.Members[name]})
		}
	}
	body = append(body, member{"request_id", requestID})
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		// A member that cannot be written is a fault of the code that set it;
		// the problem itself must get through.
		stripped := *p
		stripped.Members = nil
		return document(&stripped, requestID)
	}
	return b.Bytes()
}

// problem returns the problem that the caller gets for an error. The first that
// applies wins:
//
//   - a list or response that is too large
//   - a problem that the handler or a lower layer named
//   - the disconnection of the reader, or the end of the request's context
//   - an error of the database, also if nobody translated it
//   - a timeout
//
// Everything else is an internal error, whose cause is only in the log.
func (a *API) problem(ctx context.Context, err error) *problem.Error {
	var known *problem.Error
	if err := requestOf(ctx).tooLargeIn(err); errors.As(err, &known) {
		return known
	}
	switch {
	case errors.As(err, &known) && known.Code != problem.CodeInternal:
		return known
	case errors.Is(err, errReaderGone):
		return problem.New(problem.CodeCanceled, "the client closed the connection").WithCause(err)
	case errors.Is(ctx.Err(), context.Canceled) && errors.Is(err, context.Canceled):
		return a.canceledProblem(err)
	case errors.As(db.Problem(err), &known) && known.Code != problem.CodeInternal:
		return known // whoever asked the database need not have said so
	case errors.Is(err, context.DeadlineExceeded):
		return problem.New(problem.CodeTimeout, "the request took too long and was aborted").WithCause(err)
	case errors.Is(err, context.Canceled):
		return a.canceledProblem(err)
	}
	return problem.From(err)
}

// canceledProblem returns the problem of a request whose context was canceled.
// Either the service is stopping, or the caller has disconnected.
func (a *API) canceledProblem(err error) *problem.Error {
	select {
	case <-a.config.Stopping:
		return stopping().WithCause(err)
	default:
		return problem.New(problem.CodeCanceled, "the request was aborted before it was done").WithCause(err)
	}
}

// fail answers a request with a problem, once. It logs the problem, records the
// refused attempt in the audit log and writes the document. If the answer has
// already begun, nothing more is written.
func (a *API) fail(ctx context.Context, p *problem.Error) {
	q := requestOf(ctx)
	if q.failed {
		return
	}
	q.failed = true
	a.logProblem(q, p)
	// Requests without a valid log-in must not fill the audit log: a 401 is
	// only in the log of the service. The exceptions are public operations such
	// as the log-in, and callers that lose access in the middle of an answer.
	anonymous := p.Code == problem.CodeUnauthenticated && q.operation != nil && !q.operation.Spec.Public && !q.w.begun
	if !anonymous {
		if err := a.record(ctx, q, p); err != nil {
			a.log.Error("recording a refused attempt failed", "request_id", q.id, "error", err)
		}
	}
	if q.w.begun {
		return
	}
	h := q.w.Header()
	for _, name := range []string{"Content-Length", "Content-Encoding", "Set-Cookie", "X-Total-Count"} {
		h.Del(name)
	}
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
	if p.Code == problem.CodeUnauthenticated {
		h.Set("WWW-Authenticate", `Bearer realm="hostler"`)
	}
	h.Set("Content-Type", "application/problem+json")
	q.w.discard = false
	q.w.WriteHeader(p.Status())
	_, _ = q.w.Write(document(p, q.id)) // the reader may be gone
}

// logProblem logs a problem with its cause, which the caller does not see.
// Internal errors are logged as errors, other failures of the service as
// warnings, and refusals only at the level debug. An outage of the database is
// logged once, see logOutage.
func (a *API) logProblem(q *request, p *problem.Error) {
	name := ""
	if q.operation != nil {
		name = q.operation.Spec.ID
	}
	args := []any{"request_id", q.id, "operation", name, "code", p.Code, "status", p.Status()}
	if cause := errors.Unwrap(p); cause != nil {
		args = append(args, "cause", cause)
	}
	switch {
	case a.logOutage(p, args):
	case p.Code == problem.CodeInternal:
		a.log.Error("request failed", args...)
	case p.Status() >= http.StatusInternalServerError:
		a.log.Warn("request failed", args...)
	default:
		a.log.Debug("request refused", args...)
	}
}

// panicked answers a request whose handler panicked with a 500. If the answer
// has begun, it breaks the connection off instead.
func (a *API) panicked(w *responseWriter, r *http.Request, cause any) {
	p := problem.From(fmt.Errorf("panic: %v", cause))
	q := requestOf(r.Context())
	a.log.Error("a handler panicked", "request_id", q.id, "panic", cause, "stack", string(debug.Stack()))
	begun := w.begun
	q.failed = false
	a.fail(r.Context(), p)
	if begun {
		panic(http.ErrAbortHandler) // half an answer must not look like a whole one
	}
}
