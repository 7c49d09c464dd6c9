// Package setup is the HTTP resource of the first start. Without a log-in, but
// with the one-time token from the state directory of the service, it creates
// the first owner. After that both operations answer 409 already_set_up.
package setup

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Deps has what the operations of this package need.
type Deps struct{ Setup *identity.Setup }

type handlers struct{ setup *identity.Setup }

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Setup}
	op.Get(a, "/api/v1/setup", h.needed, op.Spec{
		ID: "get_setup", Summary: "Check whether the instance needs its first owner", Tag: "Setup", Public: true,
		Description: "`needed` is true while no user exists. Afterwards the response is 409 `already_set_up`.",
	})
	op.Post(a, "/api/v1/setup", h.complete, op.Spec{
		ID: "complete_setup", Summary: "Create the first owner", Tag: "Setup", Secret: true, Public: true, Status: http.StatusCreated,
		Audit: op.Audit{Action: "setup.complete"},
		Description: "Requires the one-time token that the service writes to the file `setup-token` in its state " +
			"directory; the log names the file. A wrong token is 401 `invalid_credentials`. The token works once: " +
			"afterwards the response is 409 `already_set_up`. The request does not log you in.",
	})
}

// State says whether the instance still needs its first owner.
type State struct {
	Needed bool `json:"needed" example:"true" doc:"Always true; a finished setup returns 409"`
}

func (h handlers) needed(ctx context.Context, _ *struct{}) (*op.Body[State], error) {
	needed, err := h.setup.Needed(ctx)
	if err != nil {
		return nil, err
	}
	if !needed {
		return nil, problem.New(problem.CodeAlreadySetUp, "the instance has an owner; log in instead")
	}
	return &op.Body[State]{Body: State{Needed: true}}, nil
}

type completeInput struct {
	Body struct {
		SetupToken  string  `json:"setup_token" maxLength:"200" example:"Hn3vYk0x3o6m5nE8m2uPz7Jm1rW4bTqSdVaLcXgKfQe" doc:"The text in the file setup-token"`
		Email       string  `json:"email" maxLength:"254" example:"anna@example.com"`
		Password    string  `json:"password" minLength:"12" maxLength:"1024" example:"seven-yellow-donkeys" doc:"At least 12 characters, and neither a common password nor the email address"`
		DisplayName *string `json:"display_name,omitempty" nullable:"true" maxLength:"200" example:"Anna Lee"`
	}
}

type completeOutput struct {
	Body struct {
		User FirstOwner `json:"user"`
	}
}

// FirstOwner is the account that complete has created.
type FirstOwner struct {
	ID          int64   `json:"id" example:"1"`
	Email       string  `json:"email" example:"anna@example.com"`
	DisplayName *string `json:"display_name" example:"Anna Lee"`
}

func (h handlers) complete(ctx context.Context, in *completeInput) (*completeOutput, error) {
	user, err := h.setup.Complete(ctx, in.Body.SetupToken, identity.NewUser{
		Email: in.Body.Email, Password: in.Body.Password, DisplayName: in.Body.DisplayName,
	})
	if err != nil {
		return nil, err
	}
	out := &completeOutput{}
	out.Body.User = FirstOwner{ID: user.ID, Email: user.Email, DisplayName: user.DisplayName}
	return out, nil
}
