package hosts

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
)

func registerTokens(a *op.API, h handlers) {
	op.Post(a, "/api/v1/hosts/:host_id/credentials", h.rotate, op.Spec{
		ID: "rotate_host_credentials", Summary: "Replace or add a token", Tag: tag, Calls: true, Role: identity.Owner, On: op.Host,
		Status: http.StatusOK,
		Audit:  op.Audit{Action: "host.rotate_credentials"},
		Description: "The new token is verified against the host before it replaces the old one: a rejected one is 502 `token_rejected`, and " +
			"the old one stays. This is also how the first token of a further capability is added. A one-time code is traded as at " +
			"enrolling. A capability that the host's driver does not have is 501 `unsupported`, and so is `rotate_ssh` in this release.",
	})
	op.Delete(a, "/api/v1/hosts/:host_id/credentials/:kind", h.removeToken, op.Spec{
		ID: "delete_host_credential", Summary: "Delete a token", Tag: tag, Role: identity.Owner, On: op.Host, Status: http.StatusOK,
		Audit: op.Audit{Action: "host.delete_credential", Target: "kind"},
		Description: "Answers with the commands that remove the role and the token on the hypervisor. `monitoring` is 409 " +
			"`capability_required`.",
	})
}

type rotateInput struct {
	Body struct {
		Capability  *string `json:"capability,omitempty" nullable:"true" maxLength:"40" example:"lifecycle" doc:"monitoring, lifecycle, console, backup or node_power; monitoring by default"`
		Form        *string `json:"credential_form,omitempty" nullable:"true" maxLength:"40" example:"token" doc:"As at enrolling"`
		TokenID     *string `json:"token_id,omitempty" nullable:"true" maxLength:"255" example:"service@pve!lifecycle"`
		TokenSecret *string `json:"token_secret,omitempty" nullable:"true" maxLength:"16384" doc:"At most 16 KiB"`
		RotateSSH   bool    `json:"rotate_ssh,omitempty"`
	}
}

// Rotated is the answer of a rotation.
type Rotated struct {
	Capability   string            `json:"capability" example:"lifecycle"`
	TokenID      string            `json:"token_id" example:"service@pve!lifecycle" doc:"What the hypervisor calls it: a token's id, the SHA-256 of a certificate"`
	Form         string            `json:"form" example:"token" doc:"As it is kept: what a one-time code was traded for, for one"`
	Verification host.Verification `json:"verification"`
}

func (h handlers) rotate(ctx context.Context, in *rotateInput) (*op.Body[Rotated], error) {
	wish := host.Rotation{Capability: text(in.Body.Capability), Form: text(in.Body.Form), TokenID: text(in.Body.TokenID),
		Secret: secret.New(text(in.Body.TokenSecret)), SSH: in.Body.RotateSSH}
	if wish.Capability == "" {
		wish.Capability = string(endpoint.Monitoring)
	}
	done, err := h.hosts.Rotate(ctx, op.Found(ctx).ID, wish)
	return &op.Body[Rotated]{Body: Rotated{wish.Capability, done.TokenID, done.Form, done.Verification}}, err
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

type removeTokenInput struct {
	Kind string `path:"kind" enum:"monitoring,lifecycle,console,backup,node_power,ssh_key" example:"lifecycle"`
}

func (h handlers) removeToken(ctx context.Context, in *removeTokenInput) (*op.Body[host.Removal], error) {
	removal, err := h.hosts.RemoveCredential(ctx, op.Found(ctx).ID, in.Kind)
	return &op.Body[host.Removal]{Body: removal}, err
}

type scriptInput struct {
	Body struct {
		Driver       string   `json:"driver,omitempty" maxLength:"63" example:"pve" doc:"One of GET /hosts/drivers; pve by default"`
		Capabilities []string `json:"capabilities,omitempty" maxItems:"10" example:"[\"lifecycle\"]" doc:"Besides monitoring, which is always made"`
		NodePower    bool     `json:"node_power,omitempty" doc:"The same as naming node_power"`
		NodeShell    bool     `json:"node_shell,omitempty" doc:"Let the console's token open node shells"`
		Path         string   `json:"path,omitempty" maxLength:"300" default:"/" example:"/pool/customers" doc:"Where the rights hold: / for everywhere, or what the driver's scope shows, such as a pool"`
	}
}

// Script is a shell script.
type Script struct {
	Script string `json:"script"`
}

func (h handlers) tokenScript(ctx context.Context, in *scriptInput) (*op.Body[Script], error) {
	script, err := h.hosts.TokenScript(ctx, host.ScriptQuery{
		Driver: in.Body.Driver, Capabilities: in.Body.Capabilities, NodePower: in.Body.NodePower, NodeShell: in.Body.NodeShell,
		Path: in.Body.Path,
	})
	return &op.Body[Script]{Body: Script{script}}, err
}
