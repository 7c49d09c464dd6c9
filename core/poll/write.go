package poll

import (
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// good is a successful answer of a host, with what is stored about it.
type good struct {
	member
	inv      *inventory
	detail   bool
	interval time.Duration
	// measured is when the figures of the answer were told; nil where it told states only.
	measured *time.Time
	// version is set when the poll asked for it as well.
	version string
	// rights is what the token may do, when the poll asked for it; what single
	// refusals named is among the missing.
	rights *hypervisor.Permissions
	// told is what the host told with them.
	told host.TokenFacts
	// verified says that the host was asked for what the answer leaves out;
	// gone are the guests of that which are not there.
	verified bool
	gone     []unlisted
}

// write stores an answer in one transaction, and returns the cluster to which
// the host belongs now. errGone means that the host was removed; a doubtError
// that rows are missing, and that nothing was written.
func (p *Poller) write(ctx context.Context, g good) (int64, error) {
	if err := p.partitions(ctx); err != nil {
		return 0, err
	}
	cluster := int64(0)
	var told *time.Time
	err := p.db.Tx(ctx, func(tx *db.Tx) error {
		var err error
		if cluster, err = join(ctx, tx, g.id, g.inv); err != nil {
			return err
		}
		if err := g.answered(ctx, tx.Pgx, jitter(g.interval)); err != nil {
			return err
		}
		if err := stage(ctx, tx.Pgx, g.inv); err != nil {
			return err
		}
		if g.measured, err = g.inv.measured(ctx, tx.Pgx); err != nil {
			return err
		}
		if err := g.merge(ctx, tx.Pgx, cluster); err != nil {
			return err
		}
		if err := addSamples(ctx, tx.Pgx, cluster, g.inv); err != nil {
			return err
		}
		// Without the right to see the cluster an answer does not contain its
		// name.
		if err := tx.Pgx.QueryRow(ctx, `UPDATE clusters SET name = CASE WHEN $6 THEN name ELSE $2 END,
			ident = CASE WHEN $7 AND $8 = '' THEN ident ELSE $8 END,
			quorate_since = CASE WHEN $10 OR quorate IS NOT DISTINCT FROM $3 THEN quorate_since ELSE now() END,
			quorate = CASE WHEN $10 THEN quorate ELSE $3 END,
			seen_at = now(), figures_at = COALESCE($9, figures_at), detail_at = CASE WHEN $4 THEN now() ELSE detail_at END,
			membership_at = CASE WHEN $10 OR $11 THEN membership_at ELSE now() END,
			next_poll_at = clock_timestamp() + $5 WHERE id = $1 RETURNING membership_at`,
			cluster, g.inv.cluster.Name, g.inv.cluster.Quorate, g.detail, jitter(g.interval), g.inv.unnamed(), g.inv.cluster.Partial,
			g.inv.cluster.ID, g.measured, g.inv.anonymous(), g.inv.cluster.Kept).Scan(&told); err != nil {
			return fmt.Errorf("recording the cluster's poll: %w", err)
		}
		return nil
	})
	if err == nil && !g.inv.cluster.Kept && told != nil {
		p.remember(cluster, *told, g.inv)
	}
	return cluster, err
}

// partitions creates the partitions of samples once for each day.
func (p *Poller) partitions(ctx context.Context) error {
	now := time.Now()
	p.mu.Lock()
	done := p.day.Equal(metric.Day(now))
	p.mu.Unlock()
	if done {
		return nil
	}
	if err := metric.EnsurePartitions(ctx, p.db, now); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.day = metric.Day(now)
	return nil
}

// silence marks everything of a cluster as unknown when none of its hosts
// answers. Nothing is deleted. The cluster is due when the first of its hosts
// is.
func (p *Poller) silence(ctx context.Context, cluster int64) error {
	return p.db.Tx(ctx, func(tx *db.Tx) error {
		var healthy bool
		if err := tx.Pgx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM hosts WHERE cluster_id = $1 AND failures = 0) FROM clusters
			WHERE id = $1 FOR NO KEY UPDATE`, cluster).Scan(&healthy); err != nil {
			return fmt.Errorf("locking the cluster: %w", err)
		}
		steps := []string{
			`UPDATE clusters SET next_poll_at = CASE WHEN $2 THEN now() ELSE COALESCE((SELECT min(next_poll_at) FROM hosts
				WHERE cluster_id = $1), now()) END WHERE id = $1`,
			doubtGuests,
			doubtNodes,
			doubtStorages,
		}
		for i, statement := range steps {
			args := []any{cluster}
			if i == 0 {
				args = append(args, healthy)
			} else if healthy {
				break // another host answered meanwhile
			}
			if _, err := tx.Pgx.Exec(ctx, statement, args...); err != nil {
				return fmt.Errorf("marking a silent cluster: %w", err)
			}
		}
		return nil
	})
}
