package firewall

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/firewall"
	"github.com/hostler/hostler/core/identity"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// registerGroups declares the operations that only clusters have: those on
// security groups, and the list of macros.
func (h handlers) registerGroups(a *op.API) {
	cluster := "/api/v1/firewall/cluster/:host_id"
	d := declared{kind: "cluster", one: "a cluster", on: op.Host, role: identity.Admin}
	op.Get(a, cluster+"/groups", h.groups, d.read("list_firewall_groups", "List the security groups", "",
		"Lists security groups. A group is a named list of rules that other scopes include with one rule of the type "+
			"`group`. Reads from the hypervisor; the rules of a group are at `groups/{group}/rules`."))
	op.Post(a, cluster+"/groups", h.createGroup, d.write("create_firewall_group", "Create a security group", "", "group_create",
		"Creates a group without rules. A name that is taken is 409 `conflict`. "+stale))
	op.Get(a, cluster+"/macros", h.macros, d.read("list_firewall_macros", "List the firewall macros", "",
		"Lists the predefined services that rules can use as `macro` instead of a protocol and ports."))
	d.on = op.Group
	op.Delete(a, cluster+"/groups/:group", h.deleteGroup, d.write("delete_firewall_group", "Delete a security group", "",
		"group_delete", inUse+
			"A group that has rules is 409 `invalid_state`: delete the rules first. "+stale))
}

func (h handlers) groups(ctx context.Context, _ *struct{}) (*listing[firewall.Group], error) {
	return listed(ctx, h, h.Firewalls.Groups)
}

// groupIn is the body of a new security group.
type groupIn struct {
	Group   string  `json:"group" minLength:"1" maxLength:"64" pattern:"^[A-Za-z0-9][A-Za-z0-9_.-]*$" example:"webserver" doc:"Name of the group"`
	Comment *string `json:"comment,omitempty" nullable:"true" maxLength:"1024" example:"common rules of all web servers"`
	Digest  *string `json:"digest,omitempty" nullable:"true" maxLength:"200" doc:"Digest of the list that you read"`
}

type createGroupInput struct{ Body groupIn }

func (h handlers) createGroup(ctx context.Context, in *createGroupInput) (*op.Body[firewall.Group], error) {
	b := &in.Body
	return done(ctx, h, func(on firewall.Scope) (firewall.Group, error) {
		return h.Firewalls.CreateGroup(ctx, on, sdk.Group{Name: b.Group, Comment: deref(b.Comment)}, deref(b.Digest))
	})
}

type deleteGroupInput struct {
	DigestParam
	ConfirmParam
}

func (h handlers) deleteGroup(ctx context.Context, in *deleteGroupInput) (*op.Body[firewall.Group], error) {
	return done(ctx, h, func(on firewall.Scope) (firewall.Group, error) {
		return h.Firewalls.DeleteGroup(ctx, on, op.ResourceOf(ctx).Group, in.Digest, in.Confirm)
	})
}

func (h handlers) macros(ctx context.Context, _ *struct{}) (*op.List[firewall.Macro], error) {
	on, err := h.scope(ctx)
	if err != nil {
		return nil, err
	}
	all, err := h.Firewalls.Macros(ctx, on)
	return &op.List[firewall.Macro]{Total: len(all), Body: all}, err
}
