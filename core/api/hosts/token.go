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
		Description: "Verifies the new token with the host before it replaces the old one: a rejected token is 502 " +
			"`token_rejected`, and the old one is kept. The same request adds a token for a capability that has " +
			"none yet. A one-time code is exchanged as for enrolling. A capability that the driver of the host does " +
			"not have is 501 `unsupported`.\n\n" +
			"`rotate_ssh` creates a new SSH key for the host, or the first one; `public_key` in the response is its " +
			"line for authorized_keys, and `install_command` adds that line. The key is pending until POST " +
			"`ssh/verify` succeeds; the old key is used until then. It requires recorded consent, or `ssh_consent`: " +
			"409 `consent_required` has the text. A driver without SSH support is 501 `unsupported`.\n\n" +
			"`paste` accepts the output of the token script: all tokens in it are verified and then stored in one " +
			"step. If one fails, none is stored, and `tokens` in the response has a row for each. An invalid paste " +
			"is 422; the response never repeats any of it.",
	})
	op.Delete(a, "/api/v1/hosts/:host_id/credentials/:kind", h.removeToken, op.Spec{
		ID: "delete_host_credential", Summary: "Delete a token or the SSH key", Tag: tag, Role: identity.Owner, On: op.Host,
		Status: http.StatusOK, Audit: op.Audit{Action: "host.delete_credential", Target: "kind"},
		Description: "Returns the commands that remove the role and the token on the hypervisor. `monitoring` cannot be deleted: " +
			"409 `capability_required`. `ssh_key` deletes the SSH keys of the host and the consent to them; the commands " +
			"remove their lines from authorized_keys on the host.",
	})
}

type rotateInput struct {
	Body struct {
		RotateExample
		Capability  *string `json:"capability,omitempty" nullable:"true" maxLength:"40" example:"lifecycle" doc:"monitoring, lifecycle, console, backup or node_power; monitoring if absent"`
		Form        *string `json:"credential_form,omitempty" nullable:"true" maxLength:"40" example:"token" doc:"Same as for enrolling a host"`
		TokenID     *string `json:"token_id,omitempty" nullable:"true" maxLength:"255" example:"service@pve!lifecycle" doc:"ID of the token; required if the form has an id_label"`
		TokenSecret *string `json:"token_secret,omitempty" nullable:"true" maxLength:"16384" example:"6f1c2d3e-0000-4000-8000-1a2b3c4d5e6f" doc:"Secret of the token, at most 16 KiB"`
		Paste       *string `json:"paste,omitempty" nullable:"true" minLength:"1" maxLength:"65536" doc:"Output of the token script, as for enrolling a host, instead of the fields above; all tokens in it are stored and replace existing ones"`
		RotateSSH   bool    `json:"rotate_ssh,omitempty" doc:"Create a new SSH key for the host, with or without a token"`
		SSHConsent  bool    `json:"ssh_consent,omitempty" doc:"With rotate_ssh: consent to running programs as root on the host, as for enrolling"`
	}
}

// RotateResult is the answer of rotate.
type RotateResult struct {
	Capability     *string            `json:"capability" example:"lifecycle" doc:"Capability of the first token; this and the following fields are null if only an SSH key was created"`
	TokenID        *string            `json:"token_id" example:"service@pve!lifecycle" doc:"ID on the hypervisor: the ID of a token or the SHA-256 of a certificate"`
	Form           *string            `json:"form" example:"token" doc:"Form of the stored credential; for a one-time code, the form that it was exchanged for"`
	Verification   *host.Verification `json:"verification"`
	PublicKey      *string            `json:"public_key" doc:"With rotate_ssh: line for authorized_keys on the host"`
	InstallCommand *string            `json:"install_command" doc:"With rotate_ssh: command that adds the line; run it as root on the host"`
	Tokens         []StoredToken      `json:"tokens" doc:"All stored tokens; the fields above describe the first one"`
	Kept           []string           `json:"kept" example:"[\"console\"]" doc:"Capabilities whose token existed already, so that the script printed no secret; the stored one is unchanged"`
}

// StoredToken is a token that the service has verified and stored.
type StoredToken struct {
	Capability   string            `json:"capability" example:"lifecycle"`
	TokenID      string            `json:"token_id" example:"service@pve!lifecycle" doc:"ID on the hypervisor: the ID of a token or the SHA-256 of a certificate"`
	Form         string            `json:"form" example:"token" doc:"Form of the stored credential; for a one-time code, the form that it was exchanged for"`
	Verification host.Verification `json:"verification"`
}

func (h handlers) rotate(ctx context.Context, in *rotateInput) (*op.Body[RotateResult], error) {
	wish := host.RotateRequest{Capability: text(in.Body.Capability), Form: text(in.Body.Form), TokenID: text(in.Body.TokenID),
		Secret: secret.New(text(in.Body.TokenSecret)), Paste: secret.New(text(in.Body.Paste)), SSH: in.Body.RotateSSH,
		SSHConsent: in.Body.SSHConsent}
	done, err := h.hosts.Rotate(ctx, op.ResourceOf(ctx).ID, wish)
	if err != nil {
		return nil, err
	}
	out := RotateResult{Kept: done.Kept, Tokens: []StoredToken{}}
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
	return &op.Body[RotateResult]{Body: out}, nil
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

func (h handlers) removeToken(ctx context.Context, in *removeTokenInput) (*op.Body[host.RemoveCredentialResult], error) {
	removal, err := h.hosts.RemoveCredential(ctx, op.ResourceOf(ctx).ID, in.Kind)
	return &op.Body[host.RemoveCredentialResult]{Body: removal}, err
}

type scriptInput struct {
	Body struct {
		Driver       string   `json:"driver,omitempty" maxLength:"63" example:"pve" doc:"Name of a driver from GET /hosts/drivers; pve if absent"`
		Capabilities []string `json:"capabilities,omitempty" maxItems:"10" example:"[\"lifecycle\"]" doc:"Capabilities besides monitoring, which is always included"`
		NodePower    bool     `json:"node_power,omitempty" doc:"Same as adding node_power to capabilities"`
		NodeShell    bool     `json:"node_shell,omitempty" doc:"Allow the console token to open node shells"`
		Recommended  bool     `json:"recommended,omitempty" doc:"Add the recommended privileges, which current releases of the hypervisor require for some features, such as VMs with an installation image, uploads and restores. Without them, such a request is refused with the command that grants the missing privilege"`
		Path         string   `json:"path,omitempty" maxLength:"300" default:"/" example:"/pool/customers" doc:"Path on which the rights apply: / for everything, or a path as in the driver's scope, such as a pool"`
	}
}

func (h handlers) tokenScript(ctx context.Context, in *scriptInput) (*op.Body[host.TokenScript], error) {
	script, err := h.hosts.WriteTokenScript(ctx, host.ScriptQuery{
		Driver: in.Body.Driver, Capabilities: in.Body.Capabilities, NodePower: in.Body.NodePower, NodeShell: in.Body.NodeShell,
		Recommended: in.Body.Recommended, Path: in.Body.Path,
	})
	return &op.Body[host.TokenScript]{Body: script}, err
}
