package hypervisor

import (
	"context"
	"strings"
	"time"
)

// The operations on backups, for Task.Operation.
const (
	OperationBackup       Operation = "backup"
	OperationRestore      Operation = "restore"
	OperationBackupDelete Operation = "backup_delete"
)

// Results of the last verification of a backup, for Backup.Verified. An empty value
// means that the backup was never verified.
const (
	BackupVerified = "ok"
	BackupDamaged  = "failed"
)

// Backup is one full backup of one guest. It does not depend on any other backup.
type Backup struct {
	// ID is the hypervisor's identifier, such as a volume ID. It is unique among
	// all storages of the endpoint.
	ID string
	// Storage is the name of the storage, and Node is a node that has access to it.
	Storage string
	Node    string
	// Kind and Guest identify the guest that was backed up. The guest ID may belong
	// to another guest by the time the backup is read.
	Kind  GuestKind
	Guest GuestID
	// UID is the lasting identity of the guest (see GuestRef.UID), empty if the
	// hypervisor has none or does not store it with the backup.
	UID string
	// TakenAt is the time at which the backup was started. SizeBytes is the size of
	// the backup on the storage, nil if unknown. Format is the hypervisor's name of
	// the file format.
	TakenAt   time.Time
	SizeBytes *int64
	Format    string
	// Protected is true if the hypervisor refuses to delete the backup. Encrypted
	// is true if the content cannot be read without a key.
	Protected bool
	Encrypted bool
	// Notes is the part of the notes that the hypervisor lists. It may be shorter
	// than the text that was stored; see BackupSpec.NotesMatch.
	Notes string
	// Verified is BackupVerified, BackupDamaged or empty.
	Verified string
}

// BackupQuery selects the backups to list.
type BackupQuery struct {
	// Storage is the name of the storage to list. Node is a node that has access to
	// it.
	Storage string
	Node    string
}

// BackupSpec describes a backup to create.
type BackupSpec struct {
	// Storage is the name of the storage that receives the backup.
	Storage string
	// Mode is "snapshot" (the guest keeps running), "suspend" or "stop". An empty
	// value selects the hypervisor's default.
	Mode string
	// Compress is "0" (none), "gzip", "lzo" or "zstd". An empty value selects the
	// hypervisor's default.
	Compress string
	// Notes is a description for people, without white space at its ends. Protected
	// creates the backup with deletion protection.
	Notes     string
	Protected bool
}

// NotesMatch reports whether the listed notes of b can come from the notes of this spec.
// The service uses it to find the backup of a request whose answer was lost.
//
// A hypervisor may list only the beginning of the notes, such as the first line,
// and may change white space. Noted therefore ignores white space and accepts a
// prefix, but not an empty one unless the spec has no notes.
func (s BackupSpec) NotesMatch(b Backup) bool {
	asked, listed := withoutSpace(s.Notes), withoutSpace(b.Notes)
	return strings.HasPrefix(asked, listed) && (listed != "" || asked == "")
}

func withoutSpace(text string) string { return strings.Join(strings.Fields(text), "") }

// RestoreSpec describes a guest to create from a backup.
type RestoreSpec struct {
	// Backup is the backup to restore, as BackupManager.Backups returned it.
	Backup Backup
	// ID is the ID of the new guest: that of a Placement, or that of the guest to
	// replace if Over is true.
	ID GuestID
	// Node is the node that creates the guest. It must have access to the backup's
	// storage.
	Node string
	// Name is the name of the new guest. An empty value keeps the name in the
	// backup. A hypervisor whose guest IDs are names ignores it. Every hypervisor
	// ignores it if Over is true.
	Name string
	// Storage is the storage for the disks. An empty value uses the storages that
	// the disks were on when the backup was created.
	Storage string
	// Over replaces the stopped guest that has the ID. Its disks are overwritten.
	Over bool
	// NewIdentity gives the guest new MAC addresses, so that it can run beside the
	// guest that was backed up.
	NewIdentity bool
}

// BackupManager is implemented by hosts that can create and restore backups. All methods
// need the Backup capability.
//
// The methods that change something send their request once and never repeat it;
// see Snapshotter. A task may report a failure that another hypervisor reports at
// once.
type BackupManager interface {
	// Backups lists the backups on one storage. A storage that cannot be read is an
	// error, Refused or Unreachable, and never an empty list. A plugin whose list
	// exceeds 64 MiB gets Protocol.
	Backups(ctx context.Context, query BackupQuery) ([]Backup, error)
	// RunBackup starts a backup of a guest. The caller passes notes without white
	// space at their ends. The listed notes of the new backup must match them as
	// BackupSpec.NotesMatch defines it.
	RunBackup(ctx context.Context, guest GuestRef, spec BackupSpec) (taskID string, err error)
	// Restore creates a stopped guest from a backup. It returns Conflict if the ID
	// is taken and Over is false, or if the guest to replace is running.
	Restore(ctx context.Context, spec RestoreSpec) (taskID string, err error)
	// DeleteBackup deletes a backup. A protected backup is Conflict and an unknown
	// one NotFound, either at once or in the task.
	DeleteBackup(ctx context.Context, backup Backup) (taskID string, err error)
	// ProtectBackup switches the deletion protection of a backup on or off. It
	// returns when the change is complete.
	ProtectBackup(ctx context.Context, backup Backup, protected bool) error
}
