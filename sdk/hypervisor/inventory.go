package hypervisor

import "time"

// InventoryQuery says how much an inventory should bring.
type InventoryQuery struct {
	// Detail asks for what costs the hypervisor an additional request: figures that its cheap list does not carry and
	// the gaps since Since. The service asks for it every few minutes.
	Detail bool
	// Since is the time of the last detailed inventory, zero for none; a driver may bring samples from then on.
	Since time.Time
	// Known is what an inventory of the last few minutes told of the cluster through any of its members; nil for nothing. A driver that
	// pays a request of its own for this may take it instead, as long as what it reads anyway agrees with it, and sets Cluster.Kept then.
	Known *Membership
}

// Membership is who is in a cluster and how it stands. Cluster.Entry is the node that answers at the endpoint that is asked.
type Membership struct {
	Cluster Cluster
	// Nodes have Name, Status, Address, Fingerprint and Level.
	Nodes []Node
}

// Page is a part of an inventory. Every field may be empty; Cluster is set in the first page only.
type Page struct {
	// Restart says that all pages before this one are void, because what InventoryQuery.Known told has changed. The inventory begins again
	// with the next page, which has the cluster. Nothing else is in this one, and without Known there is none.
	Restart  bool
	Cluster  *Cluster
	Nodes    []Node
	Guests   []Guest
	Storages []Storage
	Samples  []Sample
}

// Cluster is what the endpoint says of the group of nodes that it belongs to.
type Cluster struct {
	// ID is the same at every member and at no other cluster; empty where the hypervisor has no such thing, and for a machine alone.
	ID string
	// Name is the cluster's for people; for a machine alone it is empty. Where there is no ID, it identifies the cluster together
	// with the nodes.
	Name    string
	Quorate bool
	// Entry is the name of the node that answered.
	Entry string
	// Partial is true when the credential does not see everything, so that what is absent may still exist.
	Partial bool
	// StatesOnly is true when the inventory brings no used figures of guests, nodes and storages: what is known of them stays as it
	// is, with its age. A driver may leave them out where they cost the hypervisor more than the list, unless Detail is asked for.
	StatesOnly bool
	// Kept says that Name, Quorate, Entry and what InventoryQuery.Known has of nodes were taken from there and not asked for again.
	Kept bool
	// ClockAhead is by how many seconds the clock of Entry is ahead of the driver's, negative where it is behind; nil where it is not
	// known. A driver takes it from an answer that it reads anyway and sends no request for it: ClockAhead makes it of that.
	ClockAhead *float64
}

// Node states.
const (
	NodeOnline  = "online"
	NodeOffline = "offline"
	NodeUnknown = "unknown"
)

// Node is one machine of the cluster. A figure that the hypervisor did not give is nil.
type Node struct {
	Name   string
	Status string
	// Address is the node's own address in the cluster, when known, and Fingerprint that of its certificate, as endpoint.Fingerprint
	// gives it. By these a member of a cluster without a name is known again.
	Address     string
	Fingerprint string
	CPU         *float64 // used part of all cores, 0 to 1
	CPUs        *float64
	Memory      *int64 // bytes used
	MemoryTotal *int64
	Disk        *int64 // bytes used of the root file system
	DiskTotal   *int64
	Uptime      *int64 // seconds
	Level       string // subscription level, in the hypervisor's word; empty where there is none
}

// GuestKind is VM or container.
type GuestKind string

// The guest kinds.
const (
	VM        GuestKind = "vm"
	Container GuestKind = "container"
)

// Guest states. Paused is a VM that stands still in memory, Suspended one that was written to disk.
const (
	GuestRunning   = "running"
	GuestStopped   = "stopped"
	GuestPaused    = "paused"
	GuestSuspended = "suspended"
	GuestUnknown   = "unknown"
)

// Guest is one VM or container. A figure that the hypervisor did not give is nil.
type Guest struct {
	GuestRef
	// Number is what people call the guest where that is a number, such as Proxmox VE's VMID; nil elsewhere.
	Number *int64
	Name   string
	Status string
	// Template is true for what is copied and never started.
	Template bool
	Lock     string // what locks it at the hypervisor; empty when nothing does
	Pool     string // the scope that it is in, see Info.Scope; empty for none
	Tags     []string
	CPU      *float64 // used part of its cores, 0 to 1
	// CPUSeconds is the CPU time used since the start, where the hypervisor counts instead of measuring. CPU is nil then, and the
	// service makes the part out of two readings.
	CPUSeconds  *float64
	CPUs        *float64 // cores that it may use
	Memory      *int64   // bytes used
	MemoryTotal *int64
	Disk        *int64 // bytes used
	DiskTotal   *int64
	NetIn       *int64 // bytes since start
	NetOut      *int64
	DiskRead    *int64
	DiskWrite   *int64
	Uptime      *int64 // seconds
	// HA says that the hypervisor's own high availability starts, stops and moves it. Only Host.Guest fills it in.
	HA bool
	// At is the hypervisor's own clock when it answered; zero in an inventory. Only Host.Guest fills it in.
	At time.Time
}

// Storage is one storage as one node sees it.
type Storage struct {
	Name string
	Node string
	// Type is the hypervisor's word for what it is, such as "zfs".
	Type string
	// Shared says that the storages of this name at all nodes are one, which counts once.
	Shared bool
	// Status is "available" or "unknown". Of a storage that is not available no figures are taken.
	Status string
	// Content is what may be kept there, in the hypervisor's words, such as "images"; nil where it makes no difference.
	Content []string
	Used    *int64 // bytes
	Total   *int64
}

// Sample is one figure of the past, to fill gaps in what polling saw.
type Sample struct {
	// Node is set for a node's sample, Guest for a guest's, as in the inventory, and Node with Storage for a storage's.
	Node    string
	Guest   *GuestRef
	Storage string
	At      time.Time
	// Metric is one of cpu, memory, memory_total, disk, disk_total, net_in, net_out, disk_read, disk_write, load.
	Metric string
	// Value is a gauge's value or a counter's reading.
	Value float64
}
