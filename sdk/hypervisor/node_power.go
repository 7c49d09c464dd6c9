package hypervisor

import "context"

// PowerCommand is what a node itself is told.
type PowerCommand string

// The commands.
const (
	PowerReboot   PowerCommand = "reboot"
	PowerShutdown PowerCommand = "shutdown"
)

// PowerCommands are all of them.
func PowerCommands() []PowerCommand { return []PowerCommand{PowerReboot, PowerShutdown} }

// NodePowerer is satisfied by hosts that can reboot their nodes and switch them off. Needs the NodePower capability, and no other.
type NodePowerer interface {
	// PowerNode tells a node what to do, and returns once it has taken that: guests that run there are shut down first, as the hypervisor
	// is set, while the node still answers. What comes of it is told by NodeReader. Names of nodes are as for NodeReader; a node that is
	// off is Unreachable. A command that the hypervisor does not know is Unsupported.
	PowerNode(ctx context.Context, node string, command PowerCommand) error
}
