package channel

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/notify"
	"github.com/hostler/hostler/core/setting"
)

// maxBacklog is how many messages of the audit log wait for one webhook at a
// time.
//
// A webhook that has AuditActions gets the entries of the audit log, each once,
// in the order of the hash chain. The audit log itself is the backlog:
// notification_queues.audit_seq is the position up to which messages were made,
// and further messages are made only when there is room. An entry gets its
// position in the chain shortly after its transaction has ended, so entries of
// long transactions are not skipped.
const maxBacklog = 1000

// actionPattern matches an action such as vm.start, or the beginning of one
// with an asterisk.
var actionPattern = regexp.MustCompile(`^(?:[a-z0-9_.]{1,99}|[a-z0-9_.]{0,99}\*)$`)

// checkTrail checks the settings for sending the audit log. They require a
// signature and an encrypted connection, because the entries are confidential.
func (c *Channel) checkTrail(secrets Secrets, f *faults) {
	if c.AuditActions == nil {
		c.AuditActions = []string{}
	}
	if len(c.AuditActions) == 0 {
		return
	}
	for i, action := range c.AuditActions {
		if !actionPattern.MatchString(action) {
			f.add("must be an action such as vm.start, or the beginning of an action and an asterisk", "audit_actions", i)
		}
	}
	switch {
	case c.Kind != Webhook || c.TeamID != identity.DefaultTeam:
		f.add("only allowed for a channel of the kind webhook of the default team", "audit_actions")
	case len(c.Routes) > 0:
		f.add("cannot be combined with routes: such a webhook only sends the audit log", "audit_actions")
	case secrets["secret"].Empty():
		f.add("is required: messages of the audit log are signed", "secrets", "secret")
	case strings.HasPrefix(c.Settings.URL, "http://") && !c.AllowPrivate:
		f.add("must be https://, because the audit log would be readable on the network. Only in private networks that an owner "+
			"allows, http:// is possible", "settings", "url")
	}
}

// follow makes messages of new entries of the audit log, for every webhook that
// gets them. An advisory lock makes sure that one instance does it at a time.
func (s *Store) follow(ctx context.Context) error {
	for {
		more, err := s.followSome(ctx)
		if err != nil || !more {
			return err
		}
	}
}

// followSome takes one step for each webhook. more says that there may be more
// entries now. It does nothing while the feature audit.log is disabled: what
// cannot be exported must not be sent either. The entries of that time are sent
// once the feature is enabled again.
func (s *Store) followSome(ctx context.Context) (more bool, err error) {
	var any bool
	err = s.DB.Pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM notification_queues q WHERE q.audit_seq <
		(SELECT max(seq) FROM audit_links))`).Scan(&any)
	if err != nil || !any {
		return false, db.Problem(err)
	}
	// While the export of the audit log is disabled, channels do not get its
	// entries either. They get them when the feature is enabled again.
	if on, err := setting.IsEntitled(ctx, s.DB, "audit.log"); err != nil || !on {
		return false, err
	}
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		more = false
		var mine bool
		if err := tx.Pgx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1, 2)", db.LockNotify).Scan(&mine); err != nil || !mine {
			return err
		}
		rows, err := tx.Pgx.Query(ctx, `SELECT q.channel_id, $1 - (SELECT count(*) FROM notification_deliveries d
				WHERE d.channel_id = q.channel_id AND d.state = 'pending')
			FROM notification_queues q JOIN notification_channels c ON c.id = q.channel_id
			WHERE q.audit_seq < (SELECT max(seq) FROM audit_links) ORDER BY q.channel_id FOR UPDATE OF q`, maxBacklog)
		if err != nil {
			return err
		}
		type turn struct{ ID, Room int64 }
		turns, err := pgx.CollectRows(rows, pgx.RowToStructByPos[turn])
		if err != nil {
			return err
		}
		for _, t := range turns {
			if t.Room <= 0 {
				continue
			}
			full, err := s.tell(ctx, tx, t.ID, t.Room)
			if err != nil {
				return err
			}
			more = more || full
		}
		return nil
	})
	if err != nil {
		return false, db.Problem(fmt.Errorf("sending the audit log to webhooks: %w", err))
	}
	return more, nil
}

// told makes messages of the next entries in the chain and moves the position
// of the webhook behind them. $1 is the channel, $2 the maximum number of
// entries, $3 the maximum age, and $4 the kind of the event. Entries that are
// too old are counted as skipped; positions whose entries were cleared are
// passed over.
const told = `WITH span AS (SELECT l.seq, l.audit_id FROM audit_links l
		WHERE l.seq > (SELECT audit_seq FROM notification_queues WHERE channel_id = $1) ORDER BY l.seq LIMIT $2),
	fits AS (SELECT s.seq, a.*, a.at < now() - $3::interval AS old FROM span s JOIN audit a ON a.id = s.audit_id
		JOIN notification_channels c ON c.id = $1 WHERE EXISTS (SELECT FROM unnest(c.audit_actions) AS p WHERE
			CASE WHEN right(p, 1) = '*' THEN starts_with(a.action, left(p, -1)) ELSE a.action = p END)),
	events AS (INSERT INTO notification_events (kind, state, severity, team_id, target_kind, target_id, target_name, title, link, at,
			audit_id, routed_at)
		SELECT $4, 'told', CASE WHEN f.result = 'ok' THEN 'info' ELSE 'warning' END, t.id, f.target_kind,
			CASE WHEN f.target_id ~ '^[0-9]{1,18}$' THEN f.target_id::bigint END, f.target_name,
			f.action || CASE WHEN f.result = 'ok' THEN '' ELSE ' ' || f.result END || CASE WHEN f.target_name = '' THEN '' ELSE ': ' END ||
				f.target_name, '/audit', f.at, f.id, now()
		FROM fits f LEFT JOIN teams t ON t.id = f.team_id WHERE NOT f.old ORDER BY f.seq RETURNING id, audit_id),
	deliveries AS (INSERT INTO notification_deliveries (channel_id, event_id, event_state, exempt)
		SELECT $1, e.id, 'told', true FROM events e JOIN fits f ON f.id = e.audit_id ORDER BY f.seq),
	moved AS (UPDATE notification_queues SET audit_seq = COALESCE((SELECT max(seq) FROM span), audit_seq),
		audit_skipped = audit_skipped + (SELECT count(*) FROM fits WHERE old) WHERE channel_id = $1)
	SELECT count(*) = $2 FROM span`

// tell takes one step for one webhook. full says that there may be more entries
// now.
func (s *Store) tell(ctx context.Context, tx *db.Tx, id, most int64) (full bool, err error) {
	err = tx.Pgx.QueryRow(ctx, told, id, most, s.MaxAge, notify.Audit).Scan(&full)
	return full, err
}

// auditRow is a SQL expression for the entry of the audit log that the event e
// reports, as JSON in the format of GET /audit. It is null for other events and
// for entries that were cleared.
const auditRow = `(SELECT jsonb_build_object('id', a.id, 'at', to_char(a.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
	'actor_type', a.actor_type, 'actor_id', a.actor_id, 'actor_email', nullif(a.actor_email, ''), 'action', a.action,
	'target', CASE WHEN a.target_kind <> '' THEN jsonb_build_object('kind', a.target_kind, 'id', nullif(a.target_id, ''),
		'name', nullif(a.target_name, '')) END,
	'result', a.result, 'error', nullif(a.error, ''), 'address', nullif(a.address, ''), 'request_id', nullif(a.request_id, ''),
	'job_id', a.job_id, 'host_id', a.host_id, 'team_id', a.team_id, 'details', a.details) FROM audit a WHERE a.id = e.audit_id)`
