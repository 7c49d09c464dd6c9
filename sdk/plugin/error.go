package plugin

import (
	"context"
	"errors"
	"fmt"
)

// ErrorKind is what went wrong, in the few words that the service acts on. Kinds survive the way from plugin to service.
type ErrorKind string

// The kinds of errors.
const (
	NotFound      ErrorKind = "not_found"
	Denied        ErrorKind = "denied"         // the credential lacks Missing
	TokenRejected ErrorKind = "token_rejected" // the credential is wrong, expired or revoked
	Unsupported   ErrorKind = "unsupported"
	Unreachable   ErrorKind = "unreachable" // no connection, or it broke
	Untrusted     ErrorKind = "untrusted"   // the certificate is not the pinned or a trusted one; Fingerprint is what was seen
	Forbidden     ErrorKind = "forbidden"   // the address must not be dialled
	Timeout       ErrorKind = "timeout"
	Conflict      ErrorKind = "conflict" // the thing's present state does not allow it
	Invalid       ErrorKind = "invalid"  // the endpoint does not take the parameter Field
	Busy          ErrorKind = "busy"     // locked; trying again later may help
	Refused       ErrorKind = "refused"  // the endpoint said no for a reason of its own
	Protocol      ErrorKind = "protocol" // the answer is not one of the product that is expected there
	Internal      ErrorKind = "internal"
)

// Error is a failure that the service tells its users about. Message never holds a secret.
type Error struct {
	Kind    ErrorKind
	Message string
	// Missing are the privileges that a Denied call lacked, "A|B" for alternatives; Path is where.
	Missing []string
	Path    string
	// Remedy is the command that grants what a Denied call lacked, for whoever may run it at the endpoint; empty where there is none.
	Remedy string
	// Field is the parameter of an Invalid call.
	Field string
	// Fingerprint is the certificate seen by an Untrusted call.
	Fingerprint string
	cause       error
}

// Errorf makes an Error; a %w among the verbs becomes its cause.
func Errorf(kind ErrorKind, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: wrapped.Error(), cause: errors.Unwrap(wrapped)}
}

func (e *Error) Error() string { return string(e.Kind) + ": " + e.Message }

// Unwrap gives the cause to errors.Is and errors.As. It does not survive the way from plugin to service.
func (e *Error) Unwrap() error { return e.cause }

// Because sets the cause, whose text stays out of the Message, and returns the error.
func (e *Error) Because(cause error) *Error {
	e.cause = cause
	return e
}

// KindOf is the kind of the Error in err. Any other error is Timeout when a deadline ended it, and Internal otherwise.
func KindOf(err error) ErrorKind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Timeout
	}
	return Internal
}
