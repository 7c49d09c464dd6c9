package guest

import (
	"context"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// Machines gives access to the machines of nodes, for hosts with an SSH login.
// Package host implements it.
type Machines interface {
	// Machine returns the host whose machine is the given node, if that machine
	// may be logged in to. It does not connect. Problems are those of
	// host.HostOfNode and host.Store.RequireSSH.
	Machine(ctx context.Context, hostID int64, node string) (id int64, err error)
	// OnMachine runs work with a login to the machine of a host, within the
	// limit; see host.OnNode.
	OnMachine(ctx context.Context, id int64, limit time.Duration, work func(context.Context, hypervisor.NodeExecutor) error) error
}
