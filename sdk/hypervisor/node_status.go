package hypervisor

import (
	"context"
	"time"
)

// Boot modes: through which firmware a node was booted.
const (
	BootEFI  = "efi"
	BootBIOS = "bios"
)

// NodeStatus is one node's present state. A figure that the hypervisor did not give is nil, a text empty.
type NodeStatus struct {
	Name string
	// At is the hypervisor's own clock when it answered; zero when it does not tell.
	At     time.Time
	Uptime *int64 // seconds
	// Load is the load average over 1, 5 and 15 minutes: three figures or none.
	Load     []float64
	CPU      *float64 // used part of all cores, 0 to 1
	CPUs     *int64   // logical processors
	Cores    *int64   // physical cores of all sockets
	Sockets  *int64
	CPUModel string
	// Memory and all that follows are bytes.
	Memory      *int64 // used
	MemoryTotal *int64
	Swap        *int64 // used; a node without swap has a total of zero
	SwapTotal   *int64
	Disk        *int64 // used, of the root file system
	DiskTotal   *int64
	KSMShared   *int64 // memory that guests share because its pages are the same
	// Kernel is the release of the running kernel, such as "6.17.13-2-pve".
	Kernel string
	// Version is the hypervisor's own release on this node, such as "9.2.11"; the nodes of a cluster may differ.
	Version string
	// BootMode is BootEFI, BootBIOS or empty.
	BootMode string
	// SecureBoot is nil where the hypervisor does not tell; only a node booted through EFI can have it.
	SecureBoot *bool
}

// NodeReader is satisfied by hosts that can read one node's present state. Needs the Monitoring capability.
type NodeReader interface {
	// NodeStatus asks the node itself, past any cache of the hypervisor; it is called for a user who waits and never by
	// the poll loop. The name is the exact one of an inventory: any other is NotFound, or Invalid with the field "node"
	// when no node can have it. A node that is off is Unreachable, or Timeout when nothing said so in time. A token that
	// may not read it is Denied.
	NodeStatus(ctx context.Context, node string) (NodeStatus, error)
}
