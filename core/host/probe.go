package host

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// ProbeRequest is the input of Probe.
type ProbeRequest struct {
	// Enrolment is as in Create, without a name. Its own credential, its Paste
	// or Tokens are given, and only one of these. Tokens that are empty and not
	// nil are none to try: only the certificate is looked at.
	EnrolRequest
	Tokens []Token
}

// Token is one credential to try.
type Token struct {
	Capability string
	// Form, TokenID and Secret are as in EnrolRequest.
	Form    string
	TokenID string
	Secret  secret.String
}

// ProbeResult is the result of Probe.
type ProbeResult struct {
	Reachable bool `json:"reachable" example:"true" doc:"true if the endpoint responded over a trusted connection, even if it rejected the token"`
	Verification
	// Code is nil unless a one-time code was given: what the first one says of itself. Nothing was asked with it, so that all that needs
	// access is empty.
	Code   *Code        `json:"one_time_code" doc:"Contents of the first one-time code, which this request does not use up; null without one"`
	Tokens []TokenCheck `json:"tokens" doc:"One entry for each given token, in order"`
	Kept   []string     `json:"kept" example:"[\"console\"]" doc:"Capabilities whose existing tokens the token script kept; their secrets are not in the pasted text"`
}

// Probe checks an endpoint that is not enrolled and stores nothing. It reads
// the certificate first and sends no token to an endpoint with a wrong one.
//
// If Tokens is set, each token has its own row, and none of them makes the call
// fail. A single credential that fails is an error with the certificate as its
// member, like an endpoint that does not answer. One-time codes are not used
// up: Probe only shows what they contain, and without an address it does
// nothing else with them.
func (s *Store) Probe(ctx context.Context, in ProbeRequest) (ProbeResult, error) {
	if in.Tokens != nil {
		return s.probeTokens(ctx, in)
	}
	t, err := s.parse(ctx, in.EnrolRequest)
	if err == nil && !in.Paste.Empty() {
		err = scriptTokens{t.all, t.kept}.some()
	}
	if !t.codes() || err != nil {
		err = faults(err, needAddress(in.Address))
	}
	if err != nil {
		return ProbeResult{}, err
	}
	tries := make([]tokenTry, len(t.all))
	for i, a := range t.all {
		tries[i].access = a
	}
	found, err := s.probe(ctx, t, tries, in.Paste.Empty())
	found.Kept = append([]string{}, t.kept...)
	return found, err
}

// tokenTry is a token to be tried, or the reason why it cannot be one.
type tokenTry struct {
	access
	err error
}

// probeTokens is Probe for a list of tokens. A text that cannot be a token is a
// row, not a fault: the page tests what a user has typed so far.
func (s *Store) probeTokens(ctx context.Context, in ProbeRequest) (ProbeResult, error) {
	var fault error
	if in.Form != "" || in.TokenID != "" || !in.Secret.Empty() || !in.Paste.Empty() {
		fault = problem.InvalidField("replace credential_form, token_id, token_secret and paste: leave these out", "value_error",
			"body", "tokens")
	}
	d, err := s.choose(ctx, in.Driver, "body", "driver")
	if err := faults(err, fault, needAddress(in.Address)); err != nil {
		return ProbeResult{}, err
	}
	t := parsedRequest{driver: d, at: connection{driver: d.name, verifyTLS: in.VerifyTLS}}
	var errs [2]error
	t.at.address, errs[0] = s.address(in.Address, d.info.DefaultPort)
	t.at.fingerprint, errs[1] = fingerprint(in.Fingerprint)
	all := errs[:]
	tries := make([]tokenTry, len(in.Tokens))
	for i, token := range in.Tokens {
		key, err := capability(token.Capability, "body", "tokens", i, "capability")
		all = append(all, err)
		tries[i].capability = key
		if err == nil {
			err = d.require(key)
		}
		if err == nil {
			tries[i].access, err = s.readAccess(ctx, d, accessInput{capability: key, form: token.Form, tokenID: token.TokenID,
				secret: token.Secret})
			tries[i].capability = key
		}
		tries[i].err = err
	}
	if err := faults(all...); err != nil {
		return ProbeResult{}, err
	}
	for i := range tries {
		if tries[i].err == nil && tries[i].code != nil {
			at, err := tries[i].code.pinned(t.at)
			if err == nil && t.at.fingerprint == "" {
				t.at = at
			}
			tries[i].err = err
		}
	}
	found, err := s.probe(ctx, t, tries, false)
	found.Kept = []string{}
	return found, err
}

// probe reads the certificate and tries all tokens. If single is set, a failure
// is an error and not a row.
func (s *Store) probe(ctx context.Context, t parsedRequest, tries []tokenTry, single bool) (ProbeResult, error) {
	found := ProbeResult{Verification: Verification{Missing: []string{}, Extra: []string{}, Recommended: []string{}, Paths: []string{},
		ConsoleLimits: []ConsoleLimit{}},
		Tokens: make([]TokenCheck, len(tries))}
	if i := slices.IndexFunc(tries, func(one tokenTry) bool { return one.code != nil }); i >= 0 {
		found.Code = codeOf(tries[i].code)
	}
	if t.at.address == "" { // of codes alone
		for i, one := range tries {
			found.Tokens[i] = rowOf(one, nil, nil)
			found.Tokens[i].OK = false
		}
		return found, nil
	}
	began := time.Now()
	shown, err := s.readCertificate(ctx, t.driver, t.at)
	switch {
	case err == nil:
		found.Certificate = shownCertificate(shown, time.Now())
		if t.at.unpinned() {
			t.at.fingerprint = shown.Fingerprint
		}
	case sdk.KindOf(err) == sdk.Unsupported:
		err = nil
	}
	if err != nil && len(tries) == 0 {
		return ProbeResult{}, rejected(err) // there is no row that could tell it
	}
	results, errs := s.tryEach(ctx, t, tries, err)
	if single && errs[0] != nil {
		return ProbeResult{}, found.with(errs[0])
	}
	for i, one := range tries {
		found.Tokens[i] = rowOf(one, results[i], errs[i])
		found.Reachable = found.Reachable || one.err == nil && (errs[i] == nil || judged(errs[i]))
	}
	found.take(t, tries, results, errs, time.Since(began))
	return found, nil
}

// with adds the certificate to the problem of a single token. The certificate
// is public, so that it can be shown even if no token was sent.
func (p *ProbeResult) with(err error) error {
	if err = rejected(err); p.Certificate == nil {
		return err
	}
	before := problem.From(err)
	return extended(before, before.Detail).With("certificate", p.Certificate)
}

// take fills in the facts about the endpoint, from the check with the
// monitoring token, or else from the first token that was accepted.
func (p *ProbeResult) take(t parsedRequest, tries []tokenTry, results []*Verification, errs []error, took time.Duration) {
	best := -1
	for i, one := range tries {
		if results[i] == nil || errs[i] != nil {
			continue
		}
		if best < 0 || one.capability == endpoint.Monitoring && tries[best].capability != endpoint.Monitoring {
			best = i
		}
	}
	certificate := p.Certificate
	if best >= 0 {
		p.Verification = *results[best]
		if tries[best].capability != endpoint.Monitoring { // its privileges stand in its row
			p.Missing, p.Extra, p.Recommended, p.Paths = []string{}, []string{}, []string{}, []string{}
			p.ConsoleLimits, p.Remedy = []ConsoleLimit{}, nil
		}
	} else if p.Reachable {
		p.Fingerprint, p.LatencyMS = t.at.fingerprint, took.Milliseconds()
	}
	if certificate == nil {
		return
	}
	if p.Fingerprint == "" && certificate.Fingerprint != nil {
		p.Fingerprint = *certificate.Fingerprint
	}
	if p.Certificate != nil && *certificate.Fingerprint != p.Fingerprint {
		return // it is another one by now: what was verified counts
	}
	p.Certificate = certificate
	if p.NotAfter == nil {
		p.NotAfter = &certificate.NotAfter
	}
}

// tryEach tries all tokens at the same time. before is the reason for trying
// none of them. One-time codes are not used: one connection shows for all of
// them whether the endpoint is there.
func (s *Store) tryEach(ctx context.Context, t parsedRequest, tries []tokenTry, before error) ([]*Verification, []error) {
	results, errs := make([]*Verification, len(tries)), make([]error, len(tries))
	var tokens []endpoint.Credential
	var places, codes []int
	for i, one := range tries {
		switch {
		case one.err != nil:
			errs[i] = one.err
		case before != nil:
			errs[i] = before
		case one.code != nil:
			codes = append(codes, i)
		default:
			tokens, places = append(tokens, one.credential), append(places, i)
		}
	}
	var both sync.WaitGroup
	both.Go(func() {
		found, failed := s.verifyEach(ctx, t.driver, t.at, tokens)
		for k, i := range places {
			results[i], errs[i] = &found[k], failed[k]
		}
	})
	both.Go(func() {
		if len(codes) == 0 {
			return
		}
		_, err := s.newCredential(ctx, t.driver, t.at, tries[codes[0]].capability)
		for _, i := range codes {
			errs[i] = err
		}
	})
	both.Wait()
	return results, errs
}

// rowOf makes the row of a token that was tried.
func rowOf(one tokenTry, v *Verification, err error) TokenCheck {
	if one.err != nil {
		return uncheckedToken(one)
	}
	if one.code == nil {
		return checkOf(one.credential, v, err)
	}
	row := tokenCheck(string(one.capability), &Verification{Missing: []string{}, Extra: []string{}, Recommended: []string{},
		ConsoleLimits: []ConsoleLimit{}}, err)
	row.Form, row.Expires = orNil(one.code.form), codeOf(one.code).Expires
	return row
}

// uncheckedToken makes the row of a token that was not tried. Its faults name their
// fields in the text, because a row has no place for them.
func uncheckedToken(one tokenTry) TokenCheck {
	row := tokenCheck(string(one.capability), nil, one.err)
	switch p := problem.From(one.err); p.Code {
	case problem.CodeUnsupported:
		row.Reason = new(ReasonUnsupported)
	case problem.CodeInvalid:
		var all []string
		for _, fault := range p.Faults {
			field, _ := fault.Loc[len(fault.Loc)-1].(string)
			all = append(all, field+" "+fault.Msg)
		}
		row.Reason, row.Error = new(ReasonInvalid), new(strings.Join(all, "; "))
	}
	return row
}
