package sso

import (
	"context"
	"net/url"

	"github.com/hostler/hostler/core/identity"
)

// LogOut ends the caller's session, and gives the address where the browser logs out at the provider by which the caller came in
// (OpenID Connect RP-Initiated Logout 1.0); "" where there is none. No ID token is kept, so none is sent as a hint, and some providers
// ask before they log somebody out. Problems: those of identity.Store.LogOut.
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
