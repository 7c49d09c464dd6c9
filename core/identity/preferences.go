package identity

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// MaxPreferences is the size of a user's preferences without white space, in bytes.
const MaxPreferences = 8192

// Preferences are the settings of a user for pages. The service stores them and
// does not interpret them.
type Preferences struct {
	// Value is a JSON object; {} where nothing was chosen yet.
	Value json.RawMessage
	// Revision counts the changes; 0 before the first.
	Revision int64
	// ChangedAt is the time of the last change; nil before the first.
	ChangedAt *time.Time
}

// Preferences returns the user's settings.
func (s *Store) Preferences(ctx context.Context, userID int64) (Preferences, error) {
	p := Preferences{Value: json.RawMessage("{}")}
	var value string
	err := s.db.Pool.QueryRow(ctx, "SELECT value, revision, changed_at FROM user_preferences WHERE user_id = $1", userID).
		Scan(&value, &p.Revision, &p.ChangedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return p, nil
	}
	if err != nil {
		return p, db.Problem(fmt.Errorf("reading preferences: %w", err))
	}
	p.Value = json.RawMessage(value)
	return p, nil
}

// SetPreferences replaces the user's settings by a JSON object. revision is the
// one that the change is based on; nil replaces any. Problems: invalid above
// MaxPreferences bytes, invalid_state if the settings have another revision
// now.
func (s *Store) SetPreferences(ctx context.Context, userID int64, value json.RawMessage, revision *int64) (Preferences, error) {
	var text bytes.Buffer
	if err := json.Compact(&text, value); err != nil {
		return Preferences{}, problem.InvalidField("is not JSON", "json", "body", "value")
	}
	if text.Len() > MaxPreferences {
		return Preferences{}, problem.InvalidField(fmt.Sprintf("has %d bytes; the limit is %s", text.Len(), problem.Size(MaxPreferences)),
			"too_long", "body", "value")
	}
	p := Preferences{Value: text.Bytes()}
	err := s.db.Tx(ctx, func(tx *db.Tx) error {
		// Without a row there is nothing to lock, but the row of the user.
		if _, err := tx.Pgx.Exec(ctx, "SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE", userID); err != nil {
			return fmt.Errorf("locking a user: %w", err)
		}
		err := tx.Pgx.QueryRow(ctx, `INSERT INTO user_preferences AS p (user_id, value, revision)
			SELECT $1, $2, 1 WHERE coalesce($3::bigint, 0) = coalesce((SELECT revision FROM user_preferences WHERE user_id = $1), 0)
				OR $3 IS NULL
			ON CONFLICT (user_id) DO UPDATE SET value = excluded.value, revision = p.revision + 1, changed_at = now()
			RETURNING revision, changed_at`, userID, text.String(), revision).Scan(&p.Revision, &p.ChangedAt)
		if errors.Is(err, pgx.ErrNoRows) {
			return problem.New(problem.CodeInvalidState, "the preferences have changed in the meantime: read them again")
		}
		if err != nil {
			return fmt.Errorf("writing preferences: %w", err)
		}
		return audit.Write(ctx, tx)
	})
	return p, err
}
