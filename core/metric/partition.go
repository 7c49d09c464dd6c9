// Package metric keeps the samples that polls bring: one row for one thing at one time, in a partition for each day in
// UTC. Partitions are made ahead of time, and retention drops whole days, so that nothing is ever deleted row by row.
// Any number of instances may do both at once.
package metric

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

const (
	prefix = "metric_samples_"
	layout = "20060102"
	// ahead is how many days are ready beyond today, so that a service that maintains once a day never runs out.
	ahead = 2
	// lock is the key of the transaction lock that serialises making and dropping partitions ("metric").
	lock int64 = 0x6d6574726963
)

// Day is the start of the day in UTC that t belongs to.
func Day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// Ensure makes the partitions of yesterday (samples that fill a gap may be of that day), of today and of the two days
// after it, where they are missing.
func Ensure(ctx context.Context, d *db.DB, now time.Time) error {
	have, err := Partitions(ctx, d)
	if err != nil {
		return err
	}
	there := make(map[time.Time]bool, len(have))
	for _, day := range have {
		there[day] = true
	}
	var missing []time.Time
	for i := -1; i <= ahead; i++ {
		if day := Day(now).AddDate(0, 0, i); !there[day] {
			missing = append(missing, day)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return locked(ctx, d, func(tx pgx.Tx) error {
		for _, day := range missing {
			statement := fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s PARTITION OF metric_samples FOR VALUES FROM ('%s') TO ('%s')",
				table(day), day.Format(time.RFC3339), day.AddDate(0, 0, 1).Format(time.RFC3339))
			if _, err := tx.Exec(ctx, statement); err != nil {
				return fmt.Errorf("making the partition of %s: %w", day.Format(time.DateOnly), err)
			}
		}
		return nil
	})
}

// Drop removes the partitions of all days that ended before the given time and returns those days.
func Drop(ctx context.Context, d *db.DB, before time.Time) ([]time.Time, error) {
	var dropped []time.Time
	err := locked(ctx, d, func(tx pgx.Tx) error {
		dropped = nil
		have, err := partitions(ctx, tx)
		if err != nil {
			return err
		}
		for _, day := range have {
			if day.AddDate(0, 0, 1).After(before) {
				continue
			}
			if _, err := tx.Exec(ctx, "DROP TABLE "+table(day)); err != nil {
				return fmt.Errorf("dropping the partition of %s: %w", day.Format(time.DateOnly), err)
			}
			dropped = append(dropped, day)
		}
		return nil
	})
	return dropped, err
}

// Partitions lists the days that have a partition, oldest first.
func Partitions(ctx context.Context, d *db.DB) ([]time.Time, error) {
	return partitions(ctx, d.Pool)
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func partitions(ctx context.Context, q querier) ([]time.Time, error) {
	rows, err := q.Query(ctx, `SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = 'metric_samples'::regclass ORDER BY 1`)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing partitions: %w", err))
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing partitions: %w", err))
	}
	days := make([]time.Time, 0, len(names))
	for _, name := range names {
		// A table that someone attached by hand under a name of their own is theirs.
		if day, err := time.Parse(layout, strings.TrimPrefix(name, prefix)); err == nil {
			days = append(days, day)
		}
	}
	return days, nil
}

// locked runs fn in a transaction while no other instance makes or drops partitions.
func locked(ctx context.Context, d *db.DB, fn func(pgx.Tx) error) error {
	return d.Tx(ctx, func(tx *db.Tx) error {
		if _, err := tx.Pgx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", lock); err != nil {
			return fmt.Errorf("waiting for the partitions' lock: %w", err)
		}
		return fn(tx.Pgx)
	})
}

func table(day time.Time) string { return prefix + day.Format(layout) }
