// Package backup caches the backups that the hypervisors hold, and deletes,
// protects and restores them.
//
// The flow is:
//
//   - adopt copies from the inventory of the polls which storages can hold
//     backups into the table backup_storages.
//   - Run lists every such storage once an hour, a shared one once per
//     cluster, through a host with a token for backups. A job of this service
//     that has changed a storage calls Refresh and does not wait for the
//     hour.
//   - source.write replaces the rows of the storage in the table backups and
//     links each backup to its guest.
//   - judgeOwners marks backups of which it is doubtful whose they are,
//     because two clusters list the same file.
//
// A listing that fails leaves the known backups as they are. The row of the
// storage then has the time and the reason of the failure.
//
// A backup belongs to the guest with the same lasting identity, where the
// hypervisor has one. Elsewhere it belongs to the guest with the same kind and
// ID, unless something shows that the ID was reused.
//
// The package also writes the daily report of backups and requests jobs that
// delete what schedules no longer keep.
package backup

import (
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/heartbeat"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Store reads the cache, keeps it fresh, and requests jobs on backups. Call
// Register before the queue starts, and Run once per instance. Its methods are
// safe for concurrent use.
type Store struct {
	DB     *db.DB
	Actor  *guest.Actor
	Guests *guest.Store
	// Logger gets failures of Run, which no request reports. nil logs nothing.
	Logger hclog.Logger
	// Heartbeat gets a beat at every turn of Run; nil is allowed.
	Heartbeat *heartbeat.Monitor
	// HostsUnavailable reports whether this instance cannot decrypt tokens for
	// now, because its key file missed a rotation. Run then lists nothing and
	// leaves the work to other instances. nil means never.
	HostsUnavailable func() bool
}

func (s *Store) log() hclog.Logger {
	if s.Logger == nil {
		return hclog.NewNullLogger()
	}
	return s.Logger
}

// Backup is a backup of the cache; the JSON names are those of the API.
type Backup struct {
	ID       int64  `json:"id" example:"12" doc:"ID in Hostler"`
	HostID   int64  `json:"host_id" example:"1" doc:"The host through which the storage is reached"`
	Storage  string `json:"storage" example:"nas"`
	Kind     string `json:"kind" enum:"vm,container" doc:"Kind of the guest that was backed up"`
	VMID     *int64 `json:"vmid" example:"101" doc:"VMID of the guest when the backup was taken; null if the hypervisor has no VMIDs"`
	GuestRef string `json:"guest_ref" example:"101" doc:"ID of the guest on the hypervisor when the backup was taken"`
	VM       *int64 `json:"vm_id" example:"3" doc:"ID of the VM; null for a container's backup, and if the guest was deleted"`
	App      *int64 `json:"app_id" doc:"ID of the app; null if it is not an app's backup, or if the app was deleted"`
	Name     string `json:"name" example:"web1" doc:"Name of the guest; empty if not known"`
	// TakenAt is nil where the hypervisor does not say.
	TakenAt   *time.Time `json:"taken_at" doc:"When it was taken; null if the hypervisor does not report it"`
	SizeBytes *int64     `json:"size_bytes" doc:"Size in bytes; null if the hypervisor does not report it"`
	Format    string     `json:"format" example:"vma.zst"`
	Protected bool       `json:"protected" doc:"true if it cannot be deleted until its protection is removed"`
	Encrypted bool       `json:"encrypted"`
	Notes     string     `json:"notes"`
	// Verified is one of the words of the SDK: hypervisor.BackupVerified or
	// hypervisor.BackupDamaged.
	Verified *string `json:"verified" enum:"ok,failed" doc:"Result of its last verification; null if it was never verified"`
	// Suspicion is one of the words of package guest, computed by
	// guest.BackupSuspicion.
	Suspicion *string   `json:"suspicion" enum:"unfinished,in_future,owner_unknown" doc:"Why it does not count as a backup of the guest: it is empty, its date is in the future, or two clusters list it and neither its notes nor a job of Hostler proves that it belongs to this guest. Null if it counts"`
	AsOf      time.Time `json:"as_of" doc:"When its storage was last listed"`
}

// stored is a backup with the data that requests to its hypervisor need.
type stored struct {
	Backup
	// at is the backup as the driver knows it; a job sends it back to the
	// driver.
	at        hypervisor.Backup
	storageID int64
	clusterID int64
	guestID   *int64
	teamID    int64
}

// columns are the columns of a stored in the order in which scan reads them, on
// the tables of join.
const columns = `b.id, s.host_id, s.name, b.kind, b.guest_ref, CASE WHEN g.kind = 'vm' THEN g.id END, a.id,
	COALESCE(a.name, g.name, b.name), b.taken_at, b.size, b.format, b.protected, b.encrypted, b.notes, NULLIF(b.verified, ''),
	` + guest.BackupSuspicion + `, COALESCE(s.as_of, 'epoch'), b.ref, b.node, COALESCE(b.uid, ''), b.storage_id, b.cluster_id,
	b.guest_id, h.team_id, CASE WHEN b.guest_ref ~ '^[0-9]{1,18}$' THEN b.guest_ref::bigint END`

// join is the tables of columns.
const join = ` FROM backups b
	JOIN backup_storages s ON s.id = b.storage_id
	JOIN hosts h ON h.id = s.host_id
	LEFT JOIN guests g ON g.id = b.guest_id
	LEFT JOIN apps a ON a.guest_id = g.id`

// scan reads a row of columns. Times are in UTC. It fills the driver's form of
// the backup from the same columns.
func scan(row pgx.CollectableRow) (stored, error) {
	var b stored
	p, h := &b.Backup, &b.at
	err := row.Scan(&p.ID, &p.HostID, &p.Storage, &p.Kind, &p.GuestRef, &p.VM, &p.App, &p.Name, &p.TakenAt, &p.SizeBytes, &p.Format,
		&p.Protected, &p.Encrypted, &p.Notes, &p.Verified, &p.Suspicion, &p.AsOf, &h.ID, &h.Node, &h.UID, &b.storageID, &b.clusterID, &b.guestID,
		&b.teamID, &p.VMID)
	if err != nil {
		return b, fmt.Errorf("reading a backup: %w", err)
	}
	p.AsOf = p.AsOf.UTC()
	h.Storage, h.Kind, h.Guest = p.Storage, hypervisor.GuestKind(p.Kind), hypervisor.GuestID(p.GuestRef)
	h.SizeBytes, h.Format, h.Protected, h.Encrypted, h.Notes = p.SizeBytes, p.Format, p.Protected, p.Encrypted, p.Notes
	if p.TakenAt != nil {
		*p.TakenAt = p.TakenAt.UTC()
		h.TakenAt = *p.TakenAt
	}
	return b, nil
}
