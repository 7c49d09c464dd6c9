package auth

import (
	"context"

	"github.com/hostler/hostler/core/identity"
)

type passwordInput struct {
	Client
	Body struct {
		Current    string `json:"current" maxLength:"1024" example:"seven-yellow-donkeys" doc:"Current password"`
		New        string `json:"new" minLength:"12" maxLength:"1024" example:"nine-blue-giraffes" doc:"New password"`
		RevokeKeys bool   `json:"revoke_keys,omitempty" default:"false" doc:"Also revoke all API keys of the account, including the one of this request"`
	}
}

// passwordOutput has the renewed cookies, and tells what the new password has
// ended.
type passwordOutput struct {
	SetCookie []string `header:"Set-Cookie" doc:"Renewed cookies of the session and the browser; none for a request with an API key"`
	Body      PasswordChangeResult
}

// PasswordChangeResult is the body of the answer of changePassword.
type PasswordChangeResult struct {
	SessionsRevoked int64 `json:"sessions_revoked" example:"2" doc:"Number of other sessions that ended"`
	KeysRevoked     int64 `json:"keys_revoked" example:"0" doc:"Number of revoked API keys"`
	KeysValid       int64 `json:"keys_valid" example:"3" doc:"Number of API keys of the account that stay valid and do not depend on the password"`
	PasskeysValid   int64 `json:"passkeys_valid" example:"1" doc:"Number of passkeys of the account that stay valid; revoke_keys does not revoke them"`
	IdentitiesValid int64 `json:"identities_valid" example:"0" doc:"Number of identities at providers that can still log in to the account"`
}

func (h handlers) changePassword(ctx context.Context, in *passwordInput) (*passwordOutput, error) {
	done, err := h.users.ChangePassword(ctx, identity.FromContext(ctx), identity.PasswordChange{
		Current: in.Body.Current, NewPassword: identity.NewPassword{Password: in.Body.New, RevokeKeys: in.Body.RevokeKeys},
	}, in.from)
	if err != nil {
		return nil, err
	}
	out := &passwordOutput{Body: PasswordChangeResult{SessionsRevoked: done.Sessions, KeysRevoked: done.Keys, KeysValid: done.ValidKeys,
		PasskeysValid: done.Passkeys, IdentitiesValid: done.Identities}}
	if done.Token != "" {
		out.SetCookie = cookies(done.Token, done.Devices, in.site)
	}
	return out, nil
}
