package hypervisor

import (
	"context"
	"time"
)

// OperationVolumeDelete is the deletion of a volume.
const OperationVolumeDelete Operation = "volume_delete"

// VolumeKind says what a volume is to the service, whatever the hypervisor calls it.
type VolumeKind string

// The kinds of volumes.
const (
	VolumeDisk     VolumeKind = "disk"     // of a guest
	VolumeImage    VolumeKind = "image"    // put into the drives of VMs
	VolumeTemplate VolumeKind = "template" // containers are made of it
	VolumeBackup   VolumeKind = "backup"
	VolumeOther    VolumeKind = "other"
)

// Volume is one thing that lies on a storage.
type Volume struct {
	// ID is the hypervisor's, unique over all storages of the endpoint but for storages that each node has for itself.
	ID string
	// Name is what people call it, such as a file's name; it may not be unique.
	Name    string
	Storage string
	// Node is the one that was asked.
	Node string
	Kind VolumeKind
	// Content is the hypervisor's word for what it is, one of those of Storage.Content.
	Content string
	Format  string
	// SizeBytes is what it can hold, UsedBytes what it takes; nil where the hypervisor does not say.
	SizeBytes *int64
	UsedBytes *int64
	// CreatedAt is zero where the hypervisor does not say.
	CreatedAt time.Time
	// Guest is the id of the guest that it belongs to by its name; that guest need not exist. Empty for what is of none.
	Guest GuestID
	// Parent is the ID of the volume that it is a linked copy of.
	Parent string
	// Notes, Protected, Encrypted and Verified are those of backups.
	Notes     string
	Protected bool
	Encrypted bool
	Verified  string
}

// ContentQuery says what is asked for.
type ContentQuery struct {
	// Storage is asked for, as Node sees it.
	Storage string
	Node    string
	// Content narrows to one kind in the hypervisor's word; empty is all.
	Content string
	// Kind narrows to one of ours; empty is all. Where both narrow, both hold.
	Kind VolumeKind
}

// ContentList is what is on a storage.
type ContentList struct {
	Volumes []Volume
	// Hidden are the kinds of content, in the hypervisor's words, of which the credential is not shown everything that the query asks
	// for.
	Hidden []string
}

// ContentLister is satisfied by hosts that can tell what is on a storage. It needs the Monitoring or the Lifecycle capability, of which a
// hypervisor may show more to the second.
type ContentLister interface {
	// Content lists a storage past any cache. A storage that cannot be read is NotFound, Refused or Unreachable, and one kind of content
	// that is asked for and wholly hidden is Denied: never an empty list. A plugin that returns more than 64 MiB gets
	// Protocol.
	Content(ctx context.Context, query ContentQuery) (ContentList, error)
}

// VolumeDeleter is satisfied by hosts that can delete what is on a storage. Needs the Lifecycle capability, and of a backup the Backup
// capability.
type VolumeDeleter interface {
	// DeleteVolume sends its request once. One that is protected, or that another volume is a linked copy of, is Conflict, at once or in
	// the task; one that is not there may count as deleted. Whether a guest uses it is not looked at: who calls has looked.
	DeleteVolume(ctx context.Context, volume Volume) (taskID string, err error)
}
