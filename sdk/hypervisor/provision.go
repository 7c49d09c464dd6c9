package hypervisor

import (
	"context"
	"strings"
)

// The operations of creating and destroying guests, for Task.Operation.
const (
	OperationCreate  Operation = "create"
	OperationDestroy Operation = "destroy"
)

// PlacementQuery describes a guest that is to be created.
type PlacementQuery struct {
	Kind GuestKind
	// Node is the node of the new guest.
	Node string
	// Name is the name of the new guest. Hypervisors whose IDs derive from names
	// need it.
	Name string
	// Number is the wanted number of the guest. Nil selects a free one.
	Number *int64
	// Image is the installation image that the guest starts from. It is empty if
	// there is none.
	Image string
	// ID, Storages and Bridges select the parts of the Placement that are needed.
	// The other parts stay empty, except those that the driver knows without a
	// request. Each part may cost a request and need a separate privilege.
	ID, Storages, Bridges bool
}

// Placement says what a new guest on a node can use. It reserves nothing.
type Placement struct {
	// ID is an ID that was free a moment ago. Number is the same as a number, at
	// hypervisors whose IDs are numbers. The ID is empty if the wanted one is
	// taken. Two callers may get the same ID; CreateVM returns Conflict to the
	// second one.
	ID     GuestID
	Number *int64
	// Storages are the storages of the node that the credential sees.
	Storages []PlacementStorage
	// Bridges are the networks that a NIC on the node can be attached to, sorted.
	Bridges []string
	// ImageFound is true if the image of the query exists and is an image.
	ImageFound bool
	// OSTypes are the guest operating systems that the hypervisor knows, in its own
	// words, the usual one first.
	OSTypes []string
	// Limits are the upper limits of the hypervisor. Zero means no limit.
	Limits GuestLimits
}

// PlacementStorage is a storage as a place for the disks of a new guest.
type PlacementStorage struct {
	Name string
	// VMs and Containers are true if the storage accepts their disks, Backups if it
	// accepts backups.
	VMs, Containers, Backups bool
	// Templates is true if the storage accepts container templates.
	Templates bool
	// Shared is true if other nodes see the same storage.
	Shared bool
	// Available is false while the storage cannot be used.
	Available bool
	// Free is the free space in bytes. It is nil if the hypervisor does not report
	// it.
	Free *int64
	// Thin is true if disks take space only as they are written. The hypervisor
	// then creates disks that are larger than Free.
	Thin bool
}

// GuestLimits are upper limits of a guest. Zero means no limit.
type GuestLimits struct {
	Cores, MemoryMB, DiskGB, MTU int64
	// MinNumber and MaxNumber bound the numbers of guests, inclusive.
	MinNumber, MaxNumber int64
}

// VMSpec describes a VM to create.
type VMSpec struct {
	// ID is the ID of a Placement.
	ID   GuestID
	Node string
	Name string
	// Cores and MemoryMB (MiB) are positive. DiskGB is the size of the only disk in
	// GiB.
	Cores, MemoryMB, DiskGB int64
	// Storage is the storage of the disk.
	Storage string
	// Bridge is the network of the NIC. It is empty for a VM without NIC.
	Bridge string
	// VLAN is the tag of the NIC. It is nil for none.
	VLAN *int64
	// Image is the installation image in the drive. It is empty for none.
	Image string
	// OSType is one of Placement.OSTypes.
	OSType string
	// Mark is a UUID in lower case that the driver stores in the VM's
	// configuration, whole or as its ShortMark. If the answer to CreateVM is lost,
	// the service recognises the VM by it; see Config.HasMark.
	Mark string
}

// shortMark is the number of hexadecimal digits in a ShortMark: 80 bits, so that
// two marks do not coincide.
const shortMark = 20

// ShortMark returns the first 20 hexadecimal digits of a mark, for hypervisors that
// have no room for the whole UUID.
func ShortMark(mark string) string {
	digits := strings.ReplaceAll(mark, "-", "")
	return digits[:min(len(digits), shortMark)]
}

// HasMark reports whether the configuration belongs to the VM with the mark. An
// empty mark matches no configuration.
func (c Config) HasMark(mark string) bool {
	return mark != "" && (c.Mark == mark || c.Mark == ShortMark(mark))
}

// DestroySpec says what is removed together with a guest.
type DestroySpec struct {
	// Purge also removes the guest from the hypervisor's jobs and its high
	// availability.
	Purge bool
}

// Provisioner is implemented by hosts that can create VMs and destroy guests.
// Placement needs the Monitoring capability, the other methods need Lifecycle. The
// methods that change something send their request once and never repeat it; see
// Snapshotter.
type Provisioner interface {
	// Placement returns what a new guest can use. An unknown node is NotFound.
	Placement(ctx context.Context, query PlacementQuery) (Placement, error)
	// CreateVM creates a stopped VM with one empty disk and at most one NIC, whose
	// traffic passes the hypervisor's firewall. An ID that is taken is Conflict, at
	// once or in the task.
	CreateVM(ctx context.Context, spec VMSpec) (taskID string, err error)
	// Destroy destroys a stopped guest and its disks. A running or protected guest
	// is Conflict, at once or in the task.
	Destroy(ctx context.Context, guest GuestRef, spec DestroySpec) (taskID string, err error)
}
