package poll

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/sdk/endpoint"
)

// unit is the subject of one cycle: a cluster, a host without a cluster, or
// (probe) a failed host of a cluster for which others answer.
type unit struct {
	cluster int64
	host    int64
	probe   bool
}

// key returns the number of the unit's advisory lock.
func (u unit) key() int64 {
	if u.cluster != 0 {
		return u.cluster
	}
	return -u.host
}

// hastenStatements make units due that a shorter interval, set in the meantime,
// would have polled already. The polls are spread over the interval. $1 is the
// interval and $2 the longest pause after failures. Rows that a cycle has
// locked are skipped; their turn is at the next tick.
var hastenStatements = []string{
	`UPDATE clusters SET next_poll_at = now() + $1::interval * random() WHERE id IN (SELECT c.id FROM clusters c
		WHERE c.next_poll_at > now() + 1.06 * $1::interval
		AND (c.next_poll_at > now() + 1.06 * GREATEST($1::interval, $2::interval) OR EXISTS (SELECT FROM hosts h WHERE h.cluster_id = c.id
		AND h.failures = 0))
		FOR UPDATE SKIP LOCKED)`,
	`UPDATE hosts SET next_poll_at = now() + $1::interval * random() WHERE id IN (SELECT h.id FROM hosts h
		WHERE h.next_poll_at > now() + 1.06 * GREATEST($1::interval, $2::interval)
		AND (h.cluster_id IS NULL OR h.failures > 0) FOR UPDATE SKIP LOCKED)`,
}

// hasten makes a shorter interval take effect at once, also if it was set on
// another instance.
func (p *Poller) hasten(ctx context.Context) error {
	for _, statement := range hastenStatements {
		if _, err := p.db.Pool.Exec(ctx, statement, p.every(ctx), maxBackOff); err != nil {
			return db.Problem(fmt.Errorf("scheduling polls earlier: %w", err))
		}
	}
	return nil
}

// due returns the units that are due.
func (p *Poller) due(ctx context.Context) ([]unit, error) {
	rows, err := p.db.Pool.Query(ctx, `
SELECT c.id, 0::bigint, false FROM clusters c WHERE c.next_poll_at <= now() AND EXISTS (SELECT FROM hosts h WHERE h.cluster_id = c.id)
UNION ALL
SELECT 0, h.id, false FROM hosts h WHERE h.cluster_id IS NULL AND h.next_poll_at <= now()
UNION ALL
SELECT 0, h.id, true FROM hosts h WHERE h.failures > 0 AND h.next_poll_at <= now()
	AND EXISTS (SELECT FROM hosts o WHERE o.cluster_id = h.cluster_id AND o.failures = 0)`)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading due polls: %w", err))
	}
	units, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (u unit, err error) {
		return u, row.Scan(&u.cluster, &u.host, &u.probe)
	})
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading due polls: %w", err))
	}
	return units, nil
}

// member is a host in a cycle.
type member struct {
	id       int64
	cluster  *int64
	failures int
	// due says that a failed host may be tried again.
	due bool
	// since is when the host's cluster was last polled well, detail when with detail.
	since, detail *time.Time
	// missing is what the monitoring token was last found to lack, and rightsAt when that was.
	missing  []string
	rightsAt *time.Time
	// limited says that the host stands with the reason permission.
	limited bool
	// partial says that the last answer through the host was.
	partial bool
	// leftOut says that guests of the host's cluster were left out of the last answer.
	leftOut bool
	// entry is the node that answers at the host's address, and membershipAt
	// when any host last told of the cluster's membership.
	entry        string
	membershipAt *time.Time
	// fresh says that everything is to be asked for.
	fresh bool
	// factsOf is the node of the host's cluster that is to be asked for what
	// seldom changes; empty for none.
	factsOf string
}

// whole reports whether the host can answer for its cluster, as far as is
// known.
func (m member) whole() bool { return m.failures == 0 && !m.limited }

// selectMember reads the hosts to poll with everything that a poll needs.
const selectMember = `SELECT h.id, h.cluster_id, h.failures, h.next_poll_at <= now(), c.seen_at, c.detail_at, COALESCE(k.missing, '{}'),
	k.verified_at,
	h.error_reason = '` + plugin.ReasonPermission + `',
	h.partial, EXISTS (SELECT FROM guests g WHERE g.cluster_id = h.cluster_id AND g.listed_at IS NOT NULL),
	h.entry_node, c.membership_at, COALESCE((SELECT n.name FROM nodes n WHERE n.cluster_id = h.cluster_id AND n.status = 'online'
		AND (n.facts_tried_at IS NULL OR n.facts_tried_at < now() - interval '1 day') ORDER BY n.facts_tried_at NULLS FIRST, n.name LIMIT 1), '')
	FROM hosts h LEFT JOIN clusters c ON c.id = h.cluster_id
	LEFT JOIN host_credentials k ON k.host_id = h.id AND k.capability = '` + string(endpoint.Monitoring) + `' `

// members reads the hosts of a condition.
func (p *Poller) members(ctx context.Context, where string, arg int64) ([]member, error) {
	rows, err := p.db.Pool.Query(ctx, selectMember+where, arg)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the host to poll: %w", err))
	}
	members, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m member, err error) {
		return m, row.Scan(&m.id, &m.cluster, &m.failures, &m.due, &m.since, &m.detail, &m.missing, &m.rightsAt, &m.limited,
			&m.partial, &m.leftOut, &m.entry, &m.membershipAt, &m.factsOf)
	})
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the host to poll: %w", err))
	}
	return members, nil
}

// candidates returns the members that a cycle may ask, in order: first the
// healthy one that was asked longest ago, then those whose token does not see
// everything, unless it is time to ask them again, and last the failed ones
// whose pause is over. due is false if another cycle was faster; that is not
// the same as nobody to ask.
func (p *Poller) candidates(ctx context.Context, u unit) (able []member, due bool, err error) {
	id, where := u.host, "WHERE h.id = $1 AND h.cluster_id IS NULL AND h.next_poll_at <= now()"
	if u.cluster != 0 {
		id, where = u.cluster, "WHERE c.id = $1 AND c.next_poll_at <= now() ORDER BY h.failures > 0, h.error_reason = '"+
			plugin.ReasonPermission+"' AND h.next_poll_at > now(), h.polled_at NULLS FIRST, h.id"
	} else if u.probe {
		where = "WHERE h.id = $1 AND h.failures > 0 AND h.next_poll_at <= now()"
	}
	all, err := p.members(ctx, where, id)
	if err != nil {
		return nil, false, err
	}
	able = all[:0]
	for _, m := range all {
		if m.failures == 0 || m.due {
			able = append(able, m)
		}
	}
	return able, len(all) > 0, nil
}
