package poll

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// The staged guests get the figures that the answer itself does not tell,
// before they are written: those that are known already, where it tells states
// only, and the used part of the cores, where it counts CPU time. An answer
// that has everything needs neither.
const (
	// keepFigures keeps the known figures of guests if the answer contains only
	// states. A guest whose uptime fell was stopped in between; a stopped guest
	// keeps its disk figures.
	keepFigures = `UPDATE poll_guests p SET cpus = COALESCE(p.cpus, g.cpus), memory_total = COALESCE(p.memory_total, g.memory_total),
	disk_total = COALESCE(p.disk_total, g.disk_total), disk = g.disk, figures_at = g.figures_at,
	cpu = CASE WHEN g.runs THEN g.cpu END, memory = CASE WHEN g.runs THEN g.memory END,
	net_in = CASE WHEN g.runs THEN g.net_in END, net_out = CASE WHEN g.runs THEN g.net_out END,
	disk_read = CASE WHEN g.runs THEN g.disk_read END, disk_write = CASE WHEN g.runs THEN g.disk_write END,
	uptime = COALESCE(p.uptime, CASE WHEN g.runs THEN g.uptime END),
	cpu_seconds = CASE WHEN g.runs THEN g.cpu_seconds END, cpu_seconds_at = CASE WHEN g.runs THEN g.cpu_seconds_at END
FROM (SELECT g.*, p.status IN ('running', 'paused') AND (p.uptime IS NULL OR g.uptime IS NULL OR p.uptime >= g.uptime) AS runs
	FROM poll_guests p JOIN guests g ON g.cluster_id = $1 AND g.identity = p.identity) g
WHERE p.identity = g.identity AND p.status <> 'unknown'`

	// countCPU computes the used fraction of the cores from two readings of the
	// CPU time. A guest that has been up for less than the time since the last
	// reading was restarted, whatever its uptime was then. Uptimes have whole
	// seconds, and are not read at the same moment of each poll.
	countCPU = `UPDATE poll_guests p SET cpu_seconds_at = $2, cpu = r.cpu
FROM (SELECT p.identity, CASE WHEN p.cpu_seconds >= g.cpu_seconds AND t.passed >= 1 AND t.cpus > 0 AND (p.uptime IS NULL
			OR p.uptime >= t.passed - 2 AND (g.uptime IS NULL OR p.uptime >= g.uptime))
		THEN LEAST((p.cpu_seconds - g.cpu_seconds) / (t.passed * t.cpus), 1) END AS cpu
	FROM poll_guests p LEFT JOIN guests g ON g.cluster_id = $1 AND g.identity = p.identity
		LEFT JOIN nodes n ON n.cluster_id = $1 AND n.name = p.node,
		LATERAL (SELECT extract(epoch FROM $2::timestamptz - g.cpu_seconds_at)::float8 AS passed, COALESCE(p.cpus, n.cpus) AS cpus) t
	WHERE p.cpu_seconds IS NOT NULL) r
WHERE p.identity = r.identity`
)

// measured returns when the figures of the answer were measured, by the
// database's clock: the answer may have waited before it is written. It returns
// nil for an answer with states only.
func (v *inventory) measured(ctx context.Context, tx pgx.Tx) (*time.Time, error) {
	if v.cluster.StatesOnly {
		return nil, nil
	}
	var at time.Time
	if err := tx.QueryRow(ctx, "SELECT LEAST(now(), clock_timestamp() - $1::interval)", time.Since(v.at)).Scan(&at); err != nil {
		return nil, fmt.Errorf("reading the database's time: %w", err)
	}
	return &at, nil
}

// figures completes the staged guests before they are written. An answer with
// all figures needs nothing.
func figures(ctx context.Context, tx pgx.Tx, cluster int64, v *inventory, measured *time.Time) error {
	var err error
	switch {
	case v.cluster.StatesOnly:
		_, err = tx.Exec(ctx, keepFigures, cluster)
	case v.counters > 0:
		_, err = tx.Exec(ctx, countCPU, cluster, measured)
	}
	if err != nil {
		return fmt.Errorf("completing figures: %w", err)
	}
	return nil
}
