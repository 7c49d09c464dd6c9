package alert

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Rule is what people want to know; the JSON names are those of the API.
type Rule struct {
	ID          int64    `json:"id" example:"3"`
	Key         *string  `json:"key" example:"node.offline" doc:"Fixed name of a built-in rule; null for other rules"`
	Name        string   `json:"name" example:"Node offline"`
	Description string   `json:"description" doc:"Purpose of the rule"`
	Kind        Kind     `json:"kind" example:"cpu"`
	On          Scope    `json:"on"`
	Threshold   *float64 `json:"threshold" example:"95" doc:"Value at which the condition is a breach; null for kinds without a threshold"`
	ClearLevel  *float64 `json:"clear_level" example:"85" doc:"Value at which the condition is cleared; between this value and threshold the state does not change"`
	Unit        *Unit    `json:"unit" enum:"percent,bytes_per_second,days,minutes,seconds"`
	ForS        int64    `json:"for_s" example:"900" doc:"Seconds that a breach must last before the alert is raised"`
	ClearForS   int64    `json:"clear_for_s" example:"600" doc:"Seconds that the condition must be cleared before the alert is resolved"`
	Severity    Severity `json:"severity" enum:"critical,warning,info" example:"warning"`
	// Labels are words of whoever wrote the rule, for whoever is told.
	Labels    json.RawMessage `json:"labels" example:"{\"room\":\"cellar\"}"`
	Enabled   bool            `json:"enabled" example:"true"`
	Seeded    bool            `json:"seeded" doc:"true for a built-in rule that nobody has changed"`
	Open      int64           `json:"open" example:"2" doc:"Number of open alerts of the rule"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
}

// Scope selects the objects of a rule: those that match everything in it. An
// empty scope selects all.
type Scope struct {
	TeamID  *int64   `json:"team_id" example:"2" doc:"Only objects of this team"`
	HostID  *int64   `json:"host_id" example:"1" doc:"Only this host, the objects on it, and the objects of its cluster that are on no host"`
	Kinds   []string `json:"kinds" nullable:"false" example:"[\"vm\"]" doc:"Only objects of these kinds; empty for all kinds"`
	Tags    []string `json:"tags" nullable:"false" example:"[\"prod\"]" doc:"Only guests with one of these tags; empty for all objects"`
	Targets []string `json:"targets" nullable:"false" example:"[\"vm:3\"]" doc:"Only these objects: host:1, vm:3, app:2, container:5, cluster:1, node:1/alpha, storage:1/nas or storage:1/local/alpha"`
}

// columns are the columns of a rule in the order of scanRule.
const columns = `r.id, r.key, r.name, r.description, r.kind, r.team_id, r.host_id, r.kinds, r.tags, r.targets, r.threshold, r.clear_level,
	r.for_s, r.clear_for_s, r.severity, r.labels, r.enabled, r.seeded, r.created_at, r.updated_at,
	(SELECT count(*) FROM alerts o WHERE o.rule_id = r.id AND o.resolved_at IS NULL)`

// scanRule reads one row of a rule.
func scanRule(row pgx.CollectableRow) (*Rule, error) {
	r := &Rule{}
	err := row.Scan(&r.ID, &r.Key, &r.Name, &r.Description, &r.Kind, &r.On.TeamID, &r.On.HostID, &r.On.Kinds, &r.On.Tags, &r.On.Targets,
		&r.Threshold, &r.ClearLevel, &r.ForS, &r.ClearForS, &r.Severity, &r.Labels, &r.Enabled, &r.Seeded, &r.CreatedAt, &r.UpdatedAt, &r.Open)
	if err != nil {
		return nil, fmt.Errorf("reading a rule: %w", err)
	}
	r.CreatedAt, r.UpdatedAt = r.CreatedAt.UTC(), r.UpdatedAt.UTC()
	if k := kindOf(r.Kind); k != nil {
		r.Unit = k.Unit
	}
	return r, nil
}

// title returns the name of the rule in alerts.
func (r *Rule) title() string {
	if r.Key != nil {
		return *r.Key
	}
	return r.Name
}

// scoped is SQL that reports whether the rule r covers the object t, which has
// the columns kind, base (the word of targets in which its own id occurs),
// name, node, host_id, cluster_id, team_id and tags.
const scoped = `(cardinality(r.kinds) = 0 OR t.kind = ANY (r.kinds)) AND (r.team_id IS NULL OR r.team_id = t.team_id)
	AND (r.host_id IS NULL OR r.host_id = t.host_id OR t.host_id IS NULL AND t.cluster_id = (SELECT s.cluster_id FROM hosts s
		WHERE s.id = r.host_id))
	AND (cardinality(r.tags) = 0 OR share_tag(t.tags, r.tags))
	AND (cardinality(r.targets) = 0 OR t.base = ANY (r.targets) OR t.kind IN ('node', 'storage') AND EXISTS (SELECT FROM hosts s
		WHERE s.cluster_id = t.cluster_id AND (t.kind || ':' || s.id || '/' || t.name = ANY (r.targets)
			OR t.kind || ':' || s.id || '/' || t.name || '/' || t.node = ANY (r.targets))))`
