package metric

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// These decide when a straight line through a storage's use says anything:
// enough time, enough points and a good fit.
const (
	// growthWindow is how far back the line goes, and growthSpan how much of it
	// must have been measured.
	growthWindow = 14 * 24 * time.Hour
	growthSpan   = 3 * 24 * time.Hour
	// growthPoints is how many hours there must be, and growthFit how much of
	// the ups and downs the line must explain (R²).
	growthPoints = 60
	growthFit    = 0.6
	// growthDays is how far ahead a line is worth anything.
	growthDays = 3650
)

// growthLines returns the lines through the use of storages, hour by hour.
const growthLines = `SELECT s.id, s.used, s.total, l.slope
FROM storages s JOIN (SELECT target_id, regr_slope(disk, x) AS slope FROM
	(SELECT target_id, disk, extract(epoch FROM at - $2::timestamptz)::float8 AS x FROM metric_1h
		WHERE target_kind = 'storage' AND target_id = ANY ($1) AND at >= $2 AND disk IS NOT NULL) p
	GROUP BY target_id
	HAVING count(*) >= $3 AND max(x) - min(x) >= $4::float8 AND regr_slope(disk, x) > 0 AND regr_r2(disk, x) >= $5) l ON l.target_id = s.id
WHERE s.used IS NOT NULL AND s.total > 0 AND s.status = 'available'`

// DaysUntilFull returns in how many days storages will be full if they continue
// to grow as in the last two weeks, by the ids of their rows, with one
// statement. A storage is left out if the line through its use says nothing:
// with fewer than 60 hours, over less than three days, without growth, with a
// bad fit (R² below 0.6, as after somebody cleaned up), or if it reaches the
// size only after ten years. A full storage has 0.
func DaysUntilFull(ctx context.Context, d *db.DB, ids []int64) (map[int64]float64, error) {
	return DaysUntilFullAt(ctx, d.Pool, ids, time.Now())
}

// DaysUntilFullAt is DaysUntilFull at a time, with the pool or within a
// transaction.
func DaysUntilFullAt(ctx context.Context, q querier, ids []int64, now time.Time) (map[int64]float64, error) {
	full := map[int64]float64{}
	if len(ids) == 0 {
		return full, nil
	}
	rows, err := q.Query(ctx, growthLines, ids, now.Add(-growthWindow), growthPoints, growthSpan.Seconds(), growthFit)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the growth of storages: %w", err))
	}
	var id, used, total int64
	var slope float64
	_, err = pgx.ForEachRow(rows, []any{&id, &used, &total, &slope}, func() error {
		days := math.Max(0, float64(total-used)) / slope / (24 * time.Hour).Seconds()
		if days <= growthDays {
			full[id] = math.Round(days*10) / 10
		}
		return nil
	})
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the growth of storages: %w", err))
	}
	return full, nil
}
