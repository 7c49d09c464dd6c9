package hypervisor

import "context"

// PowerCommand is a power command for a node.
type PowerCommand string

// The power commands.
const (
	PowerReboot   PowerCommand = "reboot"
	PowerShutdown PowerCommand = "shutdown"
)

// PowerCommands returns all power commands.
func PowerCommands() []PowerCommand { return []PowerCommand{PowerReboot, PowerShutdown} }

// NodePowerManager is implemented by hosts that can reboot and shut down their nodes. It
// needs the NodePower capability and no other.
type NodePowerManager interface {
	// PowerNode sends a command to a node and returns when the node has accepted
	// it. The node shuts its guests down first, as its configuration says, and
	// still answers meanwhile; NodeReader shows the progress. Node names follow the
	// rules of NodeReader. An offline node is Unreachable. A command that the
	// hypervisor does not have is Unsupported.
	PowerNode(ctx context.Context, node string, command PowerCommand) error
}
