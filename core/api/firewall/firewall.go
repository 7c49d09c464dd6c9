// Package firewall is the HTTP resource of the firewalls of apps, VMs, nodes and clusters.
package firewall

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/firewall"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/sdk/endpoint"
)

// Guests names VMs or apps.
type Guests interface {
	Request(ctx context.Context, id, team int64, confirm *string) (guest.Request, error)
}

// Deps is what the resource works with.
type Deps struct {
	Firewalls *firewall.Store
	VMs, Apps Guests
}

// handlers are those of one scope; scope gives the firewall that the path names.
type handlers struct {
	firewalls *firewall.Store
	scope     func(context.Context) (firewall.Scope, error)
}

const tag = "Firewall"

// Register declares the operations, the same for each scope.
func Register(a *op.API, deps Deps) {
	for _, s := range []struct {
		kind, one, path string
		// alias is another path of the same.
		alias string
		on    op.On
		// ours are the reads that the API's specification does not have at this scope.
		ours  bool
		scope func(context.Context) (firewall.Scope, error)
	}{
		{kind: "app", one: "an app", path: "/api/v1/apps/:app_id/firewall", on: op.App, scope: ofGuest(deps.Apps)},
		{kind: "vm", one: "a VM", path: "/api/v1/vms/:vm_id/firewall", on: op.VM, scope: ofGuest(deps.VMs)},
		{kind: "cluster", one: "a cluster", path: "/api/v1/firewall/cluster/:host_id", on: op.Host, ours: true, scope: ofCluster},
		{kind: "node", one: "a node", path: "/api/v1/firewall/nodes/:host_id/:node", alias: "/api/v1/firewall/node/:host_id/:node", on: op.Node,
			scope: ofNode},
	} {
		h := handlers{deps.Firewalls, s.scope}
		var rules []op.Alias
		if s.alias != "" {
			rules = []op.Alias{{Path: s.alias + "/rules", ID: "list_firewall_" + s.kind + "_rules"}}
		}
		op.Get(a, s.path+"/rules", h.rules, op.Spec{
			ID: "list_" + s.kind + "_firewall_rules", Summary: "List the firewall rules of " + s.one, Tag: tag, Aliases: rules,
			Role: identity.Viewer, On: s.on, Calls: true, Needs: endpoint.Monitoring, Ours: s.ours,
			Description: "Asked of the hypervisor, in the order in which the rules are tried; nothing of it is kept. Only rules of this scope: " +
				"those of the scopes around it are not among them, and a security group is one rule of the type `group`.",
		})
	}
}

func ofGuest(guests Guests) func(context.Context) (firewall.Scope, error) {
	return func(ctx context.Context) (firewall.Scope, error) {
		r, err := guests.Request(ctx, op.Found(ctx).ID, op.Found(ctx).TeamID, nil)
		if err != nil {
			return firewall.Scope{}, err
		}
		return firewall.OfGuest(r.Guest), nil
	}
}

func ofCluster(ctx context.Context) (firewall.Scope, error) {
	return firewall.OfCluster(op.Found(ctx).ID), nil
}

func ofNode(ctx context.Context) (firewall.Scope, error) {
	return firewall.OfNode(op.Found(ctx).ID, op.Found(ctx).Node), nil
}

func (h handlers) rules(ctx context.Context, _ *struct{}) (*op.List[firewall.Rule], error) {
	on, err := h.scope(ctx)
	if err != nil {
		return nil, err
	}
	all, err := h.firewalls.Rules(ctx, on)
	return &op.List[firewall.Rule]{Total: len(all), Body: all}, err
}
