package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/setting"
)

// Status is the age of the catalog; the JSON names are those of the API.
type Status struct {
	Stale       bool           `json:"stale" doc:"true if the catalog was never synced, no source is enabled, or its age exceeds stale_after_s"`
	AgeS        *int64         `json:"age_s" example:"3600" doc:"Seconds since the oldest of the last successful syncs of the enabled sources; null if one was never synced"`
	SyncedAt    *time.Time     `json:"synced_at" doc:"Time of the sync that age_s refers to"`
	StaleAfterS int            `json:"stale_after_s" example:"172800" doc:"Value of the setting catalog_stale_after_s"`
	Entries     int            `json:"entries" example:"613"`
	Refreshing  bool           `json:"refreshing" doc:"true while a refresh is running or queued"`
	Categories  []Category     `json:"categories" nullable:"false" doc:"Categories of all enabled sources, in order"`
	Sources     []SourceStatus `json:"sources" nullable:"false" doc:"The enabled sources"`
}

// Category is a category of entries.
type Category struct {
	Key     string `json:"key" example:"documents"`
	Name    string `json:"name" example:"Documents"`
	Entries int    `json:"entries" example:"31" doc:"Number of entries in the category"`
}

// SourceStatus is the state of a source that is switched on.
type SourceStatus struct {
	Name     string       `json:"name" example:"scripts"`
	Title    string       `json:"title" example:"Community scripts"`
	Entries  int          `json:"entries" example:"613"`
	Pin      *string      `json:"pin"`
	Stale    bool         `json:"stale"`
	AgeS     *int64       `json:"age_s" doc:"Seconds since its last successful sync; null if there was none"`
	SyncedAt *time.Time   `json:"synced_at"`
	Failure  *Failure     `json:"failure" doc:"Why the last sync failed"`
	Held     *PendingLoss `json:"held" doc:"Removal of entries that waits for approval by an owner"`
}

// Status returns the age of the catalog, by the database's clock.
func (s *Store) Status(ctx context.Context) (*Status, error) {
	after, err := setting.Get(ctx, s.DB, setting.CatalogStaleAfter)
	if err != nil {
		return nil, err
	}
	status := &Status{Stale: true, StaleAfterS: after, Categories: []Category{}, Sources: []SourceStatus{}}
	var now time.Time
	err = s.DB.Pool.QueryRow(ctx, "SELECT now(), EXISTS (SELECT FROM jobs WHERE kind = $1 AND status IN ('queued', 'running'))", RefreshKind).
		Scan(&now, &status.Refreshing)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the age of the catalog: %w", err))
	}
	rows, err := s.rows(ctx)
	if err != nil {
		return nil, err
	}
	var oldest *time.Time
	never := false
	for _, r := range rows {
		if !r.Enabled {
			continue
		}
		one := SourceStatus{Name: r.Name, Title: r.Title, Entries: r.Entries, Pin: text(r.Pin), SyncedAt: utc(r.SyncedAt), Failure: r.failed(),
			Held: r.held(), AgeS: age(now, r.SyncedAt)}
		one.Stale = one.AgeS == nil || *one.AgeS > int64(after)
		status.Sources = append(status.Sources, one)
		status.Entries += r.Entries
		switch {
		case r.SyncedAt == nil:
			never = true
		case oldest == nil || r.SyncedAt.Before(*oldest):
			oldest = r.SyncedAt
		}
	}
	if oldest != nil && !never {
		status.SyncedAt, status.AgeS = utc(oldest), age(now, oldest)
		status.Stale = *status.AgeS > int64(after)
	}
	return status, s.countCategories(ctx, status)
}

// age returns how long ago a time is in seconds, or nil.
func age(now time.Time, at *time.Time) *int64 {
	if at == nil {
		return nil
	}
	return new(max(0, int64(now.Sub(*at)/time.Second)))
}

// countCategories returns the categories in the order of the sources, each
// once, with the name that the first source gives it.
func (s *Store) countCategories(ctx context.Context, status *Status) error {
	rows, err := s.DB.Pool.Query(ctx, `SELECT s.categories, coalesce((SELECT json_object_agg(key, n) FROM (SELECT c.key, count(*) AS n
		FROM catalog_entries e, unnest(e.categories) c (key) WHERE e.source = s.name GROUP BY c.key) counted), '{}')
		FROM catalog_sources s WHERE s.enabled ORDER BY s.name <> $1, s.name`, firstSource)
	if err != nil {
		return db.Problem(fmt.Errorf("reading the categories of the catalog: %w", err))
	}
	place := map[string]int{}
	var told, counted []byte
	_, err = pgx.ForEachRow(rows, []any{&told, &counted}, func() error {
		var categories []Category
		counts := map[string]int{}
		if err := json.Unmarshal(told, &categories); err != nil {
			return err
		}
		if err := json.Unmarshal(counted, &counts); err != nil {
			return err
		}
		for _, c := range categories {
			at, is := place[c.Key]
			if !is {
				at = len(status.Categories)
				place[c.Key] = at
				status.Categories = append(status.Categories, Category{Key: c.Key, Name: c.Name})
			}
			status.Categories[at].Entries += counts[c.Key]
		}
		return nil
	})
	if err != nil {
		return db.Problem(fmt.Errorf("reading the categories of the catalog: %w", err))
	}
	return nil
}
