package auth

import (
	"context"

	"github.com/hostler/hostler/core/identity"
)

type passwordInput struct {
	Client
	Body struct {
		Current string `json:"current" maxLength:"1024" example:"seven-yellow-donkeys" doc:"The present password"`
		New     string `json:"new" minLength:"12" maxLength:"1024" example:"nine-blue-giraffes" doc:"The password from now on"`
	}
}

func (h handlers) changePassword(ctx context.Context, in *passwordInput) (*cookieOutput, error) {
	token, err := h.users.ChangePassword(ctx, identity.FromContext(ctx), in.Body.Current, in.Body.New)
	if err != nil {
		return nil, err
	}
	if token == "" {
		return &cookieOutput{}, nil
	}
	return cookie(identity.Cookie(token, in.secure)), nil
}
