package hypervisor

import "context"

// Types of network interfaces of a node, for Interface.Type.
const (
	InterfaceNIC     = "nic"
	InterfaceBridge  = "bridge"
	InterfaceBond    = "bond"
	InterfaceVLAN    = "vlan"
	InterfaceAlias   = "alias"
	InterfaceOVS     = "ovs_bridge"
	InterfaceOVSBond = "ovs_bond"
	// InterfaceOVSPort is a port of an Open vSwitch, InterfaceOVSInternal one of the node itself.
	//
	InterfaceOVSPort     = "ovs_port"
	InterfaceOVSInternal = "ovs_internal"
	InterfaceOther       = "other"
)

// OperationApplyNetwork is the operation of the task that applies staged changes of
// a node's network.
const OperationApplyNetwork Operation = "network_apply"

// Interface is a network interface of a node as the node's configuration describes
// it. A setting that is absent is empty.
type Interface struct {
	// Name is the kernel's name of the interface, such as "vmbr0".
	Name string
	// Type is one of the types of interfaces.
	Type string
	// Active is true if the interface is up at the moment. It cannot be staged.
	Active bool
	// Autostart is true if the interface comes up at boot.
	Autostart bool
	// CIDR and CIDR6 are the addresses with their prefix length, such as
	// "192.0.2.10/24".
	CIDR     string
	Gateway  string
	CIDR6    string
	Gateway6 string
	// Dynamic is true if the IPv4 address, and possibly a gateway, come from DHCP.
	// Dynamic6 is true if the IPv6 address comes from DHCP or from router
	// advertisements. Neither can be staged: a change of such an interface may
	// remove the setting.
	Dynamic  bool
	Dynamic6 bool
	// Ports are the interfaces that a bridge or a bond consists of.
	Ports []string
	// Device is the interface below a VLAN or an alias, or the switch of an Open
	// vSwitch port.
	Device string
	// VLAN is the tag of a VLAN or of an Open vSwitch port.
	VLAN *int64
	// VLANAware is true if guests may use VLAN tags on a bridge. VLANs lists the
	// tags that they may use, such as "2-4094".
	VLANAware bool
	VLANs     string
	// BondMode, BondPrimary and BondHash are the settings of a bond, in the words
	// of the Linux kernel.
	BondMode    string
	BondPrimary string
	BondHash    string
	MTU         *int64
	Comment     string
	// AltNames are alternative names of the interface. They cannot be staged.
	AltNames []string
	// Options are all other settings, in the hypervisor's words. The service
	// displays them and leaves them unchanged.
	Options map[string]string
}

// NodeNetwork is the network configuration of a node.
type NodeNetwork struct {
	// Interfaces is the configuration after the staged changes are applied.
	Interfaces []Interface
	// Current is the configuration in effect. It equals Interfaces if nothing is
	// staged.
	Current []Interface
	// Diff is the staged change as a unified diff. It is empty if nothing is
	// staged.
	Diff string
	// Unclear is true if Current could not be derived from the diff completely.
	Unclear bool
	// Restore is the text to type at the node's console to restore the present
	// configuration after an apply. It is empty if nothing is staged.
	Restore string
	// Undo is a script for /bin/sh that runs as root on the node. It is empty if
	// nothing is staged or if the driver has none. The service runs it with the
	// argument "keep" before an apply: the script saves the present configuration
	// in the working directory. With the argument "back" the script restores that
	// configuration, if the node still has the staged one. It changes nothing if
	// the node has neither. It prints what it does and fails if it could not do it.
	Undo string
}

// InterfaceChange describes an interface to stage.
type InterfaceChange struct {
	// Node is the node of the interface.
	Node string
	// Want is the complete new configuration of the interface.
	Want Interface
	// Was is the interface as NodeNetwork returned it. It is nil for a new
	// interface.
	Was *Interface
}

// NetworkManager is implemented by hosts that can change the networks of their
// nodes. Changes are staged and have no effect until they are applied. Reading
// needs the Monitoring capability, the other methods need Lifecycle. The methods
// that change something send their request once and never repeat it.
type NetworkManager interface {
	// NodeNetwork reads the interfaces of a node and the staged changes and
	// bypasses any cache. If the credential may not see all of it, the result is
	// Denied, never an incomplete list. An unknown node is NotFound or Invalid.
	NodeNetwork(ctx context.Context, node string) (NodeNetwork, error)
	// StageInterface stages a new interface or a change of one. A new name that is
	// taken, and a changed interface that does not exist, are Conflict. A
	// configuration that is not accepted is Invalid.
	StageInterface(ctx context.Context, change InterfaceChange) error
	// StageRemoval stages the removal of an interface. An unknown interface is
	// NotFound.
	StageRemoval(ctx context.Context, node, name string) error
	// RevertNetwork discards all staged changes of a node, also those of other
	// users. It succeeds if nothing is staged.
	RevertNetwork(ctx context.Context, node string) error
	// ApplyNetwork applies the staged changes and returns the task that does so.
	// The node may become unreachable as a result.
	ApplyNetwork(ctx context.Context, node string) (taskID string, err error)
}
