package identity

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/db"
)

// Prune deletes one batch of rows without effect: ended sessions, pending
// log-ins and states of providers' answers, counters whose window has passed,
// unknown browsers and networks, and old log-ins. It returns the number of
// rows, 0 when nothing is left. Locked rows are skipped, so that several
// instances can prune at the same time.
func (s *Store) Prune(ctx context.Context) (total int64, err error) {
	for _, p := range []struct {
		table, key, over string
		args             []any
	}{
		{"sessions", "id", "expires_at <= now() OR last_seen_at <= now() - $1::interval", []any{s.config.SessionIdle}},
		{"login_failures", "bucket", "window_ends <= now()", nil},
		{"pending_logins", "token_hash", "expires_at <= now()", nil},
		{"sign_on_states", "state_hash", "expires_at <= now()", nil},
		{"login_devices", "id", "expires_at <= now()", nil},
		{"logins", "id", "at <= now() - $1::interval", []any{loginLife}},
		{"login_addresses", "user_id, network", "seen_at <= now() - $1::interval", []any{addressLife}},
	} {
		gone, err := s.db.Pool.Exec(ctx, fmt.Sprintf(`DELETE FROM %[1]s WHERE (%[2]s) IN (
			SELECT %[2]s FROM %[1]s WHERE %[3]s ORDER BY %[2]s LIMIT 1000 FOR UPDATE SKIP LOCKED)`, p.table, p.key, p.over), p.args...)
		if err != nil {
			return total, db.Problem(fmt.Errorf("deleting expired rows in %s: %w", p.table, err))
		}
		total += gone.RowsAffected()
	}
	return total, nil
}

// pruneQuietly deletes expired rows. A failure is only logged, because the next
// run repeats it.
func (s *Store) pruneQuietly(ctx context.Context) {
	if _, err := s.Prune(ctx); err != nil {
		s.log.Debug("could not delete old sessions", "error", err)
	}
}
