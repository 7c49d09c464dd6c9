package appscript

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// Update tells for one of several apps whether it has an update; the JSON names
// are those of the API.
type Update struct {
	AppID         int64   `json:"app_id" example:"3"`
	App           string  `json:"app" example:"wiki"`
	Available     bool    `json:"available" doc:"true if the catalog has a different commit of the entry's own files than the script of the app"`
	Reason        *string `json:"reason" enum:"edited,no_entry,no_commit,no_script,current" doc:"Why no update is known; null if one is known"`
	Detail        *string `json:"detail" doc:"The reason as a sentence"`
	Script        *int    `json:"script" example:"3" doc:"Newest version of the app's script; null for an app without a script"`
	Commit        *string `json:"commit" doc:"Commit of the app's script; null if there is none or the script was edited"`
	CatalogCommit *string `json:"catalog_commit" doc:"Commit in the catalog; null if the catalog has none"`
	Version       *string `json:"version" example:"1.5.0" doc:"Version of the app after its last update, as the app stores it; null if there was no update or it stores none"`
	Outcome       *string `json:"outcome" enum:"updated,nothing_to_do,rolled_back,needs_human" doc:"Outcome of the last finished update; null if there was none"`
}

// Updates tells for all apps that the caller may see whether they have an
// update. It asks no source and creates no bundle, so that a list of hundreds
// of apps is fast.
func (s *Store) Updates(ctx context.Context) ([]*Update, error) {
	apps, err := s.listed(ctx)
	if err != nil {
		return nil, err
	}
	newest, entries, err := s.scripts(ctx, apps)
	if err != nil {
		return nil, err
	}
	all := make([]*Update, len(apps))
	byID := map[int64]*Update{}
	ids := make([]int64, len(apps))
	for i, l := range apps {
		c := &candidate{appID: l.ID, newest: newest[l.ID]}
		if l.Slug != nil {
			c.entry = entries[*l.Slug]
		}
		all[i], ids[i] = c.update(l.Name), l.ID
		byID[l.ID] = all[i]
	}
	return all, s.outcomes(ctx, ids, byID)
}

// update compares an app's script with the catalog. If the state of the app is
// unknown, it has no update here; it can be updated alone.
func (c *candidate) update(name string) *Update {
	u := &Update{AppID: c.appID, App: name}
	if c.newest != nil {
		u.Script = &c.newest.Version
	}
	if base := c.base(); base != nil {
		u.Commit = base.Commit
	}
	if c.entry != nil && c.entry.Commit != "" {
		u.CatalogCommit = &c.entry.Commit
	}
	reason := c.reason()
	if reason == "" && c.base() == nil {
		reason = ReasonNoScript
	}
	if u.Available = reason == ""; !u.Available {
		u.Reason, u.Detail = &reason, new(reasons[reason])
	}
	return u
}

// outcomes adds the result of the last finished update of each app.
func (s *Store) outcomes(ctx context.Context, ids []int64, byID map[int64]*Update) error {
	rows, err := s.DB.Pool.Query(ctx, `SELECT DISTINCT ON (u.app_id) u.app_id, u.version_after, u.outcome FROM app_updates u
		WHERE u.app_id = ANY($1) AND u.outcome IS NOT NULL ORDER BY u.app_id, u.job_id DESC`, ids)
	if err == nil {
		var id int64
		var version, outcome *string
		_, err = pgx.ForEachRow(rows, []any{&id, &version, &outcome}, func() error {
			byID[id].Version, byID[id].Outcome = version, outcome
			return nil
		})
	}
	if err != nil {
		return db.Problem(fmt.Errorf("reading the results of updates: %w", err))
	}
	return nil
}
