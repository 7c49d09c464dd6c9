package hypervisor

import (
	"context"
	"strings"
	"time"
)

// The operations on backups.
const (
	OperationBackup       Operation = "backup"
	OperationRestore      Operation = "restore"
	OperationBackupDelete Operation = "backup_delete"
)

// Backup verification states; empty is for one that was never verified.
const (
	BackupVerified = "ok"
	BackupDamaged  = "failed"
)

// Backup is one backup of one guest, complete in itself.
type Backup struct {
	// ID is the hypervisor's, such as a volume id, unique over all storages of the endpoint.
	ID string
	// Storage is the storage's name, and Node one of those that see it.
	Storage string
	Node    string
	// Kind and Guest say of which guest it is; the id may be another guest's by now.
	Kind  GuestKind
	Guest GuestID
	// UID is the guest's lasting identity, where the hypervisor has one.
	UID       string
	TakenAt   time.Time
	SizeBytes *int64
	Format    string
	Protected bool
	Encrypted bool
	// Notes are what the hypervisor lists of the notes; see BackupSpec.Noted.
	Notes string
	// Verified is one of the verification states.
	Verified string
}

// BackupQuery says which backups are asked for.
type BackupQuery struct {
	// Storage is asked for, and Node is one that sees it.
	Storage string
	Node    string
}

// BackupSpec is a backup to take.
type BackupSpec struct {
	Storage string
	// Mode is "snapshot", "suspend" or "stop"; empty is the hypervisor's usual one.
	Mode string
	// Compress is "0", "gzip", "lzo" or "zstd"; empty is the hypervisor's usual one.
	Compress  string
	Notes     string
	Protected bool
}

// Noted reports whether a backup lists the notes that were asked for. A hypervisor may list no more than a beginning of them, such as
// their first line, and other white space than was asked for.
func (s BackupSpec) Noted(b Backup) bool {
	asked, listed := unspaced(s.Notes), unspaced(b.Notes)
	return strings.HasPrefix(asked, listed) && (listed != "" || asked == "")
}

func unspaced(text string) string { return strings.Join(strings.Fields(text), "") }

// RestoreSpec is a guest to make of a backup.
type RestoreSpec struct {
	Backup Backup
	// ID is that of the guest to make, the one of a Placement or of the guest that is replaced.
	ID   GuestID
	Node string
	// Name is the new guest's name; empty keeps that of the backup. A hypervisor whose guest IDs are names ignores it, and so does every
	// hypervisor with Over.
	Name string
	// Storage is where its disks shall be; empty for where they were.
	Storage string
	// Over replaces the stopped guest that has the id.
	Over bool
	// NewIdentity gives the guest new MAC addresses, so that it can run beside the one that was backed up.
	NewIdentity bool
}

// Backuper is satisfied by hosts that can back guests up. All of it needs the Backup capability.
//
// The methods that change something send their request once and never repeat it by themselves, as those of Snapshotter do.
type Backuper interface {
	// Backups lists the backups of one storage. A storage that cannot be read is Refused or Unreachable, never an empty list. A plugin
	// that returns more than 64 MiB gets Protocol.
	Backups(ctx context.Context, query BackupQuery) ([]Backup, error)
	// RunBackup backs a guest up. The notes have no white space at their ends, and what is listed of them fits, as BackupSpec.Noted has it.
	RunBackup(ctx context.Context, guest GuestRef, spec BackupSpec) (taskID string, err error)
	// Restore makes a stopped guest of a backup.
	Restore(ctx context.Context, spec RestoreSpec) (taskID string, err error)
	// DeleteBackup deletes one. A protected one is Conflict, an unknown one NotFound, at once or in the task.
	DeleteBackup(ctx context.Context, backup Backup) (taskID string, err error)
	// ProtectBackup protects a backup from being deleted, or ends that.
	ProtectBackup(ctx context.Context, backup Backup, protected bool) error
}
