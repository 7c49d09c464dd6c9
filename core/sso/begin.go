package sso

import (
	"context"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
)

// LoginStart is a log-in by a provider that goes on there.
type LoginStart struct {
	// URL is where the browser goes.
	URL string
	// Cookie is the value of identity.SignOnCookie, without which the provider's answer is not taken.
	Cookie string
}

// Begin begins a log-in by a provider, which leads to returnTo of our own pages; anything else leads to the first one. It is a
// problem of code invalid_state where the provider cannot be used now.
func (s *Store) Begin(ctx context.Context, id int64, returnTo string) (*LoginStart, error) {
	p, d, err := s.usable(ctx, id)
	if err != nil {
		return nil, err
	}
	f := flow{Provider: p.ID, Issuer: p.Issuer, State: token(), Nonce: token(), Verifier: oauth2.GenerateVerifier(),
		ReturnTo: ownPath(returnTo), Until: s.Now().Add(identity.SignOnLife)}
	sealed, err := s.flows().Seal(f)
	if err != nil {
		return nil, err
	}
	config := s.oauth(p, d, secret.String{})
	return &LoginStart{Cookie: sealed, URL: config.AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier))}, nil
}

// usable is a provider by which one may log in, and what it says of itself. Who asks is not logged in: what is wrong is told to the log.
func (s *Store) usable(ctx context.Context, id int64) (*stored, *discovery, error) {
	if s.BaseURL == "" {
		return nil, nil, problem.New(problem.CodeInvalidState, "the service does not know its own address: set HOSTLER_BASE_URL")
	}
	p, err := s.read(ctx, s.DB.Pool, id, "")
	if problem.CodeOf(err) == problem.CodeNotFound && err != nil || err == nil && !p.Enabled {
		return nil, nil, problem.New(problem.CodeInvalidState, "provider not found, or disabled")
	}
	if err != nil {
		return nil, nil, err
	}
	d, err := s.discover(ctx, &p.Provider)
	if err != nil {
		return nil, nil, s.failing(&p.Provider, err)
	}
	return p, d, nil
}

// failing is a provider that does not do its part.
func (s *Store) failing(p *Provider, err error) error {
	s.Logger.Warn("an identity provider cannot be used", "provider", p.Name, "error", err)
	return problem.New(problem.CodeInvalidState, "%s is not available at the moment: try again, or log in with a password. An owner "+
		"can test the provider", p.Name)
}

// oauth is the client at the provider.
func (s *Store) oauth(p *stored, d *discovery, clientSecret secret.String) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: clientSecret.Reveal(), RedirectURL: s.redirectURI(p.ID), Scopes: p.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: d.AuthorizationEndpoint, TokenURL: d.TokenEndpoint, AuthStyle: d.authStyle(p.SecretSet)},
	}
}
