package alert

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
)

// WindowInput is a window as people write it: either StartsAt and EndsAt, or
// Cron and DurationS.
type WindowInput struct {
	Name             string
	Enabled          bool
	StartsAt, EndsAt *time.Time
	Cron             *string
	Timezone         string
	DurationS        *int64
	On               WindowScope
}

// maxWindow is how long a window is open once, and maxDuration how long one
// that comes again is each time.
const (
	maxWindow   = 366 * 24 * time.Hour
	minDuration = 60
	maxDuration = 7 * 24 * 3600
)

// Faults returns everything that is wrong with the draft itself.
func (d *WindowInput) Faults() []problem.Fault {
	var f faults
	f.name(d.Name)
	f.tags(d.On.Tags)
	if _, err := schedule.ParseZone(d.Timezone); err != nil {
		f.add(err.Error(), "timezone")
	}
	once, again := d.StartsAt != nil || d.EndsAt != nil, d.Cron != nil || d.DurationS != nil
	switch {
	case once && again:
		f.add("a window must have either starts_at and ends_at, or cron and duration_s", "cron")
	case again:
		if d.Cron == nil {
			f.add("a recurring window requires cron", "cron")
		} else if _, err := schedule.ParseCron(*d.Cron); err != nil {
			f.add(err.Error(), "cron")
		}
		if d.DurationS == nil || *d.DurationS < minDuration || *d.DurationS > maxDuration {
			f.add(fmt.Sprintf("must be from %d to %d", minDuration, maxDuration), "duration_s")
		}
	case d.StartsAt == nil:
		f.add("a window requires starts_at and ends_at, or cron and duration_s", "starts_at")
	case d.EndsAt == nil:
		f.add("a one-time window requires ends_at", "ends_at")
	case !d.StartsAt.Before(*d.EndsAt) || d.EndsAt.Sub(*d.StartsAt) > maxWindow:
		f.add("must be after starts_at, by at most 366 days", "ends_at")
	case d.StartsAt.Year() < 2000 || d.EndsAt.Year() > 9000:
		f.add("must be between the years 2000 and 9000", "starts_at")
	}
	return f
}

// args returns the values of a window's columns.
func (d *WindowInput) args() []any {
	return []any{d.Name, d.Enabled, d.StartsAt, d.EndsAt, d.Cron, d.Timezone, d.DurationS, d.On.TeamID, d.On.HostID, distinct(d.On.Tags)}
}

// Windows returns a page of the windows in the order of their creation, and the
// number of all.
func (s *Store) Windows(ctx context.Context, offset, limit int) (windows []*Window, total int, err error) {
	batch := &pgx.Batch{}
	batch.Queue("SELECT count(*) FROM maintenance_windows").QueryRow(func(row pgx.Row) error { return row.Scan(&total) })
	batch.Queue("SELECT "+windowColumns+", clock_timestamp() FROM maintenance_windows ORDER BY id OFFSET $1 LIMIT $2", offset, limit).
		Query(func(rows pgx.Rows) error {
			windows, err = db.CollectRows(rows, readWindow)
			return err
		})
	if err := s.DB.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, 0, db.Problem(fmt.Errorf("listing windows: %w", err))
	}
	return windows, total, nil
}

// Window returns one window. The problem is not_found.
func (s *Store) Window(ctx context.Context, id int64) (*Window, error) {
	return oneWindow(ctx, s.DB.Pool, id, "")
}

// oneWindow reads one window, with a lock clause if it will be changed.
func oneWindow(ctx context.Context, q rowsQuerier, id int64, lock string) (*Window, error) {
	rows, err := q.Query(ctx, "SELECT "+windowColumns+", clock_timestamp() FROM maintenance_windows WHERE id = $1"+lock, id)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a window: %w", err))
	}
	w, err := pgx.CollectExactlyOneRow(rows, readWindow)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, problem.New(problem.CodeNotFound, "maintenance window not found")
	}
	return w, db.Problem(err)
}

// CreateWindow stores a window. Problems: invalid, conflict above MaxWindows.
func (s *Store) CreateWindow(ctx context.Context, d WindowInput) (made *Window, err error) {
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		if err := db.CheckRowLimit(ctx, tx, "maintenance_windows", "windows", MaxWindows); err != nil {
			return err
		}
		if err := d.check(ctx, tx, nil); err != nil {
			return err
		}
		var id int64
		if err := tx.Pgx.QueryRow(ctx, `INSERT INTO maintenance_windows (name, enabled, starts_at, ends_at, cron, timezone, duration_s, team_id,
			host_id, tags) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id`, d.args()...).Scan(&id); err != nil {
			return fmt.Errorf("writing the window: %w", err)
		}
		if made, err = oneWindow(ctx, tx.Pgx, id, ""); err != nil {
			return err
		}
		return audited(ctx, tx, "maintenance_window", id, made.Name, map[string]any{"enabled": made.Enabled})
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// UpdateWindow changes a window by the function. Problems: not_found, and those
// of CreateWindow.
func (s *Store) UpdateWindow(ctx context.Context, id int64, change func(*WindowInput)) (written *Window, err error) {
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		w, err := oneWindow(ctx, tx.Pgx, id, " FOR UPDATE")
		if err != nil {
			return err
		}
		d := WindowInput{w.Name, w.Enabled, w.StartsAt, w.EndsAt, w.Cron, w.Timezone, w.DurationS, w.On}
		change(&d)
		if err := d.check(ctx, tx, w.On.Tags); err != nil {
			return err
		}
		if _, err := tx.Pgx.Exec(ctx, `UPDATE maintenance_windows SET name = $1, enabled = $2, starts_at = $3, ends_at = $4, cron = $5,
			timezone = $6, duration_s = $7, team_id = $8, host_id = $9, tags = $10, updated_at = clock_timestamp() WHERE id = $11`,
			append(d.args(), id)...); err != nil {
			return fmt.Errorf("writing the window: %w", err)
		}
		if written, err = oneWindow(ctx, tx.Pgx, id, ""); err != nil {
			return err
		}
		return audited(ctx, tx, "maintenance_window", id, written.Name, map[string]any{"enabled": written.Enabled})
	})
	if err != nil {
		return nil, err
	}
	return written, nil
}

// DeleteWindow deletes a window, which ends it. The problem is not_found.
func (s *Store) DeleteWindow(ctx context.Context, id int64) error {
	return s.DB.Tx(ctx, func(tx *db.Tx) error {
		w, err := oneWindow(ctx, tx.Pgx, id, " FOR UPDATE")
		if err != nil {
			return err
		}
		if _, err := tx.Pgx.Exec(ctx, "DELETE FROM maintenance_windows WHERE id = $1", id); err != nil {
			return fmt.Errorf("removing the window: %w", err)
		}
		return audited(ctx, tx, "maintenance_window", id, w.Name, nil)
	})
}

// check cleans the draft and refuses one that cannot be stored. was are the
// window's tags so far.
func (d *WindowInput) check(ctx context.Context, tx *db.Tx, was []string) error {
	f := faults(d.Faults())
	f.scope(was, d.On.Tags)
	if err := there(ctx, tx, &f, d.On.TeamID, d.On.HostID); err != nil {
		return err
	}
	if len(f) > 0 {
		return problem.Invalid(f...)
	}
	if d.Cron != nil {
		text, err := schedule.ParseCron(*d.Cron)
		if err != nil {
			return err
		}
		d.Cron = &text
	}
	return nil
}
