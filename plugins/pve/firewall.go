package pve

import (
	"context"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Backend is the firewall backend of Proxmox VE. It shares the driver's connections.
type Backend struct{ driver *Driver }

// Firewall is the firewall of one endpoint seen through one token.
type Firewall struct{ host *Host }

var (
	_ firewall.Backend    = (*Backend)(nil)
	_ firewall.RuleLister = (*Firewall)(nil)
)

// NewBackend makes the firewall backend of a driver.
func NewBackend(driver *Driver) *Backend { return &Backend{driver: driver} }

// Services are all kinds that the plugin serves.
func Services(log hclog.Logger) []plugin.Service {
	driver := New(log)
	return []plugin.Service{
		hypervisor.Service{Driver: driver, HostType: (*Host)(nil)},
		firewall.Service{Backend: NewBackend(driver), FirewallType: (*Firewall)(nil)},
	}
}

// Info implements firewall.Backend.
func (b *Backend) Info(context.Context) (firewall.Info, error) {
	rules := firewall.AbilityName[firewall.RuleLister]()
	return firewall.Info{Name: Name, Version: version, Scopes: []firewall.ScopeAbilities{
		{Kind: firewall.ClusterScope, Abilities: []string{rules}}, {Kind: firewall.NodeScope, Abilities: []string{rules}},
		{Kind: firewall.GuestScope, Abilities: []string{rules, firewall.AbilityName[firewall.Optioner]()}},
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

// ruleRow is a row of a list of rules. Every row carries the digest of the whole list.
type ruleRow struct {
	Position    pveapi.Int  `json:"pos"`
	Type        pveapi.Text `json:"type"`
	Action      pveapi.Text `json:"action"`
	Enable      pveapi.Flag `json:"enable"`
	Macro       pveapi.Text `json:"macro"`
	Protocol    pveapi.Text `json:"proto"`
	Source      pveapi.Text `json:"source"`
	Destination pveapi.Text `json:"dest"`
	SourcePort  pveapi.Text `json:"sport"`
	DestPort    pveapi.Text `json:"dport"`
	Interface   pveapi.Text `json:"iface"`
	Log         pveapi.Text `json:"log"`
	ICMPType    pveapi.Text `json:"icmp-type"`
	Comment     pveapi.Text `json:"comment"`
	Digest      pveapi.Text `json:"digest"`
}

// Rules implements firewall.RuleLister. The hypervisor has rules for guests that do not exist, too: none.
func (f *Firewall) Rules(ctx context.Context, scope firewall.Scope) ([]firewall.Rule, string, error) {
	path, node, err := firewallPath(scope, "rules")
	if err != nil {
		return nil, "", err
	}
	var rows []ruleRow
	if _, err := f.host.api.Get(ctx, path, nil, &rows); err != nil {
		if node != "" {
			err = f.host.explainAway(ctx, node, err)
		}
		return nil, "", err
	}
	rules, digest := make([]firewall.Rule, len(rows)), ""
	for i, r := range rows {
		if r.Position.N != int64(i) {
			return nil, "", plugin.Errorf(plugin.Protocol, "rule %d stands at place %d of the list", r.Position.N, i)
		}
		rules[i] = firewall.Rule{
			Position: i, Direction: string(r.Type), Action: string(r.Action), Enabled: bool(r.Enable), Macro: string(r.Macro),
			Protocol: string(r.Protocol), Source: string(r.Source), Destination: string(r.Destination),
			SourcePort: string(r.SourcePort), DestinationPort: string(r.DestPort), Interface: string(r.Interface),
			Log: string(r.Log), ICMPType: string(r.ICMPType), Comment: string(r.Comment),
		}
		digest = string(r.Digest)
	}
	return rules, digest, nil
}

// firewallPath is a path below a scope's firewall, and the node that answers, empty for the cluster.
func firewallPath(scope firewall.Scope, rest ...string) (path, node string, err error) {
	if !firewall.ValidScope(scope) {
		e := plugin.Errorf(plugin.Invalid, "%.40q is no scope with what it needs", scope.Kind)
		e.Field = "scope"
		return "", "", e
	}
	rest = append([]string{"firewall"}, rest...)
	switch scope.Kind {
	case firewall.NodeScope:
		path, err = nodePath(scope.Node, rest...)
		return path, scope.Node, err
	case firewall.GuestScope:
		g := scope.Guest
		path, err = guestPath(hypervisor.GuestRef{Kind: hypervisor.GuestKind(g.Kind), Node: g.Node, ID: hypervisor.GuestID(g.ID)}, rest...)
		return path, g.Node, err
	}
	path, err = pveapi.Path(append([]string{"cluster"}, rest...)...)
	return path, "", err
}
