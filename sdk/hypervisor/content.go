package hypervisor

import (
	"context"
	"time"
)

// OperationVolumeDelete is the operation of deleting a volume.
const OperationVolumeDelete Operation = "volume_delete"

// VolumeKind is the service's classification of a volume, independent of the
// hypervisor's words.
type VolumeKind string

// The kinds of volumes.
const (
	VolumeDisk     VolumeKind = "disk"     // of a guest
	VolumeImage    VolumeKind = "image"    // put into the drives of VMs
	VolumeTemplate VolumeKind = "template" // containers are made of it
	VolumeBackup   VolumeKind = "backup"
	VolumeOther    VolumeKind = "other"
)

// Volume is one volume or file on a storage.
type Volume struct {
	// ID is the hypervisor's identifier. It is unique among all storages of the
	// endpoint, except for storages that each node has separately.
	ID string
	// Name is the name for people, such as a file name. It may not be unique.
	Name    string
	Storage string
	// Node is the node through which the storage was listed.
	Node string
	// Kind is the service's classification.
	Kind VolumeKind
	// Content is the hypervisor's word for the kind, one of those in
	// Storage.Content.
	Content string
	// Format is the hypervisor's name of the format, such as "qcow2".
	Format string
	// SizeBytes is the capacity, UsedBytes the space that the volume takes on the
	// storage. They are nil if the hypervisor does not report them.
	SizeBytes *int64
	UsedBytes *int64
	// CreatedAt is zero if the hypervisor does not report it.
	CreatedAt time.Time
	// Guest is the ID of the guest that the volume belongs to according to its
	// name. That guest need not exist. It is empty for a volume without owner.
	Guest GuestID
	// Parent is the ID of the volume that this one is a linked copy of.
	Parent string
	// Notes, Protected, Encrypted and Verified are set for backups only; see
	// Backup.
	Notes     string
	Protected bool
	Encrypted bool
	Verified  string
}

// ContentQuery selects the volumes to list.
type ContentQuery struct {
	// Storage is the name of the storage. Node is a node that has access to it.
	Storage string
	Node    string
	// Content narrows the list to one kind in the hypervisor's words. An empty
	// value selects all.
	Content string
	// Kind narrows the list to one kind in the service's words. An empty value
	// selects all. If both are set, both must match.
	Kind VolumeKind
}

// ContentList is the result of ContentLister.Content.
type ContentList struct {
	Volumes []Volume
	// Hidden lists kinds of content, in the hypervisor's words, that match the
	// query but of which the credential may not see everything. The service then
	// does not take a missing volume for a deleted one.
	Hidden []string
}

// ContentLister is implemented by hosts that can list what is on a storage. It
// needs the Monitoring or the Lifecycle capability. A hypervisor may show more with
// the second.
type ContentLister interface {
	// Content lists a storage and bypasses any cache. A storage that cannot be read
	// is NotFound, Refused or Unreachable. A requested kind of content that is
	// hidden entirely is Denied. None of these is ever an empty list. A plugin
	// whose list exceeds 64 MiB gets Protocol.
	Content(ctx context.Context, query ContentQuery) (ContentList, error)
}

// VolumeDeleter is implemented by hosts that can delete what is on a storage. It
// needs the Lifecycle capability, and the Backup capability for a backup.
type VolumeDeleter interface {
	// DeleteVolume deletes a volume and sends its request once. A volume that is
	// protected, or that another volume is a linked copy of, is Conflict, at once
	// or in the task. A volume that does not exist may count as deleted. The driver
	// does not check whether a guest uses the volume: the caller has checked that.
	DeleteVolume(ctx context.Context, volume Volume) (taskID string, err error)
}
