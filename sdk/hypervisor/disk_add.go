package hypervisor

import "context"

// NewDisk is a request to add an empty disk to a guest.
type NewDisk struct {
	// Key is the Disk.Key that the disk gets, such as "scsi1".
	Key string
	// Storage is the name of the storage that the disk is created on.
	Storage string
	// SizeGB is its size in GiB.
	SizeGB int64
	// Path is the mount point inside a container; it is empty for a VM.
	Path string
	// Digest is that of a configuration in which the guest has no disk with this
	// key. If the configuration has another digest by now, the driver returns
	// Conflict with the field "digest". It is empty only for a driver whose
	// configurations have no digest.
	Digest string
}

// DiskAdder is implemented by hosts that can add disks to existing guests. It
// needs the Lifecycle capability.
type DiskAdder interface {
	// AddDisk creates an empty disk on a storage, attaches it, and returns when
	// that is complete. A key that the kind of guest cannot have is Invalid with
	// the field "key". The caller makes sure that the guest does not have it yet;
	// the digest says so. A
	// storage that is not there, or does not hold disks of the kind, is Invalid
	// with the field "storage", a size that it cannot hold with "size_gb", and a
	// mount point with "path". A running guest gets the disk at once if it can
	// take it, and otherwise at its next restart; Disk.Pending is then true.
	AddDisk(ctx context.Context, guest GuestRef, disk NewDisk) error
}
