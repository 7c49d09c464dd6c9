package sso

import (
	"context"
	"net/url"

	"github.com/hostler/hostler/core/identity"
)

// LogOut ends the caller's session. It returns the URL at which the browser
// logs out at the provider (OpenID Connect RP-Initiated Logout 1.0), or "" if
// the caller did not log in with a provider or the provider has no such
// endpoint.
//
// The service does not store ID tokens and therefore sends no id_token_hint;
// some providers ask the user to confirm. Problems: those of
// identity.Store.LogOut. A provider that cannot be used is not an error.
func (s *Store) LogOut(ctx context.Context, caller *identity.Caller) (string, error) {
	var provider *int64
	if caller.SessionID != 0 {
		session, err := s.Users.Session(ctx, caller.UserID, caller.SessionID)
		if err == nil {
			provider = session.ProviderID
		}
	}
	if err := s.Users.LogOut(ctx, caller); err != nil || provider == nil {
		return "", err
	}
	// The session has ended, whatever the provider does.
	p, d, err := s.usable(ctx, *provider)
	if err != nil || d.EndSessionEndpoint == "" {
		return "", nil
	}
	u, err := url.Parse(d.EndSessionEndpoint)
	if err != nil {
		return "", nil
	}
	query := u.Query()
	query.Set("client_id", p.ClientID)
	query.Set("post_logout_redirect_uri", s.BaseURL+"/")
	u.RawQuery = query.Encode()
	return u.String(), nil
}
