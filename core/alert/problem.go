package alert

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/cluster"
	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/core/task"
)

// downGuests returns guests that do not run, without those on which a job
// works.
const downGuests = `SELECT 'guest_down', 'critical', CASE WHEN g.kind = 'vm' THEN 'vm' WHEN a.id IS NULL THEN 'container' ELSE 'app' END,
		COALESCE(a.id, g.id), COALESCE(a.name, g.name), g.host_id, g.cluster_id, NULL, NULL, NULL, g.status, '', 0
	FROM guests g LEFT JOIN apps a ON a.guest_id = g.id AND g.kind = 'container'
	WHERE NOT g.template AND g.status IN ('stopped', 'paused', 'suspended')
		AND NOT EXISTS (SELECT FROM jobs j WHERE j.exclusive = 'guest:' || g.id AND j.status IN ('queued', 'running'))`

// silentThings returns objects that run or are available and had figures, but
// none in the last minute. Of a storage that several nodes share, one node is
// enough.
const silentThings = `SELECT 'no_data', 'warning', s.* FROM (
	SELECT CASE WHEN g.kind = 'vm' THEN 'vm' WHEN a.id IS NULL THEN 'container' ELSE 'app' END, COALESCE(a.id, g.id),
			COALESCE(a.name, g.name), g.host_id, g.cluster_id, NULL::bigint, COALESCE(g.figures_at, c.figures_at) AS told_at,
			NULL::timestamptz, '', '', 0
		FROM guests g JOIN clusters c ON c.id = g.cluster_id LEFT JOIN apps a ON a.guest_id = g.id AND g.kind = 'container'
		WHERE NOT g.template AND g.status = 'running'
	UNION ALL SELECT 'node', NULL, name, host_id, cluster_id, NULL, figures_at, NULL, '', '', 0 FROM nodes WHERE status = 'online'
	UNION ALL SELECT 'host', id, name, id, cluster_id, NULL, polled_at, NULL, '', '', 0 FROM hosts WHERE status = 'online'
	UNION ALL SELECT 'storage', NULL, name, min(host_id), cluster_id, NULL, max(figures_at), NULL, CASE WHEN shared THEN '' ELSE node END,
			'', 0
		FROM storages WHERE status = 'available' GROUP BY cluster_id, name, CASE WHEN shared THEN '' ELSE node END) s
	WHERE s.told_at < now() - interval '1 minute'`

// skewedClocks returns the clock differences of nodes that are hosts, as their
// last answers showed them, in milliseconds.
const skewedClocks = `SELECT 'clock_skew', 'warning', 'node', NULL, n.name, n.host_id, n.cluster_id, NULL, NULL, NULL, '', '',
		round(1000 * n.clock_ahead)::bigint
	FROM nodes n WHERE n.clock_ahead IS NOT NULL AND EXISTS (SELECT FROM hosts h WHERE h.cluster_id = n.cluster_id AND h.entry_node = n.name)`

// failedTasks returns failed tasks that others started: on the guest if it
// exists, else on the node.
const failedTasks = `SELECT 'task_failed', 'warning', CASE WHEN g.id IS NULL THEN 'node' WHEN g.kind = 'vm' THEN 'vm'
			WHEN a.id IS NULL THEN 'container' ELSE 'app' END,
		COALESCE(a.id, g.id), COALESCE(a.name, g.name, f.node), COALESCE(g.host_id, f.host_id), f.cluster_id, NULL, f.ended_at, NULL, f.type,
		f.by_user || E'\n' || f.error, 0
	FROM (` + task.FailedTasksSQL + `) f
	LEFT JOIN LATERAL (SELECT * FROM guests g WHERE g.cluster_id = f.cluster_id AND g.ref = f.guest_ref ORDER BY g.id LIMIT 1) g ON true
	LEFT JOIN apps a ON a.guest_id = g.id AND g.kind = 'container'`

// selectProblems returns the breaches of rules about states, and what is
// between their levels. $4 is the time, and $5 are the kinds of rules. One kind
// of rules may stand for several kinds of problems.
func selectProblems(problems []string, others ...string) string {
	return cluster.ProblemsSQL("$4::timestamptz", append(problems, "none"), others...) + `,
rules AS (SELECT * FROM alert_rules WHERE enabled AND kind = ANY ($5)),
things AS (SELECT f.kind AS problem, CASE WHEN f.kind IN ('backup_never', 'backup_old') THEN 'backup_stale' ELSE f.kind END AS watched,
		f.target_kind AS kind, COALESCE(f.target_id, CASE WHEN f.target_kind IN ('node', 'storage') THEN f.host_id END, 0) AS id,
		f.target AS name, f.host_id, f.cluster_id,
		CASE f.target_kind WHEN 'node' THEN f.target WHEN 'storage' THEN f.word WHEN 'host' THEN th.entry_node
			ELSE COALESCE(tg.node, '') END AS node,
		COALESCE(th.team_id, tc.team_id, tj.team_id) AS team_id, COALESCE(tg.tags, '{}') AS tags,
		CASE WHEN f.target_kind IN ('node', 'storage') THEN '' ELSE f.target_kind || ':' || COALESCE(f.target_id, 0) END AS base,
		CASE f.target_kind WHEN 'node' THEN 'node:' || f.cluster_id || ':' || f.target
			WHEN 'storage' THEN 'storage:' || f.cluster_id || ':' || f.target || ':' || f.word
			ELSE f.target_kind || ':' || COALESCE(f.target_id, 0) END ||
		CASE WHEN f.kind IN ('token_ending', 'token_privileges', 'task_failed') THEN ':' || f.word
			WHEN f.kind = 'job_failed' THEN ':' || f.word || ':' || f.target ELSE '' END AS subject,
		f.job_id, f.since, f.at, f.word, f.detail, f.n,
		CASE WHEN f.kind IN ('token_ending', 'certificate_ending') THEN extract(epoch FROM f.at - $4::timestamptz)::float8 / 86400
			WHEN f.kind = 'no_data' THEN extract(epoch FROM $4::timestamptz - f.since)::float8 / 60
			WHEN f.kind = 'clock_skew' THEN abs(f.n) / 1000.0::float8 END AS value
	FROM found f LEFT JOIN hosts th ON th.id = f.host_id LEFT JOIN clusters tc ON tc.id = f.cluster_id LEFT JOIN jobs tj ON tj.id = f.job_id
	LEFT JOIN apps ta ON f.target_kind = 'app' AND ta.id = f.target_id
	LEFT JOIN guests tg ON tg.id = CASE WHEN f.target_kind IN ('vm', 'container') THEN f.target_id ELSE ta.guest_id END)
SELECT r.id, t.subject, t.kind, t.id, t.name, t.node, t.host_id, t.cluster_id, t.team_id, t.tags, t.value, t.problem, t.job_id, t.since,
	t.at, t.word, t.detail, t.n
FROM rules r JOIN things t ON t.watched = r.kind AND (r.threshold IS NULL
	OR CASE WHEN r.kind IN ('no_data', 'clock_skew') THEN t.value >= r.clear_level
	ELSE t.value <= r.clear_level END) AND ` + scoped
}

// scanProblem reads one row of a problem.
func scanProblem(row pgx.CollectableRow) (*observation, error) {
	o := &observation{covered: true}
	p := &o.problem
	err := row.Scan(&o.rule, &o.subject, &o.target.Kind, &o.target.ID, &o.target.Name, &o.target.Node, &o.host, &o.clusterID, &o.team,
		&o.tags,
		&o.value, &p.Kind, &p.JobID, &p.Since, &p.EndsAt, &o.fault.Word, &o.fault.Detail, &o.fault.N)
	p.Target = cluster.Subject{Kind: o.target.Kind, Name: o.target.Name, ID: &o.target.ID}
	p.HostID, p.ClusterID = o.host, o.clusterID
	return o, err
}

// lookAtProblems reads the known states and compares them with the rules.
func (c *cycle) lookAtProblems(ctx context.Context) error {
	var problems, others, watched []string
	for i := range kinds {
		k := &kinds[i]
		if !c.wants(string(k.Kind)) || k.seldom && !c.seldom {
			continue
		}
		switch {
		case len(k.problems) > 0:
			problems = append(problems, k.problems...)
		case k.Kind == GuestDown:
			others = append(others, downGuests)
		case k.Kind == NoData:
			others = append(others, silentThings)
		case k.Kind == TaskFailed:
			others = append(others, failedTasks)
		case k.Kind == ClockSkew:
			others = append(others, skewedClocks)
		default:
			continue
		}
		watched = append(watched, string(k.Kind))
	}
	if len(watched) == 0 {
		return nil
	}
	rows, err := c.tx.Query(ctx, selectProblems(problems, others...), true, []int64{}, c.backupDays, c.now, watched)
	if err != nil {
		return fmt.Errorf("evaluating states: %w", err)
	}
	found, err := pgx.CollectRows(rows, scanProblem)
	if err != nil {
		return fmt.Errorf("evaluating states: %w", err)
	}
	for _, o := range found {
		c.observed[o.key] = o
	}
	return nil
}

// selectFilling returns the storages $1 that will be full in $2 days, unless
// they are beyond the level at which their rule is over.
const selectFilling = `WITH ` + things + ` SELECT r.id, ` + thingColumns + `, d.days, true
	FROM unnest($1::bigint[], $2::float8[]) AS d (id, days) JOIN things t ON t.kept = 'storage' AND t.row = d.id AND t.live
	JOIN alert_rules r ON r.enabled AND r.kind = 'storage_fills' AND d.days <= r.clear_level AND ` + scoped

// lookAhead finds out which storages will be full.
func (c *cycle) lookAhead(ctx context.Context) error {
	if !c.seldom || !c.wants(string(StorageFills)) {
		return nil
	}
	rows, err := c.tx.Query(ctx, "SELECT id FROM storages WHERE status = 'available'", afresh)
	if err != nil {
		return fmt.Errorf("listing storages: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("listing storages: %w", err)
	}
	full, err := metric.DaysUntilFullAt(ctx, c.tx, ids, c.now)
	if err != nil {
		return err
	}
	ids, days := ids[:0], make([]float64, 0, len(full))
	for id, n := range full {
		ids, days = append(ids, id), append(days, n)
	}
	if rows, err = c.tx.Query(ctx, selectFilling, ids, days); err != nil {
		return fmt.Errorf("evaluating storages: %w", err)
	}
	found, err := pgx.CollectRows(rows, scanThing)
	if err != nil {
		return fmt.Errorf("evaluating storages: %w", err)
	}
	for _, o := range found {
		if other := c.observed[o.key]; other == nil || *o.value < *other.value {
			c.observed[o.key] = o
		}
	}
	return nil
}

// lookForUpdate compares the available release of the service with the rules
// about it.
func (c *cycle) lookForUpdate() {
	if !c.seldom || c.update == "" {
		return
	}
	for _, r := range c.rules {
		if r.Kind == UpdateAvailable && r.On.general() {
			o := &observation{key: key{r.ID, "service"}, target: Target{Kind: "service", Name: "Hostler"}, covered: true}
			o.fault.Word = c.update
			c.observed[o.key] = o
		}
	}
}

// general reports whether the scope includes the service itself.
func (s *Scope) general() bool {
	return s.TeamID == nil && s.HostID == nil && len(s.Tags) == 0 && len(s.Targets) == 0 &&
		(len(s.Kinds) == 0 || slices.Contains(s.Kinds, "service"))
}
