package alert

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// selectUnsure returns, of the states $1, $2 by rule and subject, those whose
// object exists while nobody reports its state: the hypervisor left it out of
// an answer, its node is off, or its own host does not answer while another one
// of the cluster does. It covers only kinds that need reported data; other
// findings come from what the service itself has stored. Of a storage that
// several nodes share, one node is enough.
const selectUnsure = `WITH ` + things + `,
unsure AS (SELECT w.watched, t.subject || w.part AS subject, t.kind, t.base, t.name, t.node, t.host_id, t.cluster_id, t.team_id, t.tags
	FROM things t JOIN (VALUES ('guest', 'guest_down', ''), ('guest', 'no_data', ''), ('node', 'node_away', ''), ('node', 'no_data', ''),
		('host', 'no_data', ''), ('host', 'token_privileges', ':monitoring'), ('storage', 'storage_fills', ''),
		('storage', 'no_data', '')) AS w (kept, watched, part)
		ON w.kept = t.kept
	WHERE NOT t.known AND NOT (t.kept = 'storage' AND EXISTS (SELECT FROM things o WHERE o.subject = t.subject AND o.known))
	UNION ALL SELECT 'backup_unlisted', 'storage:' || b.cluster_id || ':' || b.name || ':' || b.node, 'storage', '', b.name, b.node,
		b.host_id, b.cluster_id, h.team_id, '{}'
		FROM backup_storages b JOIN hosts h ON h.id = b.host_id WHERE b.error_code <> '' AND h.status = 'unreachable')
SELECT DISTINCT r.id, t.subject FROM unnest($1::bigint[], $2::text[]) AS s (rule_id, subject) JOIN alert_rules r ON r.id = s.rule_id
	JOIN unsure t ON t.watched = r.kind AND t.subject = s.subject WHERE ` + scoped

// lookForUnsure finds the objects that are missing in the breaches only because
// nobody reports them.
func (c *cycle) lookForUnsure(ctx context.Context) error {
	var rules []int64
	var subjects []string
	for k := range c.states {
		r := c.rules[k.rule]
		if r == nil || c.observed[k] != nil || isSampled(r.Kind) || kindOf(r.Kind).seldom && !c.seldom {
			continue
		}
		rules, subjects = append(rules, k.rule), append(subjects, k.subject)
	}
	if len(rules) == 0 {
		return nil
	}
	rows, err := c.tx.Query(ctx, selectUnsure, rules, subjects)
	if err != nil {
		return fmt.Errorf("reading unknown states: %w", err)
	}
	var k key
	if _, err = pgx.ForEachRow(rows, []any{&k.rule, &k.subject}, func() error {
		c.unsure[k] = true
		return nil
	}); err != nil {
		return fmt.Errorf("reading unknown states: %w", err)
	}
	return nil
}
