package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// MaxRoleOutput is the largest output of a role script in bytes.
const MaxRoleOutput = 64 << 10

// RoleOutputReader is implemented by a RoleScriptWriter that can read the output of its
// script, as an administrator copied it from a terminal: with prompts, borders,
// wrapped lines, repetitions and the script itself in front. TerminalLines removes
// such additions.
type RoleOutputReader interface {
	// ReadRoleOutput finds the credentials in the output of a role script. It does
	// not use the network. An output without credentials, one that is cut off, one
	// with two credentials for the same capability, and one with more than
	// MaxRoleOutput bytes are Invalid with the field "output". The error must not
	// contain any part of the output. Only text that looks exactly like a
	// credential is taken for one.
	ReadRoleOutput(ctx context.Context, output plugin.Secret) (RoleOutput, error)
}

// RoleOutput is the result of RoleOutputReader.ReadRoleOutput.
type RoleOutput struct {
	// Created contains the credentials in the form in which people would enter them,
	// ordered by capability, at most one for each. The form may be OneTime.
	Created []endpoint.Credential
	// Kept contains the other capabilities: their credential existed before the
	// script ran, so the script cannot print its secret.
	Kept []endpoint.Capability
}
