package channel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/scope"
)

// columns are the columns of the channel c in the order of places.
const columns = `c.id, c.team_id, c.name, c.kind, c.enabled, c.settings, c.secrets_set, c.allow_private, c.account_mail, c.hourly_cap,
	c.quiet, c.created_at, c.updated_at,
	COALESCE((SELECT jsonb_agg(jsonb_build_object('severity', r.severity, 'kinds', r.kinds, 'teams', r.teams, 'tags', r.tags, 'rules',
		r.rules)
		ORDER BY r.position) FROM notification_routes r WHERE r.channel_id = c.id), '[]'), c.audit_actions`

// queue are the columns of the state of the queue q.
const queue = `, (SELECT count(*) FROM notification_deliveries d WHERE d.channel_id = c.id AND d.state = 'pending'),
	(SELECT count(*) FROM notification_deliveries d WHERE d.channel_id = c.id AND d.state = 'held'),
	q.failures, CASE WHEN q.failures > 0 AND q.next_at > now() THEN q.next_at END, q.ok_at, q.error, q.error_at, q.audit_skipped`

// places returns the destinations of columns.
func (c *Channel) places() []any {
	return []any{&c.ID, &c.TeamID, &c.Name, &c.Kind, &c.Enabled, &c.Settings, &c.SecretsSet, &c.AllowPrivate, &c.AccountMail, &c.HourlyCap,
		&c.Quiet, &c.CreatedAt, &c.UpdatedAt, &c.Routes,
		&c.AuditActions}
}

// sealedChannel is a channel with its encrypted secrets.
type sealedChannel struct {
	Channel
	sealed []byte
}

// scanSealed reads a channel with its encrypted secrets.
func scanSealed(row pgx.CollectableRow) (found sealedChannel, err error) {
	return found, row.Scan(append(found.places(), &found.sealed)...)
}

// scan reads a channel with the state of its queue.
func scan(row pgx.CollectableRow) (*Channel, error) {
	c, failure := &Channel{}, ""
	q := &c.Queue
	err := row.Scan(append(c.places(), &q.Pending, &q.Held, &q.Failures, &q.NextTryAt, &q.LastOKAt, &failure, &q.LastErrorAt,
		&q.AuditSkipped)...)
	c.CreatedAt, c.UpdatedAt, q.LastError = c.CreatedAt.UTC(), c.UpdatedAt.UTC(), host.CleanOrNil(failure)
	inUTC(q.NextTryAt, q.LastOKAt, q.LastErrorAt)
	return c, err
}

// inUTC converts optional times in place.
func inUTC(times ...*time.Time) {
	for _, at := range times {
		if at != nil {
			*at = at.UTC()
		}
	}
}

// read reads one channel.
func (s *Store) read(ctx context.Context, id int64) (*Channel, error) {
	rows, err := s.DB.Pool.Query(ctx, "SELECT "+columns+queue+` FROM notification_channels c JOIN notification_queues q ON q.channel_id = c.id
		WHERE c.id = $1`, id)
	var c *Channel
	if err == nil {
		c, err = pgx.CollectExactlyOneRow(rows, scan)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, problem.New(problem.CodeNotFound, "%s not found", scope.Channel)
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a channel: %w", err))
	}
	return c, nil
}

// List returns one page of the channels of the teams of which the caller is an
// admin, by name, and the number of channels on all pages.
func (s *Store) List(ctx context.Context, offset, limit int) (all []*Channel, total int, err error) {
	visible := identity.FromContext(ctx).VisibleAs(identity.Admin)
	batch := &pgx.Batch{}
	batch.Queue("SELECT count(*) FROM notification_channels WHERE $1 OR team_id = ANY($2)", visible.All, visible.Teams).
		QueryRow(func(row pgx.Row) error { return row.Scan(&total) })
	batch.Queue("SELECT "+columns+queue+` FROM notification_channels c JOIN notification_queues q ON q.channel_id = c.id
		WHERE $1 OR c.team_id = ANY($2) ORDER BY lower(c.name), c.id OFFSET $3 LIMIT $4`, visible.All, visible.Teams, offset, limit).
		Query(func(rows pgx.Rows) error {
			all, err = db.CollectRows(rows, scan)
			return err
		})
	if err := s.DB.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, 0, db.Problem(fmt.Errorf("listing channels: %w", err))
	}
	return all, total, nil
}

// Delivery is one message to one channel with its state. The JSON names are
// those of the API.
type Delivery struct {
	ID        int64      `json:"id" example:"12"`
	ChannelID int64      `json:"channel_id" example:"3"`
	Channel   string     `json:"channel" example:"on call"`
	TeamID    int64      `json:"team_id" example:"1" doc:"Team of the channel"`
	MessageID string     `json:"message_id" format:"uuid" doc:"ID that the receiver gets with the message, the same for each attempt"`
	Kind      string     `json:"kind" enum:"alert,job_failed,backup_report,new_login,update_done,update_rolled_back,audit,test,digest" example:"alert"`
	Incident  *string    `json:"incident" example:"alert:5" doc:"ID shared by the messages about the start and the end of an incident; null for events without an end"`
	Event     string     `json:"event" enum:"open,resolved,told" example:"open" doc:"Start or end of an incident, or an event without an end"`
	Severity  string     `json:"severity" enum:"info,warning,critical" example:"warning"`
	Title     string     `json:"title" example:"web1 is down"`
	State     string     `json:"state" enum:"pending,held,folded,sent,failed,skipped" example:"sent" doc:"held: waits for the end of quiet hours or of the hourly limit; folded: sent as part of a digest; skipped: end of an incident whose start was never sent"`
	HeldFor   *string    `json:"held_for" enum:"quiet,cap"`
	HeldUntil *time.Time `json:"held_until"`
	DigestID  *int64     `json:"digest_id" doc:"ID of the delivery of the digest that contains it"`
	Attempts  int        `json:"attempts" example:"1"`
	CreatedAt time.Time  `json:"created_at"`
	TriedAt   *time.Time `json:"tried_at"`
	DoneAt    *time.Time `json:"done_at"`
	Error     *string    `json:"error" example:"the receiver responded with 503 Service Unavailable" doc:"Error of the last failed attempt, even if a later one succeeded"`
}

// Filter narrows deliveries; zero fields do not filter.
type Filter struct {
	ChannelID int64
	State     string
	// Incident is the key that the start and the end of an incident share, such
	// as alert:5.
	Incident string
}

// deliveries selects deliveries by filter.
const deliveries = `SELECT d.id, d.channel_id, c.name, c.team_id, d.message_id, e.kind, nullif(d.incident, ''), d.event_state, e.severity,
	e.title, d.state, nullif(d.held_for, ''), d.held_until, d.digest_id, d.attempts,
	d.created_at, d.tried_at, d.done_at, nullif(d.error, '')
	FROM notification_deliveries d JOIN notification_channels c ON c.id = d.channel_id JOIN notification_events e ON e.id = d.event_id
	WHERE ($1 OR c.team_id = ANY($2)) AND ($3::bigint = 0 OR d.channel_id = $3) AND ($4::text = '' OR d.state = $4)
		AND ($5::text = '' OR d.incident = $5)`

// scanDelivery reads one delivery.
func scanDelivery(row pgx.CollectableRow) (d Delivery, err error) {
	err = row.Scan(&d.ID, &d.ChannelID, &d.Channel, &d.TeamID, &d.MessageID, &d.Kind, &d.Incident, &d.Event, &d.Severity, &d.Title, &d.State,
		&d.HeldFor, &d.HeldUntil, &d.DigestID, &d.Attempts, &d.CreatedAt, &d.TriedAt, &d.DoneAt, &d.Error)
	d.CreatedAt = d.CreatedAt.UTC()
	inUTC(d.HeldUntil, d.TriedAt, d.DoneAt)
	return d, err
}

// Deliveries returns one page of the deliveries of the channels that List
// returns, newest first, and the number on all pages. Deliveries are kept for
// 30 days.
func (s *Store) Deliveries(ctx context.Context, f Filter, offset, limit int) (all []Delivery, total int, err error) {
	visible := identity.FromContext(ctx).VisibleAs(identity.Admin)
	args := []any{visible.All, visible.Teams, f.ChannelID, f.State, f.Incident}
	batch := &pgx.Batch{}
	batch.Queue("SELECT count(*) FROM ("+deliveries+") d", args...).QueryRow(func(row pgx.Row) error { return row.Scan(&total) })
	batch.Queue(deliveries+" ORDER BY d.id DESC OFFSET $6 LIMIT $7", append(args, offset, limit)...).Query(func(rows pgx.Rows) error {
		all, err = db.CollectRows(rows, scanDelivery)
		return err
	})
	if err := s.DB.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, 0, db.Problem(fmt.Errorf("listing deliveries: %w", err))
	}
	return all, total, nil
}
