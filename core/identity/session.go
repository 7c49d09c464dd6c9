package identity

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// maxSessions is the number of sessions of one user; a log-in beyond it ends
// the oldest.
const maxSessions = 100

// Session is a log-in of a user on one client.
type Session struct {
	ID         int64
	Address    string
	UserAgent  string
	CreatedAt  time.Time
	LastSeenAt time.Time
	// ExpiresAt is its last moment even when it is used all the time.
	ExpiresAt time.Time
	// ProviderID and Provider are the provider that has vouched for who came
	// in, nil after a password.
	ProviderID *int64
	Provider   *string
	// SecondFactor is what was proven besides: one of Factor; nil for nothing.
	SecondFactor *string
	// ByPasskey says that a passkey has proven who came in, without a password.
	ByPasskey bool
}

// These are the proofs of a log-in besides the password or the provider's
// answer.
const (
	FactorTOTP     = "totp"
	FactorRecovery = "recovery_code"
	// FactorPasskey is a passkey, also where it was all that was asked for.
	FactorPasskey = "passkey"
	// FactorProvider is one of which the provider says that it has asked for it.
	FactorProvider = "provider"
)

// arrival describes how a user logged in. The zero value is the password alone.
type arrival struct {
	// provider is the id of the provider; 0 for none.
	provider int64
	// factor is one of Factor; "" for none.
	factor string
	// alone says that the factor was all that was asked for.
	alone bool
}

// insertSession stores a session: the SHA-256 of its token, and how the user
// logged in.
func (s *Store) insertSession(ctx context.Context, tx *db.Tx, userID int64, token string, came arrival, from Client) error {
	_, err := tx.Pgx.Exec(ctx, `
		INSERT INTO sessions (user_id, token_hash, address, user_agent, expires_at, provider_id, second_factor, by_passkey)
		VALUES ($1, $2, $3, $4, now() + $5, NULLIF($6::bigint, 0), NULLIF($7, ''), $8)`,
		userID, hashToken(token), line(from.Address), line(from.UserAgent), s.config.SessionLife, came.provider, came.factor, came.alone)
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

// line makes one short line of a text from outside, without control characters.
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

// live selects the sessions of a user that are still valid.
const live = `SELECT s.id, s.address, s.user_agent, s.created_at, s.last_seen_at, s.expires_at, s.provider_id, p.name, s.second_factor,
	s.by_passkey
	FROM sessions s LEFT JOIN identity_providers p ON p.id = s.provider_id
	WHERE s.user_id = $1 AND s.expires_at > now() AND s.last_seen_at > now() - $2::interval `

// Sessions returns the user's valid sessions, the last used one first.
func (s *Store) Sessions(ctx context.Context, userID int64) ([]Session, error) {
	rows, err := s.db.Pool.Query(ctx, live+"ORDER BY s.last_seen_at DESC, s.id DESC", userID, s.config.SessionIdle)
	var sessions []Session
	if err == nil {
		sessions, err = db.CollectRows(rows, pgx.RowToStructByPos[Session])
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing the sessions: %w", err))
	}
	return sessions, nil
}

// Session returns one valid session of the user. The problem is not_found.
func (s *Store) Session(ctx context.Context, userID, id int64) (*Session, error) {
	rows, err := s.db.Pool.Query(ctx, live+"AND s.id = $3", userID, s.config.SessionIdle, id)
	var session Session
	if err == nil {
		session, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Session])
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, noSession()
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the session: %w", err))
	}
	return &session, nil
}

// RevokeSession ends one session of the user at once. The problem is not_found,
// also for a session of another user.
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

// LogOut ends the caller's own session. The problem is invalid_state for a
// caller with an API key.
func (s *Store) LogOut(ctx context.Context, caller *Caller) error {
	if caller.SessionID == 0 {
		return problem.New(problem.CodeInvalidState, "an API key has no session to end")
	}
	err := s.RevokeSession(ctx, caller.UserID, caller.SessionID)
	if problem.CodeOf(err) == problem.CodeNotFound && err != nil {
		// Another request ended it a moment ago.
		return problem.New(problem.CodeUnauthenticated, "the session has already ended")
	}
	return err
}

// RevokeOthers ends all sessions of the user except keep, in the given
// transaction, and returns their number. keep 0 ends all: after a reset of the
// password or a deactivation.
func RevokeOthers(ctx context.Context, tx *db.Tx, userID, keep int64) (int64, error) {
	ended, err := tx.Pgx.Exec(ctx, "DELETE FROM sessions WHERE user_id = $1 AND id <> $2", userID, keep)
	if err != nil {
		return 0, fmt.Errorf("ending the user's sessions: %w", err)
	}
	return ended.RowsAffected(), nil
}

// noSession returns the problem of an unknown session.
func noSession() error { return problem.New(problem.CodeNotFound, "session not found") }
