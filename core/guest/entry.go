package guest

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
)

// App is a third kind for the filter of Entries: containers that are apps.
const App = "app"

// Entry is a guest in the list of all guests, with its app and team.
type Entry struct {
	Guest
	AppID     *int64  `json:"app_id" example:"3" doc:"ID of the app that owns the container; null for VMs and other containers"`
	App       *string `json:"app" example:"wiki" doc:"Name of the app"`
	ClusterID int64   `json:"cluster_id" example:"1"`
	TeamID    int64   `json:"team_id" example:"1"`
	Team      string  `json:"team" example:"Web shop" doc:"Name of the team that owns the host"`
	// BackupAt is as the storages of backups were last listed.
	BackupAt *time.Time `json:"backup_at" doc:"When the newest backup that counts was taken; null if none is known"`
}

// entryColumns are the columns of an Entry, from the tables of entryJoin.
const entryColumns = columns + `, a.id, a.name, h.team_id, t.name,
	(SELECT b.taken_at FROM backups b WHERE b.guest_id = g.id AND ` + GoodBackup + `
	ORDER BY b.taken_at DESC LIMIT 1)`

// entryJoin joins a guest with its team and its app.
const entryJoin = join + `
	JOIN teams t ON t.id = h.team_id
	LEFT JOIN apps a ON a.guest_id = g.id`

// Entries returns all guests that the caller may see, sorted by cluster and
// number, in one query. The kind of the filter may be App.
func (s *Store) Entries(ctx context.Context, f Filter, visible identity.VisibleTeams) ([]Entry, error) {
	adopted := f.Kind == App
	if adopted {
		f.Kind = Container
	}
	where := f.conditions(visible, "a.name")
	where.add(adopted, "a.id IS NOT NULL")
	rows, err := s.DB.Pool.Query(ctx, "SELECT "+entryColumns+" FROM "+entryJoin+where.clause()+order, where.args...)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing all guests: %w", err))
	}
	all, err := collectEntries(rows)
	if err != nil || len(all) == 0 {
		return all, db.Problem(err)
	}
	self, err := s.Self.Guests(ctx)
	for i := range all {
		all[i].markSelf(self)
	}
	return all, err
}

// EntriesByID returns the guests with these IDs. Unknown IDs are left out. The
// caller checks who may see them.
func (s *Store) EntriesByID(ctx context.Context, ids []int64) ([]Entry, error) {
	rows, err := s.DB.Pool.Query(ctx, "SELECT "+entryColumns+" FROM "+entryJoin+" WHERE g.id = ANY ($1)", ids)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading guests: %w", err))
	}
	all, err := collectEntries(rows)
	if err != nil || len(all) == 0 {
		return all, db.Problem(err)
	}
	self, err := s.Self.Guests(ctx)
	for i := range all {
		all[i].markSelf(self)
	}
	return all, err
}

// collectEntries reads the rows of a query with entryColumns.
func collectEntries(rows pgx.Rows) ([]Entry, error) {
	var e Entry
	fields := append(e.fields(), &e.AppID, &e.App, &e.TeamID, &e.Team, &e.BackupAt)
	return db.CollectRows(rows, func(row pgx.CollectableRow) (Entry, error) {
		e = Entry{}
		if err := row.Scan(fields...); err != nil {
			return e, fmt.Errorf("reading a guest: %w", err)
		}
		e.ClusterID = e.clusterID
		if e.BackupAt != nil {
			*e.BackupAt = e.BackupAt.UTC()
		}
		return e, nil
	})
}
