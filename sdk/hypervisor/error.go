package hypervisor

import (
	"context"
	"errors"
	"fmt"

	"github.com/hostler/hostler/sdk/plugin"
)

// Kind is what went wrong, in the few words that the service acts on. Kinds survive the way from plugin to service.
type Kind string

// The kinds.
const (
	NotFound      Kind = "not_found"
	Denied        Kind = "denied"         // the credential lacks Missing
	TokenRejected Kind = "token_rejected" // the credential is wrong, expired or revoked
	Unsupported   Kind = "unsupported"
	Unreachable   Kind = "unreachable" // no connection, or it broke
	Untrusted     Kind = "untrusted"   // the certificate is not the pinned or a trusted one; Fingerprint is what was seen
	Forbidden     Kind = "forbidden"   // the address must not be dialled
	Timeout       Kind = "timeout"
	Conflict      Kind = "conflict" // the thing's present state does not allow it
	Invalid       Kind = "invalid"  // the hypervisor does not take the parameter Field
	Busy          Kind = "busy"     // locked; trying again later may help
	Refused       Kind = "refused"  // the hypervisor said no for a reason of its own
	Protocol      Kind = "protocol" // the answer is not one of the hypervisor's
	Internal      Kind = "internal"
)

var known = map[Kind]bool{
	NotFound: true, Denied: true, TokenRejected: true, Unsupported: true, Unreachable: true, Untrusted: true,
	Forbidden: true, Timeout: true, Conflict: true, Invalid: true, Busy: true, Refused: true, Protocol: true, Internal: true,
}

// Error is a failure that the service tells its users about. Message never holds a secret.
type Error struct {
	Kind    Kind
	Message string
	// Missing are the privileges that a Denied call lacked, "A|B" for alternatives; Path is where.
	Missing []string
	Path    string
	// Field is the parameter of an Invalid call.
	Field string
	// Fingerprint is the certificate seen by an Untrusted call.
	Fingerprint string
	cause       error
}

// Errorf makes an Error; a %w among the verbs becomes its cause.
func Errorf(kind Kind, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: wrapped.Error(), cause: errors.Unwrap(wrapped)}
}

func (e *Error) Error() string { return string(e.Kind) + ": " + e.Message }

// Unwrap gives the cause to errors.Is and errors.As. It does not survive the way from plugin to service.
func (e *Error) Unwrap() error { return e.cause }

// KindOf is the kind of the Error in err. Any other error is Timeout when a deadline ended it, and Internal otherwise.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Timeout
	}
	return Internal
}

// Failure is the form in which the error travels from plugin to service.
func (e *Error) Failure() *plugin.Failure {
	return &plugin.Failure{
		Kind: string(e.Kind), Message: e.Message,
		Missing: e.Missing, Path: e.Path, Field: e.Field, Fingerprint: e.Fingerprint,
	}
}

// fromFailure is the way back. An unknown kind becomes Internal.
func fromFailure(f *plugin.Failure) *Error {
	kind := Kind(f.Kind)
	if !known[kind] {
		kind = Internal
	}
	return &Error{
		Kind: kind, Message: f.Message,
		Missing: f.Missing, Path: f.Path, Field: f.Field, Fingerprint: f.Fingerprint,
	}
}
