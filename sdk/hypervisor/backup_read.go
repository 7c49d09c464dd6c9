package hypervisor

import "context"

// BackupReader is satisfied by hosts that can tell what a backup has of its guest. It needs the Backup capability and changes nothing.
type BackupReader interface {
	// BackupContent reads what a backup has. A backup that does not exist is NotFound.
	BackupContent(ctx context.Context, backup Backup) (BackupContent, error)
}

// BackupContent is what a backup has of its guest.
type BackupContent struct {
	// Disks are those of the guest when it was backed up. The backup lacks those that are LeftOut.
	Disks []Disk
	// Keeps is true where a restore over the guest keeps the volumes that the backup lacks, as unused ones. Otherwise the restore destroys
	// them.
	Keeps bool
	// Refused says why the hypervisor would refuse to make a guest of the backup, such as "mp0 is a directory of the node"; empty where
	// nothing is known to be in the way.
	Refused string
}
