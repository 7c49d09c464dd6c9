// Package keys is the HTTP resource of the caller's own API keys: to list,
// create and revoke them. A key acts as its user, with at most the rights that
// the user has at that moment. Scopes can restrict it further.
package keys

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Deps has what the operations of this package need.
type Deps struct{ Users *identity.Store }

type handlers struct{ users *identity.Store }

const tag = "API keys"

// Register declares the operations of this package. They are open to every
// role, since they concern only the account of the caller, and a key has no
// more rights than its user.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Users}
	op.Get(a, "/api/v1/api-keys", h.list, op.Spec{
		ID: "list_api_keys", Summary: "List your API keys", Tag: tag, On: op.Anywhere,
		Description: "Lists the caller's keys, newest first, including expired ones. Only the start of a key is " +
			"shown, which is enough to identify a key that you find somewhere.",
	})
	op.Post(a, "/api/v1/api-keys", h.create, op.Spec{
		ID: "create_api_key", Summary: "Create an API key", Tag: tag, Secret: true, On: op.Anywhere, Status: http.StatusCreated,
		Audit: op.Audit{Action: "api_key.create"}, Replay: h.created,
		Description: "Returns the key in `key`, only once: send it as `Authorization: Bearer svc_…`. A key never has " +
			"more rights than its user has at that moment, and stops working when the user is deactivated. It stays " +
			"valid when the password changes.\n\n" +
			"`scopes` restrict the key: `read` allows all operations that only read; `<resource>:write` allows all " +
			"operations of one resource, including reading. Each operation names its scope in `x-scope`. Null or " +
			"absent `scopes` mean all rights of the user; an empty list is 422, like an unknown scope.\n\n" +
			"A key can create further keys with scopes that it has, which expire no later than itself; otherwise 403. " +
			"If a key is revoked, the keys that it created stay valid; the list and the audit log show them. " +
			"Operations on your own account require the scope `auth:write`; those that require the password do so " +
			"with a key, too. A second factor can be enrolled only in a session. `users:write` and `teams:write` can " +
			"create accounts, set passwords and grant roles up to the user's own: protect such keys like keys " +
			"without scopes. A user can have at most 100 keys; creating more is 409 `conflict`.",
	})
	op.Delete(a, "/api/v1/api-keys/:key_id", h.revoke, op.Spec{
		ID: "revoke_api_key", Summary: "Revoke one of your API keys", Tag: tag, On: op.Anywhere, Status: http.StatusNoContent,
		Audit:       op.Audit{Action: "api_key.revoke", Target: "key_id"},
		Description: "The key stops working at once. A key of another user is 404, like one that does not exist.",
	})
}

// Key is an API key without its secret.
type Key struct {
	ID         int64      `json:"id" example:"4"`
	Name       string     `json:"name" example:"backup script"`
	Prefix     string     `json:"prefix" example:"svc_q7Rt2w" doc:"Start of the key"`
	Current    bool       `json:"current" doc:"true for the key of this request"`
	Scopes     []string   `json:"scopes" nullable:"true" example:"[\"read\",\"vms:write\"]" doc:"Scopes; null for all rights of the user"`
	ExpiresAt  *time.Time `json:"expires_at" doc:"When it expires; null for never"`
	LastUsedAt *time.Time `json:"last_used_at" doc:"When it was last used, accurate to one minute; null if never"`
	CreatedAt  time.Time  `json:"created_at"`
}

func keyOf(k *identity.Key, caller *identity.Caller) Key {
	return Key{
		ID: k.ID, Name: k.Name, Prefix: k.Prefix, Current: k.ID == caller.KeyID, Scopes: k.Scopes,
		ExpiresAt: utc(k.ExpiresAt), LastUsedAt: utc(k.LastUsedAt), CreatedAt: k.CreatedAt.UTC(),
	}
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	return new(t.UTC())
}

func (h handlers) list(ctx context.Context, _ *struct{}) (*op.List[Key], error) {
	caller := identity.FromContext(ctx)
	found, err := h.users.Keys(ctx, caller.UserID)
	if err != nil {
		return nil, err
	}
	list := &op.List[Key]{Total: len(found)}
	for i := range found {
		list.Body = append(list.Body, keyOf(&found[i], caller))
	}
	return list, nil
}

type createInput struct {
	Body struct {
		Name      string     `json:"name" minLength:"1" maxLength:"200" example:"backup script" doc:"Purpose of the key"`
		ExpiresAt *time.Time `json:"expires_at,omitempty" nullable:"true" example:"2099-12-31T00:00:00Z" doc:"When it expires, as in RFC 3339; null for never"`
		Scopes    []string   `json:"scopes,omitempty" nullable:"true" maxItems:"100" example:"[\"read\",\"vms:write\"]" doc:"read, or <resource>:write; null for all rights of the user"`
	}
}

var _ huma.Resolver = (*createInput)(nil)

func (in *createInput) key() identity.NewKey {
	return identity.NewKey{Name: in.Body.Name, Scopes: in.Body.Scopes, ExpiresAt: in.Body.ExpiresAt}
}

// Resolve implements huma.Resolver. It checks what the schema cannot express,
// so that one answer has these faults and those of the schema.
func (in *createInput) Resolve(ctx huma.Context) []error {
	faults := in.key().Faults()
	known := op.Scopes(ctx.Context())
	for i, scope := range in.Body.Scopes {
		if !slices.Contains(known, scope) {
			faults = append(faults, problem.Fault{Loc: []any{"body", "scopes", i}, Msg: "is not a scope of this service: read, or " +
				"<resource>:write",
				Type: "enum"})
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return []error{problem.Invalid(faults...)}
}

// CreateResult is a new key with its secret, which no other operation returns.
type CreateResult struct {
	Key
	Secret string `json:"key" example:"svc_q7Rt2w…" doc:"The key, shown only once"`
}

func (h handlers) create(ctx context.Context, in *createInput) (*op.Body[CreateResult], error) {
	caller := identity.FromContext(ctx)
	key, text, err := h.users.CreateKey(ctx, caller, in.key())
	if err != nil {
		return nil, err
	}
	return &op.Body[CreateResult]{Body: CreateResult{keyOf(key, caller), text}}, nil
}

type revokeInput struct {
	KeyID int64 `path:"key_id" doc:"ID of the key"`
}

func (h handlers) revoke(ctx context.Context, in *revokeInput) (*op.Empty, error) {
	return &op.Empty{}, h.users.RevokeKey(ctx, identity.FromContext(ctx).UserID, in.KeyID)
}

// created rebuilds the answer of create for a repeated Idempotency-Key.
func (h handlers) created(ctx context.Context, made idempotency.Result) (any, error) {
	var kept identity.CreateKeyResult
	if err := made.Decode(&kept); err != nil {
		return nil, err
	}
	return CreateResult{keyOf(&kept.Key, identity.FromContext(ctx)), kept.Text}, nil
}
