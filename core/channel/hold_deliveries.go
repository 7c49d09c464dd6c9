package channel

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/notify"
)

// digestLines is how many events a digest lists; the others are counted.
const digestLines = 50

// settle decides before each message which deliveries of a channel may be sent
// now. It gives up what is too old, holds what falls into quiet hours or
// exceeds the cap, and releases or digests what was held when its time has
// come.
func (s *Store) settle(ctx context.Context, c *Channel) error {
	quietUntil, err := c.Quiet.End(s.Now())
	if err != nil {
		return err
	}
	return s.DB.Tx(ctx, func(tx *db.Tx) error {
		if err := s.expire(ctx, tx, c); err != nil {
			return err
		}
		if !quietUntil.IsZero() {
			err = holdQuiet(ctx, tx, c, quietUntil)
		} else {
			err = endQuiet(ctx, tx, c)
		}
		if err != nil {
			return err
		}
		if err := s.holdCap(ctx, tx, c); err != nil {
			return err
		}
		if !quietUntil.IsZero() {
			return nil // a digest is not told then either
		}
		return s.digest(ctx, tx, c)
	})
}

// expire gives up deliveries that have been due for longer than MaxAge.
func (s *Store) expire(ctx context.Context, tx *db.Tx, c *Channel) error {
	rows, err := tx.Pgx.Query(ctx, `UPDATE notification_deliveries SET error = CASE WHEN error = '' THEN 'it could not be sent in time'
		ELSE error END WHERE channel_id = $1 AND state = 'pending' AND due_at < now() - $2::interval RETURNING id`, c.ID, s.MaxAge)
	if err != nil {
		return fmt.Errorf("reading old messages: %w", err)
	}
	old, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(old) == 0 {
		return err
	}
	return giveUp(ctx, tx, old...)
}

// holdQuiet holds messages until quiet hours end. Messages that the cap holds
// and whose time comes during quiet hours are held further.
func holdQuiet(ctx context.Context, tx *db.Tx, c *Channel, until time.Time) error {
	_, err := tx.Pgx.Exec(ctx, `UPDATE notification_deliveries SET state = 'held', held_until = $2,
		held_for = CASE WHEN state = 'held' THEN held_for ELSE 'quiet' END
		WHERE channel_id = $1 AND NOT exempt AND NOT (critical AND $3) AND (state = 'pending' OR state = 'held' AND held_until <= now())`,
		c.ID, until, c.Quiet.CriticalPasses)
	if err != nil {
		return fmt.Errorf("holding messages in quiet hours: %w", err)
	}
	return nil
}

// endQuiet releases the messages that waited for the end of quiet hours. An
// incident that started and ended during them becomes a line of a digest
// instead of two messages.
func endQuiet(ctx context.Context, tx *db.Tx, c *Channel) error {
	_, err := tx.Pgx.Exec(ctx, `UPDATE notification_deliveries d SET due_at = now(),
		state = CASE WHEN o.id IS NULL THEN 'pending' ELSE 'held' END, held_for = CASE WHEN o.id IS NULL THEN '' ELSE 'cap' END,
		held_until = CASE WHEN o.id IS NOT NULL THEN now() END
		FROM notification_deliveries h LEFT JOIN notification_deliveries o ON h.incident <> '' AND o.incident = h.incident
			AND o.channel_id = h.channel_id AND o.event_state <> h.event_state AND o.state = 'held'
		WHERE d.id = h.id AND h.channel_id = $1 AND h.state = 'held' AND h.held_for = 'quiet' AND h.held_until <= now()`, c.ID)
	if err != nil {
		return fmt.Errorf("releasing messages after quiet hours: %w", err)
	}
	return nil
}

// holdCap holds messages beyond the hourly cap until an hour after the first
// held one. It also holds the end of an incident whose start is held. Exempt
// messages, such as digests and the audit log, neither count nor are held.
func (s *Store) holdCap(ctx context.Context, tx *db.Tx, c *Channel) error {
	_, err := tx.Pgx.Exec(ctx, `WITH told AS (SELECT count(*) AS n FROM notification_deliveries
			WHERE channel_id = $1 AND state = 'sent' AND NOT exempt AND done_at > now() - $3::interval),
		more AS (SELECT id FROM notification_deliveries WHERE channel_id = $1 AND state = 'pending' AND NOT exempt
			ORDER BY critical DESC, id OFFSET greatest($2 - (SELECT n FROM told), 0)),
		tied AS (SELECT d.id FROM notification_deliveries d JOIN notification_deliveries o ON o.incident = d.incident
			AND o.channel_id = d.channel_id AND o.event_state = 'open' AND o.state = 'held'
			WHERE d.channel_id = $1 AND d.state = 'pending' AND d.incident <> '' AND d.event_state = 'resolved')
		UPDATE notification_deliveries SET state = 'held', held_for = 'cap', held_until = COALESCE((SELECT min(held_until)
			FROM notification_deliveries WHERE channel_id = $1 AND state = 'held' AND held_for = 'cap'), now() + $3::interval)
		WHERE id IN (SELECT id FROM more UNION SELECT id FROM tied)`, c.ID, c.HourlyCap, s.Window)
	if err != nil {
		return fmt.Errorf("holding messages over the hourly limit: %w", err)
	}
	return nil
}

// digest makes one message of all messages that the cap holds, when the first
// of them is due. An incident that started and ended is one line.
func (s *Store) digest(ctx context.Context, tx *db.Tx, c *Channel) error {
	var due bool
	err := tx.Pgx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM notification_deliveries WHERE channel_id = $1 AND state = 'held'
		AND held_for = 'cap' AND held_until <= now())`, c.ID).Scan(&due)
	if err != nil || !due {
		return err
	}
	// A matter that began and ended is one line: its last word.
	rows, err := tx.Pgx.Query(ctx, `SELECT severity, state, title, at, count(*) OVER (), count(*) FILTER (WHERE severity = 'critical') OVER
		(),
			count(*) FILTER (WHERE severity = 'warning') OVER ()
		FROM (SELECT DISTINCT ON (CASE WHEN e.incident = '' THEN e.id::text ELSE e.incident END) e.* FROM notification_deliveries d
			JOIN notification_events e ON e.id = d.event_id WHERE d.channel_id = $1 AND d.state = 'held' AND d.held_for = 'cap'
			ORDER BY CASE WHEN e.incident = '' THEN e.id::text ELSE e.incident END, e.id DESC) last
		ORDER BY array_position(ARRAY['critical', 'warning', 'info'], severity), id LIMIT $2`, c.ID, digestLines)
	if err != nil {
		return fmt.Errorf("reading the events of a digest: %w", err)
	}
	var count digestCount
	lines, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l digestLine, err error) {
		return l, row.Scan(&l.severity, &l.state, &l.title, &l.at, &count.all, &count.critical, &count.warning)
	})
	if err != nil || len(lines) == 0 {
		return err
	}
	title, body := digestText(count, lines)
	severity := "info"
	switch {
	case count.critical > 0:
		severity = "critical"
	case count.warning > 0:
		severity = "warning"
	}
	var digest int64
	err = tx.Pgx.QueryRow(ctx, `WITH event AS (INSERT INTO notification_events (team_id, kind, state, severity, title, body, link, routed_at)
			VALUES ($2, $3, 'told', $4, $5, $6, '/alerts', now()) RETURNING id)
		INSERT INTO notification_deliveries (channel_id, event_id, event_state, exempt) SELECT $1, id, 'told', true FROM event RETURNING id`,
		c.ID, c.TeamID, notify.Digest, severity, title, body).Scan(&digest)
	if err == nil {
		_, err = tx.Pgx.Exec(ctx, `UPDATE notification_deliveries SET state = 'folded', digest_id = $2, done_at = now() WHERE channel_id = $1
			AND state = 'held' AND held_for = 'cap'`, c.ID, digest)
	}
	if err != nil {
		return fmt.Errorf("writing a digest: %w", err)
	}
	return nil
}
