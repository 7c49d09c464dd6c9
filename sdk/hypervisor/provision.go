package hypervisor

import (
	"context"
	"strings"
)

// The operations of making guests and destroying them.
const (
	OperationCreate  Operation = "create"
	OperationDestroy Operation = "destroy"
)

// PlacementQuery asks where a new guest can be made.
type PlacementQuery struct {
	Kind GuestKind
	// Node is where the guest shall be.
	Node string
	// Name is the guest's name; hypervisors whose ids are made of names need it.
	Name string
	// Number is the number that the guest shall have; nil for one that is free.
	Number *int64
	// Image is the installation image that the guest shall start from; empty for none.
	Image string
	// ID, Storages and Bridges say what is asked for besides what the driver knows without a question; the rest of the Placement stays
	// empty. Each may cost a request and need a privilege of its own.
	ID, Storages, Bridges bool
}

// Placement is what a new guest can be made of on a node.
type Placement struct {
	// ID is an id that was free a moment ago and is reserved by nothing; Number is it as a number where ids are numbers. It is
	// empty when the wanted one is taken.
	ID     GuestID
	Number *int64
	// Storages are those of the node that can be seen.
	Storages []PlacementStorage
	// Bridges are the networks that a NIC on the node can be attached to, sorted.
	Bridges []string
	// ImageFound is true when the image that was asked for is there and is one.
	ImageFound bool
	// OSTypes are the words for guest operating systems that VMs can be made with, the usual one first.
	OSTypes []string
	// Limits are the hypervisor's upper bounds; zero for none.
	Limits GuestLimits
}

// PlacementStorage is a storage as a place for a new guest's disks.
type PlacementStorage struct {
	Name string
	// VMs and Containers say whose disks it can hold, Backups whether it can hold backups.
	VMs, Containers, Backups bool
	// Templates says whether it can hold the templates that containers are made of.
	Templates bool
	// Shared is true when other nodes see the same storage.
	Shared bool
	// Available is false while it cannot be used.
	Available bool
	// Free is what is left of it in bytes; nil where the hypervisor does not say.
	Free *int64
	// Thin is true when disks take room only as they are written: the hypervisor makes disks that are larger than Free.
	Thin bool
}

// GuestLimits are upper bounds for a guest.
type GuestLimits struct {
	Cores, MemoryMB, DiskGB, MTU int64
	// MinNumber and MaxNumber bound the numbers of guests.
	MinNumber, MaxNumber int64
}

// VMSpec is a VM to make.
type VMSpec struct {
	// ID is the one of a Placement.
	ID   GuestID
	Node string
	Name string
	// Cores and MemoryMB are positive; DiskGB is the size of its one disk in GiB.
	Cores, MemoryMB, DiskGB int64
	Storage                 string
	// Bridge is what its NIC is attached to; empty for a VM without one.
	Bridge string
	// VLAN is the tag of its NIC; nil for none.
	VLAN *int64
	// Image is the installation image in its drive; empty for none.
	Image string
	// OSType is one of Placement.OSTypes.
	OSType string
	// Mark is a UUID in small letters that the VM keeps in its configuration, whole or as its ShortMark, so that it is known again:
	// Config.HasMark.
	Mark string
}

// shortMark is the number of hexadecimal digits in a ShortMark.
const shortMark = 20

// ShortMark returns the first 20 hexadecimal digits of a mark, for hypervisors that have no room for more.
func ShortMark(mark string) string {
	digits := strings.ReplaceAll(mark, "-", "")
	return digits[:min(len(digits), shortMark)]
}

// HasMark reports whether the configuration is that of the VM with the mark. No configuration has an empty one.
func (c Config) HasMark(mark string) bool {
	return mark != "" && (c.Mark == mark || c.Mark == ShortMark(mark))
}

// DestroySpec says what else goes with a guest.
type DestroySpec struct {
	// Purge also removes the guest from jobs and high availability of the hypervisor.
	Purge bool
}

// Provisioner is satisfied by hosts that can make VMs and destroy guests. Placement needs the Monitoring capability, all else the
// Lifecycle one.
//
// The methods that change something send their request once and never repeat it by themselves, as those of Snapshotter do.
type Provisioner interface {
	// Placement tells what a new guest can be made of. An unknown node is NotFound.
	Placement(ctx context.Context, query PlacementQuery) (Placement, error)
	// CreateVM makes a stopped VM with one empty disk and at most one NIC, which is behind the hypervisor's firewall. An id that is taken is
	// Conflict, at once or in the task.
	CreateVM(ctx context.Context, spec VMSpec) (taskID string, err error)
	// Destroy destroys a stopped guest and its disks. One that runs or is protected is Conflict, at once or in the task.
	Destroy(ctx context.Context, guest GuestRef, spec DestroySpec) (taskID string, err error)
}
