package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
)

// RoleScriptQuery describes the role script that is needed.
type RoleScriptQuery struct {
	// Capabilities are the capabilities for which the script creates roles and
	// credentials, in order. Monitoring is always one of them.
	Capabilities []endpoint.Capability
	// Path is the path at which the rights apply: "/" for everywhere, or a scope in
	// the form of Info.Scope.Example.
	Path string
	// NodeShell adds the privilege for a shell of a node to the console role.
	NodeShell bool
	// Recommended adds what the present releases of the hypervisor need for
	// everything that the service offers; see Permissions.Recommended. A driver
	// whose credentials have these privileges anyway ignores it.
	Recommended bool
}

// RoleScriptWriter is implemented by drivers that can write the script with which an
// administrator creates the user, roles and credentials on the hypervisor. It does
// not use the network. A capability that Info does not name is Invalid.
type RoleScriptWriter interface {
	// RoleScript returns a POSIX shell script that is safe to run twice. It prints
	// the credentials that it created.
	RoleScript(ctx context.Context, query RoleScriptQuery) (string, error)
	// RoleRemoval returns the shell commands, in order, that remove the role of a
	// capability and the credential with that ID. The ID is empty if it is unknown.
	RoleRemoval(ctx context.Context, capability endpoint.Capability, credentialID string) ([]string, error)
}
