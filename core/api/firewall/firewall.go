// Package firewall is the HTTP resource of firewalls. There are five scopes:
// apps, VMs, nodes, clusters and security groups. The package declares the same
// operations for each of them, with the path, the role and the firewall.Scope
// in a value of the type declared. The files of the package are
//
//   - rule.go, alias.go, ipset.go: the rules, aliases and IP sets of a scope
//   - options.go, log.go, reference.go: its options, its log, and the names
//     that its rules can use; security groups have none of them
//   - group.go: the security groups of a cluster
//   - draft.go, template.go: several changes that are applied together, and
//     templates for them
//   - evaluate.go: whether a packet passes, and who can reach a guest
//
// Each list of a scope has a digest. A change sends the digest that the user
// saw, and is refused with digest_conflict if the list has changed since.
package firewall

import (
	"context"
	"strings"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/firewall"
	"github.com/hostler/hostler/core/firewall/draft"
	"github.com/hostler/hostler/core/firewall/template"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/sdk/endpoint"
)

// Guests finds the VM or the app that a path names. Package vm and package app
// implement it.
type Guests interface {
	Request(ctx context.Context, id, team int64, confirm *string) (guest.Request, error)
}

// Deps has what the operations of this package need.
type Deps struct {
	Firewalls *firewall.Store
	VMs, Apps Guests
	// Guests are all of them, apps or not.
	Guests *guest.Store
	// Stopping is closed when the service stops, which ends what follows a log; nil is never.
	Stopping <-chan struct{}
	Drafts   *draft.Store
	// Templates are the named sets of rules.
	Templates *template.Store
}

// handlers has the operations on one scope. scope returns the firewall that the
// path names.
type handlers struct {
	Deps
	scope func(context.Context) (firewall.Scope, error)
}

const (
	tag = "Firewall"
	// changeTime is how long a change may take, with the requests before and
	// after it that read the firewall.
	changeTime = 3 * time.Minute
)

// declared describes one scope for the declaration of its operations.
type declared struct {
	// kind is the word for the scope in the IDs of operations, and one the
	// words for it in sentences.
	kind, one, path string
	// alias is another path of the same scope.
	alias string
	on    op.On
	// role is the role that changes require.
	role  identity.Role
	scope func(context.Context) (firewall.Scope, error)
}

// scopes returns the descriptions of all scopes.
func scopes(deps Deps) []declared {
	return []declared{
		{kind: "app", one: "an app", path: "/api/v1/apps/:app_id/firewall", on: op.App, role: identity.Operator,
			scope: ofGuest(deps.Apps)},
		{kind: "vm", one: "a VM", path: "/api/v1/vms/:vm_id/firewall", on: op.VM, role: identity.Operator,
			scope: ofGuest(deps.VMs)},
		{kind: "cluster", one: "a cluster", path: "/api/v1/firewall/cluster/:host_id", on: op.Host, role: identity.Admin,
			scope: ofCluster},
		{kind: "node", one: "a node", path: "/api/v1/firewall/nodes/:host_id/:node", alias: "/api/v1/firewall/node/:host_id/:node",
			on: op.Node, role: identity.Admin, scope: ofNode},
		{kind: "group", one: "a security group", path: "/api/v1/firewall/cluster/:host_id/groups/:group", on: op.Group,
			role: identity.Admin, scope: ofGroup},
	}
}

// Register declares the operations of this package. Every scope has the same
// ones, except that a security group has no options, no log and no references.
func Register(a *op.API, deps Deps) {
	for _, d := range scopes(deps) {
		h := handlers{deps, d.scope}
		h.registerRules(a, d)
		h.registerAliases(a, d)
		h.registerIPSets(a, d)
		if d.on != op.Group {
			h.registerOptions(a, d)
			h.registerLog(a, d)
			h.registerReferences(a, d)
		}
	}
	handlers{deps, ofCluster}.registerGroups(a)
	handlers{Deps: deps}.registerDrafts(a)
	handlers{Deps: deps}.registerTemplates(a)
	handlers{deps, nil}.registerEvaluation(a)
}

// read returns the Spec of an operation that reads. A percent sign in id stands
// for the word of the scope.
func (d declared) read(id, summary, suffix, description string) op.Spec {
	return op.Spec{
		ID: strings.Replace(id, "%", d.kind+"_firewall", 1), Summary: summary + " of " + d.one, Tag: tag, Aliases: d.aliases(id, suffix),
		Role: identity.Viewer, On: d.on, Calls: true, Needs: endpoint.Monitoring,
		Description: strings.TrimSpace(description),
	}
}

// write returns the Spec of an operation that changes something.
func (d declared) write(id, summary, suffix, action, description string) op.Spec {
	s := d.read(id, summary, suffix, description)
	s.Role, s.Needs, s.Timeout, s.Audit = d.role, endpoint.Lifecycle, changeTime, op.Audit{Action: "firewall." + action}
	return s
}

func (d declared) aliases(id, suffix string) []op.Alias {
	if d.alias == "" {
		return nil
	}
	return []op.Alias{{Path: d.alias + suffix, ID: strings.Replace(id, "%", "firewall_"+d.kind, 1)}}
}

func ofGuest(guests Guests) func(context.Context) (firewall.Scope, error) {
	return func(ctx context.Context) (firewall.Scope, error) {
		r, err := guests.Request(ctx, op.ResourceOf(ctx).ID, op.ResourceOf(ctx).TeamID, nil)
		if err != nil {
			return firewall.Scope{}, err
		}
		return firewall.OfGuest(r.Guest), nil
	}
}

func ofCluster(ctx context.Context) (firewall.Scope, error) {
	return firewall.OfCluster(op.ResourceOf(ctx).ID), nil
}

func ofNode(ctx context.Context) (firewall.Scope, error) {
	return firewall.OfNode(op.ResourceOf(ctx).ID, op.ResourceOf(ctx).Node), nil
}

func ofGroup(ctx context.Context) (firewall.Scope, error) {
	return firewall.OfGroup(op.ResourceOf(ctx).ID, op.ResourceOf(ctx).Group), nil
}

// listing is a list that can be changed. Each row has the digest of the list.
type listing[T any] struct {
	Total  int    `header:"X-Total-Count" doc:"Number of all entries"`
	Digest string `header:"X-Digest" doc:"Digest of the list, as in each of its rows; absent if the hypervisor has none"`
	Body   []T
}

// listed returns a list of the scope that the path names.
func listed[T any](ctx context.Context, h handlers, ask func(context.Context, firewall.Scope) ([]T, *string, error)) (*listing[T], error) {
	on, err := h.scope(ctx)
	if err != nil {
		return nil, err
	}
	all, digest, err := ask(ctx, on)
	if err != nil {
		return nil, err
	}
	out := &listing[T]{Total: len(all), Body: append([]T{}, all...)}
	if digest != nil {
		out.Digest = *digest
	}
	return out, nil
}

// done makes a change of the scope that the path names, and returns the changed
// object.
func done[T any](ctx context.Context, h handlers, change func(firewall.Scope) (T, error)) (*op.Body[T], error) {
	on, err := h.scope(ctx)
	if err != nil {
		return nil, err
	}
	out, err := change(on)
	return &op.Body[T]{Body: out}, err
}

// DigestParam is embedded into the input of operations that delete something.
type DigestParam struct {
	Digest string `query:"digest" maxLength:"200" example:"da39a3ee5e6b4b0d3255bfef95601890afd80709" doc:"Digest of the list that you read; 409 digest_conflict if it is out of date"`
}

// ConfirmParam is embedded into the input of operations that delete an object
// which may be in use.
type ConfirmParam struct {
	Confirm string `query:"confirm" maxLength:"64" example:"management" doc:"Name of the object, if it is in use"`
}

// deref returns the text, or "" for nil.
func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// flag converts an optional number, 0 or 1, to an optional boolean.
func flag(n *int) *bool {
	if n == nil {
		return nil
	}
	on := *n == 1
	return &on
}

// clearing returns the text of a field that null and the empty string clear, or
// nil if the body does not have the field.
func clearing(text op.Optional[string]) *string {
	if !text.Set {
		return nil
	}
	return &text.Value
}
