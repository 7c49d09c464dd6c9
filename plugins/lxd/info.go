package lxd

import (
	"context"
	"slices"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// version is set by the linker to the release's version.
var version = "dev"

// capabilities are the capabilities that the driver supports. LXD cannot reboot
// its machine, so node_power is not among them.
var capabilities = []endpoint.Capability{endpoint.Monitoring, endpoint.Lifecycle, endpoint.Console, endpoint.Backup}

// actions are the actions of guests of both kinds. Containers can be paused
// too, with the freezer.
var actions = []hypervisor.Action{
	hypervisor.Start, hypervisor.Stop, hypervisor.Shutdown, hypervisor.Restart, hypervisor.Pause, hypervisor.Resume, hypervisor.Reset,
}

// Info tells the driver's name and release, and how LXD differs from what the service takes for granted.
func (d *Driver) Info(context.Context) (hypervisor.Info, error) {
	return hypervisor.Info{
		Name: Name, Version: version, Product: "LXD", DefaultPort: "8443",
		Forms: []hypervisor.CredentialForm{
			{Name: endpoint.FormJoinToken, Label: "Join token", SecretLabel: "Join token", OneTime: true},
			{Name: endpoint.FormClientCertificate, Label: "Client certificate", SecretLabel: "Certificate and key (PEM)", Multiline: true},
		},
		Capabilities: slices.Clone(capabilities),
		Actions: []hypervisor.KindActions{
			{Kind: hypervisor.VM, Actions: slices.Clone(actions)}, {Kind: hypervisor.Container, Actions: slices.Clone(actions)},
		},
		Scope: hypervisor.Scope{Word: "project", Holds: "guests, their profiles and volumes", Example: "/project/customers"},
		Usual: hypervisor.DefaultNames{Storage: "default", Bridge: "lxdbr0"}, // what "lxd init" offers
	}, nil
}

// checkCapability returns an Invalid error for a capability that is not
// supported.
func checkCapability(c endpoint.Capability) error {
	if slices.Contains(capabilities, c) {
		return nil
	}
	return invalid("capability", "the capability %.40q is not supported on LXD", c)
}

// invalid returns an Invalid error with a field.
func invalid(field, format string, args ...any) error {
	e := plugin.Errorf(plugin.Invalid, format, args...)
	e.Field = field
	return e
}
