package feed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// These say how long a reader can be away and still hear all that it missed,
// and how often the history is marked and pruned.
const (
	// keep is for how long a row of the history can be resumed from, at least,
	// since it was there for all to see.
	keep = 15 * time.Minute
	// markEvery is the time between two marks, and pruneEvery between two
	// looks: of several instances one marks.
	markEvery  = 50 * time.Second
	pruneEvery = time.Minute
)

// Run keeps the history short until the context ends. Without it nothing is
// deleted, whether there are readers or not.
func (f *Feed) Run(ctx context.Context) {
	ticker := time.NewTicker(pruneEvery)
	defer ticker.Stop()
	for {
		f.Heartbeat.Beat(pruneEvery)
		if err := f.Prune(ctx, keep); err != nil && ctx.Err() == nil {
			f.Logger.Warn("could not shorten the history of the feed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Prune deletes rows that everybody could see for that long, and marks those
// that everybody can see now. While another instance does so it does nothing.
func (f *Feed) Prune(ctx context.Context, keep time.Duration) error {
	return f.DB.Tx(ctx, func(tx *db.Tx) error {
		var one bool
		err := tx.Pgx.QueryRow(ctx, "SELECT one FROM feed_state FOR UPDATE SKIP LOCKED").Scan(&one)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("locking the history of the feed: %w", err)
		}
		for _, s := range []struct {
			what, sql string
			arg       any
		}{
			{"marking", `INSERT INTO feed_marks (at, floor) SELECT now(), pg_snapshot_xmin(pg_current_snapshot())
				WHERE NOT EXISTS (SELECT FROM feed_marks WHERE at > now() - $1::interval)`, markEvery},
			{"deciding what is old in", `UPDATE feed_state s SET floor = m.floor FROM (SELECT max(floor) AS floor FROM feed_marks
				WHERE at <= now() - $1::interval) m WHERE m.floor > s.floor`, keep},
			{"deleting from", "DELETE FROM feed_changes WHERE xid < (SELECT floor FROM feed_state) AND $1::interval IS NOT NULL", keep},
			{"forgetting marks of", "DELETE FROM feed_marks WHERE at <= now() - $1::interval", keep},
		} {
			if _, err := tx.Pgx.Exec(ctx, s.sql, s.arg); err != nil {
				return fmt.Errorf("%s the history of the feed: %w", s.what, err)
			}
		}
		return nil
	})
}
