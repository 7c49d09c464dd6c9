package hosts

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/secret"
)

// Endpoint is where a host is and the token to ask it with.
type Endpoint struct {
	Address     string  `json:"address" minLength:"1" maxLength:"300" example:"pve1.example.com" doc:"Name, IPv4, or IPv6 in brackets, with :port or without (8006), or an https:// URL of these"`
	TokenID     string  `json:"token_id" minLength:"1" maxLength:"255" example:"service@pve!monitoring"`
	TokenSecret string  `json:"token_secret" minLength:"1" maxLength:"1024" example:"6f1c2d3e-0000-4000-8000-1a2b3c4d5e6f" doc:"Stored encrypted; never shown again"`
	Fingerprint *string `json:"tls_fingerprint,omitempty" nullable:"true" maxLength:"200" doc:"SHA-256 of the certificate in hexadecimal, with or without colons"`
	VerifyTLS   *bool   `json:"verify_tls,omitempty" default:"true" doc:"Without tls_fingerprint: check the certificate against the system's authorities"`
}

func (e Endpoint) enrolment(name string) host.Enrolment {
	in := host.Enrolment{Address: e.Address, Name: name, TokenID: e.TokenID, Secret: secret.New(e.TokenSecret),
		VerifyTLS: e.VerifyTLS == nil || *e.VerifyTLS}
	if e.Fingerprint != nil {
		in.Fingerprint = *e.Fingerprint
	}
	return in
}

type createInput struct {
	Body struct {
		Endpoint
		Name       string `json:"name" minLength:"1" maxLength:"100" example:"rack1"`
		SSHConsent bool   `json:"ssh_consent,omitempty" doc:"Kept for when SSH keys are enrolled; this release enrols none"`
		SSHEnroll  bool   `json:"ssh_enroll,omitempty" doc:"Kept for when SSH keys are enrolled; this release enrols none"`
	}
}

// Created is a new host and what its check has found.
type Created struct {
	host.Host
	Verification host.Verification `json:"verification"`
}

func (h handlers) create(ctx context.Context, in *createInput) (*op.Body[Created], error) {
	wish := in.Body.enrolment(in.Body.Name)
	wish.SSHConsent, wish.SSHEnroll = in.Body.SSHConsent, in.Body.SSHEnroll
	made, v, err := h.hosts.Create(ctx, wish)
	if err != nil {
		return nil, err
	}
	h.poller.Wake()
	return &op.Body[Created]{Body: Created{made, v}}, nil
}

type probeInput struct {
	Body struct {
		Endpoint
		Name *string `json:"name,omitempty" nullable:"true" maxLength:"100" doc:"Accepted and not used"`
	}
}

// Probed is what the check of an endpoint has found.
type Probed struct {
	Reachable bool `json:"reachable" example:"true"`
	host.Verification
}

func (h handlers) probe(ctx context.Context, in *probeInput) (*op.Body[Probed], error) {
	v, err := h.hosts.Probe(ctx, in.Body.enrolment(""))
	return &op.Body[Probed]{Body: Probed{true, v}}, err
}

type patchInput struct {
	Body struct {
		Name        op.Optional[string] `json:"name,omitzero" nullable:"false" maxLength:"100"`
		Address     op.Optional[string] `json:"address,omitzero" nullable:"false" maxLength:"300"`
		Fingerprint op.Optional[string] `json:"tls_fingerprint,omitzero" maxLength:"200"`
		SSHHostKey  op.Optional[string] `json:"ssh_host_key_fingerprint,omitzero" maxLength:"200"`
		NodeShell   op.Optional[bool]   `json:"node_shell_enabled,omitzero" doc:"Permit node shells on this host; null puts it back to off"`
		TeamID      op.Optional[int64]  `json:"team_id,omitzero" minimum:"1"`
	}
}

func (h handlers) patch(ctx context.Context, in *patchInput) (*op.Body[host.Host], error) {
	b := &in.Body
	found, err := h.hosts.Patch(ctx, op.Found(ctx).ID, host.Change{
		Name: b.Name.Pointer(), Address: b.Address.Pointer(), Fingerprint: clearable(b.Fingerprint), SSHHostKey: clearable(b.SSHHostKey),
		NodeShell: flag(b.NodeShell), TeamID: team(b.TeamID),
	})
	if err == nil {
		h.poller.Wake()
	}
	return &op.Body[host.Host]{Body: found}, err
}

// clearable is the given text, empty for null.
func clearable(o op.Optional[string]) *string {
	if !o.Set {
		return nil
	}
	return &o.Value
}

// flag is the given value; null puts it back to off.
func flag(o op.Optional[bool]) *bool {
	if !o.Set {
		return nil
	}
	return &o.Value
}

// team is the given team; null is the default team again.
func team(o op.Optional[int64]) *int64 {
	if !o.Set {
		return nil
	}
	if o.Null {
		return new(identity.DefaultTeam)
	}
	return &o.Value
}
