package poll

import (
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/metric"
)

// good is what a successful poll of a host is recorded with.
type good struct {
	host     int64
	inv      *inventory
	detail   bool
	interval time.Duration
	// version is set when the poll asked for it as well.
	version string
}

// write brings the database to what the poll found, in one transaction, and returns the cluster that the host now
// belongs to. errGone means that the host was removed meanwhile.
func (p *Poller) write(ctx context.Context, g good) (int64, error) {
	if err := p.partitions(ctx); err != nil {
		return 0, err
	}
	cluster := int64(0)
	err := p.db.Tx(ctx, func(tx *db.Tx) error {
		var err error
		if cluster, err = join(ctx, tx.Pgx, g.host, g.inv); err != nil {
			return err
		}
		if _, err := tx.Pgx.Exec(ctx, `UPDATE hosts SET status = 'online', error_reason = '', error = '', failures = 0, polled_at = clock_timestamp(), ok_at = clock_timestamp(),
			next_poll_at = clock_timestamp() + $2, entry_node = CASE WHEN $3 = '' THEN entry_node ELSE $3 END, version = CASE WHEN $4 = '' THEN version ELSE $4 END,
			server_cluster = $5, server_address = COALESCE(NULLIF($6, ''), server_address) WHERE id = $1`,
			g.host, jitter(g.interval), g.inv.cluster.Entry, g.version, g.inv.cluster.Name, g.inv.entryAddress()); err != nil {
			return fmt.Errorf("recording the poll: %w", err)
		}
		if err := stage(ctx, tx.Pgx, g.inv); err != nil {
			return err
		}
		if err := merge(ctx, tx.Pgx, cluster, g.inv); err != nil {
			return err
		}
		if err := addSamples(ctx, tx.Pgx, cluster, g.inv); err != nil {
			return err
		}
		if _, err := tx.Pgx.Exec(ctx, `UPDATE clusters SET name = $2, quorate = $3, seen_at = now(), detail_at = CASE WHEN $4 THEN now() ELSE detail_at END,
			next_poll_at = clock_timestamp() + $5 WHERE id = $1`, cluster, g.inv.cluster.Name, g.inv.cluster.Quorate, g.detail, jitter(g.interval)); err != nil {
			return fmt.Errorf("recording the cluster's poll: %w", err)
		}
		return nil
	})
	return cluster, err
}

// partitions makes the days' partitions of samples once for each day that this instance lives.
func (p *Poller) partitions(ctx context.Context) error {
	now := time.Now()
	p.mu.Lock()
	done := p.day.Equal(metric.Day(now))
	p.mu.Unlock()
	if done {
		return nil
	}
	if err := metric.Ensure(ctx, p.db, now); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.day = metric.Day(now)
	return nil
}

// fail records that a host did not answer, and why.
func (p *Poller) fail(ctx context.Context, hostID int64, reason, sentence string, interval time.Duration) error {
	_, err := p.db.Pool.Exec(ctx, `UPDATE hosts SET status = 'unreachable', error_reason = $2, error = $3, failures = LEAST(failures, 1000) + 1, polled_at = now(),
		next_poll_at = now() + LEAST($4::interval * power(2, LEAST(failures, 10)), GREATEST($5::interval, $4::interval)) * $6 WHERE id = $1`,
		hostID, clean(reason, maxWord), clean(sentence, 1000), interval, maxBackOff, spread())
	if err != nil {
		return db.Problem(fmt.Errorf("recording a failed poll: %w", err))
	}
	return nil
}

// silence marks everything of a cluster of which no host answers: what is there is unknown, and nothing is deleted. The
// cluster's next poll is due when the first of its hosts is.
func (p *Poller) silence(ctx context.Context, cluster int64) error {
	return p.db.Tx(ctx, func(tx *db.Tx) error {
		var healthy bool
		if err := tx.Pgx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM hosts WHERE cluster_id = $1 AND failures = 0) FROM clusters WHERE id = $1 FOR NO KEY UPDATE`, cluster).Scan(&healthy); err != nil {
			return fmt.Errorf("locking the cluster: %w", err)
		}
		steps := []string{
			`UPDATE clusters SET next_poll_at = CASE WHEN $2 THEN now() ELSE COALESCE((SELECT min(next_poll_at) FROM hosts WHERE cluster_id = $1), now()) END WHERE id = $1`,
			doubtGuests,
			`UPDATE nodes SET status = 'unknown', cpu = NULL, cpus = NULL, memory = NULL, memory_total = NULL, disk = NULL, disk_total = NULL, uptime = NULL
				WHERE cluster_id = $1 AND status <> 'unknown'`,
			`UPDATE storages SET status = 'unknown', used = NULL, total = NULL WHERE cluster_id = $1 AND (status <> 'unknown' OR used IS NOT NULL)`,
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
