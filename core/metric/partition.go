package metric

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hostler/hostler/core/db"
)

// Resolution is the time between two points of a stored series.
type Resolution string

// The resolutions.
const (
	Raw         Resolution = "raw"
	FiveMinutes Resolution = "5m"
	OneHour     Resolution = "1h"
)

// These are the times around now for which partitions exist.
const (
	// behind and ahead are the time around now for which partitions are ready:
	// samples that fill a gap may be of yesterday, and a service that maintains
	// once a day must never run out.
	behind = 24 * time.Hour
	ahead  = 48 * time.Hour
	// lock is the key of the transaction lock that serialises making and
	// dropping partitions ("metric").
	lock int64 = 0x6d6574726963
	// dropWait is how long a drop waits for readers: whoever adds samples waits behind it.
	dropWait = "3s"
)

// series is where a resolution is stored.
type series struct {
	table  string
	layout string
	// start is where the partition of a time begins, and next where the one after it does.
	start, next func(time.Time) time.Time
}

// kept are the series by resolution, with the span of one partition.
var kept = map[Resolution]series{
	Raw:         {"metric_samples", "20060102", Day, nextDay},
	FiveMinutes: {"metric_5m", "20060102", Day, nextDay},
	OneHour:     {"metric_1h", "200601", month, nextMonth},
}

// Day returns the beginning of the day in UTC.
func Day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// nextDay gives the next midnight, in UTC.
func nextDay(t time.Time) time.Time { return Day(t).AddDate(0, 0, 1) }

// month gives the first of the month, in UTC.
func month(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// nextMonth gives the first of the next month, in UTC.
func nextMonth(t time.Time) time.Time { return month(t).AddDate(0, 1, 0) }

// partition gives the name of the partition that begins at start.
func (s series) partition(start time.Time) string { return s.table + "_" + start.Format(s.layout) }

// EnsurePartitions creates the missing partitions of all resolutions for yesterday
// (samples that fill a gap may be of that day), today and the two days after
// it.
func EnsurePartitions(ctx context.Context, d *db.DB, now time.Time) error {
	for _, resolution := range []Resolution{Raw, FiveMinutes, OneHour} {
		if err := kept[resolution].ensure(ctx, d, now.Add(-behind), now.Add(ahead)); err != nil {
			return err
		}
	}
	return nil
}

// ensure creates the partitions from the first time to the last.
func (s series) ensure(ctx context.Context, d *db.DB, first, last time.Time) error {
	have, err := s.partitions(ctx, d.Pool)
	if err != nil {
		return err
	}
	var missing []time.Time
	for start := s.start(first); !start.After(last); start = s.next(start) {
		if !slices.ContainsFunc(have, start.Equal) {
			missing = append(missing, start)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return locked(ctx, d, func(tx pgx.Tx) error {
		for _, start := range missing {
			statement := fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s PARTITION OF %s FOR VALUES FROM ('%s') TO ('%s')",
				s.partition(start), s.table, start.Format(time.RFC3339), s.next(start).Format(time.RFC3339))
			if _, err := tx.Exec(ctx, statement); err != nil {
				return fmt.Errorf("creating the partition %s: %w", s.partition(start), err)
			}
		}
		return nil
	})
}

// ErrInUse reports that a partition could not be dropped because somebody was
// reading it. A later attempt will succeed.
var ErrInUse = errors.New("the partition is in use")

// DropPartitions drops the partitions of a resolution that ended before the given time,
// the oldest first. It returns the beginnings of the dropped ones, also with an
// error. It does not check whether they were rolled up; see Droppable.
func DropPartitions(ctx context.Context, d *db.DB, resolution Resolution, before time.Time) ([]time.Time, error) {
	s := kept[resolution]
	have, err := s.partitions(ctx, d.Pool)
	if err != nil {
		return nil, err
	}
	var dropped []time.Time
	for _, start := range have {
		if s.next(start).After(before) {
			break
		}
		if err := s.drop(ctx, d, start); err != nil {
			return dropped, err
		}
		dropped = append(dropped, start)
	}
	return dropped, nil
}

// drop drops one partition. It is no error if another instance was faster.
func (s series) drop(ctx context.Context, d *db.DB, start time.Time) error {
	err := locked(ctx, d, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '"+dropWait+"'"); err != nil {
			return fmt.Errorf("bounding the wait: %w", err)
		}
		_, err := tx.Exec(ctx, "DROP TABLE IF EXISTS "+s.partition(start))
		var refused *pgconn.PgError
		if errors.As(err, &refused) && refused.Code == "55P03" { // lock_not_available
			return ErrInUse
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("dropping the partition %s: %w", s.partition(start), err)
	}
	return nil
}

// Partitions lists where the partitions of a resolution begin, oldest first.
func Partitions(ctx context.Context, d *db.DB, resolution Resolution) ([]time.Time, error) {
	return kept[resolution].partitions(ctx, d.Pool)
}

// querier is a pool, a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// partitions lists the partitions that are there, by their beginnings. A table
// whose name is not of the layout is skipped: nothing may be dropped that
// somebody else made.
func (s series) partitions(ctx context.Context, q querier) ([]time.Time, error) {
	rows, err := q.Query(ctx, `SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = $1::regclass ORDER BY 1`, s.table)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing partitions: %w", err))
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing partitions: %w", err))
	}
	starts := make([]time.Time, 0, len(names))
	for _, name := range names {
		// A table that someone attached by hand under a name of their own is theirs.
		if start, err := time.Parse(s.layout, strings.TrimPrefix(name, s.table+"_")); err == nil {
			starts = append(starts, start)
		}
	}
	return starts, nil
}

// locked runs fn in a transaction while no other instance creates or drops
// partitions.
func locked(ctx context.Context, d *db.DB, fn func(pgx.Tx) error) error {
	return d.Tx(ctx, func(tx *db.Tx) error {
		if _, err := tx.Pgx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", lock); err != nil {
			return fmt.Errorf("waiting for the partitions' lock: %w", err)
		}
		return fn(tx.Pgx)
	})
}
