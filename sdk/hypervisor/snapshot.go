package hypervisor

import (
	"context"
	"time"
)

// The operations on snapshots.
const (
	OperationSnapshotCreate   Operation = "snapshot_create"
	OperationSnapshotDelete   Operation = "snapshot_delete"
	OperationSnapshotRollback Operation = "snapshot_rollback"
)

// Snapshot is one snapshot of a guest.
type Snapshot struct {
	Name string
	// Parent is the name of the snapshot that this one follows; empty for the first, and where the hypervisor keeps no tree.
	Parent      string
	Description string
	// TakenAt is zero where the hypervisor does not say.
	TakenAt time.Time
	// Memory is true when the guest's memory is in it.
	Memory bool
	// Incomplete is true while it is being taken or deleted, and for what a take or a delete that failed has left of it. Its name
	// is taken, it can be deleted, and the guest cannot be brought back to it.
	Incomplete bool
}

// SnapshotSpec is a snapshot to take.
type SnapshotSpec struct {
	Name        string
	Description string
	// Memory asks for the guest's memory too. A guest that does not run has none, and gets a snapshot without.
	Memory bool
}

// RollbackSpec is a snapshot to go back to.
type RollbackSpec struct {
	Name string
	// Start starts the guest afterwards. One whose memory is in the snapshot runs in any case.
	Start bool
}

// Snapshotter is satisfied by hosts that can take snapshots of guests. Snapshots needs the Monitoring capability, all else
// the Lifecycle one.
//
// The methods that change something send their request once and never repeat it by themselves: an error of kind Unreachable or
// Timeout means that it may or may not have been taken. They return the id of the task that the hypervisor started, or an
// empty one when all was done at once. Some hypervisors find out in the task that the guest or snapshot is not there, that the
// name is taken, or that the guest is locked; the others answer NotFound, Conflict and Busy.
type Snapshotter interface {
	// Snapshots lists the guest's snapshots, without its present state, in no order that matters. An unknown guest is NotFound.
	Snapshots(ctx context.Context, guest GuestRef) ([]Snapshot, error)
	// TakeSnapshot takes one. Which names there may be is the hypervisor's word: any other is Invalid with the field "name".
	// Where this kind of guest has no memory to keep, asking for it is Invalid with the field "memory"; where descriptions are not
	// kept, one is with the field "description".
	TakeSnapshot(ctx context.Context, guest GuestRef, spec SnapshotSpec) (taskID string, err error)
	// DeleteSnapshot deletes one and keeps those that follow it. A name that no snapshot can have may be Invalid too.
	DeleteSnapshot(ctx context.Context, guest GuestRef, name string) (taskID string, err error)
	// RollBack brings the guest back to a snapshot, whatever it does at present, and keeps the snapshot.
	RollBack(ctx context.Context, guest GuestRef, spec RollbackSpec) (taskID string, err error)
}
