package plugin

import (
	"errors"
	"strings"
	"unicode/utf8"

	pluginv1 "github.com/hostler/hostler/sdk/proto/hostler/plugin/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// codeOf maps kinds to gRPC codes. Unavailable, Canceled and Unknown are reserved
// for the transport, so that a dead plugin is never taken for a dead endpoint.
var codeOf = map[ErrorKind]codes.Code{
	NotFound:      codes.NotFound,
	Denied:        codes.PermissionDenied,
	TokenRejected: codes.Unauthenticated,
	Unsupported:   codes.Unimplemented,
	Unreachable:   codes.FailedPrecondition,
	Untrusted:     codes.FailedPrecondition,
	Forbidden:     codes.FailedPrecondition,
	Timeout:       codes.DeadlineExceeded,
	Conflict:      codes.FailedPrecondition,
	Invalid:       codes.InvalidArgument,
	Busy:          codes.Aborted,
	Refused:       codes.FailedPrecondition,
	Protocol:      codes.DataLoss,
	Internal:      codes.Internal,
}

// maxMessage limits the text of an error in bytes. It travels in an HTTP/2 header,
// and an endpoint may answer with a whole web page.
const maxMessage = 4096

// errorOf returns the Error in err. An error without one becomes Internal or
// Timeout, with its text as message.
func errorOf(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: KindOf(err), Message: err.Error()}
}

// statusOf returns the gRPC status that carries e. The secrets are removed from
// every text.
func statusOf(e *Error, secrets ...string) error {
	code, ok := codeOf[e.Kind]
	if !ok {
		code = codes.Internal
	}
	safe := func(s string) string { return clean(HideSecrets(s, secrets...)) }
	detail := &pluginv1.Failure{
		Kind: safe(string(e.Kind)), Path: safe(e.Path), Field: safe(e.Field), Fingerprint: safe(e.Fingerprint), Remedy: safe(e.Remedy),
	}
	for _, m := range e.Missing {
		detail.Missing = append(detail.Missing, safe(m))
	}
	plain := status.New(code, safe(e.Message))
	full, err := plain.WithDetails(detail)
	if err != nil {
		return plain.Err()
	}
	return full.Err()
}

// errorIn returns the Error in a status, or nil. An unknown kind, which a newer
// plugin may send, becomes Internal.
func errorIn(s *status.Status) *Error {
	for _, d := range s.Details() {
		if p, ok := d.(*pluginv1.Failure); ok {
			kind := ErrorKind(p.GetKind())
			if _, known := codeOf[kind]; !known {
				kind = Internal
			}
			return &Error{
				Kind: kind, Message: s.Message(), Missing: p.GetMissing(),
				Path: p.GetPath(), Field: p.GetField(), Fingerprint: p.GetFingerprint(), Remedy: p.GetRemedy(),
			}
		}
	}
	return nil
}

// clean shortens s and replaces invalid UTF-8, which protobuf and gRPC headers
// refuse.
func clean(s string) string {
	if len(s) > maxMessage {
		s = s[:maxMessage] + "…"
	}
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
