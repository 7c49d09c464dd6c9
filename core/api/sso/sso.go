// Package sso is the HTTP resource of single sign-on: the providers. Log-in by them is among the operations of log-in.
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

// Deps is what the resource works with.
type Deps struct{ Providers *sso.Store }

type handlers struct{ providers *sso.Store }

const tag = "Single sign-on"

// form is told wherever a provider can be written.
const form = "`issuer` is an `https://` URL, below which its discovery is found. Redirects are not followed and no proxy is used; " +
	"addresses of private networks are refused unless `allow_private` is set, and loopback and link-local ones unless the service's " +
	"configuration allows them; what counts is the address that is called and not its name.\n\n" +
	"Who comes is known by the provider's `sub`. At the first log-in it is the account of the same e-mail address, where the provider says " +
	"`email_verified`, or says nothing of it and `trust_email` is set; an owner's account is joined only with its own second factor. " +
	"Without an account, `accounts` decides.\n\n" +
	"At each log-in the `rules` are applied: in each team that a rule names, the account gets the highest role whose group it is in, and " +
	"loses its role where it is in none; roles in other teams stay. The last active owner with a password never loses that role. Of an " +
	"account with a second factor it is asked for, unless the token says `mfa` in `amr`."

// Register declares the operations.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Providers}
	const all, one = "/api/v1/identity-providers", "/api/v1/identity-providers/:provider_id"
	op.Get(a, all, h.list, op.Spec{
		ID: "list_identity_providers", Summary: "List identity providers", Tag: tag, Role: identity.Owner,
		Description: "All providers of OpenID Connect, by name; at most 20. Client secrets are never told.",
	})
	op.Post(a, all, h.create, op.Spec{
		ID: "create_identity_provider", Summary: "Make an identity provider", Tag: tag, Role: identity.Owner,
		Status: http.StatusCreated, Audit: op.Audit{Action: "identity_provider.create"}, Recall: h.again,
		Description: form + "\n\nA name that is taken, in whatever case, and more than 20 providers are 409 `conflict`. At the provider, the " +
			"client must allow the `redirect_uri` of the answer, and `post_logout_redirect_uri` for log-out.",
	})
	op.Get(a, one, h.get, op.Spec{
		ID: "get_identity_provider", Summary: "Get an identity provider", Tag: tag, Role: identity.Owner,
		Description: "With what its client must allow. The client secret is never told.",
	})
	op.Patch(a, one, h.update, op.Spec{
		ID: "update_identity_provider", Summary: "Change an identity provider", Tag: tag, Role: identity.Owner,
		Audit: op.Audit{Action: "identity_provider.update", Target: "provider_id"},
		Description: "`scopes` and `rules` are replaced as a whole. `client_secret` null clears it; it must be given again with another " +
			"issuer or certificate. With another issuer, accounts are joined to it anew. That and switching it off end the sessions of who came " +
			"in by it. " + form,
	})
	op.Delete(a, one, h.remove, op.Spec{
		ID: "delete_identity_provider", Summary: "Delete an identity provider", Tag: tag, Role: identity.Owner,
		Status: http.StatusNoContent, Audit: op.Audit{Action: "identity_provider.delete", Target: "provider_id"},
		Description: "Ends the sessions of who came in by it. Accounts and their roles stay; who has no password comes in again by another " +
			"provider, or when an admin sets one.",
	})
	op.Post(a, one+"/test", h.try, op.Spec{
		ID: "test_identity_provider", Summary: "Test an identity provider", Tag: tag, Role: identity.Owner,
		Audit: op.Audit{Action: "identity_provider.test", Target: "provider_id"},
		Description: "Asks the provider at once what it is, also one that is switched off, and tells what it says. `ok` is false with the " +
			"`error` where that fails. Whether the client secret is right shows at a log-in only.",
	})
}

func (h handlers) list(ctx context.Context, _ *struct{}) (*op.List[*sso.Provider], error) {
	all, err := h.providers.List(ctx)
	return &op.List[*sso.Provider]{Total: len(all), Body: all}, err
}

type createInput struct {
	Body struct {
		Name         string     `json:"name" minLength:"1" maxLength:"100" example:"Company"`
		Issuer       string     `json:"issuer" minLength:"9" maxLength:"500" example:"https://id.example.com/realms/main" doc:"Exactly as its discovery has it"`
		ClientID     string     `json:"client_id" minLength:"1" maxLength:"300" example:"hostler"`
		ClientSecret string     `json:"client_secret,omitempty" maxLength:"1000" example:"a-long-text" doc:"Stored encrypted and never shown again; absent for a public client"`
		Scopes       []string   `json:"scopes,omitempty" nullable:"false" maxItems:"20" example:"[\"openid\",\"email\",\"profile\"]" doc:"openid is always among them; openid, email and profile when absent"`
		GroupsClaim  string     `json:"groups_claim,omitempty" minLength:"1" maxLength:"200" example:"groups" doc:"groups when absent; dots lead into objects, such as realm_access.roles"`
		Rules        []sso.Rule `json:"rules,omitempty" nullable:"false" maxItems:"100"`
		Accounts     string     `json:"accounts,omitempty" enum:"create,invited" example:"invited" doc:"invited when absent"`
		TrustEmail   bool       `json:"trust_email,omitempty" doc:"Only where people cannot choose their address at the provider"`
		AllowPrivate bool       `json:"allow_private,omitempty"`
		Fingerprint  string     `json:"tls_fingerprint,omitempty" maxLength:"200" doc:"SHA-256 of the certificate of the issuer's address"`
		Enabled      *bool      `json:"enabled,omitempty" doc:"True when absent"`
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

// again makes the answer of create again, with the provider as it is now.
func (h handlers) again(ctx context.Context, made idempotency.Made) (any, error) {
	return h.providers.Get(ctx, made.Target())
}

// One names a provider in the path.
type One struct {
	ID int64 `path:"provider_id" minimum:"1" doc:"The provider's id"`
}

func (h handlers) get(ctx context.Context, in *One) (*op.Body[*sso.Provider], error) {
	found, err := h.providers.Get(ctx, in.ID)
	return &op.Body[*sso.Provider]{Body: found}, err
}

type updateInput struct {
	One
	Body struct {
		Name         op.Optional[string]     `json:"name,omitzero" nullable:"false" minLength:"1" maxLength:"100" example:"Company"`
		Issuer       op.Optional[string]     `json:"issuer,omitzero" nullable:"false" minLength:"9" maxLength:"500" example:"https://id.example.com/realms/main"`
		ClientID     op.Optional[string]     `json:"client_id,omitzero" nullable:"false" minLength:"1" maxLength:"300" example:"hostler"`
		ClientSecret op.Optional[string]     `json:"client_secret,omitzero" minLength:"1" maxLength:"1000" example:"a-long-text" doc:"Null clears it"`
		Scopes       op.Optional[[]string]   `json:"scopes,omitzero" nullable:"false" maxItems:"20"`
		GroupsClaim  op.Optional[string]     `json:"groups_claim,omitzero" nullable:"false" minLength:"1" maxLength:"200" example:"groups"`
		Rules        op.Optional[[]sso.Rule] `json:"rules,omitzero" nullable:"false" maxItems:"100"`
		Accounts     op.Optional[string]     `json:"accounts,omitzero" nullable:"false" enum:"create,invited" example:"invited"`
		TrustEmail   op.Optional[bool]       `json:"trust_email,omitzero" nullable:"false"`
		AllowPrivate op.Optional[bool]       `json:"allow_private,omitzero" nullable:"false"`
		Fingerprint  op.Optional[string]     `json:"tls_fingerprint,omitzero" nullable:"false" maxLength:"200" doc:"Empty for the system's authorities"`
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

func (h handlers) remove(ctx context.Context, in *One) (*op.Empty, error) {
	return nil, h.providers.Delete(ctx, in.ID)
}

func (h handlers) try(ctx context.Context, in *One) (*op.Body[*sso.Trial], error) {
	found, err := h.providers.Try(ctx, in.ID)
	return &op.Body[*sso.Trial]{Body: found}, err
}
