package firewall

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/firewall"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// lacking is the part of descriptions that says which scopes have no aliases
// and IP sets.
const lacking = "On most hypervisors, nodes and security groups have neither aliases nor IP sets: 501 " +
	"`unsupported_at_scope`. "

func (h handlers) registerAliases(a *op.API, d declared) {
	const things, one = "/aliases", "/aliases/:name"
	op.Get(a, d.path+things, h.aliases, d.read("list_%_aliases", "List the firewall aliases", things,
		"Lists names for addresses and networks that rules and IP sets can use. Reads from the hypervisor. "+lacking))
	op.Post(a, d.path+things, h.createAlias, d.write("create_%_alias", "Create a firewall alias", things, "alias_create",
		"A name that is taken is 409 `conflict`. "+lacking+stale))
	op.Put(a, d.path+one, h.changeAlias, d.write("change_%_alias", "Change a firewall alias", one, "alias_change",
		"`rename` changes the name, but not the places that use it: an alias that is in use is 409 `in_use` with "+
			"`places` until `confirm` is its name. "+lacking+stale))
	op.Delete(a, d.path+one, h.deleteAlias, d.write("delete_%_alias", "Delete a firewall alias", one, "alias_delete",
		inUse+lacking+stale))
}

// inUse is the part of descriptions that says what happens to an object that is
// in use.
const inUse = "An object that is in use, or whose use could not be checked everywhere (`incomplete`), is 409 `in_use` until " +
	"`confirm` is its name, because the hypervisor would simply delete it. `places` lists where it is used, and `others` is the " +
	"number of places that you cannot see. "

func (h handlers) aliases(ctx context.Context, _ *struct{}) (*listing[firewall.Alias], error) {
	return listed(ctx, h, h.Firewalls.Aliases)
}

// aliasIn is the body of a new alias.
type aliasIn struct {
	Name    string  `json:"name" minLength:"1" maxLength:"64" pattern:"^[A-Za-z0-9][A-Za-z0-9_.-]*$" example:"backup-server"`
	CIDR    string  `json:"cidr" minLength:"1" maxLength:"64" example:"192.0.2.10" doc:"An address or a network"`
	Comment *string `json:"comment,omitempty" nullable:"true" maxLength:"1024" example:"in the basement"`
	Digest  *string `json:"digest,omitempty" nullable:"true" maxLength:"200" doc:"Digest of the list that you read"`
}

type createAliasInput struct{ Body aliasIn }

func (h handlers) createAlias(ctx context.Context, in *createAliasInput) (*op.Body[firewall.Alias], error) {
	b := &in.Body
	return done(ctx, h, func(on firewall.Scope) (firewall.Alias, error) {
		return h.Firewalls.CreateAlias(ctx, on, sdk.Alias{Name: b.Name, CIDR: b.CIDR, Comment: deref(b.Comment)}, deref(b.Digest))
	})
}

// NamePath has the path parameter of an alias or an IP set.
type NamePath struct {
	Name string `path:"name" maxLength:"64" pattern:"^[A-Za-z0-9][A-Za-z0-9_.-]*$" example:"management"`
}

// aliasPatch is the body of a change of an alias.
type aliasPatch struct {
	CIDR    string              `json:"cidr" minLength:"1" maxLength:"64" example:"192.0.2.11"`
	Comment op.Optional[string] `json:"comment,omitzero" maxLength:"1024" example:"in the attic"`
	Rename  *string             `json:"rename,omitempty" nullable:"true" minLength:"1" maxLength:"64" pattern:"^[A-Za-z0-9][A-Za-z0-9_.-]*$" example:"backup-server-2" doc:"New name"`
	Digest  *string             `json:"digest,omitempty" nullable:"true" maxLength:"200" doc:"Digest of the list that you read"`
}

type changeAliasInput struct {
	NamePath
	ConfirmParam
	Body aliasPatch
}

func (h handlers) changeAlias(ctx context.Context, in *changeAliasInput) (*op.Body[firewall.Alias], error) {
	b := &in.Body
	change := sdk.AliasChange{CIDR: b.CIDR, Comment: clearing(b.Comment), Rename: deref(b.Rename), Digest: deref(b.Digest)}
	return done(ctx, h, func(on firewall.Scope) (firewall.Alias, error) {
		return h.Firewalls.ChangeAlias(ctx, on, in.Name, change, in.Confirm)
	})
}

type deleteNamedInput struct {
	NamePath
	DigestParam
	ConfirmParam
}

func (h handlers) deleteAlias(ctx context.Context, in *deleteNamedInput) (*op.Body[firewall.Alias], error) {
	return done(ctx, h, func(on firewall.Scope) (firewall.Alias, error) {
		return h.Firewalls.DeleteAlias(ctx, on, in.Name, in.Digest, in.Confirm)
	})
}
