package alert

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/schedule"
)

// Window is a time without messages about alerts; the JSON names are those of
// the API.
type Window struct {
	ID        int64       `json:"id" example:"4"`
	Name      string      `json:"name" example:"Nightly backups"`
	Enabled   bool        `json:"enabled" example:"true"`
	StartsAt  *time.Time  `json:"starts_at" doc:"Start of a one-time window; null for a recurring one"`
	EndsAt    *time.Time  `json:"ends_at"`
	Cron      *string     `json:"cron" example:"0 1 * * *" doc:"Cron expression of the starts of a recurring window; null for a one-time window"`
	Timezone  string      `json:"timezone" example:"Europe/Berlin"`
	DurationS *int64      `json:"duration_s" example:"7200" doc:"Length of each recurring window in seconds"`
	On        WindowScope `json:"on"`
	// Open is as of when it was read.
	Open      bool      `json:"open" doc:"true while the window is open"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// WindowScope selects the alerts of a window: those that match everything in
// it. An empty scope selects all.
type WindowScope struct {
	TeamID *int64   `json:"team_id" example:"2" doc:"Only objects of this team"`
	HostID *int64   `json:"host_id" example:"1" doc:"Only this host and the objects on it, and its cluster as a whole"`
	Tags   []string `json:"tags" nullable:"false" example:"[\"prod\"]" doc:"Only guests with one of these tags; empty for all objects"`
}

// windowColumns are the columns of a window.
const windowColumns = `id, name, enabled, starts_at, ends_at, cron, timezone, duration_s, team_id, host_id, tags, created_at, updated_at`

// readWindow reads windowColumns and the time by which it is open.
func readWindow(row pgx.CollectableRow) (*Window, error) {
	w := &Window{}
	var now time.Time
	err := row.Scan(&w.ID, &w.Name, &w.Enabled, &w.StartsAt, &w.EndsAt, &w.Cron, &w.Timezone, &w.DurationS, &w.On.TeamID, &w.On.HostID,
		&w.On.Tags, &w.CreatedAt, &w.UpdatedAt, &now)
	if err != nil {
		return nil, fmt.Errorf("reading a window: %w", err)
	}
	w.StartsAt, w.EndsAt = utc(w.StartsAt), utc(w.EndsAt)
	w.CreatedAt, w.UpdatedAt = w.CreatedAt.UTC(), w.UpdatedAt.UTC()
	w.Open = w.openAt(now)
	return w, nil
}

// openAt reports whether the window is open. A recurring window opens like a
// schedule: if the clock skips its time, immediately after that.
func (w *Window) openAt(now time.Time) bool {
	if !w.Enabled {
		return false
	}
	if w.Cron == nil {
		return !now.Before(*w.StartsAt) && now.Before(*w.EndsAt)
	}
	e, err := schedule.NewExpression(*w.Cron, w.Timezone)
	if err != nil {
		return false // it was good when it was written
	}
	opened := e.Next(now.Add(-time.Duration(*w.DurationS) * time.Second))
	return !opened.IsZero() && !opened.After(now)
}

// rowsQuerier is a pool or a transaction.
type rowsQuerier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// openWindows returns the ids of the open windows.
func openWindows(ctx context.Context, q rowsQuerier, now time.Time) ([]int64, error) {
	rows, err := q.Query(ctx, "SELECT "+windowColumns+", $1::timestamptz FROM maintenance_windows WHERE enabled ORDER BY id", now)
	if err != nil {
		return nil, fmt.Errorf("reading windows: %w", err)
	}
	all, err := pgx.CollectRows(rows, readWindow)
	if err != nil {
		return nil, fmt.Errorf("reading windows: %w", err)
	}
	open := []int64{}
	for _, w := range all {
		if w.Open {
			open = append(open, w.ID)
		}
	}
	return open, nil
}
