package host

import (
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Reasons that stand in a host's row beside those of core/plugin: their problems have codes of their own.
const (
	ReasonTimeout = "timeout"
	ReasonPlugin  = "plugin"
)

// Reason is a failure in the form in which a host's row keeps it: a word and a sentence for people.
func Reason(err error) (reason, sentence string) {
	p := problem.From(plugin.Problem(err))
	switch p.Code {
	case problem.CodeTimeout:
		return ReasonTimeout, p.Detail
	case problem.CodePluginUnavailable:
		return ReasonPlugin, p.Detail
	case problem.CodeInvalid:
		// An address that must not be dialled, or a certificate's form that the driver does not take.
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

// rejected is Problem for the checks of a token that the caller has just given: a rejected one has a code of its own.
func rejected(err error) error {
	if sdk.KindOf(err) == sdk.TokenRejected {
		return problem.New(problem.CodeTokenRejected, "the hypervisor rejected the token").With("reason", plugin.ReasonAuth).Because(err)
	}
	return plugin.Problem(err)
}
