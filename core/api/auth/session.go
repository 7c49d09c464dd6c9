package auth

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
)

// Session is one log-in of the account on one device.
type Session struct {
	ID         int64     `json:"id" example:"12"`
	Current    bool      `json:"current" doc:"true for the session of this request"`
	Address    string    `json:"address" example:"192.0.2.7" doc:"IP address of the log-in"`
	UserAgent  string    `json:"user_agent" example:"Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0"`
	CreatedAt  time.Time `json:"created_at"`
	LastSeenAt time.Time `json:"last_seen_at" doc:"Last use, accurate to one minute"`
	ExpiresAt  time.Time `json:"expires_at" doc:"When the session expires at the latest; it expires earlier after 12 hours without use"`
	// Method, Provider and SecondFactor are how one came in.
	Method       string  `json:"method" enum:"password,provider,passkey" example:"password" doc:"Log-in method; passkey if a passkey was the only factor"`
	Provider     *string `json:"provider" example:"Company" doc:"Name of the identity provider; null for other log-ins"`
	SecondFactor *string `json:"second_factor" enum:"totp,recovery_code,provider,passkey" example:"totp" doc:"Verified second factor; provider if the identity provider checked one; null for none"`
}

func sessionOf(s *identity.Session, caller *identity.Caller) Session {
	method, factor := "password", s.SecondFactor
	switch {
	case s.ByPasskey:
		method, factor = "passkey", nil
	case s.ProviderID != nil:
		method = "provider"
	}
	return Session{
		Method: method, Provider: s.Provider, SecondFactor: factor,
		ID: s.ID, Current: s.ID == caller.SessionID, Address: s.Address, UserAgent: s.UserAgent,
		CreatedAt: s.CreatedAt.UTC(), LastSeenAt: s.LastSeenAt.UTC(), ExpiresAt: s.ExpiresAt.UTC(),
	}
}

func (h handlers) sessions(ctx context.Context, _ *struct{}) (*op.List[Session], error) {
	caller := identity.FromContext(ctx)
	found, err := h.users.Sessions(ctx, caller.UserID)
	if err != nil {
		return nil, err
	}
	list := &op.List[Session]{Total: len(found)}
	for i := range found {
		list.Body = append(list.Body, sessionOf(&found[i], caller))
	}
	return list, nil
}

type revokeInput struct {
	Client
	SessionID int64 `path:"session_id" doc:"ID of the session"`
}

func (h handlers) revoke(ctx context.Context, in *revokeInput) (*cookieOutput, error) {
	caller := identity.FromContext(ctx)
	if err := h.users.RevokeSession(ctx, caller.UserID, in.SessionID); err != nil {
		return nil, err
	}
	if in.SessionID == caller.SessionID {
		return cookie(identity.NoCookie(in.site)), nil
	}
	return &cookieOutput{}, nil
}
