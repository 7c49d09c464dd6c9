package guest

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Attachment is a NIC of a guest as it was last read.
type Attachment struct {
	ClusterID int64
	// TeamID is the team of the guest's host.
	TeamID  int64
	GuestID int64
	Kind    string
	Name    string
	VMID    *int64
	Node    string
	// NIC is the hypervisor's key of the NIC, such as "net0".
	NIC    string
	Bridge string
	VLAN   *int64
	MAC    string
	// AsOf is the time of the reading.
	AsOf time.Time
}

// VolumeUse is a volume in a guest's configuration as it was last read.
type VolumeUse struct {
	GuestID int64
	Kind    string
	Name    string
	VMID    *int64
	Node    string
	// Key is the hypervisor's key, such as "scsi0".
	Key       string
	Storage   string
	Volume    string
	SizeGB    *int64
	Removable bool
	// File is true for a volume that is neither a disk nor in a drive, such as
	// a hook script.
	File bool
	AsOf time.Time
}

// unread counts the guests of clusters whose configuration was never read, on
// one node or, if the node is empty, on all.
const unread = `SELECT count(*) FROM guests g LEFT JOIN guest_details d ON d.guest_id = g.id
	WHERE g.cluster_id = ANY ($1) AND ($2 = '' OR g.node = $2) AND d.as_of IS NULL`

// AttachedNICs returns the NICs of the clusters' guests that are on a bridge, as
// they were last read, sorted by cluster, guest and key. A node narrows the
// list to its guests. The result unknown is the number of guests that were
// never read, which the caller must report: they may be attached too.
func AttachedNICs(ctx context.Context, d *db.DB, clusters []int64, node string) (all []Attachment, unknown int, err error) {
	rows, err := d.Pool.Query(ctx, `SELECT g.cluster_id, h.team_id, g.id, g.kind, g.name, g.vmid, g.node, n.key, n.bridge, n.vlan, n.mac,
			d.as_of
		FROM guests g JOIN hosts h ON h.id = g.host_id JOIN guest_details d ON d.guest_id = g.id AND d.as_of IS NOT NULL
			JOIN guest_nics n ON n.guest_id = g.id
		WHERE g.cluster_id = ANY ($1) AND ($2 = '' OR g.node = $2) AND n.bridge <> '' ORDER BY g.cluster_id, g.id, n.key`, clusters, node)
	if err == nil {
		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Attachment])
	}
	if err == nil {
		err = d.Pool.QueryRow(ctx, unread, clusters, node).Scan(&unknown)
	}
	if err != nil {
		return nil, 0, db.Problem(fmt.Errorf("reading the attachments of guests: %w", err))
	}
	return all, unknown, nil
}

// VolumesOn returns the volumes on a storage that the guests of a cluster use,
// as they were last read, sorted by guest and key. The result unknown is the
// number of guests that were never read.
func VolumesOn(ctx context.Context, d *db.DB, clusterID int64, storage string) (all []VolumeUse, unknown int, err error) {
	rows, err := d.Pool.Query(ctx, `SELECT g.id, g.kind, g.name, g.vmid, g.node, v.key, v.storage, v.volume, v.size_gb, v.removable,
			v.file, d.as_of
		FROM guest_volumes v JOIN guests g ON g.id = v.guest_id JOIN guest_details d ON d.guest_id = g.id AND d.as_of IS NOT NULL
		WHERE g.cluster_id = $1 AND v.storage = $2 ORDER BY g.id, v.key`, clusterID, storage)
	if err == nil {
		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[VolumeUse])
	}
	if err == nil {
		err = d.Pool.QueryRow(ctx, unread, []int64{clusterID}, "").Scan(&unknown)
	}
	if err != nil {
		return nil, 0, db.Problem(fmt.Errorf("reading which guests use a storage: %w", err))
	}
	return all, unknown, nil
}

// VolumeQuery asks which guests of a cluster use a volume.
type VolumeQuery struct {
	ClusterID int64
	// Volume is the hypervisor's ID of the volume.
	Volume string
	// Node narrows the search to guests on it, VMs to VMs. Empty and false mean
	// all.
	Node string
	VMs  bool
	// Fresh is the age up to which a reading is trusted.
	Fresh time.Duration
	// Limit bounds the number of guests in the result.
	Limit int
}

// FindVolumeUsers returns the guests that may use a volume. The result named
// contains those that do according to the last reading. The result unclear
// contains those that were never read, not within query.Fresh, or before their
// last change, and those whose configuration is larger than what is stored. A
// caller that must be sure asks the hypervisor about these guests. All others
// were read so recently that asking again would not help.
func FindVolumeUsers(ctx context.Context, d *db.DB, query VolumeQuery) (named, unclear []int64, err error) {
	rows, err := d.Pool.Query(ctx, `SELECT g.id, v.named FROM guests g LEFT JOIN guest_details d ON d.guest_id = g.id
		CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM guest_volumes u WHERE u.guest_id = g.id AND u.volume = $2) AS named) v
		WHERE g.cluster_id = $1 AND ($3 = '' OR g.node = $3) AND (NOT $4 OR g.kind = 'vm') AND (v.named OR d.as_of IS NULL OR d.partial
			OR d.as_of <= now() - $5::interval OR d.stale_at >= d.as_of OR d.ident <> `+detailIdent+`)
		ORDER BY v.named DESC, g.id LIMIT $6`,
		query.ClusterID, host.Clean(query.Volume), query.Node, query.VMs, query.Fresh, query.Limit)
	if err != nil {
		return nil, nil, db.Problem(fmt.Errorf("reading the users of a volume: %w", err))
	}
	var id int64
	var uses bool
	_, err = pgx.ForEachRow(rows, []any{&id, &uses}, func() error {
		if uses {
			named = append(named, id)
		} else {
			unclear = append(unclear, id)
		}
		return nil
	})
	if err != nil {
		return nil, nil, db.Problem(fmt.Errorf("reading the users of a volume: %w", err))
	}
	return named, unclear, nil
}

// detailIdent is an SQL expression for what the inventory reports of a guest g.
// If it changes, the configuration may have changed too.
const detailIdent = `md5(concat_ws('/', g.ref, g.uid, g.node, g.name, g.cpus, g.memory_total, g.disk_total, g.template, g.tags,
	g.status IN ('running', 'paused')))`

// keepDetail stores the NICs and volumes of a configuration whose reading began
// at asOf. It ignores a reading that is older than the stored one, because two
// readings may end in another order than they began.
func keepDetail(ctx context.Context, d *db.DB, guestID int64, asOf time.Time, c hypervisor.Config) error {
	var nics nicColumns
	for _, n := range c.NICs[:min(len(c.NICs), maxParts)] {
		nics.add(n)
	}
	var volumes volumeColumns
	// A guest with more parts than are stored, or with pending changes, may use
	// a volume that its row does not show.
	partial := len(c.Pending) > 0 || len(c.Disks) > maxParts || len(c.Files) > maxParts
	for _, v := range c.Disks[:min(len(c.Disks), maxParts)] {
		if onStorage := v.Storage != "" && v.Volume != ""; onStorage || v.Local && v.LeftOut {
			volumes.add(v, false)
		} else {
			partial = partial || v.Volume != "" && !v.Local
		}
	}
	for _, v := range c.Files[:min(len(c.Files), maxParts)] {
		volumes.add(hypervisor.Disk{Key: v.Key, Storage: v.Storage, Volume: v.Volume}, true)
	}
	err := d.Tx(ctx, func(tx *db.Tx) error {
		tag, err := tx.Pgx.Exec(ctx, `INSERT INTO guest_details AS d (guest_id, as_of, ident, partial)
			SELECT g.id, $2, `+detailIdent+`, $3 FROM guests g WHERE g.id = $1 FOR KEY SHARE
			ON CONFLICT (guest_id) DO UPDATE SET as_of = EXCLUDED.as_of, ident = EXCLUDED.ident, partial = EXCLUDED.partial
			WHERE d.as_of IS NULL OR d.as_of < EXCLUDED.as_of`, guestID, asOf, partial)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		if err := nics.replace(ctx, tx, guestID); err != nil {
			return err
		}
		return volumes.replace(ctx, tx, guestID, asOf)
	})
	if err != nil {
		return db.Problem(fmt.Errorf("storing a guest's configuration: %w", err))
	}
	return nil
}

// keepNICs stores the NICs of a guest whose configuration was read before.
// Without that reading, the row would claim that the guest has no volumes.
func keepNICs(ctx context.Context, d *db.DB, guestID int64, list []hypervisor.NIC) error {
	var nics nicColumns
	for _, n := range list[:min(len(list), maxParts)] {
		nics.add(n)
	}
	err := d.Tx(ctx, func(tx *db.Tx) error {
		var read bool
		err := tx.Pgx.QueryRow(ctx, "SELECT as_of IS NOT NULL FROM guest_details WHERE guest_id = $1 FOR UPDATE", guestID).Scan(&read)
		if err == pgx.ErrNoRows || err == nil && !read {
			return nil
		}
		if err != nil {
			return err
		}
		return nics.replace(ctx, tx, guestID)
	})
	if err != nil {
		return db.Problem(fmt.Errorf("storing a guest's NICs: %w", err))
	}
	return nil
}

// storeReading stores a reading that was made for a user, as if the background reader
// had made it. The argument ago is how long ago it began. A failure is ignored,
// because the user already has the answer.
func storeReading(ctx context.Context, d *db.DB, guestID int64, ago time.Duration, c hypervisor.Config) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer cancel()
	// The time is computed by the database: the clock of this machine may
	// differ, and readings of several instances are compared.
	var asOf time.Time
	if err := d.Pool.QueryRow(ctx, "SELECT now() - $1::interval", ago).Scan(&asOf); err == nil {
		_ = keepDetail(ctx, d, guestID, asOf, c)
	}
}

// volumeColumns contains volumes in columns, for one INSERT with arrays. A
// directory or a device of the node has neither storage nor volume.
type volumeColumns struct {
	keys, storages, volumes, paths         []string
	sizes                                  []*int64
	removable, file, unused, kept, leftOut []bool
}

func (c *volumeColumns) add(v hypervisor.Disk, file bool) {
	c.keys, c.paths, c.sizes = append(c.keys, host.Clean(v.Key)), append(c.paths, host.Clean(v.Path)), append(c.sizes, v.SizeGB)
	c.storages, c.volumes = append(c.storages, host.Clean(v.Storage)), append(c.volumes, host.Clean(v.Volume))
	c.removable, c.file, c.unused = append(c.removable, v.Removable), append(c.file, file), append(c.unused, v.Unused)
	c.kept, c.leftOut = append(c.kept, v.Kept), append(c.leftOut, v.LeftOut)
}

// replace stores the volumes of a reading in place of earlier ones. For a
// volume that backups left out before and include now, it stores the time of
// the change: older backups do not contain it.
func (c *volumeColumns) replace(ctx context.Context, tx *db.Tx, guestID int64, asOf time.Time) error {
	rows, err := tx.Pgx.Query(ctx, `DELETE FROM guest_volumes WHERE guest_id = $1
		RETURNING volume, CASE WHEN left_out THEN $2::timestamptz ELSE included_at END`, guestID, asOf)
	if err != nil {
		return err
	}
	included := map[string]*time.Time{}
	var volume string
	var at *time.Time
	if _, err := pgx.ForEachRow(rows, []any{&volume, &at}, func() error {
		included[volume] = at
		return nil
	}); err != nil {
		return err
	}
	since := make([]*time.Time, len(c.volumes))
	for i, volume := range c.volumes {
		if volume != "" && !c.leftOut[i] {
			since[i] = included[volume]
		}
	}
	_, err = tx.Pgx.Exec(ctx, `INSERT INTO guest_volumes (guest_id, key, storage, volume, size_gb, removable, file, path, unused, kept,
			left_out, included_at)
		SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::boolean[], $7::boolean[], $8::text[], $9::boolean[],
			$10::boolean[], $11::boolean[], $12::timestamptz[]) ON CONFLICT DO NOTHING`,
		guestID, c.keys, c.storages, c.volumes, c.sizes, c.removable, c.file, c.paths, c.unused, c.kept, c.leftOut, since)
	return err
}

// nicColumns contains NICs in columns.
type nicColumns struct {
	keys, bridges, macs []string
	vlans               []*int64
}

func (c *nicColumns) add(n hypervisor.NIC) {
	c.keys, c.bridges = append(c.keys, host.Clean(n.Key)), append(c.bridges, host.Clean(n.Bridge))
	c.macs, c.vlans = append(c.macs, host.Clean(n.MAC)), append(c.vlans, n.VLAN)
}

func (c *nicColumns) replace(ctx context.Context, tx *db.Tx, guestID int64) error {
	if _, err := tx.Pgx.Exec(ctx, "DELETE FROM guest_nics WHERE guest_id = $1", guestID); err != nil {
		return err
	}
	_, err := tx.Pgx.Exec(ctx, `INSERT INTO guest_nics (guest_id, key, bridge, mac, vlan)
		SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[]) ON CONFLICT DO NOTHING`,
		guestID, c.keys, c.bridges, c.macs, c.vlans)
	return err
}

// detailStale records that a guest's configuration may have changed. The
// background reader then reads it before others, including a new guest that was
// never read.
func detailStale(ctx context.Context, d *db.DB, guestID int64) error {
	if _, err := d.Pool.Exec(ctx, `INSERT INTO guest_details (guest_id, stale_at) SELECT id, now() FROM guests WHERE id = $1 FOR KEY SHARE
		ON CONFLICT (guest_id) DO UPDATE SET stale_at = EXCLUDED.stale_at`, guestID); err != nil {
		return db.Problem(fmt.Errorf("recording that a guest has changed: %w", err))
	}
	return nil
}
