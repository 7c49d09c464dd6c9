package hypervisor

import "context"

// BackupFileLocator is implemented by hosts whose backups are files on the machine
// of a node. The service uses it to copy a backup to another host: it reads the
// file with NodeExecutor there and writes it with NodeExecutor here. The interface
// needs the Backup capability, asks the hypervisor and not the machine, and changes
// nothing.
type BackupFileLocator interface {
	// BackupFile returns the file of a backup on the storage of the query, as the
	// machine of the query's node sees it.
	//
	// The backup may come from another storage, also from another host. The result
	// is then the place for a copy: if a file with the same bytes is written there,
	// the hypervisor lists it as a backup of the same guest, with the ID in the
	// result. BackupFile does not check whether something exists at that path.
	//
	// A backup without ID only asks whether the storage keeps backups as files; the
	// result is empty then. A storage that does not is Unsupported, with the reason
	// as message. An unknown storage, and an ID that is not a backup, are NotFound.
	BackupFile(ctx context.Context, query BackupQuery, backup Backup) (BackupFile, error)
}

// BackupFile is the place of a backup in a file system.
type BackupFile struct {
	// Path is the absolute, clean path on the machine, accepted by CheckNodePath.
	Path string
	// ID is the hypervisor's identifier of a backup at that path.
	ID string
}

// check returns an error for a result that a driver must not give. The service
// reads and writes the path as root, so a bad path from a plugin must not get
// through.
func (f BackupFile) check(asked Backup) error {
	if asked.ID == "" && f == (BackupFile{}) {
		return nil
	}
	return CheckNodePath(f.Path)
}
