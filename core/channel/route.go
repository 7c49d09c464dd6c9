package channel

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// Settings of routing.
const (
	// routeBatch is how many events are routed in one transaction.
	routeBatch = 2000
	// keep is how long finished deliveries and their events are kept. keepOpen
	// is for the start of an incident whose end is still to come: without it,
	// nobody would get the end.
	keep, keepOpen = 30 * 24 * time.Hour, 365 * 24 * time.Hour
)

// begun inserts deliveries for events that start an incident or have no end. $1
// are the IDs of the events. A channel of the default team gets the events of
// all teams, except their backup reports, because the instance has its own
// report. An event about one account goes only to its user, through the channel
// with account_mail.
const begun = `INSERT INTO notification_deliveries (channel_id, event_id, incident, event_state, critical, exempt)
	SELECT c.id, e.id, e.incident, e.state, e.severity = 'critical', e.user_id IS NOT NULL
	FROM notification_events e JOIN notification_channels c ON c.enabled AND CASE WHEN e.user_id IS NOT NULL THEN c.account_mail
		ELSE c.audit_actions = '{}' AND (c.team_id = COALESCE(e.team_id, 1) OR c.team_id = 1 AND e.kind <> 'backup_report')
			AND (NOT EXISTS (SELECT FROM notification_routes r WHERE r.channel_id = c.id)
				OR EXISTS (SELECT FROM notification_routes r WHERE r.channel_id = c.id
					AND array_position(ARRAY['info', 'warning', 'critical'], e.severity)
						>= array_position(ARRAY['info', 'warning', 'critical'], r.severity)
					AND (r.kinds = '{}' OR e.kind = ANY(r.kinds)) AND (r.teams = '{}' OR COALESCE(e.team_id, 1) = ANY(r.teams))
					AND (r.tags = '{}' OR share_tag(r.tags, e.tags)) AND (r.rules = '{}' OR e.rule = ANY(r.rules)))) END
	WHERE e.id = ANY($1) AND (e.state <> 'resolved' OR e.incident = '')
	ORDER BY e.id, c.id
	ON CONFLICT (incident, channel_id, event_state) WHERE incident <> '' DO NOTHING`

// ended inserts deliveries for events that end an incident, for the channels
// that got or will get its start, whatever their routes are now. The end
// inherits critical and exempt from the start, so it passes wherever the start
// passed.
const ended = `INSERT INTO notification_deliveries (channel_id, event_id, incident, event_state, critical, exempt)
	SELECT d.channel_id, e.id, e.incident, e.state, d.critical, d.exempt
	FROM notification_events e JOIN notification_deliveries d ON d.incident = e.incident AND d.event_state = 'open'
		AND d.state NOT IN ('failed', 'skipped')
	WHERE e.id = ANY($1) AND e.state = 'resolved' AND e.incident <> ''
	ORDER BY e.id, d.channel_id
	ON CONFLICT (incident, channel_id, event_state) WHERE incident <> '' DO NOTHING`

// route decides for all new events which channels get them. An advisory lock
// makes sure that one instance does it at a time, so that the end of an
// incident is handled after its start. Events of a transaction that commits
// later are routed later.
func (s *Store) route(ctx context.Context) error {
	for {
		n, err := s.routeSome(ctx)
		if err != nil || n < routeBatch {
			return err
		}
	}
}

// routeSome routes one batch of events and returns its size. It first checks
// without a transaction, because usually there is nothing to do.
func (s *Store) routeSome(ctx context.Context) (n int, err error) {
	var any bool
	if err := s.DB.Pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM notification_events WHERE routed_at IS NULL)").Scan(&any); err != nil ||
		!any {
		return 0, db.Problem(err)
	}
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		n = 0
		var mine bool
		if err := tx.Pgx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1, 1)", db.LockNotify).Scan(&mine); err != nil || !mine {
			return err
		}
		rows, err := tx.Pgx.Query(ctx, "SELECT id FROM notification_events WHERE routed_at IS NULL ORDER BY id LIMIT $1", routeBatch)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return err
		}
		n = len(ids)
		for _, sql := range []string{begun, ended, "UPDATE notification_events SET routed_at = now() WHERE id = ANY($1)"} {
			if _, err := tx.Pgx.Exec(ctx, sql, ids); err != nil {
				return fmt.Errorf("routing notifications: %w", err)
			}
		}
		return nil
	})
	return n, db.Problem(err)
}

// prune deletes old deliveries and events. The start of an incident is kept
// until its end was handled, for at most a year.
func (s *Store) prune(ctx context.Context) error {
	for _, sql := range []string{
		`DELETE FROM notification_deliveries d WHERE state NOT IN ('pending', 'held') AND created_at < now() - $1::interval
			AND (created_at < now() - $2::interval OR event_state <> 'open' OR incident = '' OR EXISTS (SELECT FROM notification_deliveries o
				WHERE o.incident = d.incident AND o.channel_id = d.channel_id AND o.event_state = 'resolved'))`,
		`DELETE FROM notification_events e WHERE at < now() - $1::interval AND routed_at IS NOT NULL AND $2::interval > $1::interval
			AND NOT EXISTS (SELECT FROM notification_deliveries d WHERE d.event_id = e.id)`,
	} {
		if _, err := s.DB.Pool.Exec(ctx, sql, keep, keepOpen); err != nil {
			return db.Problem(fmt.Errorf("deleting old events: %w", err))
		}
	}
	return nil
}
