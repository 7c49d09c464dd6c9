package plugin

import (
	"context"
	"errors"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// These are the values of the member "reason" of a hypervisor_error.
const (
	ReasonUnreachable = "unreachable"
	ReasonFingerprint = "tls_fingerprint"
	ReasonAuth        = "auth"
	ReasonPermission  = "permission"
	ReasonProtocol    = "protocol"
	ReasonRefused     = "refused"
)

// Problem turns the error of a driver's call into the problem for the caller of
// the API. This is the only place that does. A nil error stays nil, an error
// that contains a problem becomes that problem, and an error that is not a
// driver's becomes internal.
func Problem(err error) error {
	if err == nil {
		return nil
	}
	var known *problem.Error
	if errors.As(err, &known) {
		return err
	}
	if errors.Is(err, sdk.ErrGone) {
		p := problem.New(problem.CodePluginUnavailable,
			"the hypervisor's plugin is not running; it is restarted automatically, and GET /api/v1/plugins shows the reason")
		p.RetryAfter = 1
		return p.WithCause(err)
	}
	var e *sdk.Error
	if !errors.As(err, &e) {
		if errors.Is(err, context.DeadlineExceeded) {
			return problem.New(problem.CodeTimeout, "the hypervisor did not answer in time").WithCause(err)
		}
		return problem.From(err)
	}
	told := *e
	told.Message = sdk.HideSecrets(e.Message)
	return of(&told).WithCause(err)
}

// of maps the kinds of errors.
func of(e *sdk.Error) *problem.Error {
	switch e.Kind {
	case sdk.NotFound:
		return problem.New(problem.CodeNotFound, "%s", e.Message)
	case sdk.Unsupported:
		return problem.New(problem.CodeUnsupported, "%s", e.Message)
	case sdk.Timeout:
		return problem.New(problem.CodeTimeout, "%s", e.Message)
	case sdk.Conflict:
		if e.Field == "digest" {
			return problem.New(problem.CodeDigestConflict, "%s", e.Message)
		}
		return problem.New(problem.CodeInvalidState, "%s", e.Message)
	case sdk.Busy:
		p := problem.New(problem.CodeGuestBusy, "%s", e.Message)
		p.RetryAfter = 5
		return p
	case sdk.Invalid:
		return invalid(e, e.Field)
	case sdk.Forbidden:
		return invalid(e, "address")
	case sdk.Denied:
		p := failed(e, ReasonPermission).With("missing", append([]string{}, e.Missing...)) // a list for the client, also when nothing is named
		if e.Path != "" {
			p = p.With("path", e.Path)
		}
		if e.Remedy != "" {
			p = p.With("remedy", e.Remedy)
		}
		return p
	case sdk.Untrusted:
		if e.Field == endpoint.FieldHostKey {
			return problem.New(problem.CodeSSHHostKeyChanged, "%s", e.Message).With("fingerprint", e.Fingerprint)
		}
		p := failed(e, ReasonFingerprint)
		if e.Fingerprint != "" {
			p = p.With("fingerprint", e.Fingerprint)
		}
		return p
	case sdk.TokenRejected:
		return failed(e, ReasonAuth)
	case sdk.Unreachable:
		return failed(e, ReasonUnreachable)
	case sdk.Protocol:
		return failed(e, ReasonProtocol)
	case sdk.Refused:
		return failed(e, ReasonRefused)
	default:
		return problem.New(problem.CodeInternal, "the hypervisor's plugin failed; see the service's log for the reason")
	}
}

// failed makes the problem of an error that a plugin reported.
func failed(e *sdk.Error, reason string) *problem.Error {
	return problem.New(problem.CodeHypervisorError, "%s", e.Message).With("reason", reason)
}

// invalid returns the problem 422 for one field; without a name it concerns the
// whole body.
func invalid(e *sdk.Error, field string) *problem.Error {
	loc := []any{"body"}
	if field != "" {
		loc = append(loc, field)
	}
	return problem.InvalidField(e.Message, "hypervisor", loc...)
}
