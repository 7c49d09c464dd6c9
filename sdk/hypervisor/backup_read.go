package hypervisor

import "context"

// BackupReader is implemented by hosts that can read the content of a backup.
// It requires the Backup capability and changes nothing.
type BackupReader interface {
	// BackupContent returns the content of a backup. It returns NotFound if the
	// backup does not exist.
	BackupContent(ctx context.Context, backup Backup) (BackupContent, error)
}

// BackupContent describes what a backup contains and what a restore of it does.
type BackupContent struct {
	// Disks are the disks that the guest had when it was backed up. The backup
	// does not contain those with LeftOut set.
	Disks []Disk
	// Keeps is true if a restore over the guest keeps volumes that are not in
	// the backup as unused disks. Otherwise it destroys them.
	Keeps bool
	// Refused is the reason why the hypervisor would refuse to restore the
	// backup, such as "mp0 is a directory of the node". It is empty if no
	// reason is known.
	Refused string
}
