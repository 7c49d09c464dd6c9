package hypervisor

import "context"

// Types of interfaces of a node.
const (
	InterfaceNIC     = "nic"
	InterfaceBridge  = "bridge"
	InterfaceBond    = "bond"
	InterfaceVLAN    = "vlan"
	InterfaceAlias   = "alias"
	InterfaceOVS     = "ovs_bridge"
	InterfaceOVSBond = "ovs_bond"
	// InterfaceOVSPort is a port of an Open vSwitch, InterfaceOVSInternal one of the node itself.
	InterfaceOVSPort     = "ovs_port"
	InterfaceOVSInternal = "ovs_internal"
	InterfaceOther       = "other"
)

// OperationApplyNetwork is the operation of the task that puts staged changes of a node's network into force.
const OperationApplyNetwork Operation = "network_apply"

// Interface is a network interface of a node, as the node's configuration has it. What is not set is empty.
type Interface struct {
	Name string
	// Type is one of the types of interfaces.
	Type string
	// Active says that the node has it at the moment. It is nothing that can be staged.
	Active    bool
	Autostart bool
	// CIDR and CIDR6 are its addresses with their prefixes, such as "192.0.2.10/24".
	CIDR     string
	Gateway  string
	CIDR6    string
	Gateway6 string
	// Dynamic says that its IPv4 address, and maybe a gateway, come from the network (DHCP); Dynamic6 the same of IPv6 (DHCP or router
	// advertisements). Neither can be staged: a change of such an interface may take that away.
	Dynamic  bool
	Dynamic6 bool
	// Ports are the interfaces below a bridge or a bond.
	Ports []string
	// Device is the interface below a VLAN or an alias, and the switch of a port of Open vSwitch.
	Device string
	// VLAN is the tag of a VLAN, or of a port of Open vSwitch.
	VLAN *int64
	// VLANAware says that guests may use tags on a bridge; VLANs are those that they may use, such as "2-4094".
	VLANAware bool
	VLANs     string
	// BondMode, BondPrimary and BondHash are a bond's, in the words of the Linux kernel.
	BondMode    string
	BondPrimary string
	BondHash    string
	MTU         *int64
	Comment     string
	// AltNames are other names of the same interface. They cannot be staged.
	AltNames []string
	// Options are what else is set, in the hypervisor's words. They are shown, and stay as they are.
	Options map[string]string
}

// NodeNetwork is the network of a node.
type NodeNetwork struct {
	// Interfaces are those that there are once what is staged was applied.
	Interfaces []Interface
	// Current are those that are in force: the same where nothing is staged.
	Current []Interface
	// Diff is what is staged, as a unified diff; empty where nothing is.
	Diff string
	// Unclear says that Current was not to be told from the diff in full.
	Unclear bool
	// Restore is what to type at the node's console to get back what is in force now, when it was applied; empty where nothing is staged.
	Restore string
	// Undo is a script for /bin/sh, run as root on the node by what may log in there; empty where nothing is staged, or the driver has none.
	// With the argument "keep", before the apply, it keeps in the present folder what is in force. With "back" it puts that back into
	// force if the node has what was staged, and leaves alone what is neither. It says what it does, and fails where it could not.
	Undo string
}

// InterfaceChange is an interface to stage.
type InterfaceChange struct {
	Node string
	// Want is all that it shall be.
	Want Interface
	// Was is the interface as NodeNetwork gave it before; nil for a new one.
	Was *Interface
}

// NetworkManager is satisfied by hosts whose nodes' networks can be changed: changes are staged and have no effect until they are
// applied. Reading needs the Monitoring capability, all else Lifecycle.
//
// The methods that change something send their request once and never repeat it by themselves.
type NetworkManager interface {
	// NodeNetwork reads a node's interfaces and what is staged there, past any cache. What the token is not shown is Denied and not left
	// out. An unknown node is NotFound or Invalid.
	NodeNetwork(ctx context.Context, node string) (NodeNetwork, error)
	// StageInterface stages a new interface, or a change of one. A name that is taken, or is not there, is Conflict; what does not fit is
	// Invalid.
	StageInterface(ctx context.Context, change InterfaceChange) error
	// StageRemoval stages that an interface is no more. One that is not there is NotFound.
	StageRemoval(ctx context.Context, node, name string) error
	// RevertNetwork drops all that is staged on a node, whoever has staged it. Nothing staged is no error.
	RevertNetwork(ctx context.Context, node string) error
	// ApplyNetwork puts what is staged into force, and gives the task that does it. The node may be cut off by it.
	ApplyNetwork(ctx context.Context, node string) (taskID string, err error)
}
