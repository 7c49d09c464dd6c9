package identity

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// maxSessions of one user; a log-in beyond it ends the oldest.
const maxSessions = 100

// Session is a user's log-in on one client.
type Session struct {
	ID         int64 `gorm:"primaryKey"`
	UserID     int64
	Address    string
	UserAgent  string
	CreatedAt  time.Time
	LastSeenAt time.Time
	// ExpiresAt is its last moment even when it is used all the time.
	ExpiresAt time.Time
}

func (s *Store) insertSession(ctx context.Context, tx *db.Tx, userID int64, token string, from Client) error {
	_, err := tx.Pgx.Exec(ctx, `
		INSERT INTO sessions (user_id, token_hash, address, user_agent, expires_at) VALUES ($1, $2, $3, $4, now() + $5)`,
		userID, hashToken(token), line(from.Address), line(from.UserAgent), s.config.SessionLife)
	if err != nil {
		return fmt.Errorf("storing the session: %w", err)
	}
	_, err = tx.Pgx.Exec(ctx, `
		DELETE FROM sessions WHERE user_id = $1 AND id IN (
			SELECT id FROM sessions WHERE user_id = $1 ORDER BY id DESC OFFSET $2)`, userID, maxSessions)
	if err != nil {
		return fmt.Errorf("ending the oldest sessions: %w", err)
	}
	return nil
}

// line makes one short line of text that came from outside.
func line(s string) string {
	if len(s) > 300 {
		s = s[:300]
	}
	s = strings.ToValidUTF8(s, "")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

// live are the sessions that still hold.
func (s *Store) live(ctx context.Context, userID int64) *gorm.DB {
	return s.db.With(ctx).Where("user_id = ? AND expires_at > now() AND last_seen_at > now() - ?::interval",
		userID, s.config.SessionIdle)
}

// Sessions lists the user's live sessions, the one used last first.
func (s *Store) Sessions(ctx context.Context, userID int64) ([]Session, error) {
	var sessions []Session
	if err := s.live(ctx, userID).Order("last_seen_at DESC, id DESC").Find(&sessions).Error; err != nil {
		return nil, db.Problem(fmt.Errorf("listing the sessions: %w", err))
	}
	return sessions, nil
}

// Session is one live session of the user; a problem of code not_found when there is none of that id.
func (s *Store) Session(ctx context.Context, userID, id int64) (*Session, error) {
	var session Session
	err := s.live(ctx, userID).Take(&session, "id = ?", id).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, noSession()
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the session: %w", err))
	}
	return &session, nil
}

// RevokeSession ends one session of the user at once. Someone else's is a problem of code not_found.
func (s *Store) RevokeSession(ctx context.Context, userID, id int64) error {
	return s.db.Tx(ctx, func(tx *db.Tx) error {
		ended, err := tx.Pgx.Exec(ctx, "DELETE FROM sessions WHERE id = $1 AND user_id = $2", id, userID)
		if err != nil {
			return fmt.Errorf("ending the session: %w", err)
		}
		if ended.RowsAffected() == 0 {
			return noSession()
		}
		audit.Describe(ctx, func(e *audit.Entry) {
			e.TargetKind, e.TargetID = "session", strconv.FormatInt(id, 10)
		})
		return audit.Write(ctx, tx)
	})
}

// LogOut ends the caller's own session. A caller with an API key has none: invalid_state.
func (s *Store) LogOut(ctx context.Context, caller *Caller) error {
	if caller.SessionID == 0 {
		return problem.New(problem.CodeInvalidState, "an API key has no session that could be ended")
	}
	err := s.RevokeSession(ctx, caller.UserID, caller.SessionID)
	if problem.CodeOf(err) == problem.CodeNotFound && err != nil {
		// Another request ended it a moment ago.
		return problem.New(problem.CodeUnauthenticated, "the session has ended already")
	}
	return err
}

// RevokeOthers ends all sessions of the user but the one to keep, within the transaction, and says how many. With
// keep 0 it ends all of them: after a password reset or a deactivation.
func RevokeOthers(ctx context.Context, tx *db.Tx, userID, keep int64) (int64, error) {
	ended, err := tx.Pgx.Exec(ctx, "DELETE FROM sessions WHERE user_id = $1 AND id <> $2", userID, keep)
	if err != nil {
		return 0, fmt.Errorf("ending the user's sessions: %w", err)
	}
	return ended.RowsAffected(), nil
}

func noSession() error { return problem.New(problem.CodeNotFound, "there is no such session") }
