package alert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Store reads and writes alerts, rules and windows. It is safe for concurrent
// use, also by several instances.
type Store struct{ DB *db.DB }

// Filter restricts List. Zero values do not.
type Filter struct {
	// State is open or resolved.
	State    string
	Severity Severity
	// Kind is what the rule watches.
	Kind   string
	RuleID int64
	HostID int64
	// TargetKind goes with TargetID.
	TargetKind string
	TargetID   int64
	// CauseID leaves only what follows from that alert, and Folded says whether
	// to list at all what follows from others; nil lists both.
	CauseID int64
	Folded  *bool
	// Acknowledged and Silenced leave only those that are, or are not.
	Acknowledged, Silenced *bool
	// Before is the latest time of raising.
	Since, Before *time.Time
}

// alertColumns are those that scanAlert reads, in its order, of alerts as a.
const alertColumns = `a.id, a.rule_id, a.rule, a.kind, a.severity, CASE WHEN a.resolved_at IS NULL THEN 'open' ELSE 'resolved' END,
	a.target_kind, a.target_id, a.target_name, a.node, a.team_id, a.host_id, a.message, a.remedy, a.labels, a.raised_at,
	a.acknowledged_at, a.acknowledged_by, (SELECT email FROM users u WHERE u.id = a.acknowledged_by), a.ack_note,
	a.silenced_at, CASE WHEN a.silenced_until > now() THEN a.silenced_until END, a.silenced_by,
	(SELECT email FROM users u WHERE u.id = a.silenced_by), a.silence_note, a.cause_id, a.window_id,
	(SELECT count(*) FROM alerts f WHERE f.cause_id = a.id), a.resolved_at, a.resolved_by,
	(SELECT email FROM users u WHERE u.id = a.resolved_by), a.resolution, a.why`

// row is an alert as it is read.
type row struct {
	Alert
	why        json.RawMessage
	silencedAt *time.Time
	resolvedBy *int64
}

// scanAlert reads one row of an alert.
func scanAlert(in pgx.CollectableRow) (*row, error) {
	a := &row{}
	var ack, silenced, resolved *int64
	var ackEmail, silencedEmail, resolvedEmail *string
	err := in.Scan(&a.ID, &a.RuleID, &a.Rule, &a.Kind, &a.Severity, &a.State, &a.Target.Kind, &a.Target.ID, &a.Target.Name, &a.Target.Node,
		&a.TeamID, &a.HostID, &a.Message, &a.Remedy, &a.Labels, &a.RaisedAt, &a.AcknowledgedAt, &ack, &ackEmail, &a.AckNote,
		&a.silencedAt, &a.SilencedUntil, &silenced, &silencedEmail, &a.SilenceNote, &a.CauseID, &a.WindowID, &a.Folded, &a.ResolvedAt,
		&resolved, &resolvedEmail, &a.Resolution, &a.why)
	if err != nil {
		return nil, fmt.Errorf("reading an alert: %w", err)
	}
	a.RaisedAt, a.AcknowledgedAt, a.SilencedUntil, a.ResolvedAt = a.RaisedAt.UTC(), utc(a.AcknowledgedAt), utc(a.SilencedUntil),
		utc(a.ResolvedAt)
	a.silencedAt = utc(a.silencedAt)
	a.AcknowledgedBy, a.SilencedBy = person(ack, ackEmail, a.AcknowledgedAt), person(silenced, silencedEmail, a.silencedAt)
	a.ResolvedBy, a.resolvedBy = person(resolved, resolvedEmail, a.ResolvedAt), resolved
	if resolved == nil {
		a.ResolvedBy = nil
	}
	return a, nil
}

// person returns who did something; nil if nobody did.
func person(id *int64, email *string, at *time.Time) *Person {
	if at == nil {
		return nil
	}
	p := &Person{ID: id}
	if email != nil {
		p.Email = *email
	}
	return p
}

// List returns a page of the alerts that the caller may see, the open ones
// first and the newest first among each, and the number of all.
func (s *Store) List(ctx context.Context, f Filter, visible identity.VisibleTeams, offset, limit int) (alerts []Alert, total int,
	err error) {
	const where = ` FROM alerts a WHERE ($1 OR team_id = ANY ($2)) AND ($3 = '' OR (resolved_at IS NULL) = ($3 = 'open'))
		AND ($4 = '' OR severity = $4) AND ($5 = '' OR kind = $5) AND ($6::bigint = 0 OR rule_id = $6) AND ($7::bigint = 0 OR host_id = $7)
		AND ($8 = '' OR target_kind = $8 AND target_id = $9) AND ($10::bigint = 0 OR cause_id = $10)
		AND ($11::boolean IS NULL OR (cause_id IS NOT NULL) = $11) AND ($12::boolean IS NULL OR (acknowledged_at IS NOT NULL) = $12)
		AND ($13::boolean IS NULL OR COALESCE(silenced_until > now(), false) = $13)
		AND ($14::timestamptz IS NULL OR raised_at >= $14) AND ($15::timestamptz IS NULL OR raised_at < $15)`
	args := []any{visible.All, visible.Teams, f.State, string(f.Severity), f.Kind, f.RuleID, f.HostID, f.TargetKind, f.TargetID, f.CauseID,
		f.Folded, f.Acknowledged, f.Silenced, f.Since, f.Before}
	batch := &pgx.Batch{}
	batch.Queue("SELECT count(*)"+where, args...).QueryRow(func(row pgx.Row) error { return row.Scan(&total) })
	batch.Queue("SELECT "+alertColumns+where+" ORDER BY resolved_at IS NOT NULL, raised_at DESC, id DESC OFFSET $16 LIMIT $17",
		append(args, offset, limit)...).Query(func(rows pgx.Rows) error {
		found, err := db.CollectRows(rows, scanAlert)
		alerts = make([]Alert, len(found))
		for i, a := range found {
			alerts[i] = a.Alert
		}
		return err
	})
	if err := s.DB.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, 0, db.Problem(fmt.Errorf("listing alerts: %w", err))
	}
	return alerts, total, nil
}

// ByIDs returns the alerts with these ids, without an order. It does not check
// the caller.
func (s *Store) ByIDs(ctx context.Context, ids []int64) ([]Alert, error) {
	rows, err := s.DB.Pool.Query(ctx, "SELECT "+alertColumns+" FROM alerts a WHERE id = ANY ($1)", ids)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading alerts: %w", err))
	}
	found, err := db.CollectRows(rows, scanAlert)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading alerts: %w", err))
	}
	alerts := make([]Alert, len(found))
	for i, a := range found {
		alerts[i] = a.Alert
	}
	return alerts, nil
}

// Detail is an alert with its reason and its history.
type Detail struct {
	Alert
	Why     Reason  `json:"why"`
	History []Event `json:"history" nullable:"false" doc:"Events of the alert, oldest first"`
	// Earlier are those of the same rule and thing.
	Earlier []Occurrence `json:"earlier" nullable:"false" doc:"Previous alerts of the same rule about the same object, the newest 20"`
}

// Event is something that happened to an alert.
type Event struct {
	At   time.Time `json:"at"`
	What string    `json:"what" enum:"raised,acknowledged,silenced,resolved" example:"acknowledged"`
	By   *Person   `json:"by" doc:"User who caused the event; null for the service"`
	Text string    `json:"text" example:"looking at it"`
	// Until is of a silence alone.
	Until *time.Time `json:"until" doc:"End of the silence that the event set; null for other events"`
}

// silenced is a filter in place of a state.
const silenced = "silenced"

// acts returns the newest actions of people on an alert.
func acts(ctx context.Context, q rowsQuerier, id int64) ([]Event, error) {
	rows, err := q.Query(ctx, `SELECT c.at, c.what, c.by, u.email, c.note, c.until FROM alert_acts c LEFT JOIN users u ON u.id = c.by
		WHERE c.alert_id = $1 ORDER BY c.id DESC LIMIT $2`, id, maxActs)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the actions on the alert: %w", err))
	}
	done, err := db.CollectRows(rows, func(row pgx.CollectableRow) (e Event, err error) {
		var by *int64
		var email *string
		err = row.Scan(&e.At, &e.What, &by, &email, &e.Text, &e.Until)
		e.At, e.Until, e.By = e.At.UTC(), utc(e.Until), person(by, email, &e.At)
		return e, err
	})
	slices.Reverse(done)
	return done, db.Problem(err)
}

// Occurrence is an earlier alert.
type Occurrence struct {
	ID         int64      `json:"id" example:"12"`
	RaisedAt   time.Time  `json:"raised_at"`
	ResolvedAt *time.Time `json:"resolved_at"`
}

// maxEarlier are how many earlier alerts, and maxActs how many of what people
// did about one, are shown.
const (
	maxEarlier = 20
	maxActs    = 500
)

// notFound returns the problem of an alert that does not exist or that the
// caller may not see.
func notFound() error { return problem.New(problem.CodeNotFound, "alert not found") }

// Get returns one alert. The problem is not_found, also for an alert that the
// caller may not see.
func (s *Store) Get(ctx context.Context, id int64, visible identity.VisibleTeams) (*Detail, error) {
	return get(ctx, s.DB.Pool, id, visible)
}

// get reads one alert.
func get(ctx context.Context, q rowsQuerier, id int64, visible identity.VisibleTeams) (*Detail, error) {
	rows, err := q.Query(ctx, "SELECT "+alertColumns+" FROM alerts a WHERE id = $1 AND ($2 OR team_id = ANY ($3))", id, visible.All,
		visible.Teams)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the alert: %w", err))
	}
	a, err := pgx.CollectExactlyOneRow(rows, scanAlert)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, notFound()
	}
	if err != nil {
		return nil, db.Problem(err)
	}
	d := &Detail{Alert: a.Alert, Why: Reason{Samples: []Sample{}}, History: []Event{{At: a.RaisedAt, What: "raised", Text: a.Message}}}
	if err := json.Unmarshal(a.why, &d.Why); err != nil {
		return nil, fmt.Errorf("reading the cause of the alert: %w", err)
	}
	done, err := acts(ctx, q, id)
	if err != nil {
		return nil, err
	}
	d.History = append(d.History, done...)
	// A silence that continues from the previous alert is no action on this
	// one.
	if a.silencedAt != nil && !slices.ContainsFunc(done, func(e Event) bool { return e.What == silenced }) {
		d.History = append(d.History, Event{At: *a.silencedAt, What: silenced, By: a.SilencedBy, Text: a.SilenceNote, Until: a.SilencedUntil})
	}
	if a.ResolvedAt != nil {
		d.History = append(d.History, Event{At: *a.ResolvedAt, What: "resolved", By: a.ResolvedBy, Text: a.Resolution})
	}
	inOrder(d.History)
	rows, err = q.Query(ctx, `SELECT o.id, o.raised_at, o.resolved_at FROM alerts a JOIN alerts o ON o.rule_id = a.rule_id
		AND o.subject = a.subject AND o.id < a.id WHERE a.id = $1 AND ($3 OR o.team_id = ANY ($4)) ORDER BY o.id DESC LIMIT $2`, id, maxEarlier,
		visible.All, visible.Teams)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading earlier alerts: %w", err))
	}
	d.Earlier, err = db.CollectRows(rows, func(row pgx.CollectableRow) (e Occurrence, err error) {
		err = row.Scan(&e.ID, &e.RaisedAt, &e.ResolvedAt)
		e.RaisedAt, e.ResolvedAt = e.RaisedAt.UTC(), utc(e.ResolvedAt)
		return e, err
	})
	return d, db.Problem(err)
}
