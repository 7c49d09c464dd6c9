// Package backup is the cache of the backups that the hypervisors hold, and what people do with them.
//
// A storage is listed once an hour with the token for backups, a shared one once for its cluster, and again when a job of ours has
// changed it. A listing that fails leaves what is known, with its age and the reason. A backup is linked to the guest that it is of by
// the guest's lasting identity where the hypervisor has one, and else by kind and id, as long as nothing says that this is another guest.
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

// Store reads the cache, keeps it fresh, and asks for work on backups.
type Store struct {
	DB     *db.DB
	Actor  *guest.Actor
	Guests *guest.Store
	// Logger gets what users do not see; nil logs nothing.
	Logger hclog.Logger
	// Heartbeat hears of every turn of Run; nil hears nothing.
	Heartbeat *heartbeat.Monitor
	// HostsUnavailable reports whether this instance can open no token for now; nil stands for never.
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
	Name     string `json:"name" example:"web1" doc:"Name of the guest; empty if never known"`
	// TakenAt is nil where the hypervisor does not say.
	TakenAt   *time.Time `json:"taken_at" doc:"When it was taken; null if the hypervisor does not report it"`
	SizeBytes *int64     `json:"size_bytes" doc:"Size in bytes; null if the hypervisor does not report it"`
	Format    string     `json:"format" example:"vma.zst"`
	Protected bool       `json:"protected" doc:"true if it cannot be deleted until its protection is removed"`
	Encrypted bool       `json:"encrypted"`
	Notes     string     `json:"notes"`
	// Verified is one of the SDK's words.
	Verified *string `json:"verified" enum:"ok,failed" doc:"Result of its last verification; null if it was never verified"`
	// Suspicion is one of the words of package guest.
	Suspicion *string   `json:"suspicion" enum:"unfinished,in_future,owner_unknown" doc:"Why it does not count as a backup of the guest: it is empty, its date is in the future, or two clusters list it and neither its notes nor a job of Hostler proves that it belongs to this guest. Null if it counts"`
	AsOf      time.Time `json:"as_of" doc:"When its storage was last listed"`
}

// stored is a backup with what its hypervisor needs to know.
type stored struct {
	Backup
	// at is the backup in the words of the hypervisor.
	at        hypervisor.Backup
	storageID int64
	clusterID int64
	guestID   *int64
	teamID    int64
}

// columns of a stored in the order of fields, on the tables of join.
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
