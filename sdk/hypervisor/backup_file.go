package hypervisor

import "context"

// BackupFileLocator is satisfied by hosts that can tell where a backup lies as a file on the machine of its node, so that it can be read
// there and put onto another machine with NodeExecutor. It needs the Backup capability, asks the hypervisor and no machine, and changes
// nothing.
type BackupFileLocator interface {
	// BackupFile is the one file that a backup is on the storage of the query, as the machine of its node sees it. A backup that is of
	// another storage, of whichever host, is one that is to be put there: a file with the same bytes that is put at the path is listed as
	// a backup of the same guest from then on, with the ID of the answer. Whether there is something in that place is not looked at.
	//
	// A backup without ID asks only whether the storage keeps backups as files; the answer is empty then. A storage that does not is
	// Unsupported, with the reason in words; one that is not there, and a backup that is none, are NotFound.
	BackupFile(ctx context.Context, query BackupQuery, backup Backup) (BackupFile, error)
}

// BackupFile is a backup as a file.
type BackupFile struct {
	// Path is absolute and clean, as CheckNodePath has it.
	Path string
	// ID is the one that a backup in that place has.
	ID string
}

// check refuses an answer that no driver may give: what is at the path is read and written as root.
func (f BackupFile) check(asked Backup) error {
	if asked.ID == "" && f == (BackupFile{}) {
		return nil
	}
	return CheckNodePath(f.Path)
}
