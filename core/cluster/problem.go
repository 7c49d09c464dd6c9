package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/backup"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/setting"
)

// maxProblems is how many problems of one kind and severity the summary lists.
// ProblemCounts has the full numbers.
const maxProblems = 20

// Problem is a condition that needs attention. Problems are not stored: every
// query computes them from the inventory, and a problem disappears when its
// cause does.
type Problem struct {
	Kind     string  `json:"kind" enum:"host_away,quorum_lost,node_away,token_ending,certificate_ending,token_privileges,versions_differ,cluster_twice,subscription_ended,job_failed,backup_never,backup_old,backup_unlisted,app_missing,detail_unknown,schedule_empty" example:"certificate_ending"`
	Severity string  `json:"severity" enum:"critical,warning,info" example:"warning"`
	Target   Subject `json:"target"`
	HostID   *int64  `json:"host_id" example:"1" doc:"The affected host; null for a cluster, and for a job on no host"`
	Host     *string `json:"host" example:"lab"`
	// ClusterID is nil for a host that was not polled yet.
	ClusterID *int64     `json:"cluster_id" example:"1"`
	JobID     *int64     `json:"job_id" example:"57" doc:"The job that failed; null for other problems"`
	Since     *time.Time `json:"since" example:"2026-01-31T12:00:00Z" doc:"When the problem began, if known; for a host, the time of its last successful poll"`
	EndsAt    *time.Time `json:"ends_at" example:"2026-03-01T12:00:00Z" doc:"When the token or the certificate expires; null for other problems"`
	Text      string     `json:"text" example:"The certificate expires on 2026-03-01, in 12 days."`
	Remedy    string     `json:"remedy" example:"Renew the certificate on the host. If it is pinned, accept the new one with PATCH /api/v1/hosts/1 {\"tls_fingerprint\": …}." doc:"How to fix it"`
}

// Subject is the object that a problem is about.
type Subject struct {
	Kind string `json:"kind" example:"host" doc:"host, node, cluster, vm, app, container, storage, or the kind of object that a job works on"`
	ID   *int64 `json:"id" example:"1" doc:"ID of the object; null for nodes, which are identified by name, and for jobs of the service itself"`
	Name string `json:"name" example:"lab"`
}

// ProblemCount is how many problems of one kind and severity there are.
type ProblemCount struct {
	Kind     string `json:"kind" example:"backup_old"`
	Severity string `json:"severity" enum:"critical,warning,info" example:"warning"`
	Count    int64  `json:"count" example:"143"`
}

// ProblemColumns are the columns of a finding in their order, separated by
// commas. word and detail are the variable parts of the text, at is an expiry
// and n a number; ProblemDetail carries word, detail and n.
const ProblemColumns = "kind, severity, target_kind, target_id, target, host_id, cluster_id, job_id, since, at, word, detail, n"

// noProblems is an empty first part of the UNION. It gives ProblemColumns their
// types, so that the findings can use untyped NULLs.
const noProblems = `SELECT '', '', '', 0::bigint, '', 0::bigint, 0::bigint, 0::bigint, now(), now(), '', '', 0::bigint WHERE false`

// finding is a SQL query that finds the problems of some kinds. It returns
// ProblemColumns in their order.
type finding struct {
	kinds []string
	sql   string
}

// findings are the queries for all kinds. A failed job is not a problem if a
// later job of the same kind on the same target succeeded. A node is offline
// only if its cluster says so; if no host of the cluster responds, its status
// is unknown, and only the host is a problem.
var findings = []finding{
	{[]string{"host_away"}, `SELECT 'host_away', 'critical', 'host', id, name, id, cluster_id,
		NULL::bigint, ok_at, NULL::timestamptz, error_reason, error, 0::bigint
	FROM h WHERE status = 'unreachable'`},
	{[]string{"quorum_lost"}, `
	SELECT 'quorum_lost', 'critical', 'cluster', c.id, c.name, NULL, c.id, NULL, c.quorate_since, NULL, '', '', 0
	FROM clusters c WHERE NOT c.quorate AND c.id IN (SELECT cluster_id FROM h)`},
	{[]string{"node_away"}, `
	SELECT 'node_away', 'critical', 'node', NULL, name, host_id, cluster_id, NULL, status_since, NULL, '', '', 0
	FROM m WHERE status = 'offline'`},
	{[]string{"token_ending"}, `
	SELECT 'token_ending', CASE WHEN k.ends_at < now() + interval '7 days' THEN 'critical' ELSE 'warning' END, 'host', h.id, h.name,
		h.id, h.cluster_id, NULL, k.ends_told_at, k.ends_at, k.capability, k.token_id, 0
	FROM host_credentials k JOIN h ON h.id = k.host_id WHERE k.ends_at < now() + interval '30 days'`},
	{[]string{"certificate_ending"}, `
	SELECT 'certificate_ending', CASE WHEN certificate_ends_at < now() + interval '7 days' THEN 'critical' ELSE 'warning' END,
		'host', id, name, id, cluster_id, NULL, version_at, certificate_ends_at, '', '', 0
	FROM h WHERE certificate_ends_at < now() + interval '30 days'`},
	{[]string{"certificate_ending"}, `
	SELECT 'certificate_ending', CASE WHEN certificate_ends_at < now() + interval '7 days' THEN 'critical' ELSE 'warning' END,
		'node', NULL, name, host_id, cluster_id, NULL, facts_at, certificate_ends_at, '', '', 0
	FROM m WHERE entry IS NULL AND certificate_ends_at < now() + interval '30 days'`},
	{[]string{"token_privileges"}, `
	SELECT 'token_privileges', 'warning', 'host', h.id, h.name, h.id, h.cluster_id, NULL, k.verified_at, NULL, k.capability,
		array_to_string(k.missing[1:20], ', '), cardinality(k.missing)
	FROM host_credentials k JOIN h ON h.id = k.host_id WHERE cardinality(k.missing) > 0`},
	{[]string{"token_privileges"}, `
	SELECT 'token_privileges', 'warning', 'host', id, name, id, cluster_id, NULL, NULL, NULL, 'monitoring', error, 0
		FROM h WHERE status <> 'unreachable' AND error_reason = '` + plugin.ReasonPermission + `' AND NOT EXISTS (SELECT FROM host_credentials k
			WHERE k.host_id = h.id AND k.capability = 'monitoring' AND cardinality(k.missing) > 0)`},
	{[]string{"versions_differ"}, `
	SELECT 'versions_differ', 'warning', 'cluster', c.id, c.name, NULL, c.id, NULL, NULL, NULL, '', v.list, v.n
	FROM (SELECT cluster_id, count(DISTINCT version) AS n, string_agg(DISTINCT version, ', ' ORDER BY version) AS list FROM m
		WHERE version <> '' GROUP BY cluster_id HAVING count(DISTINCT version) > 1) v JOIN clusters c ON c.id = v.cluster_id`},
	{[]string{"cluster_twice"}, `
	SELECT 'cluster_twice', 'warning', 'cluster', c.id, c.name, NULL, c.id, NULL, NULL, NULL, COALESCE(w.teams, ''), '', w.n
	FROM clusters c CROSS JOIN LATERAL (SELECT count(DISTINCT o.team_id) AS n, string_agg(DISTINCT t.name, ', ' ORDER BY t.name) AS teams
		FROM cluster_twins w JOIN clusters o ON o.id = w.twin_id LEFT JOIN teams t ON t.id = o.team_id AND ($1 OR t.id = ANY ($2))
		WHERE w.cluster_id = c.id) w
	WHERE c.id IN (SELECT cluster_id FROM h) AND w.n > 0`},
	{[]string{"subscription_ended"}, `
	SELECT 'subscription_ended', 'warning', 'node', NULL, name, host_id, cluster_id, NULL, facts_at, NULL, subscription,
		subscription_due, 0
	FROM m WHERE lower(subscription) IN ('expired', 'invalid', 'suspended')`},
	{[]string{"job_failed"}, `
	SELECT 'job_failed', 'warning', j.target_kind, NULLIF(j.target_id, 0), j.target_name, j.host_id, jh.cluster_id, j.id,
	j.finished_at,
		NULL, j.kind, j.error, 0
	FROM (SELECT DISTINCT ON (kind, target_kind, target_id) * FROM jobs WHERE finished_at > now() - interval '1 day'
		AND status IN ('failed', 'unknown', 'succeeded') AND ($1 OR team_id = ANY ($2))
		ORDER BY kind, target_kind, target_id, finished_at DESC, id DESC) j
	LEFT JOIN hosts jh ON jh.id = j.host_id WHERE j.status <> 'succeeded'`},
	{[]string{"backup_never", "backup_old"}, `
	SELECT CASE WHEN taken_at IS NULL THEN 'backup_never' ELSE 'backup_old' END, 'warning',
		CASE WHEN kind = 'vm' THEN 'vm' WHEN app IS NOT NULL THEN 'app' ELSE 'container' END, COALESCE(app, id), name, host_id, cluster_id,
		NULL, taken_at, NULL, '', '', promise
	FROM judged WHERE state = 'stale'`},
	{[]string{"backup_unlisted"}, `
	SELECT 'backup_unlisted', 'warning', 'storage', NULL, s.name, s.host_id, s.cluster_id, NULL, s.as_of, NULL, s.node, s.error, 0
	FROM backup_storages s WHERE s.error_code <> '' AND s.host_id IN (SELECT id FROM h WHERE status <> 'unreachable')`},
	{[]string{"app_missing"}, `
	SELECT 'app_missing', 'warning', 'app', a.id, a.name, a.host_id, a.cluster_id, NULL, a.absent_since, NULL, '', '', 0
	FROM apps a WHERE a.guest_id IS NULL AND a.absent_for >= interval '15 minutes' AND ($1 OR a.host_id IN (SELECT id FROM h))`},
	{[]string{"detail_unknown"}, `
	SELECT 'detail_unknown', 'info', 'cluster', c.id, c.name, NULL, c.id, NULL, u.since, NULL, '', '', u.n
	FROM (SELECT g.cluster_id, count(*) AS n, min(g.first_seen_at) AS since FROM guests g
		LEFT JOIN guest_details d ON d.guest_id = g.id AND d.as_of IS NOT NULL
		WHERE d.guest_id IS NULL AND g.first_seen_at < now() - interval '1 hour' AND g.host_id IN (SELECT id FROM h)
		GROUP BY g.cluster_id) u JOIN clusters c ON c.id = u.cluster_id`},
	{[]string{"schedule_empty"}, `
	SELECT 'schedule_empty', 'warning', 'schedule', s.id, s.name, NULL, NULL, NULL, NULL, NULL, COALESCE(s.params->'select'->>'tag', ''),
		'', 0
	FROM schedules s WHERE s.enabled AND jsonb_typeof(s.params->'select') = 'object' AND $1 AND NOT EXISTS (SELECT FROM guests g
		WHERE NOT g.template AND (g.kind = 'vm' OR EXISTS (SELECT FROM apps a WHERE a.guest_id = g.id))
			AND (g.host_id::text = s.params->'select'->>'host_id' OR share_tag(g.tags, ARRAY[s.params->'select'->>'tag'])))`},
}

// ProblemsSQL returns a WITH clause whose last common table, found, has the
// problems of the given kinds, or of all kinds if there are none. Its columns
// have the names of ProblemColumns.
//
// others are further queries that return ProblemColumns in their order. They
// may use the tables before them: h with the hosts, m with the nodes, and
// judged with the coverage of guests. clock is a SQL expression for the current
// time, such as now(); it replaces every now() of the clause, so that a test or
// an alert rule can choose the time. $1 and $2 say what may be seen, and $3 is
// the setting backup.max_age_days.
func ProblemsSQL(clock string, kinds []string, others ...string) string {
	parts := []string{noProblems}
	for _, f := range findings {
		if len(kinds) == 0 || slices.ContainsFunc(f.kinds, func(kind string) bool { return slices.Contains(kinds, kind) }) {
			parts = append(parts, f.sql)
		}
	}
	parts = append(parts, others...)
	return strings.ReplaceAll(backup.CoverageSQL+", "+visible+", "+members+", found ("+ProblemColumns+") AS ("+strings.Join(parts,
		"\nUNION ALL ")+")",
		"now()", clock)
}

// selectProblems has the worst first, and the guests by the state of their
// backups last.
var selectProblems = ProblemsSQL("now()", nil, guestsByCoverage) + `, counted AS (SELECT *, count(*) OVER same AS total,
	row_number() OVER (same ORDER BY at NULLS LAST, since NULLS FIRST, target, host_id, job_id)
	AS place FROM found WINDOW same AS (PARTITION BY kind, severity))
SELECT p.kind, p.severity, p.target_kind, p.target_id, p.target, p.host_id, h.name, p.cluster_id, p.job_id, p.since, p.at,
	p.word, p.detail, p.n,
	p.total
FROM counted p LEFT JOIN h ON h.id = p.host_id WHERE p.place <= $4
ORDER BY array_position(ARRAY['critical', 'warning', 'info'], p.severity), p.kind, p.place`

// problems reads the open problems that may be seen, the worst first and at
// most maxProblems of one kind and severity, the number of each, and the guests
// by the state of their backups.
func (s *Store) problems(ctx context.Context, visible identity.VisibleTeams, f *Summary) error {
	days, err := setting.Get(ctx, s.DB, setting.BackupMaxAge)
	if err != nil {
		return err
	}
	rows, err := s.DB.Pool.Query(ctx, selectProblems, visible.All, visible.Teams, days, maxProblems)
	if err != nil {
		return db.Problem(fmt.Errorf("finding problems: %w", err))
	}
	f.ProblemCounts = []ProblemCount{}
	now := time.Now()
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p Problem, err error) {
		var fault ProblemDetail
		var total int64
		if err := row.Scan(&p.Kind, &p.Severity, &p.Target.Kind, &p.Target.ID, &p.Target.Name, &p.HostID, &p.Host, &p.ClusterID, &p.JobID,
			&p.Since, &p.EndsAt, &fault.Word, &fault.Detail, &fault.N, &total); err != nil {
			return p, fmt.Errorf("reading a problem: %w", err)
		}
		if p.Kind == covering {
			f.Backups.count(p.Severity, fault.N)
			return p, nil
		}
		p.Since, p.EndsAt = utc(p.Since), utc(p.EndsAt)
		p.Describe(fault, now)
		if last := len(f.ProblemCounts) - 1; last < 0 || f.ProblemCounts[last].Kind != p.Kind ||
			f.ProblemCounts[last].Severity != p.Severity {
			f.ProblemCounts = append(f.ProblemCounts, ProblemCount{p.Kind, p.Severity, total})
		}
		return p, nil
	})
	if err != nil {
		return db.Problem(fmt.Errorf("finding problems: %w", err))
	}
	f.Problems = slices.DeleteFunc(all, func(p Problem) bool { return p.Kind == covering })
	return nil
}

// utc returns a copy of a time in UTC; nil for nil.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	at := t.UTC()
	return &at
}
