package host

import (
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Reasons of a host's row in addition to those of core/plugin. Their problems
// have codes of their own.
const (
	ReasonTimeout = "timeout"
	ReasonPlugin  = "plugin"
)

// Reason converts a failure to the form in which a host's row keeps it: a word
// for programs and a sentence for people.
func Reason(err error) (reason, sentence string) {
	p := problem.From(plugin.Problem(err))
	switch p.Code {
	case problem.CodeTimeout:
		return ReasonTimeout, p.Detail
	case problem.CodePluginUnavailable:
		return ReasonPlugin, p.Detail
	case problem.CodeInvalid:
		// An address that must not be dialled, or a certificate's form that the
		// driver does not take.
		if len(p.Faults) > 0 {
			return plugin.ReasonRefused, p.Faults[0].Msg
		}
		return plugin.ReasonRefused, p.Detail
	}
	if reason, ok := p.Members["reason"].(string); ok {
		return reason, p.Detail
	}
	return plugin.ReasonProtocol, p.Detail
}

// rejected is plugin.Problem for a token that the caller has just entered. A
// rejected one has its own code, so that the form can mark the field.
func rejected(err error) error {
	if sdk.KindOf(err) == sdk.TokenRejected {
		return problem.New(problem.CodeTokenRejected, "the hypervisor rejected the token").With("reason", plugin.ReasonAuth).WithCause(err)
	}
	return plugin.Problem(err)
}
