package hypervisor

import (
	"context"
	"time"
)

// Firmware through which a node booted, for NodeStatus.BootMode.
const (
	BootEFI  = "efi"
	BootBIOS = "bios"
)

// NodeStatus is the present state of one node. A figure that the hypervisor did not
// report is nil, a text is empty.
type NodeStatus struct {
	Name string
	// At is the time of the answer by the hypervisor's clock. It is zero if the
	// hypervisor does not report it.
	At     time.Time
	Uptime *int64 // seconds
	// Load is the load average over 1, 5 and 15 minutes: three figures or none.
	Load     []float64
	CPU      *float64 // used part of all cores, 0 to 1
	CPUs     *int64   // logical processors
	Cores    *int64   // physical cores of all sockets
	Sockets  *int64
	CPUModel string
	// Memory and the following figures are in bytes.
	Memory      *int64 // used
	MemoryTotal *int64
	Swap        *int64 // used; a node without swap has a total of zero
	SwapTotal   *int64
	Disk        *int64 // used, of the root file system
	DiskTotal   *int64
	KSMShared   *int64 // memory that guests share because its pages are the same
	// Kernel is the release of the running kernel, such as "6.17.13-2-pve".
	Kernel string
	// Version is the release of the hypervisor on this node. The nodes of a cluster
	// may differ.
	Version string
	// BootMode is BootEFI, BootBIOS or empty.
	BootMode string
	// SecureBoot is nil if the hypervisor does not report it. Only a node that
	// booted through EFI can have it.
	SecureBoot *bool
}

// NodeReader is implemented by hosts that can read the present state of one node.
// It needs the Monitoring capability.
type NodeReader interface {
	// NodeStatus reads the state from the node itself and bypasses any cache of the
	// hypervisor. The service calls it for a user who waits, never in the poll
	// loop. The name must be exactly that of an inventory: any other is NotFound,
	// or Invalid with the field "node" if no node can have it. An offline node is
	// Unreachable, or Timeout if nothing answered in time. A credential that may
	// not read it gets Denied.
	NodeStatus(ctx context.Context, node string) (NodeStatus, error)
}
