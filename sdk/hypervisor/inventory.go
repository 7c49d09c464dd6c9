package hypervisor

import "time"

// InventoryQuery controls how much an inventory contains.
type InventoryQuery struct {
	// Detail requests data that costs the hypervisor additional requests: figures
	// that its cheap list does not contain, and the samples since Since. The
	// service sets it every few minutes.
	Detail bool
	// Since is the time of the last detailed inventory, zero if there was none. The
	// driver may report samples from that time on.
	Since time.Time
	// Known is what an inventory of the last few minutes reported of the cluster
	// through any of its members. It is nil if nothing is known. If reading this
	// costs the driver a separate request, it may reuse the value as long as the
	// data that it reads anyway agrees with it. It then sets Cluster.Kept.
	Known *Membership
}

// Membership describes the members of a cluster and its state. Cluster.Entry is the
// node that answers at the endpoint.
type Membership struct {
	Cluster Cluster
	// Nodes contain only Name, Status, Address, Fingerprint and Level.
	Nodes []Node
}

// Page is a part of an inventory. Every field may be empty. Only the first page has
// a Cluster.
type Page struct {
	// Restart invalidates all pages before this one, because the data in
	// InventoryQuery.Known turned out to be outdated. The inventory starts again
	// with the next page, which has a Cluster. A page with Restart contains nothing
	// else. Without Known no page has it.
	Restart bool
	// Cluster describes the cluster of the endpoint. The other fields are rows of
	// the inventory, in any order and split over pages in any way.
	Cluster  *Cluster
	Nodes    []Node
	Guests   []Guest
	Storages []Storage
	Samples  []Sample
}

// Cluster describes the group of nodes that the endpoint belongs to.
type Cluster struct {
	// ID is the same at every member and different for every other cluster. It is
	// empty if the hypervisor has no such identifier, and for a single machine.
	ID string
	// Name is the name of the cluster for people, empty for a single machine.
	// Without ID, the name and the nodes together identify the cluster.
	Name string
	// Quorate is true if the cluster can make decisions. A single machine is always
	// quorate.
	Quorate bool
	// Entry is the name of the node that answered.
	Entry string
	// Partial is true if the credential does not see everything. An absent guest
	// may still exist then, and the service does not consider it deleted.
	Partial bool
	// StatesOnly is true if the inventory contains no usage figures of guests,
	// nodes and storages. The service keeps the last known figures and their age. A
	// driver may omit them if they cost the hypervisor more than the list does,
	// unless Detail is set.
	StatesOnly bool
	// Kept is true if Name, Quorate, Entry and the node data of
	// InventoryQuery.Known were reused and not read again.
	Kept bool
	// ClockAhead is the number of seconds by which the clock of Entry is ahead of
	// the driver's, negative if it is behind, and nil if unknown. The driver
	// computes it with the function ClockAhead from an answer that it reads anyway.
	// It sends no request for it.
	ClockAhead *float64
}

// Node states, for Node.Status.
const (
	NodeOnline  = "online"
	NodeOffline = "offline"
	NodeUnknown = "unknown"
)

// Node is one machine of the cluster. A figure that the hypervisor did not report
// is nil.
type Node struct {
	// Name is unique within the cluster. Status is one of the node states.
	Name   string
	Status string
	// Address is the address of the node within the cluster, and Fingerprint that
	// of its certificate in the form of endpoint.Fingerprint. Both are empty if
	// unknown. The service uses them to recognise the members of a cluster without
	// a name.
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

// GuestKind is the kind of a guest: VM or Container.
type GuestKind string

// The guest kinds.
const (
	VM        GuestKind = "vm"
	Container GuestKind = "container"
)

// Guest states, for Guest.Status. A paused VM keeps its memory in RAM. A suspended
// VM was written to disk.
const (
	GuestRunning   = "running"
	GuestStopped   = "stopped"
	GuestPaused    = "paused"
	GuestSuspended = "suspended"
	GuestUnknown   = "unknown"
)

// Guest is one VM or container. A figure that the hypervisor did not report is nil.
type Guest struct {
	GuestRef
	// Number is the number by which people know the guest, such as Proxmox VE's
	// VMID. It is nil if the hypervisor has no numbers.
	Number *int64
	// Name is the name for people. It may be empty and need not be unique. Status
	// is one of the guest states.
	Name   string
	Status string
	// Template is true for a guest that can be copied and cannot be started.
	Template bool
	Lock     string // what locks it at the hypervisor; empty when nothing does
	Pool     string // the scope that it is in, see Info.Scope; empty for none
	Tags     []string
	CPU      *float64 // used part of its cores, 0 to 1
	// CPUSeconds is the CPU time in seconds since the start, at hypervisors that
	// count instead of measuring. CPU is nil then, and the service computes the
	// used part from two readings.
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
	// HA is true if the hypervisor's high availability starts, stops and moves the
	// guest. Only Host.Guest sets it.
	HA bool
	// At is the time of the answer by the hypervisor's clock. It is zero in an
	// inventory; only Host.Guest sets it.
	At time.Time
}

// Storage is one storage as one node sees it. A storage on three nodes has three
// rows.
type Storage struct {
	// Name is the name of the storage, and Node the node of this row.
	Name string
	Node string
	// Type is the hypervisor's word for the type, such as "zfs".
	Type string
	// Shared is true if the storages with this name on all nodes are the same one.
	// The service then counts its space once.
	Shared bool
	// Status is "available" or "unknown". The service ignores the figures of a
	// storage that is not available.
	Status string
	// Content lists the kinds of content that the storage accepts, in the
	// hypervisor's words, such as "images". It is nil if the hypervisor makes no
	// distinction.
	Content []string
	Used    *int64 // bytes
	Total   *int64
}

// Sample is one reading of the past. The service uses samples to fill gaps in its
// own readings.
type Sample struct {
	// Node is set for a sample of a node. Guest is set for a sample of a guest,
	// with the same ref as in the inventory. Node and Storage are set for a sample
	// of a storage.
	Node    string
	Guest   *GuestRef
	Storage string
	// At is the time of the reading.
	At time.Time
	// Metric is one of cpu, memory, memory_total, disk, disk_total, net_in,
	// net_out, disk_read, disk_write and load. Units are those of Guest and Node.
	// Samples of other metrics are dropped.
	Metric string
	// Value is the value of a gauge, or the reading of a counter.
	Value float64
}
