// Package problem is the one error of the product: a code that machines read, a sentence that people read, the field
// it is about, and a cause that only the log sees. Nouns return it, plugins' errors are turned into it in core/plugin,
// and core/api/op writes it as application/problem+json (RFC 9457). An error that is no problem is "internal": the
// caller is told nothing of it and the log everything.
package problem

import (
	"errors"
	"fmt"
)

// Error is a failure that a caller may be told of.
type Error struct {
	// Code names the failure; its HTTP status and title come from the table in codes.go.
	Code Code
	// Detail is one sentence for people. It never holds a secret or a rejected input value.
	Detail string
	// Members are further top-level members of the answer, such as confirm_phrase or capability.
	Members map[string]any
	// RetryAfter in seconds is sent as the Retry-After header when it is above zero.
	RetryAfter int
	// Faults are the single faults of a rejected input; only Invalid has them.
	Faults []Fault
	// cause is logged and never sent.
	cause error
}

// Fault is one fault of a request's input, in the shape of specification section 7.
type Fault struct {
	// Loc is where: "body", "query" or "path", then the keys that lead to the value.
	Loc []any `json:"loc"`
	// Msg says what is wrong, without the value itself: it may be a secret.
	Msg string `json:"msg"`
	// Type is a short stable identifier such as "missing" or "too_long".
	Type string `json:"type"`
}

// New makes a problem with a detail built as by fmt.Sprintf.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// InvalidField is the 422 of one faulty field; loc is as in Fault.
func InvalidField(msg, kind string, loc ...any) *Error {
	return Invalid(Fault{Loc: loc, Msg: msg, Type: kind})
}

// Invalid is the 422 of one or more faulty fields.
func Invalid(faults ...Fault) *Error {
	return &Error{Code: CodeInvalid, Detail: "the request is not valid", Faults: faults}
}

// Confirm is the 409 that asks the caller to type phrase; code is CodeConfirmRequired or CodeSelfTarget.
func Confirm(code Code, phrase, format string, args ...any) *Error {
	return New(code, format, args...).With("confirm_phrase", phrase)
}

// With adds a top-level member to the answer and returns the same problem.
func (e *Error) With(name string, value any) *Error {
	if e.Members == nil {
		e.Members = map[string]any{}
	}
	e.Members[name] = value
	return e
}

// WithCause records what led to the problem, for the log, and returns the same problem.
func (e *Error) WithCause(cause error) *Error {
	e.cause = cause
	return e
}

// Status is the HTTP status of the problem's code.
func (e *Error) Status() int { return e.Code.Status() }

func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Detail, e.cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Detail)
}

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is a problem of the same code, so that errors.Is(err, problem.NotFound) reads well.
func (e *Error) Is(target error) bool {
	var other *Error
	return errors.As(target, &other) && other.Code == e.Code
}

// From finds the problem in err. An error without one becomes internal with err as its cause.
func From(err error) *Error {
	var p *Error
	if errors.As(err, &p) {
		return p
	}
	return New(CodeInternal, "an internal error occurred; see the service's log for details").WithCause(err)
}

// CodeOf is the code of the problem in err; CodeInternal when there is none.
func CodeOf(err error) Code { return From(err).Code }
