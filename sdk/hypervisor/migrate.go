package hypervisor

import "context"

// OperationMigrate is the operation of moving a guest to another node of its
// cluster. The hypervisor's task belongs to the guest and runs on the node that it
// leaves.
const OperationMigrate Operation = "migrate"

// Codes of findings that block a migration or come with it, for
// MigrationFinding.Code. A driver may use other codes too.
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

// MigrationQuery describes a planned migration.
type MigrationQuery struct {
	// Node is the destination.
	Node string
	// Storage receives the disks that are on local storages. An empty value uses
	// storages of the same names on the destination.
	Storage string
}

// MigrationCheck is the result of Migrator.CheckMigration. It reserves nothing. It
// need not repeat what Config, Snapshots, Placement and Guest report: the service
// reads these itself, with the credential of Monitoring.
type MigrationCheck struct {
	// Live is true if a running guest keeps running during the migration. Otherwise
	// it is stopped and started.
	Live bool
	// Nodes are the destinations that the hypervisor allows. It is nil if the
	// hypervisor does not report them.
	Nodes []string
	// Blockers prevent the migration or make it fail. Warnings do not.
	Blockers, Warnings []MigrationFinding
	// Disks are the disks on local storages, which the migration copies.
	Disks []MigrationDisk
	// Resources are resources of the node that the guest uses, in the hypervisor's
	// words, such as "hostpci0".
	Resources []string
}

// MigrationFinding is one blocker or warning of a migration.
type MigrationFinding struct {
	// Code is one of the Migration codes. Message explains it to users in one
	// sentence.
	Code, Message string
}

// MigrationDisk is a disk that a migration copies.
type MigrationDisk struct {
	// Key is Disk.Key. It is empty for a volume that no key of the configuration
	// refers to.
	Key             string
	Storage, Volume string
	// SizeBytes is nil if the hypervisor does not report it.
	SizeBytes *int64
}

// MigrationSpec describes a migration.
type MigrationSpec struct {
	// Node is the destination.
	Node string
	// Online moves a running guest without stopping it. Restart stops it, moves it
	// and starts it again. At most one of them is set. A stopped guest needs
	// neither.
	Online, Restart bool
	// Storage has the meaning of MigrationQuery.Storage.
	Storage string
}

// Migrator is implemented by hosts that can move guests between the nodes of their
// cluster. All methods need the Lifecycle capability.
type Migrator interface {
	// CheckMigration reports what a migration would encounter. A blocker is a
	// result, not an error. An unknown guest is NotFound, an unknown node is
	// Invalid with the field "node".
	CheckMigration(ctx context.Context, guest GuestRef, query MigrationQuery) (MigrationCheck, error)
	// Migrate starts a migration and sends its request once, as the methods of
	// Snapshotter do. A node or storage that cannot be used is Invalid with the
	// field "node" or "storage". A running guest without Online or Restart is
	// Conflict. Both may be reported at once or in the task. If the hypervisor
	// hands the move to its own manager, the task may end before the guest is on
	// the new node.
	Migrate(ctx context.Context, guest GuestRef, spec MigrationSpec) (taskID string, err error)
}
