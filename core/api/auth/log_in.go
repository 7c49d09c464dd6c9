package auth

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/proxy"
)

type logInInput struct {
	Client
	Body struct {
		Email    string `json:"email" maxLength:"254" example:"anna@example.com" doc:"Email address of the account; case-insensitive"`
		Password string `json:"password" maxLength:"1024" example:"seven-yellow-donkeys" doc:"Password of the account"`
	}
}

type logInOutput struct {
	SetCookie []string `header:"Set-Cookie" doc:"Cookies of the session and the browser; none while the second factor is required"`
	Body      struct {
		User         *User    `json:"user,omitempty" doc:"The logged-in user; absent while the second factor is required"`
		TOTPRequired bool     `json:"totp_required,omitempty" doc:"true if a second factor is required: send pending and a code to /api/v1/auth/totp"`
		Pending      string   `json:"pending,omitempty" doc:"Token of this log-in for the second step, valid for 5 minutes; it is not a session"`
		Factors      []string `json:"factors,omitempty" enum:"totp,passkey" example:"[\"totp\"]" doc:"Second factors of the account; a recovery code can replace any of them and is sent like a totp code"`
	}
}

// User is the account of the caller.
type User struct {
	ID          int64   `json:"id" example:"1"`
	Email       string  `json:"email" example:"anna@example.com"`
	DisplayName *string `json:"display_name" example:"Anna Lee"`
	TOTPEnabled bool    `json:"totp_enabled" doc:"true if an authenticator app is a second factor"`
	Passkeys    int     `json:"passkeys" example:"1" doc:"Number of passkeys; with at least one, log-in by password requires a second factor"`
	HasPassword bool    `json:"has_password" example:"true" doc:"false for an account of an identity provider without a password"`
}

func userOf(u *identity.User) User {
	return User{ID: u.ID, Email: u.Email, DisplayName: u.DisplayName, TOTPEnabled: u.TOTPEnabled, Passkeys: u.Passkeys,
		HasPassword: u.HasPassword}
}

func (h handlers) logIn(ctx context.Context, in *logInInput) (*logInOutput, error) {
	done, err := h.users.LogIn(ctx, in.Body.Email, in.Body.Password, in.from)
	if err != nil {
		return nil, err
	}
	return loggedIn(done, in.site), nil
}

// loggedIn returns the answer of a log-in. If a second factor is required, it
// has the pending token and the factors that the user can use; otherwise it has
// the cookies and the account.
func loggedIn(in *identity.LoginResult, site proxy.Site) *logInOutput {
	out := &logInOutput{}
	if in.Pending != "" {
		out.Body.TOTPRequired, out.Body.Pending, out.Body.Factors = true, in.Pending, factors(in.User)
		return out
	}
	out.SetCookie = cookies(in.Token, in.Devices, site)
	out.Body.User = new(userOf(in.User))
	return out
}

func factors(u *identity.User) (all []string) {
	if u.TOTPEnabled {
		all = append(all, identity.FactorTOTP)
	}
	if u.Passkeys > 0 {
		all = append(all, identity.FactorPasskey)
	}
	return all
}

// cookies returns the cookies of the session and of the browser. The second one
// lets a later log-in recognize the browser.
func cookies(session, devices string, site proxy.Site) []string {
	s, d := identity.Cookie(session, site), identity.DeviceCookie(devices, site)
	return []string{s.String(), d.String()}
}

type logOutInput struct{ Client }

// cookieOutput answers 204 and clears the session cookie. If SetCookie is
// empty, it leaves the cookie alone.
type cookieOutput struct {
	SetCookie string `header:"Set-Cookie" doc:"Cookie of the session, cleared if the request came with it"`
}

func cookie(c http.Cookie) *cookieOutput { return &cookieOutput{SetCookie: c.String()} }

func (h handlers) logOut(ctx context.Context, in *logOutInput) (*cookieOutput, error) {
	if err := h.users.LogOut(ctx, identity.FromContext(ctx)); err != nil {
		return nil, err
	}
	return cookie(identity.NoCookie(in.site)), nil
}
