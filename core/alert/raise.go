package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// raisedAlert is an alert that this cycle has raised.
type raisedAlert struct {
	id int64
	o  *observation
}

// record is the row of an alert for PostgreSQL.
type record struct {
	RuleID     int64           `json:"rule_id"`
	Rule       string          `json:"rule"`
	Kind       Kind            `json:"kind"`
	Subject    string          `json:"subject"`
	TeamID     *int64          `json:"team_id"`
	HostID     *int64          `json:"host_id"`
	ClusterID  *int64          `json:"cluster_id"`
	TargetKind string          `json:"target_kind"`
	TargetID   int64           `json:"target_id"`
	TargetName string          `json:"target_name"`
	Node       string          `json:"node"`
	Tags       []string        `json:"tags"`
	Labels     json.RawMessage `json:"labels"`
	Severity   Severity        `json:"severity"`
	Message    string          `json:"message"`
	Remedy     string          `json:"remedy"`
	Why        Reason          `json:"why"`
	CauseID    *int64          `json:"cause_id"`
}

// insertAlerts writes the alerts $1, raised at $2. An object whose last alert
// of the rule is still silenced stays silenced.
const insertAlerts = `INSERT INTO alerts (rule_id, rule, kind, subject, team_id, host_id, cluster_id, target_kind, target_id,
	target_name, node,
	tags, labels, severity, message, remedy, why, cause_id, told, metric, raised_at, silenced_at, silenced_until, silenced_by, silence_note)
SELECT n.rule_id, n.rule, n.kind, n.subject, n.team_id, n.host_id, n.cluster_id, n.target_kind, n.target_id, n.target_name, n.node,
	ARRAY(SELECT jsonb_array_elements_text(n.tags)), n.labels, n.severity, n.message, n.remedy, n.why, n.cause_id, '', n.kind, $2,
	p.silenced_at, p.silenced_until, p.silenced_by, COALESCE(p.silence_note, '')
FROM jsonb_to_recordset($1::jsonb) AS n (rule_id bigint, rule text, kind text, subject text, team_id bigint, host_id bigint,
	cluster_id bigint, target_kind text, target_id bigint, target_name text, node text, tags jsonb, labels jsonb, severity text,
	message text, remedy text, why jsonb, cause_id bigint)
LEFT JOIN LATERAL (SELECT * FROM (SELECT * FROM alerts o WHERE o.rule_id = n.rule_id AND o.subject = n.subject
	ORDER BY o.id DESC LIMIT 1) o
	WHERE o.silenced_until > $2) p ON true
ON CONFLICT (rule_id, subject) WHERE resolved_at IS NULL AND rule_id IS NOT NULL DO UPDATE SET rule_id = excluded.rule_id
RETURNING id, rule_id, subject`

// raise writes the alerts of breaches that have lasted long enough, the greater
// ones first, and folds those that follow from them.
func (c *cycle) raise(ctx context.Context) error {
	pending := c.pendingCauses()
	samples, err := c.samples(ctx, c.changes.raised)
	if err != nil {
		return err
	}
	var written []raisedAlert
	for all := c.changes.raised; len(all) > 0; {
		n := 1
		for n < len(all) && c.rank(all[n]) == c.rank(all[0]) {
			n++
		}
		var records []record
		for _, o := range all[:n] {
			follows := c.causeOf(c.causes, o)
			if follows == nil && c.causeOf(pending, o) != nil {
				continue // the next cycle knows whether it follows from that
			}
			r := c.record(o, samples[o.key])
			if follows != nil {
				r.CauseID = &follows.alert
			}
			records = append(records, r)
		}
		made, err := c.insert(ctx, records)
		if err != nil {
			return err
		}
		written, all = append(written, made...), all[n:]
	}
	return c.foldEarlier(ctx, written)
}

// insert writes alerts and stores them in their states.
func (c *cycle) insert(ctx context.Context, records []record) ([]raisedAlert, error) {
	if len(records) == 0 {
		return nil, nil
	}
	body, err := json.Marshal(records)
	if err != nil {
		return nil, fmt.Errorf("writing alerts: %w", err)
	}
	rows, err := c.tx.Query(ctx, insertAlerts, body, c.now)
	if err != nil {
		return nil, fmt.Errorf("writing alerts: %w", err)
	}
	made, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (raisedAlert, error) {
		var k key
		var id int64
		err := row.Scan(&id, &k.rule, &k.subject)
		return raisedAlert{id, c.observed[k]}, err
	})
	if err != nil {
		return nil, fmt.Errorf("writing alerts: %w", err)
	}
	for _, r := range made {
		s := c.states[r.o.key]
		s.alert, s.open = &r.id, true
		c.raisedCause(r.o, r.id)
	}
	return made, nil
}

// record returns the row of an alert.
func (c *cycle) record(o *observation, samples []Sample) record {
	rule := c.rules[o.rule]
	message, remedy := c.text(o)
	r := record{RuleID: rule.ID, Rule: rule.title(), Kind: rule.Kind, Subject: o.subject, TeamID: o.team, HostID: o.host,
		ClusterID:  o.clusterID,
		TargetKind: o.target.Kind, TargetID: o.target.ID, TargetName: o.target.Name, Node: o.target.Node, Tags: o.tags, Labels: rule.Labels,
		Severity: rule.Severity, Message: message, Remedy: remedy,
		Why: Reason{Threshold: rule.Threshold, ClearLevel: rule.ClearLevel, Unit: rule.Unit, ForS: rule.ForS, ClearForS: rule.ClearForS,
			Value: o.value, Samples: samples, Since: utc(o.problem.Since), EndsAt: utc(o.problem.EndsAt), JobID: o.problem.JobID}}
	if r.Tags == nil {
		r.Tags = []string{}
	}
	if r.Why.Samples == nil {
		r.Why.Samples = []Sample{}
		if o.value != nil {
			r.Why.Samples = append(r.Why.Samples, Sample{c.now.UTC(), *o.value})
		}
	}
	return r
}

// resolve ends alerts, also those whose rule was deleted. There is no message
// about the end if there was none about the beginning.
func (c *cycle) resolve(ctx context.Context) error {
	ids, texts := make([]int64, 0, len(c.changes.resolved)), make([]string, 0, len(c.changes.resolved))
	for id, text := range c.changes.resolved {
		ids, texts = append(ids, id), append(texts, text)
	}
	const end = `UPDATE alerts a SET resolved_at = $1, resolution = n.text, told = CASE a.told WHEN '' THEN 'none' ELSE a.told END `
	if len(ids) > 0 {
		if err := c.exec(ctx, "resolving alerts", end+`FROM unnest($2::bigint[], $3::text[]) AS n (id, text)
			WHERE a.id = n.id AND a.resolved_at IS NULL`, c.now, ids, texts); err != nil {
			return err
		}
	}
	return c.exec(ctx, "resolving alerts without a rule", end+`FROM (SELECT $2::text AS text) n WHERE a.rule_id IS NULL
		AND a.resolved_at IS NULL`, c.now, isRemoved)
}

// follow gives open alerts the present team of their host.
func (c *cycle) follow(ctx context.Context) error {
	return c.exec(ctx, "reassigning alerts", `UPDATE alerts a SET team_id = h.team_id FROM hosts h WHERE a.resolved_at IS NULL
		AND h.id = a.host_id AND h.team_id IS DISTINCT FROM a.team_id`)
}

// keepStates writes the states for the next cycle.
func (c *cycle) keepStates(ctx context.Context) error {
	if n := len(c.changes.dropped); n > 0 {
		rules, subjects := make([]int64, n), make([]string, n)
		for i, k := range c.changes.dropped {
			rules[i], subjects[i] = k.rule, k.subject
		}
		if err := c.exec(ctx, "deleting states", `DELETE FROM alert_states s USING unnest($1::bigint[], $2::text[]) AS n (rule_id, subject)
			WHERE s.rule_id = n.rule_id AND s.subject = n.subject`, rules, subjects); err != nil {
			return err
		}
	}
	n := len(c.changes.kept)
	if n == 0 {
		return nil
	}
	rules, subjects, breaches := make([]int64, 0, n), make([]string, 0, n), make([]float64, 0, n)
	clears, alerts := make([]*float64, 0, n), make([]*int64, 0, n)
	for k, s := range c.changes.kept {
		rules, subjects, breaches = append(rules, k.rule), append(subjects, k.subject), append(breaches, s.breach)
		clears, alerts = append(clears, s.clear), append(alerts, s.alert)
	}
	return c.exec(ctx, "storing states", `INSERT INTO alert_states (rule_id, subject, breach_s, clear_s, alert_id)
		SELECT n.* FROM unnest($1::bigint[], $2::text[], $3::float8[], $4::float8[], $5::bigint[]) AS n (rule_id, subject, breach_s,
			clear_s, alert_id)
			JOIN alert_rules r ON r.id = n.rule_id
		ON CONFLICT (rule_id, subject) DO UPDATE SET breach_s = excluded.breach_s, clear_s = excluded.clear_s, alert_id = excluded.alert_id`,
		rules, subjects, breaches, clears, alerts)
}

// utc converts an optional time.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	at := t.UTC()
	return &at
}
