package plugin

import (
	"context"
	"errors"
	"fmt"
)

// ErrorKind classifies a failure. The list is closed and short: the service chooses
// its reaction, such as an HTTP status or a retry, by the kind alone. Kinds survive
// the way from the plugin to the service.
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

// Error is a failure that the service reports to its users. Its texts must not
// contain a secret.
type Error struct {
	// Kind is one of the kinds. Message is one sentence for people, in lower case
	// and without a full stop.
	Kind    ErrorKind
	Message string
	// Missing lists the privileges that a Denied call lacked, "A|B" for
	// alternatives. Path is the place at which they are needed.
	Missing []string
	Path    string
	// Remedy is the command that grants the missing privileges, for an
	// administrator of the endpoint. It is empty if the driver knows none.
	Remedy string
	// Field is the name of the parameter of an Invalid call, and the part of a
	// Conflict or Untrusted one that the method's comment names.
	Field string
	// Fingerprint is the fingerprint that an Untrusted call saw.
	Fingerprint string
	cause       error
}

// Errorf returns an Error with a formatted message. The operand of %w becomes its
// cause.
func Errorf(kind ErrorKind, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: wrapped.Error(), cause: errors.Unwrap(wrapped)}
}

// Error implements the interface error. It returns the kind and the message.
func (e *Error) Error() string { return string(e.Kind) + ": " + e.Message }

// Unwrap returns the cause for errors.Is and errors.As. The cause does not survive
// the way from the plugin to the service.
func (e *Error) Unwrap() error { return e.cause }

// WithCause sets the cause, whose text does not become part of the Message, and
// returns the same error.
func (e *Error) WithCause(cause error) *Error {
	e.cause = cause
	return e
}

// KindOf returns the kind of the Error in err. An error without an Error in it is
// Timeout if it wraps context.DeadlineExceeded, and Internal otherwise.
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
