package memdriver

import (
	"context"
	"slices"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// CertificateDriver is the driver of a hypervisor in memory of the other shape:
//   - it knows clients by their certificates, which one-time codes make known, and listens on port 8443
//   - it narrows rights to projects and cannot reboot nodes; its containers pause while its VMs cannot be reset
//   - guests are known by name ("vm-100") and have a UID and no number
//   - the list of tasks forgets each as it ends, and says so; some time after its end a task is not known at all, see Spec.TaskMemory
//   - a cluster has an ID and no name, and its nodes tell their addresses
//   - of the notes of a backup it keeps the first line, with a blank between two braces
//   - an inventory without detail has states only; CPU time is counted and not measured
type CertificateDriver struct{ *Driver }

var (
	_ hypervisor.Driver           = CertificateDriver{}
	_ hypervisor.RoleScriptWriter = CertificateDriver{}
	_ hypervisor.CredentialReader = CertificateDriver{}
	_ hypervisor.Enroller         = CertificateDriver{}
)

// NewCertificateDriver returns a driver without clusters, like New.
func NewCertificateDriver() CertificateDriver {
	d := New()
	d.certified = true
	return CertificateDriver{d}
}

// NewCertificateDriverByName returns a driver that makes clusters by their address,
// like NewByName. Such a cluster accepts every certificate and every code.
func NewCertificateDriverByName() CertificateDriver {
	d := NewCertificateDriver()
	d.byName = true
	return d
}

// pausingActions are the actions of all guests of a CertificateDriver.
var pausingActions = []hypervisor.Action{
	hypervisor.Start, hypervisor.Stop, hypervisor.Shutdown, hypervisor.Restart, hypervisor.Pause, hypervisor.Resume,
}

// Info implements hypervisor.Driver.
func (d CertificateDriver) Info(context.Context) (hypervisor.Info, error) {
	return hypervisor.Info{
		Name: "certmem", Version: Release, Product: "Certified Memory", DefaultPort: "8443", Scope: projects, Usual: usual,
		Forms: []hypervisor.CredentialForm{
			{Name: endpoint.FormJoinToken, Label: "Join token", SecretLabel: "Join token", OneTime: true},
			{Name: endpoint.FormClientCertificate, Label: "Client certificate", SecretLabel: "Certificate and key (PEM)", Multiline: true},
		},
		Capabilities: []endpoint.Capability{endpoint.Monitoring, endpoint.Lifecycle, endpoint.Console, endpoint.Backup},
		Actions: []hypervisor.KindActions{{Kind: hypervisor.VM, Actions: pausingActions}, {Kind: hypervisor.Container,
			Actions: pausingActions}},
	}, nil
}

// knows reports whether a kind of guest can do an action.
func (d *Driver) knows(kind hypervisor.GuestKind, action hypervisor.Action) bool {
	if d.certified {
		return slices.Contains(pausingActions, action)
	}
	return slices.Contains(hypervisor.Actions(kind), action)
}

// ReadCredential implements hypervisor.CredentialReader.
func (d CertificateDriver) ReadCredential(_ context.Context, entered endpoint.Credential) (endpoint.Credential, error) {
	if entered.Form != endpoint.FormClientCertificate {
		return endpoint.Credential{}, invalid("form", "only client certificates are taken")
	}
	return endpoint.ReadClientCertificate(entered)
}

// NewCredential implements hypervisor.Enroller.
func (d CertificateDriver) NewCredential(_ context.Context, capability endpoint.Capability) (endpoint.Credential, error) {
	return endpoint.NewClientCertificate(capability)
}

// newCertificate makes a credential. It panics if there is no randomness.
func newCertificate(capability endpoint.Capability) endpoint.Credential {
	made, err := endpoint.NewClientCertificate(capability)
	if err != nil {
		panic(err)
	}
	return made
}
