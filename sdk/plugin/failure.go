package plugin

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	pluginv1 "github.com/hostler/hostler/sdk/proto/hostler/plugin/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Kinds of failures that this package itself gives.
const (
	failureTimeout  = "timeout"
	failureInternal = "internal"
)

// codeOf is the gRPC code for each failure kind. Unavailable, Canceled and Unknown are left to the transport, so that a
// dead plugin is never taken for a dead hypervisor.
var codeOf = map[string]codes.Code{
	"not_found":      codes.NotFound,
	"denied":         codes.PermissionDenied,
	"token_rejected": codes.Unauthenticated,
	"unsupported":    codes.Unimplemented,
	"unreachable":    codes.FailedPrecondition,
	"untrusted":      codes.FailedPrecondition,
	"forbidden":      codes.FailedPrecondition,
	failureTimeout:   codes.DeadlineExceeded,
	"conflict":       codes.FailedPrecondition,
	"invalid":        codes.InvalidArgument,
	"busy":           codes.Aborted,
	"refused":        codes.FailedPrecondition,
	"protocol":       codes.DataLoss,
	failureInternal:  codes.Internal,
}

// maxMessage limits a failure's text in bytes: it travels in a header, and a hypervisor may answer with a whole page.
const maxMessage = 4096

// Failure is a failed call as it travels from plugin to service. Its kinds are those of the plugin's kind, such as
// hypervisor.Kind.
type Failure struct {
	Kind        string
	Message     string
	Missing     []string
	Path        string
	Field       string
	Fingerprint string
}

func (f *Failure) Error() string { return f.Kind + ": " + f.Message }

// failer is satisfied by the error types of the kinds.
type failer interface{ Failure() *Failure }

// failureOf finds the Failure in a driver's error. An error without one is internal with its text, or a timeout.
func failureOf(err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	var own failer
	if errors.As(err, &own) {
		return own.Failure()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Failure{Kind: failureTimeout, Message: err.Error()}
	}
	return &Failure{Kind: failureInternal, Message: err.Error()}
}

// statusOf makes the gRPC status that carries f. secrets are cut out of every text.
func statusOf(f *Failure, secrets ...string) error {
	code, ok := codeOf[f.Kind]
	if !ok {
		code = codes.Internal
	}
	safe := func(s string) string { return clean(redact(s, secrets)) }
	detail := &pluginv1.Failure{
		Kind: safe(f.Kind), Path: safe(f.Path), Field: safe(f.Field), Fingerprint: safe(f.Fingerprint),
	}
	for _, m := range f.Missing {
		detail.Missing = append(detail.Missing, safe(m))
	}
	plain := status.New(code, safe(f.Message))
	full, err := plain.WithDetails(detail)
	if err != nil {
		return plain.Err()
	}
	return full.Err()
}

// failureIn gets the Failure back out of a status; nil when there is none.
func failureIn(s *status.Status) *Failure {
	for _, d := range s.Details() {
		if p, ok := d.(*pluginv1.Failure); ok {
			return &Failure{
				Kind: p.GetKind(), Message: s.Message(), Missing: p.GetMissing(),
				Path: p.GetPath(), Field: p.GetField(), Fingerprint: p.GetFingerprint(),
			}
		}
	}
	return nil
}

// clean makes s fit for protobuf, which takes valid UTF-8 only, and for a header.
func clean(s string) string {
	if len(s) > maxMessage {
		s = s[:maxMessage] + "…"
	}
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
