package plugin

import (
	"context"
	"errors"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// The values of the member "reason" of a hypervisor_error.
const (
	ReasonUnreachable = "unreachable"
	ReasonFingerprint = "tls_fingerprint"
	ReasonAuth        = "auth"
	ReasonPermission  = "permission"
	ReasonProtocol    = "protocol"
	ReasonRefused     = "refused"
)

// Problem turns what a driver's call failed with into what the caller of the API is told. This is the only place that
// does. A nil error is nil, an error that holds a problem already is that problem, and what is none of a driver's is
// internal.
func Problem(err error) error {
	if err == nil {
		return nil
	}
	var known *problem.Error
	if errors.As(err, &known) {
		return err
	}
	if errors.Is(err, sdk.ErrGone) {
		p := problem.New(problem.CodePluginUnavailable, "the hypervisor's plugin is not running; it is started again by itself, and GET /api/v1/plugins tells what ails it")
		p.RetryAfter = 1
		return p.Because(err)
	}
	var e *hypervisor.Error
	if !errors.As(err, &e) {
		if errors.Is(err, context.DeadlineExceeded) {
			return problem.New(problem.CodeTimeout, "the hypervisor did not answer in time").Because(err)
		}
		return problem.From(err)
	}
	return of(e).Because(err)
}

// of maps the kinds.
func of(e *hypervisor.Error) *problem.Error {
	switch e.Kind {
	case hypervisor.NotFound:
		return problem.New(problem.CodeNotFound, "%s", e.Message)
	case hypervisor.Unsupported:
		return problem.New(problem.CodeUnsupported, "%s", e.Message)
	case hypervisor.Timeout:
		return problem.New(problem.CodeTimeout, "%s", e.Message)
	case hypervisor.Conflict:
		return problem.New(problem.CodeInvalidState, "%s", e.Message)
	case hypervisor.Busy:
		p := problem.New(problem.CodeGuestBusy, "%s", e.Message)
		p.RetryAfter = 5
		return p
	case hypervisor.Invalid:
		return invalid(e, e.Field)
	case hypervisor.Forbidden:
		return invalid(e, "address")
	case hypervisor.Denied:
		p := failed(e, ReasonPermission).With("missing", append([]string{}, e.Missing...)) // a list for the client, also when nothing is named
		if e.Path != "" {
			p = p.With("path", e.Path)
		}
		return p
	case hypervisor.Untrusted:
		p := failed(e, ReasonFingerprint)
		if e.Fingerprint != "" {
			p = p.With("fingerprint", e.Fingerprint)
		}
		return p
	case hypervisor.TokenRejected:
		return failed(e, ReasonAuth)
	case hypervisor.Unreachable:
		return failed(e, ReasonUnreachable)
	case hypervisor.Protocol:
		return failed(e, ReasonProtocol)
	case hypervisor.Refused:
		return failed(e, ReasonRefused)
	default:
		return problem.New(problem.CodeInternal, "the hypervisor's plugin failed; the service's log has the reason")
	}
}

func failed(e *hypervisor.Error, reason string) *problem.Error {
	return problem.New(problem.CodeHypervisorError, "%s", e.Message).With("reason", reason)
}

// invalid is the 422 of one field; without a name it is about the body as a whole.
func invalid(e *hypervisor.Error, field string) *problem.Error {
	loc := []any{"body"}
	if field != "" {
		loc = append(loc, field)
	}
	return problem.InvalidField(e.Message, "hypervisor", loc...)
}
