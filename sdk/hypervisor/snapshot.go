package hypervisor

import (
	"context"
	"time"
)

// The operations on snapshots, for Task.Operation.
const (
	OperationSnapshotCreate   Operation = "snapshot_create"
	OperationSnapshotDelete   Operation = "snapshot_delete"
	OperationSnapshotRollback Operation = "snapshot_rollback"
)

// Snapshot is one snapshot of a guest.
type Snapshot struct {
	// Name is unique among the snapshots of the guest.
	Name string
	// Parent is the name of the snapshot that this one is based on. It is empty for
	// the first one, and if the hypervisor keeps no tree.
	Parent string
	// Description is free text.
	Description string
	// TakenAt is zero if the hypervisor does not report it.
	TakenAt time.Time
	// Memory is true if the snapshot contains the guest's memory.
	Memory bool
	// Incomplete is true while the snapshot is being taken or deleted, and for the
	// remains of a failed attempt. Its name is taken and it can be deleted, but the
	// guest cannot be rolled back to it.
	Incomplete bool
}

// SnapshotSpec describes a snapshot to take.
type SnapshotSpec struct {
	// Name and Description are those of the new snapshot.
	Name        string
	Description string
	// Memory requests the guest's memory too. A stopped guest has none and gets a
	// snapshot without memory.
	Memory bool
}

// RollbackSpec describes a rollback.
type RollbackSpec struct {
	// Name is the name of the snapshot.
	Name string
	// Start starts the guest afterwards. A guest whose snapshot contains memory
	// runs in any case.
	Start bool
}

// Snapshotter is implemented by hosts that can take snapshots of guests. Snapshots
// needs the Monitoring capability, the other methods need Lifecycle.
//
// The methods that change something send their request once and never repeat it. An
// error of kind Unreachable or Timeout means that the hypervisor may or may not
// have accepted the request. They return the ID of the task that the hypervisor
// started, or an empty ID if the change was complete at once.
//
// Some hypervisors report in the task that the guest or snapshot does not exist,
// that the name is taken, or that the guest is locked. The others return NotFound,
// Conflict and Busy.
type Snapshotter interface {
	// Snapshots lists the snapshots of a guest, without its present state and in no
	// particular order. An unknown guest is NotFound.
	Snapshots(ctx context.Context, guest GuestRef) ([]Snapshot, error)
	// TakeSnapshot takes a snapshot. The hypervisor defines which names are
	// allowed; any other is Invalid with the field "name". If this kind of guest
	// cannot store memory, a request for it is Invalid with the field "memory". If
	// descriptions are not stored, a description is Invalid with the field
	// "description".
	TakeSnapshot(ctx context.Context, guest GuestRef, spec SnapshotSpec) (taskID string, err error)
	// DeleteSnapshot deletes a snapshot and keeps those that are based on it. A
	// name that no snapshot can have may be Invalid.
	DeleteSnapshot(ctx context.Context, guest GuestRef, name string) (taskID string, err error)
	// RollBack brings the guest back to a snapshot, whatever state it is in, and
	// keeps the snapshot.
	RollBack(ctx context.Context, guest GuestRef, spec RollbackSpec) (taskID string, err error)
}
