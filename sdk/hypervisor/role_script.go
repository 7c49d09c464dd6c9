package hypervisor

import (
	"context"
	"github.com/hostler/hostler/sdk/endpoint"
)

// RoleScriptQuery says for what a role script is wanted.
type RoleScriptQuery struct {
	// Capabilities to make roles and tokens for, in order; Monitoring is always among them.
	Capabilities []endpoint.Capability
	// Path is where the rights shall hold: "/" or a pool such as "/pool/customers".
	Path string
	// NodeShell adds to the console role what opening a node's shell needs.
	NodeShell bool
}

// RoleScripter is satisfied by drivers that can write the script that an administrator runs on the hypervisor to make
// the user, roles and tokens. It uses no network.
type RoleScripter interface {
	// RoleScript returns a POSIX shell script that is safe to run twice. It prints the tokens it made.
	RoleScript(ctx context.Context, query RoleScriptQuery) (string, error)
	// RoleRemoval returns the shell commands that remove a capability's role and token, in the order in which they are run.
	RoleRemoval(ctx context.Context, capability endpoint.Capability) ([]string, error)
}
