package pve

import (
	"context"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Backend is the firewall backend of Proxmox VE. It shares the connections of
// the driver.
type Backend struct{ driver *Driver }

// Firewall is the firewall of one endpoint, through one token. A list is one
// request. A change is one request, with another one before it where Proxmox VE
// does not check by itself: whether a guest exists, whether a digest is still
// valid, and which values stay.
type Firewall struct{ host *Host }

var _ firewall.Backend = (*Backend)(nil)

// NewBackend returns the firewall backend of a driver.
func NewBackend(driver *Driver) *Backend { return &Backend{driver: driver} }

// Services returns everything that the plugin serves.
func Services(log hclog.Logger) []plugin.Service {
	driver := New(log)
	return []plugin.Service{
		hypervisor.Service{Driver: driver, HostType: (*Host)(nil)},
		firewall.Service{Backend: NewBackend(driver), FirewallType: (*Firewall)(nil)},
	}
}

// Info implements firewall.Backend. A node has no aliases and sets, the cluster
// no log, and a group only rules.
func (b *Backend) Info(context.Context) (firewall.Info, error) {
	rules := []string{
		firewall.AbilityName[firewall.RuleLister](), firewall.AbilityName[firewall.RuleEditor](), firewall.AbilityName[firewall.RuleMover](),
		firewall.AbilityName[firewall.RuleChecker](),
	}
	objects := []string{
		firewall.AbilityName[firewall.AliasManager](), firewall.AbilityName[firewall.IPSetManager](),
		firewall.AbilityName[firewall.IPSetMemberEditor](), firewall.AbilityName[firewall.ReferenceLister](),
		firewall.AbilityName[firewall.UsageFinder](),
	}
	options, log := firewall.AbilityName[firewall.OptionsManager](), firewall.AbilityName[firewall.LogReader]()
	groups, macros := firewall.AbilityName[firewall.GroupManager](), firewall.AbilityName[firewall.MacroLister]()
	evaluate := firewall.AbilityName[firewall.Evaluator]()
	scope := func(kind firewall.ScopeKind, lists ...[]string) firewall.ScopeAbilities {
		s := firewall.ScopeAbilities{Kind: kind}
		for _, list := range lists {
			s.Abilities = append(s.Abilities, list...)
		}
		return s
	}
	return firewall.Info{Name: Name, Version: version, Scopes: []firewall.ScopeAbilities{
		scope(firewall.ClusterScope, rules, objects, []string{options, groups, macros, evaluate}),
		scope(firewall.NodeScope, rules, []string{options, log}),
		scope(firewall.GuestScope, rules, objects, []string{options, log}),
		scope(firewall.GroupScope, rules),
	}}, nil
}

// Open implements firewall.Backend.
func (b *Backend) Open(_ context.Context, target endpoint.Target) (firewall.Firewall, error) {
	host, err := b.driver.open(target)
	if err != nil {
		return nil, err
	}
	return &Firewall{host: host}, nil
}

// Close implements firewall.Firewall.
func (f *Firewall) Close() error { return f.host.Close() }

// place is the place of an object in a scope's firewall.
type place struct {
	path string
	// node answers; empty for the cluster.
	node string
	// guest is whose firewall it is, empty for others.
	guest hypervisor.GuestID
}

// below returns a place below this one.
func (p place) below(segments ...string) (place, error) {
	path, err := pveapi.Path(segments...)
	p.path += path
	return p, err
}

// placeOf returns a place below a scope's firewall.
func placeOf(scope firewall.Scope, rest ...string) (place, error) {
	if !firewall.ValidScope(scope) {
		return place{}, firewall.Invalid(firewall.FieldScope, "the fields of the scope %.40q are incomplete or do not belong "+
			"to it", string(scope.Kind))
	}
	rest = append([]string{"firewall"}, rest...)
	switch scope.Kind {
	case firewall.NodeScope:
		path, err := nodePath(scope.Node, rest...)
		return place{path: path, node: scope.Node}, err
	case firewall.GuestScope:
		g := scope.Guest
		ref := hypervisor.GuestRef{Kind: hypervisor.GuestKind(g.Kind), Node: g.Node, ID: hypervisor.GuestID(g.ID)}
		path, err := guestPath(ref, rest...)
		return place{path: path, node: g.Node, guest: ref.ID}, err
	case firewall.ClusterScope:
		path, err := pveapi.Path(append([]string{"cluster"}, rest...)...)
		return place{path: path}, err
	}
	return place{}, lackingAt(scope.Kind)
}

// objectsOf returns the place of a scope's aliases, sets or references.
func objectsOf(scope firewall.Scope, rest ...string) (place, error) {
	if scope.Kind == firewall.NodeScope && firewall.ValidScope(scope) {
		return place{}, lackingAt(scope.Kind)
	}
	return placeOf(scope, rest...)
}

// lackingAt returns the Unsupported error for an object that a scope cannot
// have.
func lackingAt(kind firewall.ScopeKind) error {
	e := plugin.Errorf(plugin.Unsupported, "Proxmox VE does not have this object at the scope %s", kind)
	e.Field = firewall.FieldScope
	return e
}

// read reads what is at a place.
func (f *Firewall) read(ctx context.Context, at place, into any) error {
	_, err := f.host.api.Get(ctx, at.path, nil, into)
	return firewallError(f.host.explainAway(ctx, at.node, err))
}

// change sends a change at a place, once. Proxmox VE accepts changes for a
// guest that does not exist and stores them for the next guest with that id; so
// the guest is looked for first.
func (f *Firewall) change(ctx context.Context, at place, send func() error) error {
	if err := f.guestThere(ctx, at); err != nil {
		return err
	}
	if err := send(); err != nil {
		return firewallError(f.host.explainAway(ctx, at.node, err))
	}
	f.host.log.Debug("firewall changed", "path", at.path)
	return nil
}

// guestThere checks whether the id of the place's guest is in use, which needs
// no privilege.
func (f *Firewall) guestThere(ctx context.Context, at place) error {
	if at.guest == "" {
		return nil
	}
	number, err := vmid(at.guest)
	if err != nil {
		return err
	}
	free, _, err := f.host.freeID(ctx, &number)
	if err == nil && free != "" {
		return plugin.Errorf(plugin.NotFound, "guest %s does not exist", at.guest)
	}
	return err
}

// emptyDigest is the digest of a list without rows, in which no row can show
// it: the SHA-1 of nothing.
const emptyDigest = "da39a3ee5e6b4b0d3255bfef95601890afd80709"

// digestOf returns the digest that every row of a list repeats.
func digestOf(rows int, row func(i int) pveapi.Text) string {
	if rows == 0 {
		return emptyDigest
	}
	return string(row(rows - 1))
}

// fresh compares a digest with that of a list that was read.
func fresh(digest, now string) error {
	if digest != "" && digest != now {
		return firewall.Stale()
	}
	return nil
}

// oneLine returns a text of Proxmox VE as one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
