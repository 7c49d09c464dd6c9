package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
)

// RoleScriptQuery says for what a role script is wanted.
type RoleScriptQuery struct {
	// Capabilities to make roles and credentials for, in order; Monitoring is always among them.
	Capabilities []endpoint.Capability
	// Path is where the rights shall hold: "/" for everywhere, or a scope as Info.Scope shows one.
	Path string
	// NodeShell adds to the console role what opening a node's shell needs.
	NodeShell bool
	// Recommended adds to the roles what the present releases of the hypervisor need for everything that the service offers; see
	// Permissions.Recommended. A driver whose credentials have it anyway ignores it.
	Recommended bool
}

// RoleScripter is satisfied by drivers that can write the script that an administrator runs on the hypervisor to make
// the user, roles and credentials. It uses no network. A capability that Info does not name is Invalid.
type RoleScripter interface {
	// RoleScript returns a POSIX shell script that is safe to run twice. It prints the credentials it made.
	RoleScript(ctx context.Context, query RoleScriptQuery) (string, error)
	// RoleRemoval returns the shell commands that remove a capability's role and its credential of that id, in the order in which
	// they are run. The id is empty when it is not known.
	RoleRemoval(ctx context.Context, capability endpoint.Capability, credentialID string) ([]string, error)
}
