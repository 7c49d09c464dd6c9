package metric

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// These decide which hours are rolled up again.
const (
	// overlap is how much of what was rolled up before is redone. A poll that
	// brings samples older than Late notes them in metric_late; the rest of
	// overlap is for the time that its transaction takes.
	overlap = 30 * time.Minute
	// LateAfter is the age from which a poll notes the hour of a sample for rolling it up again.
	LateAfter = 20 * time.Minute
	// margin is how long after they were rolled up rows are kept in any case,
	// for the overlap and the first increase.
	margin = 6 * time.Hour
)

// Step is one transaction of a roll-up.
type Step struct {
	Resolution Resolution
	From, To   time.Time
	// Rows counts those that are new or changed.
	Rows int64
	// Late is set when the time had been rolled up before and samples came late.
	Late bool
}

// RollUp rolls up everything until now, and calls tell for each step. poll is
// the longest time between two polls at present. If tell fails, RollUp stops at
// the end of the step with that error.
func RollUp(ctx context.Context, d *db.DB, now time.Time, poll time.Duration, tell func(Step) error) error {
	r := roller{d: d, now: now.UTC(), back: min(max(10*time.Minute, 3*poll), 3*time.Hour), tell: tell}
	for _, part := range []func(context.Context) error{r.begin, r.fine, r.coarse, r.late} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// RolledUpTo returns the time before which a resolution is complete; zero if
// nothing was rolled up. Raw is complete until now.
func RolledUpTo(ctx context.Context, d *db.DB, resolution Resolution) (time.Time, error) {
	var to time.Time
	if resolution == Raw {
		return time.Now().UTC(), nil
	}
	err := d.Pool.QueryRow(ctx, "SELECT rolled_to FROM metric_rollups WHERE resolution = $1", resolution).Scan(&to)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return time.Time{}, db.Problem(fmt.Errorf("reading how far %s is rolled up: %w", resolution, err))
	}
	return to.UTC(), nil
}

// Droppable returns the time before which rows of a resolution are no longer
// needed for rolling up; zero if none are. Nothing is made of hours, so that
// all of them may be dropped.
func Droppable(ctx context.Context, d *db.DB, resolution Resolution) (time.Time, error) {
	if resolution == OneHour {
		return time.Now().UTC(), nil
	}
	var to *time.Time
	err := d.Pool.QueryRow(ctx,
		`SELECT CASE WHEN count(*) = 2 THEN least(min(rolled_to), (SELECT min(hour) FROM metric_late)) END FROM metric_rollups`).Scan(&to)
	if err != nil {
		return time.Time{}, db.Problem(fmt.Errorf("reading how far samples are rolled up: %w", err))
	}
	if to == nil {
		return time.Time{}, nil
	}
	return to.UTC().Add(-margin), nil
}

// roller rolls up, from what was done last up to now. tell hears of every step.
type roller struct {
	d    *db.DB
	now  time.Time
	back time.Duration
	tell func(Step) error
}

// begin stores where to begin if nothing was rolled up yet: with the oldest day
// that has samples.
func (r roller) begin(ctx context.Context) error {
	var known int
	if err := r.d.Pool.QueryRow(ctx, "SELECT count(*) FROM metric_rollups").Scan(&known); err != nil {
		return db.Problem(fmt.Errorf("reading how far samples are rolled up: %w", err))
	}
	if known == 2 {
		return nil
	}
	from, err := r.oldest(ctx)
	if err != nil {
		return err
	}
	_, err = r.d.Pool.Exec(ctx, "INSERT INTO metric_rollups (resolution, rolled_to) VALUES ('5m', $1), ('1h', $1) ON CONFLICT DO NOTHING",
		from)
	if err != nil {
		return db.Problem(fmt.Errorf("beginning the roll-up: %w", err))
	}
	return nil
}

// oldest gives the beginning of the oldest day that has samples; this hour if
// there are none. Empty partitions are skipped: they are made ahead of time.
func (r roller) oldest(ctx context.Context) (time.Time, error) {
	days, err := Partitions(ctx, r.d, Raw)
	if err != nil {
		return time.Time{}, err
	}
	for _, day := range days {
		var some bool
		if err := r.d.Pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+kept[Raw].partition(day)+")").Scan(&some); err != nil {
			return time.Time{}, db.Problem(fmt.Errorf("finding the oldest samples: %w", err))
		}
		if some {
			return day, nil
		}
	}
	return r.now.Truncate(time.Hour), nil
}

// fine rolls up the samples since the last run to five minutes, and those
// shortly before once more.
func (r roller) fine(ctx context.Context) error {
	return r.advance(ctx, FiveMinutes, overlap, r.now.Truncate(5*time.Minute), time.Hour)
}

// coarse rolls up the five minutes to hours. The overlap of the five minutes
// reaches into the hour before.
func (r roller) coarse(ctx context.Context) error {
	fine, err := RolledUpTo(ctx, r.d, FiveMinutes)
	if err != nil {
		return err
	}
	return r.advance(ctx, OneHour, time.Hour, fine.Truncate(time.Hour), 6*time.Hour)
}

// advance makes steps from the present end of a resolution, less the overlap,
// to a time.
func (r roller) advance(ctx context.Context, resolution Resolution, overlap time.Duration, to time.Time, stride time.Duration) error {
	from, err := RolledUpTo(ctx, r.d, resolution)
	if err != nil || !from.Before(to) {
		return err
	}
	for from = from.Add(-overlap); from.Before(to); {
		end := from.Truncate(stride).Add(stride)
		if end.After(to) {
			end = to
		}
		step := Step{Resolution: resolution, From: from, To: end}
		if err := r.take(ctx, step, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE metric_rollups SET rolled_to = greatest(rolled_to, $2) WHERE resolution = $1", resolution, end)
			return err
		}); err != nil {
			return err
		}
		from = end
	}
	return nil
}

// late repeats the hours that got samples after they were rolled up.
func (r roller) late(ctx context.Context) error {
	rows, err := r.d.Pool.Query(ctx, "SELECT DISTINCT hour FROM metric_late ORDER BY hour")
	if err != nil {
		return db.Problem(fmt.Errorf("finding late samples: %w", err))
	}
	hours, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
	if err != nil {
		return db.Problem(fmt.Errorf("finding late samples: %w", err))
	}
	for _, hour := range hours {
		if err := r.redo(ctx, hour.UTC()); err != nil {
			return err
		}
	}
	return nil
}

// redo rolls up one hour again, the five minutes first. The notes of the hour
// are deleted with the last step; those that a poll adds in the meantime are
// not visible to it and stay for the next run.
func (r roller) redo(ctx context.Context, hour time.Time) error {
	// The growth across the end of the hour belongs to the next one.
	fine, err := RolledUpTo(ctx, r.d, FiveMinutes)
	if err != nil {
		return err
	}
	end := hour.Add(time.Hour + 5*time.Minute)
	if end.After(fine) {
		end = fine
	}
	coarse, err := RolledUpTo(ctx, r.d, OneHour)
	if err != nil {
		return err
	}
	last := hour.Add(2 * time.Hour)
	if last.After(coarse) {
		last = coarse
	}
	notes, err := r.notes(ctx, hour)
	if err != nil {
		return err
	}
	if err := r.take(ctx, Step{Resolution: FiveMinutes, From: hour, To: end, Late: true}, nil); err != nil {
		return err
	}
	return r.take(ctx, Step{Resolution: OneHour, From: hour, To: last, Late: true}, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "DELETE FROM metric_late WHERE id = ANY($1)", notes)
		return err
	})
}

// notes returns the rows that report late samples for the hour. Only rows that
// were visible before the samples are read may be deleted afterwards.
func (r roller) notes(ctx context.Context, hour time.Time) ([]int64, error) {
	rows, err := r.d.Pool.Query(ctx, "SELECT id FROM metric_late WHERE hour = $1", hour)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("finding late samples: %w", err))
	}
	notes, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, db.Problem(fmt.Errorf("finding late samples: %w", err))
	}
	return notes, nil
}
