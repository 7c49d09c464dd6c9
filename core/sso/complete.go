package sso

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/outbound"
	"github.com/hostler/hostler/core/problem"
)

// leeway is how far the clock of a provider may be ahead of ours.
const leeway = 5 * time.Minute

// Callback is what the provider sent with the browser that comes back.
type Callback struct {
	// Cookie is the value that Begin gave the browser; see identity.SignOnOf.
	Cookie string
	State  string
	// Code is the authorization code, and Failure the error code that the
	// provider sends instead.
	Code, Failure string
	// Issuer is the parameter iss (RFC 9207); "" if the provider does not send
	// it.
	Issuer string
}

// Complete finishes a login that Begin started, and returns the path to return
// to. It checks, in this order: the rate limit of the client's network, the
// cookie and the state, that the state is used for the first time, the
// provider, the answer, and the tokens.
//
// Failed attempts count against the rate limit; failures of the provider itself
// do not.
//
// Problems: invalid_credentials for an answer that is not accepted,
// rate_limited after too many of these, invalid_state if the provider cannot be
// used now, and those of identity.Store.LogInExternal.
func (s *Store) Complete(ctx context.Context, id int64, a Callback, from identity.Client) (in *identity.LoginResult, returnTo string,
	err error) {
	back, err := s.Users.Throttle(ctx, from)
	if err != nil {
		return nil, "", err
	}
	defer func() {
		var taken *codeRefused
		if err == nil || problem.CodeOf(err) != problem.CodeInvalidCredentials && !errors.As(err, &taken) {
			back()
		}
	}()
	f := s.unseal(a.Cookie)
	if f == nil || f.Provider != id || subtle.ConstantTimeCompare([]byte(f.State), []byte(a.State)) != 1 {
		return nil, "", refused("this log-in has expired, or was started in another browser; start again")
	}
	if err := s.useState(ctx, f); err != nil {
		return nil, "", err
	}
	p, d, err := s.usable(ctx, id)
	if err != nil {
		return nil, "", err
	}
	audit.Describe(ctx, func(e *audit.Entry) { e.Detail("provider", p.Name) })
	switch {
	case f.Issuer != p.Issuer:
		return nil, "", refused("%s was changed in the meantime; start again", p.Name)
	case a.Issuer != "" && a.Issuer != p.Issuer, a.Issuer == "" && d.TellsIssuer:
		return nil, "", refused("the answer came from a different provider than requested")
	case a.Failure != "":
		return nil, "", refused("%s refused the log-in: %s", p.Name, outbound.Plain(a.Failure))
	case a.Code == "":
		return nil, "", refused("the answer of %s contains no code", p.Name)
	}
	external, err := s.prove(ctx, p, d, f, a.Code)
	if err != nil {
		return nil, "", err
	}
	in, err = s.Users.LogInExternal(ctx, *external, from)
	return in, f.ReturnTo, err
}

// prove exchanges the code for tokens and checks the ID token: signature,
// issuer, audience and expiry, then nonce, authorized party, time of issue and
// subject, then the hash of the access token.
func (s *Store) prove(ctx context.Context, p *stored, d *discovery, f *flow, code string) (*identity.ExternalLogin, error) {
	clientSecret, err := s.open(p)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, d.client), 2*s.RequestTime)
	defer cancel()
	tokens, err := s.oauth(p, d, clientSecret).Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return nil, s.exchangeFailed(p, err, code, f.Verifier, clientSecret.Reveal())
	}
	raw, _ := tokens.Extra("id_token").(string)
	if raw == "" {
		return nil, s.untrue(p, errors.New("there is no ID token"))
	}
	verifier := d.provider.Verifier(&oidc.Config{ClientID: p.ClientID, Now: s.Now})
	id, err := verifier.Verify(ctx, raw)
	if err != nil {
		told := errors.New(outbound.Plain(err.Error(), raw))
		if strings.Contains(err.Error(), "fetching keys") { // which the library tells by its text alone
			return nil, s.failing(&p.Provider, told)
		}
		return nil, s.untrue(p, told)
	}
	c := claims{}
	if err := id.Claims(&c); err != nil {
		return nil, s.untrue(p, errors.New("its claims are not readable"))
	}
	party, _ := c["azp"].(string)
	switch {
	case subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(f.Nonce)) != 1:
		return nil, s.untrue(p, errors.New("it was not issued for this log-in: the nonce differs"))
	case party != "" && party != p.ClientID, party == "" && len(id.Audience) > 1 && !onlyUs(id.Audience, p.ClientID):
		return nil, s.untrue(p, errors.New("it was issued for another client")) // OpenID Connect Core 1.0 section 3.1.3.7
	case id.IssuedAt.After(s.Now().Add(leeway)):
		return nil, s.untrue(p, errors.New("it was issued in the future"))
	case id.Subject == "" || len(id.Subject) > 255 || strings.ContainsRune(id.Subject, 0): // section 2
		return nil, s.untrue(p, errors.New("it names no subject"))
	}
	if id.AccessTokenHash != "" && id.VerifyAccessToken(tokens.AccessToken) != nil {
		return nil, s.untrue(p, errors.New("the access token does not belong to it"))
	}
	if err := s.complement(ctx, p, d, id.Subject, tokens, c); err != nil {
		return nil, err
	}
	return c.external(p, id.Subject), nil
}

// onlyUs reports whether the client is the only audience of a token.
func onlyUs(audience []string, client string) bool {
	return !slices.ContainsFunc(audience, func(a string) bool { return a != client })
}

// complement adds claims from the UserInfo endpoint if the ID token lacks the
// email address, its verification or the groups. A claim of the ID token is
// never replaced. The claim amr, which tells how the user logged in, is
// accepted only from the ID token, because that is signed.
func (s *Store) complement(ctx context.Context, p *stored, d *discovery, subject string, tokens *oauth2.Token, c claims) error {
	_, email := c["email"]
	_, verified := c["email_verified"]
	if d.UserInfoEndpoint == "" || email && verified && (len(p.Rules) == 0 || c.find(p.GroupsClaim) != nil) {
		return nil
	}
	info, err := d.provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return s.failing(&p.Provider, errors.New(outbound.Plain(outbound.Cause(err).Error(), tokens.AccessToken)))
	}
	if info.Subject != subject {
		return s.untrue(p, errors.New("it describes another subject"))
	}
	more := claims{}
	if err := info.Claims(&more); err != nil {
		return s.failing(&p.Provider, errors.New("its user info is not readable"))
	}
	if email && more.text("email") != c.text("email") {
		delete(more, "email_verified") // which is of another address
	}
	delete(more, "amr")
	for name, value := range more {
		if _, there := c[name]; !there {
			c[name] = value
		}
	}
	return nil
}

// codeRefused marks that a provider refused a request, for example because of a
// made-up code. The attempt counts against the rate limit.
type codeRefused struct{ error }

func (e *codeRefused) Unwrap() error { return e.error }

// exchangeFailed distinguishes a code that the provider refuses from a provider
// that fails. secrets are removed from what is logged.
func (s *Store) exchangeFailed(p *stored, err error, secrets ...string) error {
	told := errors.New(outbound.Plain(outbound.Cause(err).Error(), secrets...))
	var refusal *oauth2.RetrieveError
	if errors.As(err, &refusal) {
		told = errors.New("the token endpoint answered " + outbound.Plain(refusal.Response.Status+" "+refusal.ErrorCode, secrets...))
		if status := refusal.Response.StatusCode; status >= http.StatusBadRequest && status < http.StatusInternalServerError {
			if refusal.ErrorCode == "invalid_grant" {
				return refused("%s rejected the code that it issued for this log-in; start again", p.Name)
			}
			return &codeRefused{s.failing(&p.Provider, told)}
		}
	}
	return s.failing(&p.Provider, told)
}

// untrue logs why a token is not accepted. The user gets no details.
func (s *Store) untrue(p *stored, err error) error {
	s.Logger.Warn("an identity provider's answer was rejected", "provider", p.Name, "error", err)
	return refused("the answer of %s could not be verified; start again, or ask an owner to check the service's log", p.Name)
}
