package op

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/problem"
)

// Limits of reading a body.
const (
	defaultBodyTime = 30 * time.Second
	// maxPublicBody is the largest body of a public operation, in bytes.
	maxPublicBody = 4 << 10
)

// readBody reads the body of an operation that declares one, and adds to
// q.faults what is wrong with it as JSON. The result is empty if there is no
// body, if it is not JSON at all, or if an optional body is null. For an
// operation without a body, a body with any content is a fault: what its sender
// requested would otherwise be ignored.
func readBody(ctx context.Context, q *request, r *http.Request) ([]byte, error) {
	limit := q.operation.Spec.MaxBody
	if limit <= 0 {
		limit = defaultMaxBody
	}
	if q.operation.Spec.Public {
		limit = min(limit, maxPublicBody)
	}
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	if r.Body == nil || r.Body == http.NoBody || !q.operation.bodyDeclared && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		return nil, nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(q.w, r.Body, limit))
	if err == nil {
		// Left in place the deadline would end the server's watch for a
		// vanished client and cancel the handler.
		_ = http.NewResponseController(q.w).SetReadDeadline(time.Time{})
	} else {
		var large *http.MaxBytesError
		var network net.Error
		switch {
		case errors.As(err, &large):
			return nil, tooLarge(limit)
		case errors.As(err, &network) && network.Timeout():
			return nil, problem.New(problem.CodeRequestTimeout, "the body did not arrive within %s", q.api.config.BodyTime)
		}
		if malformed(r, err) {
			return nil, problem.New(problem.CodeMalformed,
				"the body does not match the framing in its headers").WithCause(fmt.Errorf("reading the body: %w", err))
		}
		return nil, problem.New(problem.CodeCanceled, "the body ended too early").WithCause(fmt.Errorf("reading the body: %w", err))
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	if !q.operation.bodyDeclared {
		if !hasContent(body) {
			return nil, nil
		}
		q.faults = append(q.faults, problem.Fault{Loc: []any{"body"}, Msg: "this operation takes no body", Type: "body_forbidden"})
		return nil, nil
	}
	if err := isJSON(r.Header); err != nil {
		return nil, err
	}
	if !q.operation.bodyRequired && string(bytes.TrimSpace(body)) == "null" {
		return nil, nil
	}
	found, err := q.api.check(ctx, q.operation, body)
	if err != nil {
		return nil, err
	}
	q.faults, q.misfits = append(q.faults, found.raw...), found.misfits
	if !found.whole {
		return nil, nil
	}
	if further := q.operation.Spec.Faults; further != nil {
		q.faults = append(q.faults, further(body)...)
	}
	return body, nil
}

// malformed reports whether reading a body failed because its chunked encoding
// is broken, and not because its sender disconnected. net/http has no error for
// that, so every error that the connection does not explain counts.
func malformed(r *http.Request, err error) bool {
	var network net.Error
	return slices.Contains(r.TransferEncoding, "chunked") && r.Context().Err() == nil && !errors.Is(err, io.EOF) &&
		!errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, http.ErrBodyReadAfterClose) && !errors.As(err, &network)
}

// hasContent reports whether a body has more than what clients send when no
// body is needed.
func hasContent(body []byte) bool {
	text := string(bytes.TrimSpace(body))
	return text != "" && text != "null" && text != "{}"
}

// tooLarge returns the problem of a body that exceeds its limit.
func tooLarge(limit int64) *problem.Error {
	return problem.New(problem.CodeTooLarge, "the request body is larger than %s", problem.Size(limit))
}

// isJSON refuses every other type of body. A browser sends text/plain, a form
// or no type across sites without a preflight request, so none of these may be
// accepted as JSON.
func isJSON(h http.Header) error {
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset := params["charset"]
	if err != nil || media != "application/json" || (charset != "" && !strings.EqualFold(charset, "utf-8")) {
		return problem.New(problem.CodeUnsupportedMedia, "send the body as application/json in UTF-8")
	}
	if encoding := h.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return problem.New(problem.CodeUnsupportedMedia, "send the body without Content-Encoding")
	}
	return nil
}

// unfitParams returns query and header parameters that contain NUL or are not
// UTF-8, which the database could not compare, numbers that are not finite, and
// query parameters without a value.
func (o *Operation) unfitParams(query url.Values, header http.Header) []problem.Fault {
	var faults []problem.Fault
	for _, param := range o.params {
		value := query.Get(param.Name)
		if param.In == "query" && slices.Contains(query[param.Name], "") {
			faults = append(faults, problem.Fault{Loc: []any{param.In, param.Name}, Msg: "given without a value", Type: "empty"})
			continue
		}
		if param.In == "header" {
			value = header.Get(param.Name)
		}
		fault, bad := unfit(value, param.In, param.Name)
		if number, err := strconv.ParseFloat(value, 64); param.Schema.Type == huma.TypeNumber && err == nil &&
			(math.IsNaN(number) || math.IsInf(number, 0)) {
			fault, bad = problem.Fault{Loc: []any{param.In, param.Name}, Msg: "expected a finite number", Type: "finite_number"}, true
		}
		if bad {
			faults = append(faults, fault)
		}
	}
	return faults
}

// unfit returns the fault of a text that PostgreSQL cannot store.
func unfit(value string, loc ...any) (problem.Fault, bool) {
	switch {
	case !utf8.ValidString(value):
		return problem.Fault{Loc: loc, Msg: "not valid UTF-8", Type: "string_unicode"}, true
	case strings.Contains(value, "\x00"):
		return problem.Fault{Loc: loc, Msg: "must not contain NUL characters", Type: "string_nul"}, true
	}
	return problem.Fault{}, false
}
