package guest

import (
	"context"
	"fmt"
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

// LeftOut is a volume, directory or device that backups of a guest leave out, as the guest's configuration was last read.
type LeftOut struct {
	Key     string  `json:"key" example:"mp0" doc:"The hypervisor's name of it"`
	Path    *string `json:"path" example:"/srv/data" doc:"Where a container has it mounted"`
	Storage *string `json:"storage" example:"local-lvm" doc:"Null for a directory or a device of the node"`
	Volume  *string `json:"volume" example:"local-lvm:vm-104-disk-1"`
	SizeGB  *int64  `json:"size_gb" example:"200" doc:"In GiB, rounded up; null where the hypervisor does not say"`
	// unused and kept are as of hypervisor.Disk.
	unused, kept bool
}

// disk is the volume in the words of drivers.
func (v *LeftOut) disk() hypervisor.Disk {
	d := hypervisor.Disk{Key: v.Key, SizeGB: v.SizeGB, Unused: v.unused, Kept: v.kept, Local: v.Storage == nil, LeftOut: true}
	for to, text := range map[*string]*string{&d.Path: v.Path, &d.Storage: v.Storage, &d.Volume: v.Volume} {
		if text != nil {
			*to = *text
		}
	}
	return d
}

// leftOut is, in SQL, what backups of the guests $1 leave out, by guest and key: a row without a key for each other guest that was read.
// What was read by a release that did not ask for it is not known.
const leftOut = `SELECT d.guest_id, d.as_of, COALESCE(v.key, ''), NULLIF(v.path, ''), NULLIF(v.storage, ''), NULLIF(v.volume, ''),
		v.size_gb, COALESCE(v.unused, false), COALESCE(v.kept, false)
	FROM guest_details d LEFT JOIN guest_volumes v ON v.guest_id = d.guest_id AND v.left_out
	WHERE d.guest_id = ANY ($1) AND d.as_of IS NOT NULL
		AND NOT EXISTS (SELECT FROM guest_volumes u WHERE u.guest_id = d.guest_id AND u.left_out IS NULL) ORDER BY d.guest_id, v.key`

// readLeftOut reads what backups of guests leave out, unused volumes too. A guest whose configuration was never read has no entry.
func readLeftOut(ctx context.Context, d *db.DB, guests []int64) (all map[int64][]LeftOut, asOf map[int64]time.Time, err error) {
	all, asOf = map[int64][]LeftOut{}, map[int64]time.Time{}
	rows, err := d.Pool.Query(ctx, leftOut, guests)
	var id int64
	var at time.Time
	var v LeftOut
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&id, &at, &v.Key, &v.Path, &v.Storage, &v.Volume, &v.SizeGB, &v.unused, &v.kept}, func() error {
			if asOf[id] = at.UTC(); v.Key != "" {
				all[id] = append(all[id], v)
			}
			return nil
		})
	}
	if err != nil {
		return nil, nil, db.Problem(fmt.Errorf("reading what backups leave out: %w", err))
	}
	return all, asOf, nil
}

// LeftOutOf gives what backups of guests leave out of what the guests use, and when each guest's configuration was read. A guest whose
// configuration was never read has no time.
func LeftOutOf(ctx context.Context, d *db.DB, guests []int64) (map[int64][]LeftOut, map[int64]time.Time, error) {
	all, asOf, err := readLeftOut(ctx, d, guests)
	for id := range all {
		all[id] = slices.DeleteFunc(all[id], func(v LeftOut) bool { return v.unused })
	}
	return all, asOf, err
}

// tellLeftOut tells what a backup of the guest leaves out, as the guest was last read.
func (on Subject) tellLeftOut(ctx context.Context, p *plan.Plan) error {
	if on.db == nil {
		return nil
	}
	all, _, err := LeftOutOf(ctx, on.db, []int64{on.Guest.ID})
	if left := all[on.Guest.ID]; err == nil && len(left) > 0 {
		disks := make([]hypervisor.Disk, len(left))
		for i := range left {
			disks[i] = left[i].disk()
		}
		p.Warn("The backup leaves out %s of %s.", naming(disks), on.Guest.Name)
	}
	return err
}

// namedVolumes is how many volumes a sentence names.
const namedVolumes = 10

// naming lists volumes for people, such as "mp0 (/srv/data, 200 GiB) and unused0".
func naming(disks []hypervisor.Disk) string {
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

// overwritten sorts the volumes of a guest by what a restore over the guest does to them.
type overwritten struct {
	// replaced are those that the backup has. Erased are destroyed, and detached stay unused, though the backup lacks them.
	replaced, erased, detached []hypervisor.Disk
}

// overwrite judges a restore over a guest by what the backup has. Without a content, the backup has what one that is taken now would have,
// and the restore destroys all else.
func overwrite(now hypervisor.Config, content *hypervisor.BackupContent) (o overwritten) {
	for _, d := range now.Disks {
		switch {
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

// all are those that the restore replaces, destroys or detaches.
func (o overwritten) all() []hypervisor.Disk { return slices.Concat(o.replaced, o.erased, o.detached) }

// holds reports whether a backup has a volume. A volume of a container is known by its path: its key may be another one by now.
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

// lacking are the volumes that a guest used when it was backed up and that the backup lacks.
func lacking(content *hypervisor.BackupContent) (disks []hypervisor.Disk) {
	if content == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(content.Disks), func(d hypervisor.Disk) bool { return !d.LeftOut || d.Unused || d.Local })
}

// readContent asks a host what a backup has. It is nil where the driver cannot tell.
func readContent(ctx context.Context, hosts host.Opener, hostID int64, b hypervisor.Backup) (*hypervisor.BackupContent, error) {
	content, err := host.AskWithin(ctx, hosts, lookLimit, hostID, endpoint.Backup,
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

// content is readContent once for a request.
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

// refused is problem invalid_state for a backup that the hypervisor would not make a guest of.
func refused(content *hypervisor.BackupContent, name string) error {
	if content == nil || content.Refused == "" {
		return nil
	}
	return problem.New(problem.CodeInvalidState, "cannot restore %s: %s", name, host.Clean(content.Refused))
}

// notInBackup is the refusal of what would destroy volumes of a guest that a backup lacks.
func notInBackup(name string, erased []hypervisor.Disk) error {
	return problem.New(problem.CodeVolumesNotInBackup, "cannot restore over %s: the backup lacks %s, which the restore would destroy; "+
		"restore it to a new id instead", name, naming(erased))
}

// volumeIDs are the hypervisor's ids of volumes.
func volumeIDs(disks []hypervisor.Disk) []string {
	ids := make([]string, len(disks))
	for i, d := range disks {
		ids[i] = d.Volume
	}
	return ids
}
