package identity

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// Authenticate finds out who makes the request: by the session's cookie, or by an API key when the request has an
// Authorization header of scheme Bearer, which then alone counts. Without a valid one it is a problem of code
// unauthenticated. Roles and activity are those of this moment: a deactivated user is out at once.
func (s *Store) Authenticate(ctx context.Context, r *http.Request) (*Caller, error) {
	if scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return s.authenticateKey(ctx, key)
	}
	token := sessionToken(r)
	if !isToken(token) {
		return nil, unauthenticated()
	}
	return s.authenticateSession(ctx, token)
}

// authenticateKey knows no key: none has been issued.
func (s *Store) authenticateKey(context.Context, string) (*Caller, error) {
	return nil, problem.New(problem.CodeUnauthenticated, "the API key is not valid")
}

// authenticateSession reads session, user and roles in one query; the roles come as one row each.
func (s *Store) authenticateSession(ctx context.Context, token string) (*Caller, error) {
	rows, err := s.db.Pool.Query(ctx, `
		SELECT s.id, s.last_seen_at < now() - interval '1 minute', u.id, u.email, COALESCE(u.display_name, ''), m.team_id, m.role
		FROM sessions s
		JOIN users u ON u.id = s.user_id AND u.is_active
		LEFT JOIN team_members m ON m.user_id = u.id
		WHERE s.token_hash = $1 AND s.expires_at > now() AND s.last_seen_at > now() - $2::interval`,
		hashToken(token), s.config.SessionIdle)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the session: %w", err))
	}
	defer rows.Close()
	var caller *Caller
	stale := false
	for rows.Next() {
		c := Caller{Teams: map[int64]Role{}}
		var team *int64
		var role *string
		if err := rows.Scan(&c.SessionID, &stale, &c.UserID, &c.Email, &c.DisplayName, &team, &role); err != nil {
			return nil, fmt.Errorf("reading the session: %w", err)
		}
		if caller == nil {
			caller = &c
		}
		if team != nil && role != nil {
			if caller.Teams[*team], err = ParseRole(*role); err != nil {
				return nil, fmt.Errorf("reading the caller's roles: %w", err)
			}
		}
	}
	if err := rows.Err(); err != nil {
		return nil, db.Problem(fmt.Errorf("reading the session: %w", err))
	}
	if caller == nil {
		return nil, unauthenticated()
	}
	if stale {
		s.touch(ctx, caller.SessionID)
	}
	return caller, nil
}

// touch notes that the session is in use, at most once a minute: reads must not each become a write.
func (s *Store) touch(ctx context.Context, id int64) {
	_, err := s.db.Pool.Exec(ctx, `
		UPDATE sessions SET last_seen_at = now() WHERE id = $1 AND last_seen_at < now() - interval '1 minute'`, id)
	if err != nil && ctx.Err() == nil {
		s.log.Warn("a session's last use was not noted", "session_id", id, "error", err)
	}
}

func unauthenticated() error {
	return problem.New(problem.CodeUnauthenticated, "log in, or send an API key")
}
