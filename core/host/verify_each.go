package host

import (
	"context"
	"errors"
	"maps"
	"sync"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// checkedToken is a token with the result of its check.
type checkedToken struct {
	endpoint.Credential
	Verification
}

// verifyEach tries several tokens at one endpoint, independently and at the
// same time. Results and errors have the places of their tokens. If nothing
// decides about the certificate, it is read once before and pinned for all:
// otherwise each token could go to another server.
func (s *Store) verifyEach(ctx context.Context, d driver, at connection, tokens []endpoint.Credential) ([]Verification, []error) {
	found, errs := make([]Verification, len(tokens)), make([]error, len(tokens))
	if at.unpinned() && len(tokens) > 1 {
		shown, err := s.readCertificate(ctx, d, at)
		if sdk.KindOf(err) == sdk.Unsupported {
			return found, s.verifyInTurn(ctx, at, tokens, found, errs)
		}
		if err != nil {
			for i := range errs {
				errs[i] = err
			}
			return found, errs
		}
		at.fingerprint = shown.Fingerprint
	}
	var all sync.WaitGroup
	for i, token := range tokens {
		all.Go(func() { found[i], errs[i] = s.verify(ctx, at.driver, s.targetOf(at, token)) })
	}
	all.Wait()
	for i, err := range errs {
		errs[i] = withoutSecrets(err, tokens)
	}
	return found, errs
}

// withoutSecrets removes the secrets of all tokens from an error. Each call
// removes its own secret; a proxy before the endpoint may repeat those of the
// others. If it finds one, the cause is dropped, because it may contain it as
// well.
func withoutSecrets(err error, tokens []endpoint.Credential) error {
	if err == nil {
		return nil
	}
	secrets := make([]string, len(tokens))
	for i, token := range tokens {
		secrets[i] = string(token.Secret)
	}
	if text := err.Error(); sdk.HideSecrets(text, secrets...) == text {
		return err
	}
	var told sdk.Error
	if e, ok := errors.AsType[*sdk.Error](err); ok {
		told = sdk.Error{Kind: e.Kind, Message: e.Message, Missing: e.Missing, Path: e.Path, Remedy: e.Remedy, Field: e.Field,
			Fingerprint: e.Fingerprint}
	} else {
		told = *sdk.Errorf(sdk.KindOf(err), "checking the token failed")
	}
	told.Message = sdk.HideSecrets(told.Message, secrets...)
	return &told // without the cause, which may tell it too
}

// verifyInTurn is verifyEach for drivers that cannot read a certificate alone:
// the certificate of the first token that is accepted is pinned for the rest.
// An endpoint that does not answer is not asked again, because each attempt
// would take the full timeout.
func (s *Store) verifyInTurn(ctx context.Context, at connection, tokens []endpoint.Credential, found []Verification,
	errs []error) []error {
	for i, token := range tokens {
		found[i], errs[i] = s.verify(ctx, at.driver, s.targetOf(at, token))
		if errs[i] == nil && at.unpinned() {
			at.fingerprint = found[i].Fingerprint
		}
		if errs[i] != nil && !judged(errs[i]) {
			for j := i + 1; j < len(tokens); j++ {
				errs[j] = errs[i]
			}
			break
		}
	}
	return errs
}

// judged reports whether the endpoint answered and rejected the token; other
// failures say nothing about the token.
func judged(err error) bool {
	switch sdk.KindOf(err) {
	case sdk.TokenRejected, sdk.Denied:
		return true
	}
	return false
}

// unpinned reports that neither a fingerprint nor an authority decides about
// the certificate.
func (e connection) unpinned() bool { return e.fingerprint == "" && !e.verifyTLS }

// readCertificate reads the certificate of the endpoint, trusted or not, and
// sends no token. The error is of the kind Unsupported if the driver cannot do
// that.
func (s *Store) readCertificate(ctx context.Context, d driver, at connection) (endpoint.Certificate, error) {
	reader, ok := hypervisor.As[hypervisor.CertificateReader](d.Driver)
	if !ok {
		return endpoint.Certificate{}, MissingAbility("driver", hypervisor.AbilityName[hypervisor.CertificateReader]())
	}
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	shown, err := reader.ReadCertificate(ctx, s.targetOf(at, endpoint.Credential{}))
	if err != nil {
		return endpoint.Certificate{}, err
	}
	if shown.Fingerprint, err = endpoint.ParseFingerprint(shown.Fingerprint); err != nil {
		return endpoint.Certificate{}, d.unfitError("a fingerprint")
	}
	return shown, nil
}

// firstRejection returns nil if every token was accepted. Else it returns the problem
// of the first that was not, with a row for each token.
func firstRejection(tokens []endpoint.Credential, found []Verification, errs []error) error {
	var first error
	rows := make([]TokenCheck, len(tokens))
	for i, token := range tokens {
		rows[i] = checkOf(token, &found[i], errs[i])
		if errs[i] != nil && first == nil {
			p := problem.From(rejected(errs[i]))
			if len(tokens) == 1 {
				return p
			}
			first = extended(p, "the token for "+string(token.Capability)+": "+p.Detail).WithCause(errs[i])
		}
	}
	if first == nil {
		return nil
	}
	return problem.From(first).With("tokens", rows)
}

// extended copies a problem with another detail. Problems are shared, so that
// members must not be added to the original.
func extended(p *problem.Error, detail string) *problem.Error {
	after := *p
	after.Members, after.Detail = maps.Clone(p.Members), detail
	return &after
}

// Reasons in the row of a token that was not tried: what was entered cannot be
// one, or the driver does not have its capability.
const (
	ReasonInvalid     = "invalid"
	ReasonUnsupported = "unsupported"
)

// checkOf makes the row of one token.
func checkOf(token endpoint.Credential, v *Verification, err error) TokenCheck {
	row := tokenCheck(string(token.Capability), v, err)
	row.TokenID, row.Form = orNil(token.ID), orNil(token.Form)
	return row
}

// zipTokens joins tokens and their results by place.
func zipTokens(tokens []endpoint.Credential, found []Verification) []checkedToken {
	all := make([]checkedToken, len(tokens))
	for i, token := range tokens {
		all[i] = checkedToken{token, found[i]}
	}
	return all
}
