package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/proxy"
)

// Authenticate returns the caller of a request: by the session cookie, or by an
// API key if the request has an Authorization header of the scheme Bearer,
// which then decides alone. The roles are read anew for each request, so that a
// change of them and a deactivation take effect at once. The problem is
// unauthenticated, the same for every reason.
func (s *Store) Authenticate(ctx context.Context, r *http.Request) (*Caller, error) {
	if scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return s.authenticateKey(ctx, key)
	}
	token := cookieValue(r, CookieName, proxy.SiteOf(r.Context(), r.TLS))
	if !isToken(token) {
		return nil, unauthenticated()
	}
	return s.authenticateSession(ctx, token)
}

// These select the user and all roles in one row. Sessions and keys are found
// by the hash of the sent value: the comparison is made by an index over
// hashes, and its duration shows nothing about the value.
const (
	callerColumns = `u.id, u.email, COALESCE(u.display_name, ''),
		ARRAY(SELECT m.team_id FROM team_members m WHERE m.user_id = u.id ORDER BY m.team_id),
		ARRAY(SELECT m.role FROM team_members m WHERE m.user_id = u.id ORDER BY m.team_id)`
	sessionQuery = `
		SELECT s.id, s.last_seen_at < now() - interval '1 minute', NULL::text[], '', ` + callerColumns + `
		FROM sessions s JOIN users u ON u.id = s.user_id AND u.is_active
		WHERE s.token_hash = $1 AND s.expires_at > now() AND s.last_seen_at > now() - $2::interval`
	keyQuery = `
		SELECT k.id, COALESCE(k.last_used_at < now() - interval '1 minute', true), k.scopes, k.name, ` + callerColumns + `
		FROM api_keys k JOIN users u ON u.id = k.user_id AND u.is_active
		WHERE k.key_hash = $1 AND (k.expires_at IS NULL OR k.expires_at > now())`
)

// authenticateKey does the same work for every text, whether it has the form of
// a key or not.
func (s *Store) authenticateKey(ctx context.Context, key string) (*Caller, error) {
	if !isKey(key) {
		key = ""
	}
	caller, id, stale, err := s.caller(ctx, keyQuery, hashToken(key))
	if err != nil {
		return nil, fmt.Errorf("reading the API key: %w", err)
	}
	if caller == nil {
		return nil, wrongKey()
	}
	caller.KeyID = id
	if stale {
		s.touch(ctx, "UPDATE api_keys SET last_used_at = now() WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval "+
			"'1 minute')", id)
	}
	return caller, nil
}

// authenticateSession returns the caller of a session token, and extends the
// session if it was not used for a while.
func (s *Store) authenticateSession(ctx context.Context, token string) (*Caller, error) {
	caller, id, stale, err := s.caller(ctx, sessionQuery, hashToken(token), s.config.SessionIdle)
	if err != nil {
		return nil, fmt.Errorf("reading the session: %w", err)
	}
	if caller == nil {
		return nil, unauthenticated()
	}
	caller.SessionID = id
	if stale {
		s.touch(ctx, "UPDATE sessions SET last_seen_at = now() WHERE id = $1 AND last_seen_at < now() - interval '1 minute'", id)
	}
	return caller, nil
}

// caller reads a session or a key with its user and the user's roles; nil if
// none is valid. stale reports that the last use must be stored.
func (s *Store) caller(ctx context.Context, query string, args ...any) (c *Caller, id int64, stale bool, err error) {
	c = &Caller{}
	var teams []int64
	var roles []string
	err = s.db.Pool.QueryRow(ctx, query, args...).Scan(&id, &stale, &c.Scopes, &c.KeyName, &c.UserID, &c.Email, &c.DisplayName,
		&teams, &roles)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, 0, false, nil
	}
	if err != nil {
		return nil, 0, false, db.Problem(err)
	}
	c.Teams = make(map[int64]Role, len(teams))
	for i, team := range teams {
		if c.Teams[team], err = ParseRole(roles[i]); err != nil {
			return nil, 0, false, fmt.Errorf("reading the caller's roles: %w", err)
		}
	}
	return c, id, stale, nil
}

// touch stores the last use of a session or a key, at most once a minute,
// because otherwise each read of the API would be a write. A failure is only
// logged.
func (s *Store) touch(ctx context.Context, statement string, id int64) {
	if _, err := s.db.Pool.Exec(ctx, statement, id); err != nil && ctx.Err() == nil {
		s.log.Warn("could not record the last use of a session or key", "id", id, "error", err)
	}
}

// unauthenticated returns the problem of a request without a valid session or
// key.
func unauthenticated() error {
	return problem.New(problem.CodeUnauthenticated, "log in, or send an API key")
}
