package metrics

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/remotewrite"
	"github.com/hostler/hostler/core/secret"
)

func (h handlers) receiver(ctx context.Context, _ *struct{}) (*op.Body[*remotewrite.State], error) {
	state, err := h.Receiver.Get(ctx)
	return &op.Body[*remotewrite.State]{Body: state}, err
}

type receiverInput struct {
	Body struct {
		URL         string  `json:"url" minLength:"1" maxLength:"1000" example:"https://metrics.example.com/api/v1/write" doc:"URL of the receiver; https:// if a password or token is given"`
		Fingerprint *string `json:"tls_fingerprint,omitempty" nullable:"true" maxLength:"200" doc:"SHA-256 of the certificate to pin; if absent, the certificate is checked against the system's certificate authorities"`
		Username    *string `json:"username,omitempty" nullable:"true" maxLength:"200" pattern:"^[^:\\x00-\\x1f]*$" example:"hostler" doc:"User name; requires a password"`
		Password    *string `json:"password,omitempty" nullable:"true" maxLength:"4096" doc:"Password. Stored encrypted and never shown again"`
		BearerToken *string `json:"bearer_token,omitempty" nullable:"true" maxLength:"4096" pattern:"^[!-~]*$" doc:"Bearer token instead of user name and password. Stored encrypted and never shown again"`
	}
}

func (h handlers) setReceiver(ctx context.Context, in *receiverInput) (*op.Body[*remotewrite.State], error) {
	b := &in.Body
	password, token, username := text(b.Password), text(b.BearerToken), text(b.Username)
	switch {
	case token != "" && (password != "" || username != ""):
		return nil, problem.InvalidField("cannot be combined with username and password", "value_error", "body", "bearer_token")
	case password != "" && username == "":
		return nil, problem.InvalidField("requires password", "value_error", "body", "username")
	}
	state, err := h.Receiver.Set(ctx, remotewrite.Receiver{URL: b.URL, Fingerprint: text(b.Fingerprint), Username: username,
		Secret: secret.New(password + token)})
	return &op.Body[*remotewrite.State]{Body: state}, err
}

// text returns the text, or "" for nil.
func text(t *string) string {
	if t == nil {
		return ""
	}
	return *t
}

func (h handlers) removeReceiver(ctx context.Context, _ *struct{}) (*op.Empty, error) {
	return nil, h.Receiver.Remove(ctx)
}
