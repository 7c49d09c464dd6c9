package poll

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
)

// answered stores that the host answered, and what is known about its token.
// next is the time until its next poll.
func (g *good) answered(ctx context.Context, tx pgx.Tx, next time.Duration) error {
	entry, partial, named, cluster, address := "", g.partial, false, "", ""
	if g.inv != nil {
		entry, partial, cluster, address = g.inv.cluster.Entry, g.inv.cluster.Partial, g.inv.cluster.Name, g.inv.entryAddress()
		named = !g.inv.unnamed()
	}
	reason, sentence := g.trouble()
	if _, err := tx.Exec(ctx, `UPDATE hosts SET status = 'online', error_reason = $5, error = $6, partial = $7, failures = 0,
		polled_at = clock_timestamp(), ok_at = clock_timestamp(), next_poll_at = clock_timestamp() + $2,
		entry_node = CASE WHEN $3 = '' THEN entry_node ELSE $3 END, version = CASE WHEN $4 = '' THEN version ELSE $4 END,
		server_cluster = CASE WHEN $8 THEN $9 ELSE server_cluster END, server_address = COALESCE(NULLIF($10, ''), server_address) WHERE id = $1`,
		g.id, next, entry, g.version, clean(reason, maxWord), clean(sentence, 1000), partial, named, cluster, address); err != nil {
		return fmt.Errorf("recording the poll: %w", err)
	}
	return g.keepRights(ctx, tx)
}

// keepRights stores the rights of the token, if they were asked for.
func (g *good) keepRights(ctx context.Context, tx pgx.Tx) error {
	if g.rights == nil {
		return nil
	}
	// The condition skips a token that was replaced or tested in the meantime.
	if _, err := tx.Exec(ctx, `UPDATE host_credentials SET missing = $2, extra = $3, recommended = $4, verified_at = now()
		WHERE host_id = $1 AND capability = 'monitoring' AND verified_at IS NOT DISTINCT FROM $5`,
		g.id, g.rights.Missing, g.rights.Extra, g.rights.Recommended, g.rightsAt); err != nil {
		return fmt.Errorf("recording the privileges of the token: %w", err)
	}
	return g.told.Save(ctx, tx, g.id)
}

// tell logs once that a token lacks something.
func (p *Poller) tell(g *good) {
	if g.limited() && !g.member.limited {
		p.log.Warn("a host's monitoring token does not see everything", "host", g.id, "missing", g.lacking())
	}
}

// limit stores that a host's token does not see everything while others do. It
// is asked again after a while.
func (p *Poller) limit(ctx context.Context, g *good) error {
	p.tell(g)
	return p.db.Tx(ctx, func(tx *db.Tx) error { return g.answered(ctx, tx.Pgx, jitter(lackingEvery)) })
}

// recovered stores that a failed host answers again. Its next inventory tells
// whether its token sees everything.
func (p *Poller) recovered(ctx context.Context, g *good) error {
	return p.db.Tx(ctx, func(tx *db.Tx) error { return g.answered(ctx, tx.Pgx, jitter(g.interval)) })
}

// note stores a host's failure.
func (p *Poller) note(ctx context.Context, m member, hostErr error, interval time.Duration) error {
	reason, sentence := host.Reason(hostErr)
	if m.failures == 0 {
		p.log.Warn("a host does not answer", "host", m.id, "reason", reason, "error", hostErr)
	}
	return p.fail(ctx, m, reason, sentence, interval)
}

// fail stores that a host did not answer, and why.
func (p *Poller) fail(ctx context.Context, m member, reason, sentence string, interval time.Duration) error {
	reason, sentence = clean(reason, maxWord), clean(sentence, 1000)
	return p.db.Tx(ctx, func(tx *db.Tx) error {
		if _, err := tx.Pgx.Exec(ctx, `UPDATE hosts SET status = 'unreachable', error_reason = $2, error = $3, failures = LEAST(failures,
			1000) + 1, polled_at = now(),
			next_poll_at = now() + LEAST($4::interval * power(2, LEAST(failures, 10)), GREATEST($5::interval, $4::interval)) * $6 WHERE id = $1`,
			m.id, reason, sentence, interval, maxBackOff, spread()); err != nil {
			return fmt.Errorf("recording a failed poll: %w", err)
		}
		return nil
	})
}
