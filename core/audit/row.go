package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hostler/hostler/core/db"
)

// Row is an entry as it is stored.
type Row struct {
	ID         int64     `gorm:"primaryKey"`
	At         time.Time `gorm:"default:now()"`
	ActorType  string
	ActorID    *int64
	ActorEmail string
	Action     string
	TargetKind string
	TargetID   string
	TargetName string
	TeamID     *int64
	HostID     *int64
	JobID      *int64
	Result     string
	Error      string
	Address    string
	RequestID  string
	Details    json.RawMessage `gorm:"type:jsonb"`
}

// TableName is the name of the table for gorm.
func (Row) TableName() string { return "audit" }

// Write adds the row of the context's attempt, with the result ok, to the
// transaction of the change. Without an attempt (in a test or at the start) it
// writes nothing. A second call in one attempt writes a second row, because one
// operation may change several things.
func Write(ctx context.Context, tx *db.Tx) error {
	a := FromContext(ctx)
	if a == nil {
		return nil
	}
	entry := a.Entry()
	entry.Result = ResultOK
	if err := insert(tx, entry); err != nil {
		return err
	}
	tx.OnCommit(a.commit)
	if a.onWrite == nil {
		return nil
	}
	return a.onWrite(ctx, tx, entry)
}

// WriteEntry adds a complete entry to a transaction, for actions of the system
// outside of requests.
func WriteEntry(tx *db.Tx, entry Entry) error { return insert(tx, entry) }

// insert writes a row. The sealer adds it to the chain afterwards.
func insert(tx *db.Tx, entry Entry) error {
	row, err := rowOf(entry)
	if err != nil {
		return err
	}
	if err := tx.Create(row).Error; err != nil {
		return fmt.Errorf("writing the audit row: %w", err)
	}
	return nil
}

// rowOf converts an entry. Texts come from requests and are cleaned.
func rowOf(entry Entry) (*Row, error) {
	details, err := encode(Redact(entry.Details))
	if err != nil {
		return nil, fmt.Errorf("encoding audit details: %w", err)
	}
	return &Row{
		ActorType: entry.ActorType, ActorID: entry.ActorID, ActorEmail: clean(entry.ActorEmail), Action: clean(entry.Action),
		TargetKind: entry.TargetKind, TargetID: clean(entry.TargetID), TargetName: clean(entry.TargetName),
		TeamID: entry.TeamID, HostID: entry.HostID, JobID: entry.JobID, Result: entry.Result, Error: clean(entry.Error),
		Address: clean(entry.Address), RequestID: clean(entry.RequestID), Details: details,
	}, nil
}

// maxText is the largest number of characters of one text in a row.
const maxText = 512

// clean returns a text that PostgreSQL accepts, of limited length.
func clean(s string) string { return cleanTo(s, maxText) }

// cleanTo returns text that PostgreSQL accepts, cut to most characters.
func cleanTo(s string, most int) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
	if len(s) <= most {
		return s
	}
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most])
	}
	return s
}

// Recorder writes rows in separate transactions: refused and failed attempts,
// which change nothing else.
type Recorder struct {
	DB *db.DB
	// Spans keeps what has begun and not ended; nil keeps nothing of it but the rows.
	Spans *SpanTracker
}

// Record writes one entry.
func (r Recorder) Record(ctx context.Context, entry Entry) error {
	return r.DB.Tx(ctx, func(tx *db.Tx) error {
		if entry.Span != nil && r.Spans != nil {
			if err := r.Spans.note(ctx, tx, entry); err != nil {
				return err
			}
		}
		return insert(tx, entry)
	})
}
