package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// MaxRoleOutput is how many bytes of a script's output are read.
const MaxRoleOutput = 64 << 10

// RoleOutputReader is satisfied by a RoleScripter that can read what its script has printed, as an administrator copied it from a
// terminal: with prompts, borders, wrapped lines, repetitions and the script itself before it. TerminalLines takes such things away.
type RoleOutputReader interface {
	// ReadRoleOutput finds the credentials in a script's output. It uses no network. An output without any, one that is cut off, one with
	// two credentials for one capability and one of more than MaxRoleOutput bytes are Invalid with the field "output", and the error
	// tells nothing of the output. Nothing is taken for a credential that does not look exactly like one.
	ReadRoleOutput(ctx context.Context, output plugin.Secret) (RoleOutput, error)
}

// RoleOutput is what a script's output tells.
type RoleOutput struct {
	// Made are credentials as people would enter them, in order of their capabilities, at most one for each: the form may be OneTime.
	Made []endpoint.Credential
	// Kept are the capabilities, other than these, whose credential was there before the script ran, so that it is not printed.
	Kept []endpoint.Capability
}
