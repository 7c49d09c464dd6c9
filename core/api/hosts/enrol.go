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

// Access is how the service reaches a host: the driver, the token, and how to
// check the certificate.
type Access struct {
	Driver       string   `json:"driver,omitempty" maxLength:"63" example:"pve" doc:"Name of a driver from GET /hosts/drivers; pve if absent"`
	Form         string   `json:"credential_form,omitempty" maxLength:"40" example:"token" doc:"Form of the credential: one of the driver's credential_forms, the first if absent"`
	TokenID      string   `json:"token_id,omitempty" maxLength:"255" example:"service@pve!monitoring" doc:"ID of the token; required if the form has an id_label"`
	TokenSecret  string   `json:"token_secret,omitempty" minLength:"1" maxLength:"16384" example:"6f1c2d3e-0000-4000-8000-1a2b3c4d5e6f" doc:"Secret of a token, a certificate with its key, or a one-time code, at most 16 KiB. Required unless paste is given. Stored encrypted and never shown again; a one-time code is not stored"`
	Paste        string   `json:"paste,omitempty" minLength:"1" maxLength:"65536" example:"Enter these tokens in Hostler. The secrets are not shown again.\n\n  monitoring\n    token id: service@pve!monitoring\n    secret:   6f1c2d3e-0000-4000-8000-1a2b3c4d5e6f\n\n  lifecycle\n    token id: service@pve!lifecycle\n    secret:   0b9a8c7d-0000-4000-8000-5f4e3d2c1b0a\n" doc:"Output of the script of POST /hosts/token-script, as copied from the terminal, at most 64 KiB; prompts, colors, borders and broken lines are ignored. It contains the tokens of all capabilities and replaces credential_form, token_id and token_secret. Never shown again"`
	Capabilities []string `json:"capabilities,omitempty" maxItems:"10" enum:"monitoring,lifecycle,console,backup,node_power" example:"[\"monitoring\",\"lifecycle\"]" doc:"With paste: use only its tokens for these capabilities and ignore the others. All if absent"`
	Fingerprint  *string  `json:"tls_fingerprint,omitempty" nullable:"true" maxLength:"200" example:"3F:9A:0C:51:7B:E2:44:D8:96:1E:A7:30:CB:5D:82:F6:19:60:BE:4C:D3:07:8A:F1:2E:95:6B:C8:54:A0:ED:73" doc:"SHA-256 of the certificate in hexadecimal, with or without colons. If absent, a fingerprint in a one-time code is pinned"`
	VerifyTLS    *bool    `json:"verify_tls,omitempty" default:"true" example:"true" doc:"Without tls_fingerprint: verify the certificate against the system's certificate authorities"`
}

func (a Access) enrolment(name, address string) host.EnrolRequest {
	in := host.EnrolRequest{Driver: a.Driver, Address: address, Name: name, Form: a.Form, TokenID: a.TokenID,
		Secret: secret.New(a.TokenSecret),
		Paste:  secret.New(a.Paste), Capabilities: a.Capabilities, VerifyTLS: a.VerifyTLS == nil || *a.VerifyTLS}
	if a.Fingerprint != nil {
		in.Fingerprint = *a.Fingerprint
	}
	return in
}

// missing returns the fault of a body without any token. The schema cannot
// express it.
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
		Address    string `json:"address" minLength:"1" maxLength:"300" example:"pve1.example.com" doc:"Name, IPv4 address, or IPv6 address in brackets, with :port unless it is the default_port of the driver, or an https:// URL of these"`
		Name       string `json:"name" minLength:"1" maxLength:"100" example:"rack1" doc:"Name of the host"`
		SSHConsent bool   `json:"ssh_consent,omitempty" doc:"Consent to running programs as root on the host, as described in the member consent of a 409 consent_required; the consent is recorded with your name"`
		SSHEnroll  bool   `json:"ssh_enroll,omitempty" doc:"Create an SSH key for the host, which requires ssh_consent; ssh.pending in the response has the line for authorized_keys"`
		SSHPort    int    `json:"ssh_port,omitempty" minimum:"1" maximum:"65535" example:"22" doc:"Port of the SSH server; 22 if absent"`
	}
}

// Resolve implements huma.Resolver.
func (in *createInput) Resolve(huma.Context) []error { return in.Body.missing(false) }

// CreateResult is the answer of create: the new host and the result of its
// check.
type CreateResult struct {
	host.Host
	Verification host.Verification `json:"verification"`
}

func (h handlers) create(ctx context.Context, in *createInput) (*op.Body[CreateResult], error) {
	wish := in.Body.enrolment(in.Body.Name, in.Body.Address)
	wish.SSHConsent, wish.SSHEnroll, wish.SSHPort = in.Body.SSHConsent, in.Body.SSHEnroll, in.Body.SSHPort
	made, v, err := h.hosts.Create(ctx, wish)
	if err != nil {
		return nil, err
	}
	h.poller.Wake()
	return &op.Body[CreateResult]{Body: CreateResult{made, v}}, nil
}

type probeInput struct {
	Body struct {
		ProbeExample
		Access
		Tokens  []Candidate `json:"tokens,omitempty" maxItems:"10" doc:"Tokens to test at once, instead of credential_form, token_id, token_secret and paste; an empty list checks only the certificate"`
		Address string      `json:"address,omitempty" maxLength:"300" example:"pve1.example.com" doc:"Same as for enrolling a host; required unless all credentials are one-time codes, which contain addresses"`
		Name    *string     `json:"name,omitempty" nullable:"true" maxLength:"100" deprecated:"true" doc:"Ignored"`
	}
}

// Candidate is a token to try.
type Candidate struct {
	Capability  string `json:"capability" enum:"monitoring,lifecycle,console,backup,node_power" example:"lifecycle" doc:"Capability of the token"`
	Form        string `json:"credential_form,omitempty" maxLength:"40" example:"token" doc:"Same as for enrolling a host"`
	TokenID     string `json:"token_id,omitempty" maxLength:"255" example:"service@pve!lifecycle" doc:"Same as for enrolling a host"`
	TokenSecret string `json:"token_secret" minLength:"1" maxLength:"16384" example:"6f1c2d3e-0000-4000-8000-1a2b3c4d5e6f" doc:"Secret of the token, at most 16 KiB"`
}

// Resolve implements huma.Resolver.
func (in *probeInput) Resolve(huma.Context) []error { return in.Body.missing(in.Body.Tokens != nil) }

func (h handlers) probe(ctx context.Context, in *probeInput) (*op.Body[host.ProbeResult], error) {
	wish := host.ProbeRequest{EnrolRequest: in.Body.enrolment("", in.Body.Address)}
	if in.Body.Tokens != nil {
		wish.Tokens = []host.Token{} // none at all is a look at the certificate
	}
	for _, c := range in.Body.Tokens {
		wish.Tokens = append(wish.Tokens,
			host.Token{Capability: c.Capability, Form: c.Form, TokenID: c.TokenID, Secret: secret.New(c.TokenSecret)})
	}
	found, err := h.hosts.Probe(ctx, wish)
	return &op.Body[host.ProbeResult]{Body: found}, err
}

type patchInput struct {
	Body struct {
		Name        op.Optional[string] `json:"name,omitzero" nullable:"false" maxLength:"100" doc:"Name of the host"`
		Address     op.Optional[string] `json:"address,omitzero" nullable:"false" maxLength:"300" doc:"Name or IP address of the host"`
		Fingerprint op.Optional[string] `json:"tls_fingerprint,omitzero" maxLength:"200" doc:"SHA-256 of the certificate to pin; null unpins it"`
		SSHHostKey  op.Optional[string] `json:"ssh_host_key_fingerprint,omitzero" maxLength:"200" doc:"SSH host key to pin, in the format of ssh-keygen -l; null unpins it, and the next POST ssh/verify pins the presented one"`
		SSHPort     op.Optional[int]    `json:"ssh_port,omitzero" minimum:"1" maximum:"65535" doc:"Port of the SSH server; null for 22"`
		NodeShell   op.Optional[bool]   `json:"node_shell_enabled,omitzero" doc:"Allow node shells on this host; null for the default, off"`
		TeamID      op.Optional[int64]  `json:"team_id,omitzero" minimum:"1" doc:"Team that owns the host"`
	}
}

func (h handlers) patch(ctx context.Context, in *patchInput) (*op.Body[host.Host], error) {
	b := &in.Body
	found, err := h.hosts.Patch(ctx, op.ResourceOf(ctx).ID, host.Change{
		Name: b.Name.Pointer(), Address: b.Address.Pointer(), Fingerprint: clearable(b.Fingerprint), SSHHostKey: clearable(b.SSHHostKey),
		SSHPort: port(b.SSHPort), NodeShell: flag(b.NodeShell), TeamID: team(b.TeamID),
	})
	if err == nil {
		h.poller.Wake()
	}
	return &op.Body[host.Host]{Body: found}, err
}

// clearable returns the text, or "" for null.
func clearable(o op.Optional[string]) *string {
	if !o.Set {
		return nil
	}
	return &o.Value
}

// port returns the port; null means the default port.
func port(o op.Optional[int]) *int {
	if !o.Set {
		return nil
	}
	if o.Null {
		return new(endpoint.SSHPort)
	}
	return &o.Value
}

// flag returns the value; null means false.
func flag(o op.Optional[bool]) *bool {
	if !o.Set {
		return nil
	}
	return &o.Value
}

// team returns the ID of the team; null means the default team.
func team(o op.Optional[int64]) *int64 {
	if !o.Set {
		return nil
	}
	if o.Null {
		return new(identity.DefaultTeam)
	}
	return &o.Value
}
