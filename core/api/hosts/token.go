package hosts

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/secret"
)

func registerTokens(a *op.API, h handlers) {
	op.Post(a, "/api/v1/hosts/:host_id/credentials", h.rotate, op.Spec{
		ID: "rotate_host_credentials", Summary: "Replace or add tokens", Tag: tag, Calls: true, Role: identity.Owner, On: op.Host,
		Status: http.StatusOK,
		Audit:  op.Audit{Action: "host.rotate_credentials"},
		Description: "The new token is verified against the host before it replaces the old one: a rejected one is 502 `token_rejected`, and " +
			"the old one stays. This is also how the first token of a further capability is added. A one-time code is traded as at " +
			"enrolling. A capability that the host's driver does not have is 501 `unsupported`.\n\n" +
			"`rotate_ssh` makes a new SSH key for the host's machine, the first one too; `public_key` in the answer is its line for " +
			"authorized_keys, and `install_command` what adds that. The key is pending until POST `ssh/verify` has seen it work; the old one " +
			"stays in use until then. It needs consent on record, or `ssh_consent`: 409 `consent_required` tells what is agreed to. A driver " +
			"that logs in to no machines is 501 `unsupported`.\n\n" +
			"`paste` takes what the token script has printed: all tokens in it are verified, and then stored in one step or, where one fails, " +
			"not at " +
			"all, with a row for each in `tokens` of the answer. What is wrong with a paste is 422, and never tells anything of it.",
	})
	op.Delete(a, "/api/v1/hosts/:host_id/credentials/:kind", h.removeToken, op.Spec{
		ID: "delete_host_credential", Summary: "Delete a token or the SSH key", Tag: tag, Role: identity.Owner, On: op.Host,
		Status: http.StatusOK, Audit: op.Audit{Action: "host.delete_credential", Target: "kind"},
		Description: "Answers with the commands that remove the role and the token on the hypervisor. `monitoring` is 409 " +
			"`capability_required`. `ssh_key` deletes the host's SSH keys, and the consent to them with it; the commands remove their lines from " +
			"authorized_keys on the machine.",
	})
}

type rotateInput struct {
	Body struct {
		RotateExample
		Capability  *string `json:"capability,omitempty" nullable:"true" maxLength:"40" example:"lifecycle" doc:"monitoring, lifecycle, console, backup or node_power; monitoring by default"`
		Form        *string `json:"credential_form,omitempty" nullable:"true" maxLength:"40" example:"token" doc:"As at enrolling"`
		TokenID     *string `json:"token_id,omitempty" nullable:"true" maxLength:"255" example:"service@pve!lifecycle"`
		TokenSecret *string `json:"token_secret,omitempty" nullable:"true" maxLength:"16384" example:"6f1c2d3e-0000-4000-8000-1a2b3c4d5e6f" doc:"At most 16 KiB"`
		Paste       *string `json:"paste,omitempty" nullable:"true" minLength:"1" maxLength:"65536" doc:"What the token script has printed, as at enrolling: all tokens in it are replaced or added, in the place of the fields above"`
		RotateSSH   bool    `json:"rotate_ssh,omitempty" doc:"Make a new SSH key for the host's machine, with or without a token"`
		SSHConsent  bool    `json:"ssh_consent,omitempty" doc:"With rotate_ssh: you agree that programs run as root on the machine, as at enrolling"`
	}
}

// Rotated is the answer of a rotation.
type Rotated struct {
	Capability     *string            `json:"capability" example:"lifecycle" doc:"Of the first token; these are null where only an SSH key was made"`
	TokenID        *string            `json:"token_id" example:"service@pve!lifecycle" doc:"What the hypervisor calls it: a token's id, the SHA-256 of a certificate"`
	Form           *string            `json:"form" example:"token" doc:"As it is kept: what a one-time code was traded for, for one"`
	Verification   *host.Verification `json:"verification"`
	PublicKey      *string            `json:"public_key" doc:"With rotate_ssh: the line for authorized_keys on the host's machine"`
	InstallCommand *string            `json:"install_command" doc:"With rotate_ssh: what adds that line, to be pasted into a root shell of the machine"`
	Tokens         []StoredToken      `json:"tokens" doc:"All tokens that were stored; the fields above are of the first one"`
	Kept           []string           `json:"kept" example:"[\"console\"]" doc:"Capabilities whose token the script that printed the paste has found and kept: what is stored of them stays as it is"`
}

// StoredToken is a token that was verified and stored.
type StoredToken struct {
	Capability   string            `json:"capability" example:"lifecycle"`
	TokenID      string            `json:"token_id" example:"service@pve!lifecycle" doc:"What the hypervisor calls it: a token's id, the SHA-256 of a certificate"`
	Form         string            `json:"form" example:"token" doc:"As it is kept: what a one-time code was traded for, for one"`
	Verification host.Verification `json:"verification"`
}

func (h handlers) rotate(ctx context.Context, in *rotateInput) (*op.Body[Rotated], error) {
	wish := host.Rotation{Capability: text(in.Body.Capability), Form: text(in.Body.Form), TokenID: text(in.Body.TokenID),
		Secret: secret.New(text(in.Body.TokenSecret)), Paste: secret.New(text(in.Body.Paste)), SSH: in.Body.RotateSSH,
		SSHConsent: in.Body.SSHConsent}
	done, err := h.hosts.Rotate(ctx, op.Found(ctx).ID, wish)
	if err != nil {
		return nil, err
	}
	out := Rotated{Kept: done.Kept, Tokens: []StoredToken{}}
	for _, one := range done.Stored {
		out.Tokens = append(out.Tokens, StoredToken{string(one.Capability), one.TokenID, one.Form, one.Verification})
	}
	if len(out.Tokens) > 0 {
		first := &out.Tokens[0]
		out.Capability, out.TokenID, out.Form, out.Verification = &first.Capability, &first.TokenID, &first.Form, &first.Verification
	}
	if done.SSH != nil {
		out.PublicKey, out.InstallCommand = &done.SSH.PublicKey, &done.SSH.InstallCommand
	}
	return &op.Body[Rotated]{Body: out}, nil
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
		Recommended  bool     `json:"recommended,omitempty" doc:"Add the recommended privileges, which current releases of the hypervisor require for everything that Hostler offers, such as VMs with an installation image, uploads and restores. Without a privilege, a request that requires it is refused with the command that grants it"`
		Path         string   `json:"path,omitempty" maxLength:"300" default:"/" example:"/pool/customers" doc:"Where the rights hold: / for everywhere, or what the driver's scope shows, such as a pool"`
	}
}

func (h handlers) tokenScript(ctx context.Context, in *scriptInput) (*op.Body[host.TokenScript], error) {
	script, err := h.hosts.WriteTokenScript(ctx, host.ScriptQuery{
		Driver: in.Body.Driver, Capabilities: in.Body.Capabilities, NodePower: in.Body.NodePower, NodeShell: in.Body.NodeShell,
		Recommended: in.Body.Recommended, Path: in.Body.Path,
	})
	return &op.Body[host.TokenScript]{Body: script}, err
}
