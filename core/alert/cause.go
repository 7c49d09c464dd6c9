package alert

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// cause is a matter from which others follow: a cluster without quorum, a host
// that does not answer, a node that is off.
//
// Everything at the object of a cause follows from it: all objects of a
// cluster; for a host and a node the objects on that node. Of two causes the
// greater one folds the other. A breach of a rule at such an object waits until
// the cause is raised. While the cause's alert is open, and until the objects
// had time to come back, new alerts are folded.
type cause struct {
	key
	kind          Kind
	alert         int64
	host, cluster *int64
	node          string
	open          bool
}

// ranks are the kinds that are causes. The higher one is the greater.
var ranks = map[Kind]int{NodeOffline: 1, HostUnreachable: 2, QuorumLost: 3}

// independent are the kinds that follow from nothing, because they are as true
// for an object that is away.
var independent = []Kind{CertificateExpiring, TokenExpiring, TokenPrivileges, BackupStale, VersionsDiffer, SubscriptionEnded, StorageFills,
	UpdateAvailable, ClockSkew}

// rank returns how far-reaching the kind of an observation is. The alert of a
// higher rank is the cause of those of a lower one.
func (c *cycle) rank(o *observation) int { return ranks[c.rules[o.rule].Kind] }

// readCauses reads the causes with an open alert, or with one that was open
// until recently.
func (c *cycle) readCauses(ctx context.Context) error {
	rows, err := c.tx.Query(ctx, `SELECT rule_id, subject, kind, id, host_id, cluster_id, node, resolved_at IS NULL FROM (
		SELECT * FROM alerts WHERE resolved_at IS NULL UNION ALL SELECT * FROM alerts WHERE resolved_at > $1) a
		WHERE kind = ANY ($2) AND rule_id IS NOT NULL ORDER BY resolved_at IS NULL DESC, id`, c.now.Add(-settle),
		[]string{string(NodeOffline), string(HostUnreachable), string(QuorumLost)})
	if err != nil {
		return fmt.Errorf("reading what others follow from: %w", err)
	}
	c.causes, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (*cause, error) {
		w := &cause{}
		return w, row.Scan(&w.rule, &w.subject, &w.kind, &w.alert, &w.host, &w.cluster, &w.node, &w.open)
	})
	if err != nil {
		return fmt.Errorf("reading what others follow from: %w", err)
	}
	return nil
}

// raisedCause makes an alert of this cycle a cause of those that are raised
// after it.
func (c *cycle) raisedCause(o *observation, alert int64) {
	if c.rank(o) > 0 {
		c.causes = append(c.causes, &cause{key: o.key, kind: c.rules[o.rule].Kind, alert: alert, host: o.host, cluster: o.clusterID,
			node: o.target.Node, open: true})
	}
}

// pendingCauses returns the causes that are breached and not raised yet.
func (c *cycle) pendingCauses() (pending []*cause) {
	for k, o := range c.observed {
		s := c.states[k]
		if s == nil || s.alert != nil || c.rank(o) == 0 || !o.covered {
			continue
		}
		r := c.rules[k.rule]
		if wait := float64(r.ForS) - s.breach; wait > 0 && wait <= maxWait.Seconds() {
			pending = append(pending, &cause{key: k, kind: r.Kind, host: o.host, cluster: o.clusterID, node: o.target.Node})
		}
	}
	return pending
}

// explains reports whether an observation follows from the cause.
func (w *cause) explains(o *observation, kind Kind) bool {
	if ranks[w.kind] <= ranks[kind] || slices.Contains(independent, kind) {
		return false
	}
	same := func(a, b *int64) bool { return a != nil && b != nil && *a == *b }
	switch w.kind {
	case QuorumLost:
		return same(w.cluster, o.clusterID)
	case HostUnreachable:
		return same(w.host, o.host) && (w.node == "" || o.target.Node == "" || o.target.Node == w.node)
	case NodeOffline:
		return same(w.cluster, o.clusterID) && o.target.Node == w.node
	}
	return false
}

// causeOf returns the greatest cause of an observation, or nil.
func (c *cycle) causeOf(among []*cause, o *observation) (greatest *cause) {
	kind := c.rules[o.rule].Kind
	for _, w := range among {
		if !w.explains(o, kind) {
			continue
		}
		if greatest == nil || w.open && !greatest.open || w.open == greatest.open && ranks[w.kind] > ranks[greatest.kind] {
			greatest = w
		}
	}
	return greatest
}

// unfold separates alerts from a cause that has been over for so long that they
// do not follow from it.
func (c *cycle) unfold(ctx context.Context) error {
	return c.exec(ctx, "expanding alerts",
		`UPDATE alerts a SET cause_id = NULL FROM alerts w WHERE a.resolved_at IS NULL AND w.id = a.cause_id
		AND w.resolved_at <= $1`, c.now.Add(-settle))
}

// foldEarlier folds alerts that were raised before their cause, if nobody has
// got a message about them yet.
func (c *cycle) foldEarlier(ctx context.Context, raised []raisedAlert) error {
	for _, r := range raised {
		kind := c.rules[r.o.rule].Kind
		if ranks[kind] == 0 {
			continue
		}
		smaller := []string{}
		for k, rank := range ranks {
			if rank < ranks[kind] {
				smaller = append(smaller, string(k))
			}
		}
		fits := map[Kind]string{
			QuorumLost:      "a.cluster_id = w.cluster_id",
			HostUnreachable: "a.host_id = w.host_id AND (w.node = '' OR a.node = '' OR a.node = w.node)",
			NodeOffline:     "a.cluster_id = w.cluster_id AND a.node = w.node",
		}[kind]
		if err := c.exec(ctx, "grouping alerts", `UPDATE alerts a SET cause_id = w.id FROM alerts w WHERE w.id = $1 AND a.id <> w.id
			AND a.resolved_at IS NULL AND a.told = '' AND a.rule_id IS NOT NULL AND NOT a.kind = ANY ($2)
			AND (a.kind = ANY ($3) OR NOT a.kind = ANY ($4)) AND `+fits, r.id, kindWords(independent), smaller,
			[]string{string(NodeOffline), string(HostUnreachable), string(QuorumLost)}); err != nil {
			return err
		}
	}
	return nil
}

// kindWords returns kinds as strings for SQL.
func kindWords(kinds []Kind) []string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = string(k)
	}
	return words
}

// prune deletes alerts that were resolved long ago.
func (c *cycle) prune(ctx context.Context) error {
	if !c.seldom {
		return nil
	}
	return c.exec(ctx, "removing old alerts", `DELETE FROM alerts WHERE id IN (SELECT id FROM alerts WHERE resolved_at < $1
		ORDER BY resolved_at LIMIT $2)`, c.now.Add(-keep), maxPrune)
}
