package guest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// LeftOut is a volume, directory or device that backups of a guest do not
// include, or did not include before. It comes from the guest's configuration
// as last read. A mount point that backups exclude is the usual case. People
// notice it when they restore, which is too late, so plans and lists show it.
type LeftOut struct {
	Key     string  `json:"key" example:"mp0" doc:"Key on the hypervisor"`
	Path    *string `json:"path" example:"/srv/data" doc:"Mount path in the container"`
	Storage *string `json:"storage" example:"local-lvm" doc:"Storage of the volume; null for a directory or a device of the node"`
	Volume  *string `json:"volume" example:"local-lvm:vm-104-disk-1"`
	SizeGB  *int64  `json:"size_gb" example:"200" doc:"Size in GiB, rounded up; null if the hypervisor does not report it"`
	// IncludedAt is nil while backups do not include it.
	IncludedAt *time.Time `json:"included_at" doc:"When Hostler first saw that backups include it; older backups may not contain it. Null while backups do not include it"`
	// unused and kept are as of hypervisor.Disk.
	unused, kept bool
}

// disk converts the volume to the type of drivers.
// The value is only as complete as naming and the plans need it.
func (v *LeftOut) disk() hypervisor.Disk {
	d := hypervisor.Disk{Key: v.Key, SizeGB: v.SizeGB, Unused: v.unused, Kept: v.kept, Local: v.Storage == nil, LeftOut: true}
	for to, text := range map[*string]*string{&d.Path: v.Path, &d.Storage: v.Storage, &d.Volume: v.Volume} {
		if text != nil {
			*to = *text
		}
	}
	return d
}

// leftOut selects the LeftOut rows of the guests $1, sorted by guest and key. A
// guest without any has one row with an empty key. A guest that was last read
// by a release without this information has no row, which means unknown and not
// none.
const leftOut = `SELECT d.guest_id, d.as_of, COALESCE(v.key, ''), NULLIF(v.path, ''), NULLIF(v.storage, ''), NULLIF(v.volume, ''),
		v.size_gb, v.included_at, COALESCE(v.unused, false), COALESCE(v.kept, false)
	FROM guest_details d LEFT JOIN guest_volumes v ON v.guest_id = d.guest_id AND (v.left_out OR v.included_at IS NOT NULL)
	WHERE d.guest_id = ANY ($1) AND d.as_of IS NOT NULL
		AND NOT EXISTS (SELECT FROM guest_volumes u WHERE u.guest_id = d.guest_id AND u.left_out IS NULL) ORDER BY d.guest_id, v.key`

// readLeftOut returns the LeftOut volumes of guests, including unused ones, and
// when the configuration of each guest was read. A guest whose configuration
// was never read is in neither map.
func readLeftOut(ctx context.Context, d *db.DB, guests []int64) (all map[int64][]LeftOut, asOf map[int64]time.Time, err error) {
	all, asOf = map[int64][]LeftOut{}, map[int64]time.Time{}
	rows, err := d.Pool.Query(ctx, leftOut, guests)
	var id int64
	var at time.Time
	var v LeftOut
	if err == nil {
		fields := []any{&id, &at, &v.Key, &v.Path, &v.Storage, &v.Volume, &v.SizeGB, &v.IncludedAt, &v.unused, &v.kept}
		_, err = pgx.ForEachRow(rows, fields, func() error {
			if asOf[id] = at.UTC(); v.Key != "" {
				all[id] = append(all[id], v)
			}
			return nil
		})
	}
	if err != nil {
		return nil, nil, db.Problem(fmt.Errorf("reading volumes that are not backed up: %w", err))
	}
	return all, asOf, nil
}

// MissingVolumes returns the used volumes of guests that their newest backups do
// not contain, or may not contain. The argument taken has the time of the
// newest backup by guest, nil if there is none. The result asOf has the time at
// which each configuration was read; guests that were never read are absent.
func MissingVolumes(ctx context.Context, d *db.DB, taken map[int64]*time.Time) (all map[int64][]LeftOut, asOf map[int64]time.Time,
	err error) {
	all, asOf, err = readLeftOut(ctx, d, slices.Collect(maps.Keys(taken)))
	for id, at := range taken {
		all[id] = slices.DeleteFunc(all[id], func(v LeftOut) bool {
			return v.unused || v.IncludedAt != nil && (at == nil || !at.Before(*v.IncludedAt))
		})
	}
	return all, asOf, err
}

// leftOutNow returns the disks of a guest that backups do not include, also
// unused ones, as last read.
func leftOutNow(ctx context.Context, d *db.DB, guestID int64) (disks []hypervisor.Disk, err error) {
	all, _, err := readLeftOut(ctx, d, []int64{guestID})
	return leftOutOf(all[guestID]), err
}

// leftOutOf returns the volumes that backups leave out at present.
func leftOutOf(all []LeftOut) (disks []hypervisor.Disk) {
	for _, v := range all {
		if v.IncludedAt == nil {
			disks = append(disks, v.disk())
		}
	}
	return disks
}

// warnLeftOut adds to a plan a warning about volumes that a backup of the guest
// does not contain, and says when that was last read. It does not ask the
// hypervisor, because a plan may concern hundreds of guests.
func (on Subject) warnLeftOut(ctx context.Context, p *plan.Plan) error {
	if on.db == nil {
		return nil
	}
	all, asOf, err := readLeftOut(ctx, on.db, []int64{on.Guest.ID})
	if err != nil {
		return err
	}
	at, read := asOf[on.Guest.ID]
	// Saying nothing here would look as if the backup were complete.
	if !read {
		p.Warn("The configuration of %s has not been read yet, so its backup may not include all volumes.", on.Guest.Name)
		return nil
	}
	disks := leftOutOf(all[on.Guest.ID])
	disks = slices.DeleteFunc(disks, func(d hypervisor.Disk) bool { return d.Unused })
	if len(disks) > 0 {
		p.Warn("The backup of %s does not include %s.", on.Guest.Name, formatVolumes(disks))
	}
	p.AddSince(plan.KindGuest, on.Guest.Name, at, "The list of the volumes of %s was last read at this time.", on.Guest.Name)
	return nil
}

// namedVolumes limits how many volumes a sentence names.
const namedVolumes = 10

// formatVolumes formats volumes for people, such as "mp0 (/srv/data, 200 GiB) and unused0".
func formatVolumes(disks []hypervisor.Disk) string {
	var names []string
	for _, d := range disks[:min(len(disks), namedVolumes)] {
		var about []string
		if path := host.Clean(d.Path); path != "" && path != "/" {
			about = append(about, path)
		}
		if d.SizeGB != nil {
			about = append(about, fmt.Sprintf("%d GiB", *d.SizeGB))
		}
		name := host.Clean(d.Key)
		if len(about) > 0 {
			name += " (" + strings.Join(about, ", ") + ")"
		}
		names = append(names, name)
	}
	if more := len(disks) - namedVolumes; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}

// overwriteEffect groups the volumes of a guest by what a restore over the guest does to them.
type overwriteEffect struct {
	// replaced volumes are in the backup. The others are not: erased ones are
	// destroyed, detached ones are kept as unused.
	replaced, erased, detached []hypervisor.Disk
}

// overwrite groups the volumes of a guest by the content of the backup that is
// to be restored. Without known content it assumes that the backup contains
// what a backup taken now would contain, and that the restore destroys
// everything else. That is the worst case, so no data is lost on a wrong
// assumption.
func overwrite(now hypervisor.Config, content *hypervisor.BackupContent) (o overwriteEffect) {
	for _, d := range now.Disks {
		switch {
		// A restore does not touch images, directories of the node, and volumes
		// of other guests.
		case d.Removable || d.Local || d.Kept:
		case holds(content, d):
			o.replaced = append(o.replaced, d)
		case content != nil && content.Keeps:
			o.detached = append(o.detached, d)
		default:
			o.erased = append(o.erased, d)
		}
	}
	return o
}

// all returns the volumes that the restore replaces, destroys or detaches.
func (o overwriteEffect) all() []hypervisor.Disk {
	return slices.Concat(o.replaced, o.erased, o.detached)
}

// holds reports whether a backup contains a volume. It matches the volumes of
// containers by their path, because their keys can change between backup and
// restore.
func holds(content *hypervisor.BackupContent, d hypervisor.Disk) bool {
	if content == nil || d.Unused {
		return !d.LeftOut && !d.Unused
	}
	return slices.ContainsFunc(content.Disks, func(o hypervisor.Disk) bool {
		same := o.Key == d.Key
		if d.Path != "" {
			same = o.Path == d.Path
		}
		return same && !o.LeftOut && !o.Unused && !o.Removable
	})
}

// missing returns the volumes that the guest used when it was backed up and
// that the backup does not contain.
func missing(content *hypervisor.BackupContent) (disks []hypervisor.Disk) {
	if content == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(content.Disks), func(d hypervisor.Disk) bool { return !d.LeftOut || d.Unused || d.Local })
}

// readContent asks a host for the content of a backup. It returns nil if the
// driver does not support that.
func readContent(ctx context.Context, hosts host.Opener, hostID int64, b hypervisor.Backup) (*hypervisor.BackupContent, error) {
	content, err := host.CallWithTimeout(ctx, hosts, callLimit, hostID, endpoint.Backup,
		func(ctx context.Context, at hypervisor.BackupReader) (hypervisor.BackupContent, error) {
			return at.BackupContent(ctx, b)
		})
	if err = plugin.Problem(err); unsupported(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &content, nil
}

// content calls readContent once per request.
func (on Subject) content(ctx context.Context, b hypervisor.Backup) (content *hypervisor.BackupContent, err error) {
	if on.read != nil && on.read.content != nil {
		return *on.read.content, nil
	}
	content, err = readContent(ctx, on.hosts, on.Guest.HostID, b)
	if err == nil && on.read != nil {
		on.read.content = &content
	}
	return content, err
}

// refused returns the problem invalid_state if the hypervisor would refuse to
// restore the backup.
func refused(content *hypervisor.BackupContent, name string) error {
	if content == nil || content.Refused == "" {
		return nil
	}
	return problem.New(problem.CodeInvalidState, "cannot restore %s: %s", name, host.Clean(content.Refused))
}

// notInBackup returns the refusal of a restore that would destroy volumes which
// are not in the backup.
func notInBackup(name string, erased []hypervisor.Disk) error {
	advice := "restore to a new ID instead"
	if !slices.ContainsFunc(erased, func(d hypervisor.Disk) bool { return !d.Unused }) {
		advice = "delete what you no longer need, or restore to a new ID"
	}
	return problem.New(problem.CodeVolumesNotInBackup, "cannot restore over %s: the restore would destroy %s, and the backup does not "+
		"contain that data; %s", name, formatVolumes(erased), advice)
}

// volumeIDs returns the hypervisor's IDs of volumes.
func volumeIDs(disks []hypervisor.Disk) []string {
	ids := make([]string, len(disks))
	for i, d := range disks {
		ids[i] = d.Volume
	}
	return ids
}
