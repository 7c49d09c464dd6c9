// Package notify tells people outside the service what happened: events become messages, and messages go to channels.
package notify

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Kind is what kind of thing an event tells.
type Kind string

// The kinds of events.
const (
	Alert            Kind = "alert"
	JobFailed        Kind = "job_failed"
	BackupReport     Kind = "backup_report"
	NewLogin         Kind = "new_login"
	UpdateDone       Kind = "update_done"
	UpdateRolledBack Kind = "update_rolled_back"
	// Audit is a row of the audit log, which webhooks are told that ask for it.
	Audit Kind = "audit"
	Test  Kind = "test"
	// Digest is what channels make of events that were too many.
	Digest Kind = "digest"
)

// State is where in its matter an event stands.
type State string

// The states: a matter begins and ends, or is told once.
const (
	Open     State = "open"
	Resolved State = "resolved"
	OneTime  State = "told"
)

// Event is something that people may want to be told.
type Event struct {
	// TeamID is whose matter it is; nil is for people with a role in the default team.
	TeamID *int64
	Kind   Kind
	// Incident is the same for the beginning and the end of a matter; empty where there is no end.
	Incident string
	State    State
	// Severity is info, warning or critical.
	Severity string
	// Rule is the alert's rule; empty for other kinds.
	Rule       string
	TargetKind string
	TargetID   *int64
	TargetName string
	Tags       []string
	// Title is one line, Body what else there is to say, both plain text.
	Title, Body string
	// Link is a path of the page, from its root, as "/guests/vm/3".
	Link string
	// UserID is whose matter it is alone; nil where it is the team's.
	UserID *int64
}

// Write writes an event, in the transaction of what happened. A team that is gone meanwhile leaves it to the default team, and what
// concerns a user alone who is gone is not written. Who writes many at once inserts into notification_events from a query.
func Write(ctx context.Context, tx pgx.Tx, e Event) error {
	tags := make([]string, 0, len(e.Tags))
	for _, tag := range e.Tags {
		tags = append(tags, clean(tag))
	}
	_, err := tx.Exec(ctx, `INSERT INTO notification_events (team_id, kind, incident, state, severity, rule, target_kind, target_id,
		target_name, tags, title, body, link, user_id)
		SELECT (SELECT id FROM teams WHERE id = $1 FOR KEY SHARE), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::bigint
		WHERE $14::bigint IS NULL OR EXISTS (SELECT FROM users WHERE id = $14 FOR KEY SHARE)`,
		e.TeamID, e.Kind, clean(e.Incident), e.State, e.Severity, clean(e.Rule), e.TargetKind, e.TargetID, clean(e.TargetName), tags,
		clean(e.Title), clean(e.Body), clean(e.Link), e.UserID)
	if err != nil {
		return fmt.Errorf("writing an event: %w", err)
	}
	return nil
}

// clean makes text that PostgreSQL takes: what others call their things must not undo what happened to these.
func clean(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
}
