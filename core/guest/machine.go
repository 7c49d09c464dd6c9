package guest

import (
	"context"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// Machines are the machines of nodes that are hosts themselves and that may be logged in to.
type Machines interface {
	// Machine is the host whose machine a node is that a host sees, where it may be logged in to. It dials nothing. Problems are those of
	// host.HostOfNode and host.Store.RequireSSH.
	Machine(ctx context.Context, hostID int64, node string) (id int64, err error)
	// OnMachine does some work on the machine of a host within the limit; see host.OnNode.
	OnMachine(ctx context.Context, id int64, limit time.Duration, work func(context.Context, hypervisor.NodeExecutor) error) error
}
