// Package sso is the HTTP resource of identity providers for single sign-on: to
// configure and test them. The log-in with a provider is in package
// core/api/auth.
package sso

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/core/sso"
)

// Deps has what the operations of this package need.
type Deps struct{ Providers *sso.Store }

type handlers struct{ providers *sso.Store }

const tag = "Single sign-on"

// form is the part of the description that all operations which write a
// provider share.
const form = "`issuer` is an `https://` URL below which its discovery document is found. Redirects are not followed " +
	"and no proxy is used. Private addresses are refused unless `allow_private` is set; loopback and link-local " +
	"addresses are refused unless the configuration of the service allows them. The check applies to the resolved " +
	"address, not to the name.\n\n" +
	"A user is identified by the provider's `sub`. The first log-in is linked to the account with the same email " +
	"address if the provider reports it as verified (`email_verified`), or does not report `email_verified` and " +
	"`trust_email` is set. An owner's account is linked only after its own second factor is verified. If no account " +
	"has the address, `accounts` decides whether one is created.\n\n" +
	"The `rules` are applied at each log-in: in each team that a rule names, the account gets the highest role of " +
	"its groups, and loses its role if it is in none of the groups; roles in other teams are kept. The last active " +
	"owner with a password never loses that role. The second factor of an account is required unless the token " +
	"contains `mfa` in `amr`."

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Providers}
	const all, one = "/api/v1/identity-providers", "/api/v1/identity-providers/:provider_id"
	op.Get(a, all, h.list, op.Spec{
		ID: "list_identity_providers", Summary: "List identity providers", Tag: tag, Role: identity.Owner,
		Description: "Lists all OpenID Connect providers by name; at most 20. Client secrets are never returned.",
	})
	op.Post(a, all, h.create, op.Spec{
		ID: "create_identity_provider", Summary: "Create an identity provider", Tag: tag, Role: identity.Owner,
		Status: http.StatusCreated, Audit: op.Audit{Action: "identity_provider.create"}, Replay: h.again,
		Description: form +
			"\n\n" +
			"A name that is taken, regardless of case, is 409 `conflict`. An instance has at most 20 providers; " +
			"creating more is 409 `conflict`. At the provider, the client must allow the `redirect_uri` of the " +
			"response, and `post_logout_redirect_uri` for log-outs.",
	})
	op.Get(a, one, h.get, op.Spec{
		ID: "get_identity_provider", Summary: "Get an identity provider", Tag: tag, Role: identity.Owner,
		Description: "Returns the provider with the URIs to register at it. The client secret is never returned.",
	})
	op.Patch(a, one, h.update, op.Spec{
		ID: "update_identity_provider", Summary: "Change an identity provider", Tag: tag, Role: identity.Owner,
		Audit: op.Audit{Action: "identity_provider.update", Target: "provider_id"},
		Description: "`scopes` and `rules` are replaced as a whole. `client_secret` null clears it; it must be given " +
			"again if the issuer or the certificate changes. If the issuer changes, accounts are linked again. A new " +
			"issuer, and disabling the provider, end the sessions that were started with it. " +
			form,
	})
	op.Delete(a, one, h.remove, op.Spec{
		ID: "delete_identity_provider", Summary: "Delete an identity provider", Tag: tag, Role: identity.Owner,
		Status: http.StatusNoContent, Audit: op.Audit{Action: "identity_provider.delete", Target: "provider_id"},
		Description: "Ends the sessions that were started with the provider. Accounts and their roles are kept; a user " +
			"without a password can log in again with another provider, or after an admin sets a password.",
	})
	op.Post(a, one+"/test", h.try, op.Spec{
		ID: "test_identity_provider", Summary: "Test an identity provider", Tag: tag, Role: identity.Owner,
		Audit: op.Audit{Action: "identity_provider.test", Target: "provider_id"},
		Description: "Contacts the provider at once, even if it is disabled, and returns the result. `ok` is false " +
			"with an `error` if this fails. A wrong client secret is only detected by a log-in.",
	})
}

func (h handlers) list(ctx context.Context, _ *struct{}) (*op.List[*sso.Provider], error) {
	all, err := h.providers.List(ctx)
	return &op.List[*sso.Provider]{Total: len(all), Body: all}, err
}

type createInput struct {
	Body struct {
		Name         string     `json:"name" minLength:"1" maxLength:"100" example:"Company"`
		Issuer       string     `json:"issuer" minLength:"9" maxLength:"500" example:"https://id.example.com/realms/main" doc:"URL of the issuer, exactly as in its discovery document"`
		ClientID     string     `json:"client_id" minLength:"1" maxLength:"300" example:"hostler"`
		ClientSecret string     `json:"client_secret,omitempty" maxLength:"1000" example:"a-long-text" doc:"Secret of the client; absent for a public client. Stored encrypted and never shown again"`
		Scopes       []string   `json:"scopes,omitempty" nullable:"false" maxItems:"20" example:"[\"openid\",\"email\",\"profile\"]" doc:"Scopes; openid is always included. openid, email and profile if absent"`
		GroupsClaim  string     `json:"groups_claim,omitempty" minLength:"1" maxLength:"200" example:"groups" doc:"Claim that lists the groups; dots separate the levels of nested objects, as in realm_access.roles. groups if absent"`
		Rules        []sso.Rule `json:"rules,omitempty" nullable:"false" maxItems:"100"`
		Accounts     string     `json:"accounts,omitempty" enum:"create,invited" example:"invited" doc:"create: an account is created at the first log-in; invited, the default: only users with an account can log in"`
		TrustEmail   bool       `json:"trust_email,omitempty" doc:"Treat email addresses as verified; only if users cannot choose their address at the provider"`
		AllowPrivate bool       `json:"allow_private,omitempty"`
		Fingerprint  string     `json:"tls_fingerprint,omitempty" maxLength:"200" doc:"SHA-256 of the issuer's certificate to pin"`
		Enabled      *bool      `json:"enabled,omitempty" doc:"true if absent"`
	}
}

func (h handlers) create(ctx context.Context, in *createInput) (*op.Body[*sso.Provider], error) {
	b := &in.Body
	p := sso.Provider{Name: b.Name, Issuer: b.Issuer, ClientID: b.ClientID, Scopes: b.Scopes, GroupsClaim: b.GroupsClaim, Rules: b.Rules,
		Accounts: b.Accounts, TrustEmail: b.TrustEmail, AllowPrivate: b.AllowPrivate, Fingerprint: b.Fingerprint,
		Enabled: b.Enabled == nil || *b.Enabled}
	if p.Scopes == nil {
		p.Scopes = []string{"openid", "email", "profile"}
	}
	if p.GroupsClaim == "" {
		p.GroupsClaim = "groups"
	}
	if p.Accounts == "" {
		p.Accounts = sso.Invited
	}
	made, err := h.providers.Create(ctx, p, secret.New(b.ClientSecret))
	return &op.Body[*sso.Provider]{Body: made}, err
}

// again rebuilds the answer of create for a repeated Idempotency-Key, with the
// current state of the provider.
func (h handlers) again(ctx context.Context, made idempotency.Result) (any, error) {
	return h.providers.Get(ctx, made.Target())
}

// ProviderPath has the path parameter of an identity provider.
type ProviderPath struct {
	ID int64 `path:"provider_id" minimum:"1" doc:"ID of the provider"`
}

func (h handlers) get(ctx context.Context, in *ProviderPath) (*op.Body[*sso.Provider], error) {
	found, err := h.providers.Get(ctx, in.ID)
	return &op.Body[*sso.Provider]{Body: found}, err
}

type updateInput struct {
	ProviderPath
	Body struct {
		Name         op.Optional[string]     `json:"name,omitzero" nullable:"false" minLength:"1" maxLength:"100" example:"Company"`
		Issuer       op.Optional[string]     `json:"issuer,omitzero" nullable:"false" minLength:"9" maxLength:"500" example:"https://id.example.com/realms/main"`
		ClientID     op.Optional[string]     `json:"client_id,omitzero" nullable:"false" minLength:"1" maxLength:"300" example:"hostler"`
		ClientSecret op.Optional[string]     `json:"client_secret,omitzero" minLength:"1" maxLength:"1000" example:"a-long-text" doc:"null clears it"`
		Scopes       op.Optional[[]string]   `json:"scopes,omitzero" nullable:"false" maxItems:"20"`
		GroupsClaim  op.Optional[string]     `json:"groups_claim,omitzero" nullable:"false" minLength:"1" maxLength:"200" example:"groups"`
		Rules        op.Optional[[]sso.Rule] `json:"rules,omitzero" nullable:"false" maxItems:"100"`
		Accounts     op.Optional[string]     `json:"accounts,omitzero" nullable:"false" enum:"create,invited" example:"invited"`
		TrustEmail   op.Optional[bool]       `json:"trust_email,omitzero" nullable:"false"`
		AllowPrivate op.Optional[bool]       `json:"allow_private,omitzero" nullable:"false"`
		Fingerprint  op.Optional[string]     `json:"tls_fingerprint,omitzero" nullable:"false" maxLength:"200" doc:"Empty to check the certificate against the system's certificate authorities"`
		Enabled      op.Optional[bool]       `json:"enabled,omitzero" nullable:"false"`
	}
}

func (h handlers) update(ctx context.Context, in *updateInput) (*op.Body[*sso.Provider], error) {
	b := &in.Body
	var clientSecret *secret.String
	if b.ClientSecret.Set {
		clientSecret = new(secret.New(b.ClientSecret.Value)) // empty for null
	}
	now, err := h.providers.Update(ctx, in.ID, func(p *sso.Provider) {
		set(&p.Name, b.Name)
		set(&p.Issuer, b.Issuer)
		set(&p.ClientID, b.ClientID)
		set(&p.Scopes, b.Scopes)
		set(&p.GroupsClaim, b.GroupsClaim)
		set(&p.Rules, b.Rules)
		set(&p.Accounts, b.Accounts)
		set(&p.TrustEmail, b.TrustEmail)
		set(&p.AllowPrivate, b.AllowPrivate)
		set(&p.Fingerprint, b.Fingerprint)
		set(&p.Enabled, b.Enabled)
	}, clientSecret)
	return &op.Body[*sso.Provider]{Body: now}, err
}

func set[T any](field *T, given op.Optional[T]) {
	if value := given.Pointer(); value != nil {
		*field = *value
	}
}

func (h handlers) remove(ctx context.Context, in *ProviderPath) (*op.Empty, error) {
	return nil, h.providers.Delete(ctx, in.ID)
}

func (h handlers) try(ctx context.Context, in *ProviderPath) (*op.Body[*sso.ProbeResult], error) {
	found, err := h.providers.Probe(ctx, in.ID)
	return &op.Body[*sso.ProbeResult]{Body: found}, err
}
