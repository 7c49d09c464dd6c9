package poll

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/metric"
)

// sampleTarget begins the statements that store samples.
const sampleTarget = `INSERT INTO metric_samples (at, target_kind, target_id, cpu, memory, memory_total, disk, disk_total, net_in, ` +
	`net_out, disk_read, disk_write) `

// sampleStatements derive the samples of a poll from the rows that it has just
// written, so that these are sent only once.
var sampleStatements = []struct{ what, statement string }{
	{"guests", sampleTarget + `
SELECT now(), 'guest', g.id, p.cpu, p.memory, p.memory_total, p.disk, p.disk_total, p.net_in, p.net_out, p.disk_read, p.disk_write
FROM poll_guests p JOIN guests g ON g.cluster_id = $1 AND g.identity = p.identity WHERE p.status = 'running'`},
	{"nodes", sampleTarget + `
SELECT now(), 'node', n.id, n.cpu, n.memory, n.memory_total, n.disk, n.disk_total, NULL, NULL, NULL, NULL
FROM nodes n WHERE n.cluster_id = $1 AND n.seen_at = now() AND n.status = 'online'`},
	{"storages", sampleTarget + `
SELECT now(), 'storage', s.id, NULL, NULL, NULL, s.used, s.total, NULL, NULL, NULL, NULL
FROM storages s WHERE s.cluster_id = $1 AND s.seen_at = now() AND s.status = 'available' AND s.total IS NOT NULL`},
	// The figures of a host are the sum of those of its nodes; its traffic is
	// the sum over their guests.
	{"hosts", sampleTarget + `
SELECT now(), 'host', n.host_id, n.cpu, n.memory, n.memory_total, n.disk, n.disk_total, g.net_in, g.net_out, g.disk_read, g.disk_write
FROM (SELECT host_id, sum(cpu * cpus) / NULLIF(sum(cpus) FILTER (WHERE cpu IS NOT NULL), 0) AS cpu, ` + total("memory") + `, ` +
		total("memory_total") + `,
		` + total("disk") + `, ` + total("disk_total") + `
	FROM nodes WHERE cluster_id = $1 AND seen_at = now() AND status = 'online' GROUP BY host_id) n
LEFT JOIN host_traffic g ON g.host_id = n.host_id`},
	{"the past", sampleTarget + `
SELECT s.at, s.kind, COALESCE(g.id, n.id, st.id),
	s.cpu, s.memory, s.memory_total, s.disk, s.disk_total, s.net_in, s.net_out, s.disk_read, s.disk_write
FROM poll_samples s
LEFT JOIN guests g ON s.kind = 'guest' AND g.cluster_id = $1 AND g.identity = s.identity
LEFT JOIN nodes n ON s.kind = 'node' AND n.cluster_id = $1 AND n.name = s.node
LEFT JOIN storages st ON s.kind = 'storage' AND st.cluster_id = $1 AND st.node = s.node AND st.name = s.storage
WHERE COALESCE(g.id, n.id, st.id) IS NOT NULL`},
}

// noteLate tells the roll-up about samples that are older than what it repeats
// anyway.
const noteLate = `INSERT INTO metric_late (hour) SELECT DISTINCT date_bin('1 hour', at, 'epoch') FROM poll_samples
	WHERE at < now() - $1::interval`

// traffic adds to each host the growth of its guests' counters since the last
// poll, before the staged rows are written. A missing guest and a counter that
// began again add nothing, because nobody knows how much of the counter is new.
// A row that updateGuests skips is skipped here too, and is added next time.
var traffic = `INSERT INTO host_traffic AS t (host_id, net_in, net_out, disk_read, disk_write)
SELECT COALESCE(n.host_id, (SELECT min(h.id) FROM hosts h WHERE h.cluster_id = $1)), ` + grown("net_in") + `, ` + grown("net_out") + `,
	` + grown("disk_read") + `, ` + grown("disk_write") + `
FROM poll_guests p LEFT JOIN guests g ON g.cluster_id = $1 AND g.identity = p.identity
	LEFT JOIN nodes n ON n.cluster_id = $1 AND n.name = p.node
WHERE p.status = 'running' AND (` + readBefore + `) GROUP BY 1
ON CONFLICT (host_id) DO UPDATE SET ` + added("net_in") + `, ` + added("net_out") + `, ` + added("disk_read") + `, ` + added("disk_write")

// grown is SQL for the growth of a counter over the guests of a node. A counter
// that became smaller was reset and does not count.
func grown(counter string) string {
	return "CASE WHEN count(p." + counter + ") > 0 THEN LEAST(COALESCE(sum(p." + counter + " - g." + counter + ") FILTER (WHERE p." +
		counter + " >= g." + counter + "), 0), 9e18)::bigint END"
}

// added is SQL for a counter plus its growth; null if no guest has one.
func added(counter string) string {
	return counter + " = CASE WHEN excluded." + counter + " IS NULL THEN t." + counter + " ELSE LEAST(COALESCE(t." + counter +
		", 0)::numeric + excluded." + counter + ", 9e18)::bigint END"
}

// total is SQL for the sum of a column; null if all values are null, which
// LEAST would ignore.
func total(column string) string {
	return "CASE WHEN count(" + column + ") > 0 THEN LEAST(sum(" + column + "), 9e18)::bigint END AS " + column
}

// addSamples writes the samples of a poll: one for each running guest, online
// node and storage, one for each host, only from what was measured, and the
// past samples of the driver.
func addSamples(ctx context.Context, tx pgx.Tx, cluster int64, v *inventory) error {
	for _, s := range sampleStatements {
		past := s.what == "the past"
		if past && v.samples.n == 0 || !past && v.cluster.StatesOnly {
			continue
		}
		if _, err := tx.Exec(ctx, s.statement, cluster); err != nil {
			return fmt.Errorf("adding the samples of %s: %w", s.what, err)
		}
	}
	if v.samples.n > 0 {
		if _, err := tx.Exec(ctx, noteLate, metric.LateAfter); err != nil {
			return fmt.Errorf("recording late samples: %w", err)
		}
	}
	return nil
}
