package backup

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/setting"
)

// Coverage says whether a guest has a recent enough, complete backup.
type Coverage struct {
	GuestID  int64  `json:"guest_id" example:"12"`
	Kind     string `json:"kind" enum:"vm,container"`
	VM       *int64 `json:"vm_id" doc:"ID of the VM; null for a container"`
	App      *int64 `json:"app_id" doc:"ID of the app that owns the container; null for VMs and other containers"`
	Name     string `json:"name" example:"web1"`
	HostID   int64  `json:"host_id" example:"1"`
	Host     string `json:"host" example:"lab"`
	GuestRef string `json:"guest_ref" example:"101"`
	// BackupID to AgeS describe the newest good backup; nil if there is none.
	BackupID *int64     `json:"backup_id" doc:"The newest backup that is neither damaged nor suspicious; null if there is none"`
	BackupAt *time.Time `json:"backup_at" doc:"When the backup in backup_id was taken"`
	Storage  *string    `json:"storage" example:"nas" doc:"Storage of the backup in backup_id"`
	AgeS     *int64     `json:"age_s" doc:"Age of the backup in backup_id in seconds"`
	// MaxAgeDays is nil for a guest for which no backup is promised.
	MaxAgeDays *int64 `json:"max_age_days" example:"7" doc:"Promised maximum age in days; null if no backup is promised"`
	State      string `json:"state" enum:"covered,partial,stale,exempt,unknown" doc:"partial: recent enough, but volumes of the guest are missing from it; exempt: no backup is promised; unknown: backups were not listed yet"`
	// LeftOut is empty while VolumesAt is nil: then nobody knows yet what the
	// backup lacks.
	LeftOut   []guest.LeftOut `json:"left_out" doc:"Volumes of the guest, and directories and devices of the node, that are or may be missing from the newest backup"`
	VolumesAt *time.Time      `json:"volumes_as_of" doc:"When the guest's configuration was read for left_out; null if it was not read yet"`
}

// CoverageSQL is a WITH clause for queries of other packages. Its last common
// table, judged, has one row per guest: id, kind, app, name, host_id,
// cluster_id, taken_at, promise in days, and state. $1 (bool) and $2 (team IDs)
// say what may be seen, and $3 is the value of the setting backup.max_age_days.
const CoverageSQL = coverage

// missing is the SQL condition for a volume v that a guest uses and that its newest backup, taken at taken_at, may not contain.
const missing = "(v.left_out OR v.included_at > taken_at) AND NOT v.unused AND v.storage <> ''"

// coverage judges all visible guests in one query. The index of backups by
// guest finds the newest good backup of each guest.
//
// $1 and $2 say what may be seen, and $3 is the promise in days for guests
// without a tag, except templates. The tag backup-none exempts a guest, and a
// tag such as backup-7d overrides the promise. If a guest has several such
// tags, the shortest promise counts.
const coverage = `WITH all_guests AS MATERIALIZED (
	SELECT g.id, g.kind, a.id AS app, COALESCE(a.name, g.name) AS name, g.host_id, h.name AS host, g.ref, g.cluster_id, n.id AS backup,
		n.taken_at, n.storage,
		CASE WHEN 'backup-none' = ANY(g.tags) THEN NULL ELSE COALESCE((SELECT min(substring(tag FROM 8 FOR length(tag) - 8)::bigint)
			FROM unnest(g.tags) tag WHERE tag ~ '` + guest.PromiseTag + `'), CASE WHEN NOT g.template THEN $3::bigint END) END AS promise
	FROM guests g JOIN hosts h ON h.id = g.host_id LEFT JOIN apps a ON a.guest_id = g.id
	LEFT JOIN LATERAL (SELECT b.id, b.taken_at, s.name AS storage FROM backups b JOIN backup_storages s ON s.id = b.storage_id
		WHERE b.guest_id = g.id AND ` + guest.GoodBackup + ` ORDER BY b.taken_at DESC NULLS LAST LIMIT 1) n ON true
	WHERE $1 OR h.team_id = ANY($2)
), judged AS (
	SELECT *, CASE WHEN promise IS NULL THEN 'exempt'
		WHEN taken_at >= now() - promise * interval '24 hours' THEN CASE WHEN EXISTS (SELECT FROM guest_volumes v
			WHERE v.guest_id = g.id AND ` + missing + `) THEN 'partial' ELSE 'covered' END
		WHEN taken_at IS NULL AND NOT EXISTS (SELECT FROM backup_storages s WHERE s.cluster_id = g.cluster_id AND s.as_of IS NOT NULL)
			THEN 'unknown'
		ELSE 'stale' END AS state
	FROM all_guests g
)`

// coverageRows returns one page, with the total in the first column. $4 leaves
// only stale guests, $5 is the offset and $6 the limit. Guests without a backup
// come first, then those with the oldest one.
const coverageRows = coverage + ` SELECT count(*) OVER (), id, kind, app, name, host_id, host, ref, backup, taken_at, storage,
	CASE WHEN taken_at IS NOT NULL THEN greatest(extract(epoch FROM now() - taken_at), 0) END::bigint, promise, state
	FROM judged WHERE NOT $4 OR state = 'stale' ORDER BY taken_at NULLS FIRST, id OFFSET $5 LIMIT $6`

// CoverageFilter narrows Coverage. The zero value does not filter.
type CoverageFilter struct {
	// Stale leaves only guests whose newest backup is older than promised.
	Stale bool
}

// Coverage returns one page of the visible guests with their newest good
// backup, and the number of guests on all pages. Guests without a backup come
// first, then those with the oldest one.
func (s *Store) Coverage(ctx context.Context, f CoverageFilter, visible identity.VisibleTeams, offset, limit int) ([]Coverage, int,
	error) {
	days, err := setting.Get(ctx, s.DB, setting.BackupMaxAge)
	if err != nil {
		return nil, 0, err
	}
	var total int
	rows, err := s.DB.Pool.Query(ctx, coverageRows, visible.All, visible.Teams, days, f.Stale, offset, limit)
	if err != nil {
		return nil, 0, db.Problem(fmt.Errorf("judging the backups of guests: %w", err))
	}
	all, err := db.CollectRows(rows, func(row pgx.CollectableRow) (Coverage, error) {
		var c Coverage
		err := row.Scan(&total, &c.GuestID, &c.Kind, &c.App, &c.Name, &c.HostID, &c.Host, &c.GuestRef, &c.BackupID, &c.BackupAt,
			&c.Storage,
			&c.AgeS, &c.MaxAgeDays, &c.State)
		if c.Kind == "vm" {
			c.VM = &c.GuestID
		}
		if c.BackupAt != nil {
			*c.BackupAt = c.BackupAt.UTC()
		}
		return c, err
	})
	if err != nil {
		return nil, 0, db.Problem(fmt.Errorf("judging the backups of guests: %w", err))
	}
	if err := s.addLeftOut(ctx, all); err != nil {
		return nil, 0, err
	}
	if len(all) == 0 && offset > 0 { // a page past the end has no row that tells
		err = s.DB.Pool.QueryRow(ctx, coverage+" SELECT count(*) FROM judged WHERE NOT $4 OR state = 'stale'", visible.All,
			visible.Teams, days,
			f.Stale).Scan(&total)
	}
	return all, total, db.Problem(err)
}

// addLeftOut sets LeftOut and VolumesAt of a page of guests.
func (s *Store) addLeftOut(ctx context.Context, all []Coverage) error {
	taken := make(map[int64]*time.Time, len(all))
	for i := range all {
		taken[all[i].GuestID] = all[i].BackupAt
	}
	left, asOf, err := guest.MissingVolumes(ctx, s.DB, taken)
	for i := range all {
		all[i].LeftOut = append([]guest.LeftOut{}, left[all[i].GuestID]...)
		if at, read := asOf[all[i].GuestID]; read {
			all[i].VolumesAt = &at
		}
	}
	return err
}
