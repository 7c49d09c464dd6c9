package hypervisor

import "context"

// OperationMigrate is the operation of moving a guest to another node of its cluster. Its task is of the guest, and on the node that it
// leaves.
const OperationMigrate Operation = "migrate"

// Codes of what is in the way of a migration, or comes with it. A driver may have others.
const (
	MigrationSameNode      = "same_node"
	MigrationNodeOffline   = "node_offline"
	MigrationNodeForbidden = "node_forbidden" // a rule of the cluster keeps the guest from the node
	MigrationQuorum        = "quorum_lost"
	MigrationLocked        = "guest_locked"
	MigrationBindMount     = "bind_mount"
	MigrationLocalImage    = "local_image" // an image in a drive that only the guest's node has
	MigrationPassthrough   = "passthrough"
	MigrationSnapshots     = "snapshots"
	MigrationStorage       = "storage_missing"
	MigrationRoom          = "storage_full"
	MigrationHA            = "high_availability"
	MigrationIncomplete    = "not_checked" // something could not be looked at
)

// MigrationQuery asks what a migration would meet.
type MigrationQuery struct {
	// Node is where the guest shall go.
	Node string
	// Storage is where the disks shall be that lie on storages of the node alone; empty for storages of the same names.
	Storage string
}

// MigrationCheck is what a migration would meet. Nothing is reserved by it. It may lack what Config, Snapshots, Placement and Guest tell:
// the service looks there itself, with the token of Monitoring.
type MigrationCheck struct {
	// Live says that a guest which runs goes on running while it is moved; it is stopped and started otherwise.
	Live bool
	// Nodes are those that the hypervisor lets the guest go to; nil where it does not tell.
	Nodes []string
	// Blockers keep the migration from beginning or from ending well; Warnings do not.
	Blockers, Warnings []MigrationFinding
	// Disks are those that lie on storages of the node alone, so that they are copied.
	Disks []MigrationDisk
	// Resources are what of its node the guest uses, in the hypervisor's words, such as "hostpci0".
	Resources []string
}

// MigrationFinding is one thing that is in the way of a migration, or comes with it.
type MigrationFinding struct {
	// Code is one of the Migration codes; Message says it in a sentence for users.
	Code, Message string
}

// MigrationDisk is a disk that is copied.
type MigrationDisk struct {
	// Key is Disk.Key; empty for one that no key of the configuration names.
	Key             string
	Storage, Volume string
	// SizeBytes is nil where the hypervisor does not say.
	SizeBytes *int64
}

// MigrationSpec is where a guest shall go, and how.
type MigrationSpec struct {
	Node string
	// Online moves a guest that runs without stopping it; Restart stops it and starts it on its new node. At most one of both; a guest
	// that does not run needs neither.
	Online, Restart bool
	// Storage as in MigrationQuery.
	Storage string
}

// Migrator is satisfied by hosts that can move guests between the nodes of their cluster. All of it needs the Lifecycle capability.
type Migrator interface {
	// CheckMigration tells what a migration would meet; what is in the way is an answer and no error. An unknown guest is NotFound, an
	// unknown node Invalid with the field "node".
	CheckMigration(ctx context.Context, guest GuestRef, query MigrationQuery) (MigrationCheck, error)
	// Migrate moves a guest and sends its request once, as the methods of Snapshotter do. A node or storage that does not do is Invalid
	// with the field "node" or "storage"; a guest that runs, without Online or Restart, is Conflict; all of it at once or in the task.
	// Where the hypervisor leaves the move to its own manager, the task may end before the guest is on its new node.
	Migrate(ctx context.Context, guest GuestRef, spec MigrationSpec) (taskID string, err error)
}
