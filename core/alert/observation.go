package alert

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/cluster"
)

// key is a rule and an object.
type key struct {
	rule    int64
	subject string
}

// observation is the finding of a cycle about a rule and an object: a breach, a
// value that is at least not over yet, or a value of an object that has a
// state. Without a finding there is no observation.
type observation struct {
	key
	target                Target
	host, clusterID, team *int64
	tags                  []string
	value                 *float64
	// covered says that the rule is about the thing.
	covered bool
	// kept and row are by what its samples are kept.
	kept string
	row  int64
	// problem and fault are what is known of a state.
	problem cluster.Problem
	fault   cluster.ProblemDetail
}

// things is SQL for all objects with samples, with the columns that rules need.
// off says that an object does not run, and known that its state is reported.
const things = `things AS (SELECT t.*, CASE WHEN t.kind IN ('node', 'storage') THEN '' ELSE t.kind || ':' || t.id END AS base,
		CASE t.kind WHEN 'node' THEN 'node:' || t.cluster_id || ':' || t.name
			WHEN 'storage' THEN 'storage:' || t.cluster_id || ':' || t.name || ':' || t.node ELSE t.kind || ':' || t.id END AS subject, th.team_id
	FROM (SELECT 'guest' AS kept, g.id AS row, CASE WHEN g.kind = 'vm' THEN 'vm' WHEN a.id IS NULL THEN 'container' ELSE 'app' END AS kind,
			COALESCE(a.id, g.id) AS id, COALESCE(a.name, g.name) AS name, g.host_id, g.cluster_id, g.node, g.tags,
			g.status = 'running' AS live, g.status IN ('stopped', 'paused', 'suspended') AS off,
			g.status <> 'unknown' AS known
		FROM guests g LEFT JOIN apps a ON a.guest_id = g.id AND g.kind = 'container' WHERE NOT g.template
		UNION ALL SELECT 'node', id, 'node', host_id, name, host_id, cluster_id, name, '{}', status = 'online', false,
			status <> 'unknown' FROM nodes
		UNION ALL SELECT 'host', id, 'host', id, name, id, cluster_id, entry_node, '{}', status = 'online', false,
			status = 'online' FROM hosts
		UNION ALL SELECT 'storage', id, 'storage', host_id, name, host_id, cluster_id, CASE WHEN shared THEN '' ELSE node END, '{}',
			status = 'available', false, status = 'available' FROM storages) t
	JOIN hosts th ON th.id = t.host_id)`

// thingColumns are the columns of an object t in the order of scanThing, after
// the rule and before the value.
const thingColumns = `t.subject, t.kind, t.id, t.name, t.node, t.host_id, t.cluster_id, t.team_id, t.tags, t.kept, t.row`

// scanThing reads one row of a measured value.
func scanThing(row pgx.CollectableRow) (*observation, error) {
	o := &observation{}
	err := row.Scan(&o.rule, &o.subject, &o.target.Kind, &o.target.ID, &o.target.Name, &o.target.Node, &o.host, &o.clusterID, &o.team,
		&o.tags,
		&o.kept, &o.row, &o.value, &o.covered)
	return o, err
}

// newest is SQL for the newest values of all objects with new samples: $1 is
// the time, and $2 how old a new sample may be. Rates are computed from the
// sample before; a counter that began again has no rate.
const newest = `recent AS (SELECT target_kind, target_id, at, cpu, memory, memory_total, disk, disk_total, net_in, net_out, disk_read,
		disk_write, row_number() OVER w AS place, extract(epoch FROM at - lead(at) OVER w)::float8 AS took,
		net_in - lead(net_in) OVER w AS net_in_grown, net_out - lead(net_out) OVER w AS net_out_grown,
		disk_read - lead(disk_read) OVER w AS disk_read_grown, disk_write - lead(disk_write) OVER w AS disk_write_grown
	FROM metric_samples WHERE at > $1::timestamptz - $2::interval AND at <= $1::timestamptz
	WINDOW w AS (PARTITION BY target_kind, target_id ORDER BY at DESC)),
measured AS (SELECT t.*, (100::real * cpu)::float8 AS cpu, 100 * memory::float8 / NULLIF(memory_total, 0) AS memory,
		100 * disk::float8 / NULLIF(disk_total, 0) AS disk,
		CASE WHEN net_in_grown >= 0 THEN net_in_grown / NULLIF(took, 0) END AS net_in,
		CASE WHEN net_out_grown >= 0 THEN net_out_grown / NULLIF(took, 0) END AS net_out,
		CASE WHEN disk_read_grown >= 0 THEN disk_read_grown / NULLIF(took, 0) END AS disk_read,
		CASE WHEN disk_write_grown >= 0 THEN disk_write_grown / NULLIF(took, 0) END AS disk_write
	FROM recent n JOIN things t ON t.kept = n.target_kind AND t.row = n.target_id WHERE n.place = 1 AND t.live)`

// ofKind is SQL for the value of the object t that the rule r watches.
const ofKind = `CASE r.kind WHEN 'cpu' THEN t.cpu WHEN 'memory' THEN t.memory WHEN 'disk' THEN t.disk WHEN 'net_in' THEN t.net_in
	WHEN 'net_out' THEN t.net_out WHEN 'disk_read' THEN t.disk_read WHEN 'disk_write' THEN t.disk_write END`

// selectSampled returns the values that are not below the level at which their
// rule is over, and those of objects with a state. $3 are the kinds.
const selectSampled = `WITH ` + things + `, ` + newest + `,
	rules AS (SELECT * FROM alert_rules WHERE enabled AND kind = ANY ($3))
SELECT r.id, ` + thingColumns + `, ` + ofKind + `, true FROM rules r JOIN measured t ON ` + ofKind + ` >= r.clear_level AND ` + scoped + `
UNION ALL
SELECT r.id, ` + thingColumns + `, ` + ofKind + `, ` + scoped + ` FROM alert_states s JOIN rules r ON r.id = s.rule_id
	JOIN measured t ON t.subject = s.subject WHERE ` + ofKind + ` IS NOT NULL AND NOT (` + ofKind + ` >= r.clear_level AND ` + scoped + `)`

// lookAtSamples compares the newest samples with all rules about figures.
func (c *cycle) lookAtSamples(ctx context.Context) error {
	if !c.wants(sampled...) {
		return nil
	}
	rows, err := c.tx.Query(ctx, selectSampled, c.now, c.fresh, sampled)
	if err != nil {
		return fmt.Errorf("evaluating samples: %w", err)
	}
	found, err := pgx.CollectRows(rows, scanThing)
	if err != nil {
		return fmt.Errorf("evaluating samples: %w", err)
	}
	for _, o := range found {
		// A storage that several nodes share is measured by each of them; the
		// worst value counts.
		if other := c.observed[o.key]; other == nil || !other.covered || o.covered && *o.value > *other.value {
			c.observed[o.key] = o
		}
	}
	return nil
}

// selectThere reports for objects whether they exist and whether they are off.
const selectThere = `WITH ` + things + ` SELECT subject, bool_and(off) FROM things WHERE subject = ANY ($1) GROUP BY subject`

// presence is what is known about an object without a value.
type presence int

// Why a subject has no value.
const (
	gone presence = iota
	off
	silent
)

// lookForSilent finds out what became of objects that have a state and no new
// figures.
func (c *cycle) lookForSilent(ctx context.Context) error {
	var subjects []string
	for k := range c.states {
		if r := c.rules[k.rule]; r != nil && c.observed[k] == nil && isSampled(r.Kind) {
			subjects = append(subjects, k.subject)
		}
	}
	if len(subjects) == 0 {
		return nil
	}
	rows, err := c.tx.Query(ctx, selectThere, subjects)
	if err != nil {
		return fmt.Errorf("reading objects: %w", err)
	}
	var subject string
	var isOff bool
	_, err = pgx.ForEachRow(rows, []any{&subject, &isOff}, func() error {
		c.presence[subject] = silent
		if isOff {
			c.presence[subject] = off
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading objects: %w", err)
	}
	return nil
}

// whyRows returns the samples of the objects $2, $3 since $5 seconds before $1:
// the newest 60 of each, the oldest first.
const whyRows = `SELECT i, at, value FROM (SELECT i, at, value, row_number() OVER (PARTITION BY i ORDER BY at DESC) AS place FROM (
	SELECT w.i, s.at,
		CASE w.kind WHEN 'cpu' THEN (100::real * s.cpu)::float8 WHEN 'memory' THEN 100 * s.memory::float8 / NULLIF(s.memory_total, 0)
		WHEN 'disk' THEN 100 * s.disk::float8 / NULLIF(s.disk_total, 0) ELSE (
			CASE w.kind WHEN 'net_in' THEN s.net_in - lag(s.net_in) OVER o WHEN 'net_out' THEN s.net_out - lag(s.net_out) OVER o
				WHEN 'disk_read' THEN s.disk_read - lag(s.disk_read) OVER o ELSE s.disk_write - lag(s.disk_write) OVER o END)
			/ NULLIF(extract(epoch FROM s.at - lag(s.at) OVER o)::float8, 0) END AS value
	FROM unnest($2::text[], $3::bigint[], $4::text[], $5::float8[]) WITH ORDINALITY AS w (kept, row, kind, back, i)
	JOIN metric_samples s ON s.target_kind = w.kept AND s.target_id = w.row
		AND s.at > $1::timestamptz - w.back * interval '1 second' AND s.at <= $1::timestamptz
	WINDOW o AS (PARTITION BY w.i ORDER BY s.at)) v WHERE value >= 0) n WHERE place <= 60 ORDER BY i, at`

// Settings of the samples that are stored with an alert.
const (
	// whyBefore is how much of the time before a breach is shown with it.
	whyBefore = 5 * time.Minute
	// maxWhy is of how many alerts that are raised at once the samples are kept.
	maxWhy = 200
)

// samples returns the samples that are stored with new alerts about figures.
func (c *cycle) samples(ctx context.Context, raised []*observation) (map[key][]Sample, error) {
	var of []*observation
	var kept, kind []string
	var rows []int64
	var back []float64
	for _, o := range raised {
		if r := c.rules[o.rule]; isSampled(r.Kind) && len(of) < maxWhy {
			of = append(of, o)
			kept, rows, kind = append(kept, o.kept), append(rows, o.row), append(kind, string(r.Kind))
			back = append(back, float64(r.ForS)+whyBefore.Seconds())
		}
	}
	all := map[key][]Sample{}
	if len(of) == 0 {
		return all, nil
	}
	found, err := c.tx.Query(ctx, whyRows, c.now, kept, rows, kind, back)
	if err != nil {
		return nil, fmt.Errorf("reading the causes of alerts: %w", err)
	}
	var i int64
	var s Sample
	_, err = pgx.ForEachRow(found, []any{&i, &s.At, &s.Value}, func() error {
		k := of[i-1].key
		all[k] = append(all[k], Sample{s.At.UTC(), s.Value})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the causes of alerts: %w", err)
	}
	return all, nil
}
