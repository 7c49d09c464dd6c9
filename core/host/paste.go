package host

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// scriptTokens is the result of reading the output of a token script.
type scriptTokens struct {
	// all are in order of their capabilities, at most one for each.
	all []access
	// kept are capabilities whose credential was there before the script ran.
	kept []string
}

// readPaste has the driver find the credentials in the output of its token
// script, and checks each like one that was typed. Every fault is reported at
// the field `paste` and shows no part of the text: it contains secrets, and
// errors are logged.
func (s *Store) readPaste(ctx context.Context, d driver, paste secret.String) (scriptTokens, error) {
	text := paste.Reveal()
	switch {
	case len(text) > hypervisor.MaxRoleOutput:
		return scriptTokens{}, pasteFault("too_long", "must have at most 65536 bytes: paste only the output of the script")
	case strings.TrimSpace(text) == "":
		return scriptTokens{}, pasteFault("value_error", "is empty: paste the output of the script")
	case strings.Contains(text, "\x00") || !utf8.ValidString(text):
		return scriptTokens{}, pasteFault("value_error", "must be text without NUL characters")
	}
	reader, ok := hypervisor.As[hypervisor.RoleOutputReader](d.Driver)
	if !ok {
		return scriptTokens{}, problem.New(problem.CodeUnsupported,
			"the driver %s does not support pasting a token script's output: enter each token separately", d.name)
	}
	read, stop := s.withTimeout(ctx)
	defer stop()
	out, err := reader.ReadRoleOutput(read, sdk.Secret(text))
	if err != nil {
		return scriptTokens{}, asPaste(fieldFault(err), "")
	}
	var p scriptTokens
	seen := map[endpoint.Capability]bool{}
	for _, made := range out.Created {
		if !d.info.Has(made.Capability) || seen[made.Capability] {
			return scriptTokens{}, d.unfitError("a credential")
		}
		seen[made.Capability] = true
		a, err := s.readAccess(ctx, d, accessInput{
			capability: made.Capability, form: made.Form, tokenID: made.ID, secret: secret.New(string(made.Secret)),
		})
		if err != nil {
			return scriptTokens{}, asPaste(err, "the token for "+string(made.Capability)+" ")
		}
		p.all = append(p.all, a)
	}
	for _, c := range out.Kept {
		if !d.info.Has(c) || seen[c] {
			return scriptTokens{}, d.unfitError("a capability")
		}
		p.kept = append(p.kept, string(c))
	}
	return p, nil
}

// only returns what the paste has for some capabilities; nil stands for all.
func (p scriptTokens) only(capabilities []string) scriptTokens {
	if capabilities == nil {
		return p
	}
	p.all = slices.DeleteFunc(p.all, func(a access) bool { return !slices.Contains(capabilities, string(a.capability)) })
	p.kept = slices.DeleteFunc(p.kept, func(c string) bool { return !slices.Contains(capabilities, c) })
	return p
}

// need is the fault of a paste without a token for a capability, whose secret the script may not have printed.
func (p scriptTokens) need(c endpoint.Capability) error {
	for _, a := range p.all {
		if a.capability == c {
			return nil
		}
	}
	for _, kept := range p.kept {
		if kept == string(c) {
			return pasteFault("missing", "has no secret for the token "+kept+": the token existed before the script ran, and was "+
				"kept. Let the script renew the token (its first lines explain how) and paste the new output")
		}
	}
	return pasteFault("missing", "has no token for "+string(c))
}

// some is the fault of a paste in which every token was kept.
func (p scriptTokens) some() error {
	if len(p.all) > 0 {
		return nil
	}
	return pasteFault("missing", "has no token secrets: all tokens existed before the script ran, and were kept. Let the script renew "+
		"them (its first lines explain how) and paste the new output")
}

// pasteFault makes a fault at the field `paste`.
func pasteFault(kind, why string) error { return problem.InvalidField(why, kind, "body", "paste") }

// asPaste moves the first fault of a credential to the field `paste`, because
// the user typed no field of that credential. whose begins the message.
func asPaste(err error, whose string) error {
	var p *problem.Error
	if !errors.As(err, &p) || p.Code != problem.CodeInvalid || len(p.Faults) == 0 {
		return err
	}
	return pasteFault(p.Faults[0].Type, whose+p.Faults[0].Msg)
}
