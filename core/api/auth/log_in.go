package auth

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/identity"
)

type logInInput struct {
	Client
	Body struct {
		Email    string `json:"email" maxLength:"254" example:"anna@example.com" doc:"The account's e-mail address; case does not matter"`
		Password string `json:"password" maxLength:"1024" example:"seven-yellow-donkeys" doc:"Its password"`
	}
}

type logInOutput struct {
	SetCookie http.Cookie `header:"Set-Cookie" doc:"The session's cookie"`
	Body      struct {
		User User `json:"user"`
	}
}

// User is the account of the caller.
type User struct {
	ID          int64   `json:"id" example:"1"`
	Email       string  `json:"email" example:"anna@example.com"`
	DisplayName *string `json:"display_name" example:"Anna Lee"`
}

func userOf(u *identity.User) User {
	return User{ID: u.ID, Email: u.Email, DisplayName: u.DisplayName}
}

func (h handlers) logIn(ctx context.Context, in *logInInput) (*logInOutput, error) {
	session, err := h.users.LogIn(ctx, in.Body.Email, in.Body.Password, in.from)
	if err != nil {
		return nil, err
	}
	out := &logInOutput{SetCookie: identity.Cookie(session.Token, in.secure)}
	out.Body.User = userOf(session.User)
	return out, nil
}

type logOutInput struct{ Client }

// cookieOutput answers 204 with a cookie that is set, renewed or cleared; the empty string leaves it alone.
type cookieOutput struct {
	SetCookie string `header:"Set-Cookie" doc:"The session's cookie, renewed or cleared"`
}

func cookie(c http.Cookie) *cookieOutput { return &cookieOutput{SetCookie: c.String()} }

func (h handlers) logOut(ctx context.Context, in *logOutInput) (*cookieOutput, error) {
	if err := h.users.LogOut(ctx, identity.FromContext(ctx)); err != nil {
		return nil, err
	}
	return cookie(identity.NoCookie(in.secure)), nil
}
