package hosts

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
)

// Access is how a host is reached: its driver, what to ask it with, and how its certificate is checked.
type Access struct {
	Driver       string   `json:"driver,omitempty" maxLength:"63" example:"pve" doc:"One of GET /hosts/drivers; pve by default"`
	Form         string   `json:"credential_form,omitempty" maxLength:"40" example:"token" doc:"How access is handed over: one of the driver's credential_forms, the first by default"`
	TokenID      string   `json:"token_id,omitempty" maxLength:"255" example:"service@pve!monitoring" doc:"Needed where the form has an id_label, such as an API token's"`
	TokenSecret  string   `json:"token_secret,omitempty" minLength:"1" maxLength:"16384" example:"6f1c2d3e-0000-4000-8000-1a2b3c4d5e6f" doc:"A token's secret, a certificate with its key, a one-time code, at most 16 KiB. Needed unless something stands in its place, such as paste. Stored encrypted and never shown again; a one-time code is not stored"`
	Paste        string   `json:"paste,omitempty" minLength:"1" maxLength:"65536" example:"Enter these tokens in Hostler. The secrets are not shown again.\n\n  monitoring\n    token id: service@pve!monitoring\n    secret:   6f1c2d3e-0000-4000-8000-1a2b3c4d5e6f\n\n  lifecycle\n    token id: service@pve!lifecycle\n    secret:   0b9a8c7d-0000-4000-8000-5f4e3d2c1b0a\n" doc:"What the script of POST /hosts/token-script has printed, as it was copied from the terminal, at most 64 KiB: prompts, colours, borders and broken lines do no harm. It brings the tokens of all capabilities and stands in the place of credential_form, token_id and token_secret. Never shown again"`
	Capabilities []string `json:"capabilities,omitempty" maxItems:"10" enum:"monitoring,lifecycle,console,backup,node_power" example:"[\"monitoring\",\"lifecycle\"]" doc:"With paste: use only its tokens for these capabilities and ignore the others. Absent means all"`
	Fingerprint  *string  `json:"tls_fingerprint,omitempty" nullable:"true" maxLength:"200" example:"3F:9A:0C:51:7B:E2:44:D8:96:1E:A7:30:CB:5D:82:F6:19:60:BE:4C:D3:07:8A:F1:2E:95:6B:C8:54:A0:ED:73" doc:"SHA-256 of the certificate in hexadecimal, with or without colons. One that a one-time code names is pinned without it"`
	VerifyTLS    *bool    `json:"verify_tls,omitempty" default:"true" example:"true" doc:"Without tls_fingerprint: check the certificate against the system's authorities"`
}

func (a Access) enrolment(name, address string) host.Enrolment {
	in := host.Enrolment{Driver: a.Driver, Address: address, Name: name, Form: a.Form, TokenID: a.TokenID, Secret: secret.New(a.TokenSecret),
		Paste: secret.New(a.Paste), Capabilities: a.Capabilities, VerifyTLS: a.VerifyTLS == nil || *a.VerifyTLS}
	if a.Fingerprint != nil {
		in.Fingerprint = *a.Fingerprint
	}
	return in
}

// missing is the fault of a body without any token, which its schema cannot tell.
func (a Access) missing(others bool) []error {
	if a.TokenSecret != "" || a.Paste != "" || others {
		return nil
	}
	return []error{problem.InvalidField("required", "missing", "body", "token_secret")}
}

var (
	_ huma.Resolver = (*createInput)(nil)
	_ huma.Resolver = (*probeInput)(nil)
)

type createInput struct {
	Body struct {
		CreateExample
		Access
		Address    string `json:"address" minLength:"1" maxLength:"300" example:"pve1.example.com" doc:"Name, IPv4, or IPv6 in brackets, with :port or without (the driver's default_port), or an https:// URL of these"`
		Name       string `json:"name" minLength:"1" maxLength:"100" example:"rack1"`
		SSHConsent bool   `json:"ssh_consent,omitempty" doc:"You agree that programs run as root on the host's machine, as the member consent of a 409 consent_required says; it is recorded with your name"`
		SSHEnroll  bool   `json:"ssh_enroll,omitempty" doc:"Make an SSH key for the host's machine, which needs ssh_consent: ssh.pending in the answer has the line for authorized_keys"`
		SSHPort    int    `json:"ssh_port,omitempty" minimum:"1" maximum:"65535" example:"22" doc:"Where the machine's SSH server listens; absent is 22"`
	}
}

// Resolve implements huma.Resolver.
func (in *createInput) Resolve(huma.Context) []error { return in.Body.missing(false) }

// Created is a new host and what its check has found.
type Created struct {
	host.Host
	Verification host.Verification `json:"verification"`
}

func (h handlers) create(ctx context.Context, in *createInput) (*op.Body[Created], error) {
	wish := in.Body.enrolment(in.Body.Name, in.Body.Address)
	wish.SSHConsent, wish.SSHEnroll, wish.SSHPort = in.Body.SSHConsent, in.Body.SSHEnroll, in.Body.SSHPort
	made, v, err := h.hosts.Create(ctx, wish)
	if err != nil {
		return nil, err
	}
	h.poller.Wake()
	return &op.Body[Created]{Body: Created{made, v}}, nil
}

type probeInput struct {
	Body struct {
		ProbeExample
		Access
		Tokens  []Candidate `json:"tokens,omitempty" maxItems:"10" doc:"Several tokens to try at once, in the place of credential_form, token_id, token_secret and paste; an empty list only looks at the certificate"`
		Address string      `json:"address,omitempty" maxLength:"300" example:"pve1.example.com" doc:"As at enrolling; needed unless there are only one-time codes, which tell addresses"`
		Name    *string     `json:"name,omitempty" nullable:"true" maxLength:"100" doc:"Accepted and not used"`
	}
}

// Candidate is a token to try.
type Candidate struct {
	Capability  string `json:"capability" enum:"monitoring,lifecycle,console,backup,node_power" example:"lifecycle" doc:"What it is for"`
	Form        string `json:"credential_form,omitempty" maxLength:"40" example:"token" doc:"As at enrolling"`
	TokenID     string `json:"token_id,omitempty" maxLength:"255" example:"service@pve!lifecycle" doc:"As at enrolling"`
	TokenSecret string `json:"token_secret" minLength:"1" maxLength:"16384" example:"6f1c2d3e-0000-4000-8000-1a2b3c4d5e6f" doc:"At most 16 KiB"`
}

// Resolve implements huma.Resolver.
func (in *probeInput) Resolve(huma.Context) []error { return in.Body.missing(in.Body.Tokens != nil) }

func (h handlers) probe(ctx context.Context, in *probeInput) (*op.Body[host.Probed], error) {
	wish := host.Probing{Enrolment: in.Body.enrolment("", in.Body.Address)}
	if in.Body.Tokens != nil {
		wish.Tokens = []host.Token{} // none at all is a look at the certificate
	}
	for _, c := range in.Body.Tokens {
		wish.Tokens = append(wish.Tokens,
			host.Token{Capability: c.Capability, Form: c.Form, TokenID: c.TokenID, Secret: secret.New(c.TokenSecret)})
	}
	found, err := h.hosts.Probe(ctx, wish)
	return &op.Body[host.Probed]{Body: found}, err
}

type patchInput struct {
	Body struct {
		Name        op.Optional[string] `json:"name,omitzero" nullable:"false" maxLength:"100"`
		Address     op.Optional[string] `json:"address,omitzero" nullable:"false" maxLength:"300"`
		Fingerprint op.Optional[string] `json:"tls_fingerprint,omitzero" maxLength:"200"`
		SSHHostKey  op.Optional[string] `json:"ssh_host_key_fingerprint,omitzero" maxLength:"200" doc:"Pins this SSH host key, as ssh-keygen -l prints it; null unpins it, and the next POST ssh/verify pins the one that it sees"`
		SSHPort     op.Optional[int]    `json:"ssh_port,omitzero" minimum:"1" maximum:"65535" doc:"Where the machine's SSH server listens; null is 22 again"`
		NodeShell   op.Optional[bool]   `json:"node_shell_enabled,omitzero" doc:"Permit node shells on this host; null puts it back to off"`
		TeamID      op.Optional[int64]  `json:"team_id,omitzero" minimum:"1"`
	}
}

func (h handlers) patch(ctx context.Context, in *patchInput) (*op.Body[host.Host], error) {
	b := &in.Body
	found, err := h.hosts.Patch(ctx, op.Found(ctx).ID, host.Change{
		Name: b.Name.Pointer(), Address: b.Address.Pointer(), Fingerprint: clearable(b.Fingerprint), SSHHostKey: clearable(b.SSHHostKey),
		SSHPort: port(b.SSHPort), NodeShell: flag(b.NodeShell), TeamID: team(b.TeamID),
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

// port is the given one; null is the usual one again.
func port(o op.Optional[int]) *int {
	if !o.Set {
		return nil
	}
	if o.Null {
		return new(endpoint.SSHPort)
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
