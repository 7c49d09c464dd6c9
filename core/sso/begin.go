package sso

import (
	"context"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
)

// LoginStart is a login that continues at the provider.
type LoginStart struct {
	// URL is where to send the browser.
	URL string
	// Cookie is the value for identity.SignOnCookie. Complete refuses an answer
	// from a browser without it.
	Cookie string
}

// Begin starts a login at a provider. returnTo is the path of the page to show
// after the login; anything that is not a path of this service becomes "/".
// Nothing is stored: the state is in the cookie. Problem: invalid_state if the
// provider cannot be used now.
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

// usable returns an enabled provider and its discovery document. The caller is
// not logged in, so the problem is vague, and the cause goes to the log.
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

// failing logs the failure of a provider and returns the problem for users.
func (s *Store) failing(p *Provider, err error) error {
	s.Logger.Warn("an identity provider cannot be used", "provider", p.Name, "error", err)
	return problem.New(problem.CodeInvalidState, "%s is not available at the moment: try again, or log in with a password. An owner "+
		"can test the provider", p.Name)
}

// oauth returns the OAuth client for a provider.
func (s *Store) oauth(p *stored, d *discovery, clientSecret secret.String) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: clientSecret.Reveal(), RedirectURL: s.redirectURI(p.ID), Scopes: p.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: d.AuthorizationEndpoint, TokenURL: d.TokenEndpoint, AuthStyle: d.authStyle(p.SecretSet)},
	}
}
