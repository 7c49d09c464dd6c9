package metric

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// The tables of both roll-ups have the same columns.
const rollupColumns = `(at, target_kind, target_id, samples, cpu_avg, cpu_max, memory_avg, memory_max, memory_total, disk, disk_total,
	net_in, net_out, disk_read, disk_write) `

// rollupConflict writes a row again only if its figures have changed, so that
// repeating the overlap costs no writes.
const rollupConflict = ` ON CONFLICT (target_kind, target_id, at) DO UPDATE SET samples = excluded.samples, cpu_avg = excluded.cpu_avg,
	cpu_max = excluded.cpu_max,
	memory_avg = excluded.memory_avg, memory_max = excluded.memory_max, memory_total = excluded.memory_total, disk = excluded.disk,
	disk_total = excluded.disk_total, net_in = excluded.net_in, net_out = excluded.net_out, disk_read = excluded.disk_read,
	disk_write = excluded.disk_write
	WHERE (m.samples, m.cpu_avg, m.cpu_max, m.memory_avg, m.memory_max, m.memory_total, m.disk, m.disk_total, m.net_in, m.net_out,
	m.disk_read, m.disk_write)
	IS DISTINCT FROM (excluded.samples, excluded.cpu_avg, excluded.cpu_max, excluded.memory_avg, excluded.memory_max,
	excluded.memory_total, excluded.disk,
		excluded.disk_total, excluded.net_in, excluded.net_out, excluded.disk_read, excluded.disk_write)`

// increase is SQL for the growth of a counter since the sample before. It is
// null if the counter began again, if there is no sample before, or only one so
// much earlier that all of the growth within these five minutes would be a
// false peak.
func increase(counter string) string {
	before := "lag(" + counter + ") OVER w"
	return fmt.Sprintf("CASE WHEN at - lag(at) OVER w > $4::interval THEN NULL WHEN %[1]s >= %[2]s THEN %[1]s - %[2]s END AS %[1]s",
		counter, before)
}

// last is SQL for the newest value of a column that is not null.
func last(column string) string {
	return fmt.Sprintf("(array_agg(%s ORDER BY at DESC) FILTER (WHERE %s IS NOT NULL))[1]", column, column)
}

// sum is SQL for a sum that is null if all values are null; LEAST would ignore
// them.
func sum(column string) string {
	return "CASE WHEN count(" + column + ") > 0 THEN LEAST(sum(" + column + "), 9e18)::bigint END"
}

// ofSamples rolls up $1 to $2. For the first growth it reads samples since $3,
// which is $4 earlier. Samples without a counter, such as some of those that
// fill gaps, must not come between two with counters, and are in a separate
// window. The sort begins with the number, because comparing text by a locale
// takes most of the time otherwise.
var ofSamples = `INSERT INTO metric_5m AS m ` + rollupColumns + `
SELECT bucket, target_kind, target_id, count(*), avg(cpu)::real, max(cpu), avg(memory::float8)::bigint, max(memory), ` +
	last("memory_total") + `, ` + last("disk") + `, ` + last("disk_total") + `, ` +
	sum("net_in") + `, ` + sum("net_out") + `, ` + sum("disk_read") + `, ` + sum("disk_write") + `
FROM (SELECT date_bin('5 minutes', at, 'epoch') AS bucket, at, target_kind, target_id, cpu, memory, memory_total, disk, disk_total, ` +
	increase("net_in") + `, ` + increase("net_out") + `, ` + increase("disk_read") + `, ` + increase("disk_write") + `
	FROM metric_samples WHERE at >= $3 AND at < $2
	WINDOW w AS (PARTITION BY target_id, target_kind, num_nonnulls(net_in, net_out, disk_read, disk_write) = 0 ORDER BY at)) s
WHERE at >= $1 GROUP BY target_id, target_kind, bucket` + rollupConflict

// ofFiveMinutes rolls up $1 to $2.
var ofFiveMinutes = `INSERT INTO metric_1h AS m ` + rollupColumns + `
SELECT date_bin('1 hour', at, 'epoch') AS bucket, target_kind, target_id, sum(samples),
	(sum(cpu_avg::float8 * samples) / sum(samples) FILTER (WHERE cpu_avg IS NOT NULL))::real, max(cpu_max),
	(sum(memory_avg::float8 * samples) / sum(samples) FILTER (WHERE memory_avg IS NOT NULL))::bigint, max(memory_max), ` +
	last("memory_total") + `, ` + last("disk") + `, ` + last("disk_total") + `, ` +
	sum("net_in") + `, ` + sum("net_out") + `, ` + sum("disk_read") + `, ` + sum("disk_write") + `
FROM metric_5m WHERE at >= $1 AND at < $2 GROUP BY target_id, target_kind, bucket` + rollupConflict

// take rolls up one period in one transaction, together with the writes of
// note.
func (r roller) take(ctx context.Context, step Step, note func(pgx.Tx) error) error {
	if step.From.Before(step.To) {
		if err := r.prepare(ctx, step); err != nil {
			return err
		}
	}
	err := r.d.Tx(ctx, func(tx *db.Tx) error {
		step.Rows = 0
		// Instances take turns, so that none waits for single rows of another.
		if _, err := tx.Pgx.Exec(ctx, "SELECT FROM metric_rollups WHERE resolution = $1 FOR UPDATE", step.Resolution); err != nil {
			return fmt.Errorf("waiting for another roll-up: %w", err)
		}
		if step.From.Before(step.To) {
			rows, err := r.write(ctx, tx.Pgx, step)
			if err != nil {
				return err
			}
			step.Rows = rows
		}
		if note != nil {
			return note(tx.Pgx)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("rolling up %s from %s: %w", step.Resolution, step.From.Format(time.RFC3339), err)
	}
	return r.tell(step)
}

// prepare creates missing partitions, and updates the index by time for the
// newest samples.
func (r roller) prepare(ctx context.Context, step Step) error {
	end := step.To.Add(-time.Nanosecond)
	if err := kept[step.Resolution].ensure(ctx, r.d, step.From, end); err != nil {
		return err
	}
	source := kept[Raw]
	if step.Resolution == OneHour {
		source = kept[FiveMinutes]
	}
	for start := source.start(step.From); !start.After(end); start = source.next(start) {
		_, err := r.d.Pool.Exec(ctx, `SELECT brin_summarize_new_values(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
			JOIN pg_am a ON a.oid = c.relam AND a.amname = 'brin' WHERE i.indrelid = to_regclass($1)`, source.partition(start))
		if err != nil {
			return db.Problem(fmt.Errorf("bringing the index by time up to date: %w", err))
		}
	}
	return nil
}

// write rolls one step up in the caller's transaction and returns the number of
// rows.
func (r roller) write(ctx context.Context, tx pgx.Tx, step Step) (int64, error) {
	// Sorting an hour of a large instance on disk takes twice as long, and the
	// statement runs too rarely for compilation to pay.
	if _, err := tx.Exec(ctx, "SELECT set_config('work_mem', '64MB', true), set_config('jit', 'off', true)"); err != nil {
		return 0, fmt.Errorf("preparing: %w", err)
	}
	statement, args := ofFiveMinutes, []any{step.From, step.To}
	if step.Resolution == FiveMinutes {
		statement, args = ofSamples, append(args, step.From.Add(-r.back), r.back)
	}
	tag, err := tx.Exec(ctx, statement, args...)
	return tag.RowsAffected(), err
}
