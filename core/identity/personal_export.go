package identity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// inUTC returns SQL for a time in the form of JSON.
func inUTC(column string) string {
	return `to_char(` + column + ` AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
}

// personal are the statements of the export, by the names of their parts; each
// returns one JSON value. $1 is the user's id, $2 the same as text. They read
// no secret, no hash of one and no sealed value.
var personal = []struct{ name, sql string }{
	{"account", `SELECT jsonb_build_object('id', id, 'email', email, 'display_name', display_name, 'is_active', is_active, 'created_at', ` +
		inUTC("created_at") + `, 'updated_at', ` + inUTC("updated_at") + `, 'last_login_at', ` + inUTC("last_login_at") +
		`, 'totp_enabled', totp_enabled, 'passkeys', passkeys, 'recovery_codes_left',
		(SELECT count(*) FROM recovery_codes r WHERE r.user_id = u.id))
		FROM users u WHERE id = $1 AND $2 <> ''`},
	{"teams", list(`jsonb_build_object('id', t.id, 'name', t.name, 'role', m.role, 'added_at', `+inUTC("m.added_at")+`)`,
		`team_members m JOIN teams t ON t.id = m.team_id WHERE m.user_id = $1`, "t.id")},
	{"identities", list(`jsonb_build_object('provider', p.name, 'subject', i.subject, 'created_at', `+inUTC("i.created_at")+
		`, 'last_login_at', `+inUTC("i.last_login_at")+`)`,
		`user_identities i JOIN identity_providers p ON p.id = i.provider_id WHERE i.user_id = $1`, "p.id")},
	{"sessions", list(`jsonb_build_object('id', id, 'address', address, 'user_agent', user_agent, 'created_at', `+inUTC("created_at")+
		`, 'last_seen_at', `+inUTC("last_seen_at")+`, 'expires_at', `+inUTC("expires_at")+`)`, `sessions WHERE user_id = $1`, "id")},
	{"passkeys", list(`jsonb_build_object('id', id, 'name', name, 'created_at', `+inUTC("created_at")+`, 'last_used_at', `+
		inUTC("last_used_at")+`)`, `passkeys WHERE user_id = $1`, "id")},
	{"logins", list(`jsonb_build_object('at', `+inUTC("at")+`, 'method', method, 'address', address, 'user_agent', user_agent,
		'new_place', new_place)`, `logins WHERE user_id = $1`, "id")},
	{"known_networks", list(`jsonb_build_object('network', network, 'seen_at', `+inUTC("seen_at")+`)`, `login_addresses WHERE user_id = $1`,
		"network")},
	{"known_browsers", list(`jsonb_build_object('until', `+inUTC("expires_at")+`)`, `login_devices WHERE user_id = $1`, "id")},
	{"api_keys", list(`jsonb_build_object('id', id, 'name', name, 'scopes', scopes, 'created_at', `+inUTC("created_at")+`, 'expires_at', `+
		inUTC("expires_at")+`, 'last_used_at', `+inUTC("last_used_at")+`)`, `api_keys WHERE user_id = $1`, "id")},
	{"preferences", `SELECT COALESCE((SELECT value::jsonb FROM user_preferences WHERE user_id = $1 AND $2 <> ''), '{}')`},
	{"notifications", list(`jsonb_build_object('at', `+inUTC("at")+`, 'kind', kind, 'title', title, 'text', body)`,
		`notification_events WHERE user_id = $1`, "id")},
	{"schedules", list(`jsonb_build_object('id', id, 'name', name)`, `schedules WHERE writer_id = $1`, "id")},
}

// list returns the statement of a list of values.
func list(value, from, order string) string {
	return "SELECT COALESCE(jsonb_agg(" + value + " ORDER BY " + order + "), '[]') FROM " + from + " AND $2 <> ''"
}

// streamed are the statements of the parts that may be large; each row is one
// JSON value. $1 and $2 are as in personal. The addresses of other users who
// worked on the account are left out, because they are those users' data.
var streamed = []struct{ name, sql string }{
	{"jobs", `SELECT jsonb_build_object('id', id, 'kind', kind, 'target', target_name, 'status', status, 'created_at', ` +
		inUTC("created_at") + `) FROM jobs WHERE requested_by = $1 AND $2 <> '' ORDER BY id`},
	{"trail", `SELECT jsonb_build_object('id', id, 'at', ` + inUTC("at") + `, 'actor_type', actor_type, 'actor_id', actor_id,
		'action', action,
		'target', CASE WHEN target_kind <> '' THEN jsonb_build_object('kind', target_kind, 'id', nullif(target_id, ''), 'name',
			nullif(target_name, '')) END, 'result', result, 'error', nullif(error, ''),
		'address', CASE WHEN actor_id = $1 THEN nullif(address, '') END, 'details', details)
		FROM audit WHERE actor_id = $1 OR target_kind = 'user' AND target_id = $2 ORDER BY id`},
}

// Personal writes everything that is stored about a user as one JSON object:
// account, teams, sessions, log-ins, keys, preferences, messages, jobs and
// audit entries. It reads in one REPEATABLE READ transaction, so that all parts
// are of one moment, and writes while it reads, so that memory stays small. The
// problem is not_found.
func (s *Store) Personal(ctx context.Context, w io.Writer, userID int64) error {
	describeExport(ctx, userID)
	tx, err := s.db.Pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return db.Problem(fmt.Errorf("starting an export: %w", err))
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	text := strconv.FormatInt(userID, 10)
	between := "{"
	for _, part := range personal {
		var value string
		err := tx.QueryRow(ctx, part.sql, userID, text).Scan(&value)
		if errors.Is(err, pgx.ErrNoRows) {
			return problem.New(problem.CodeNotFound, "user not found")
		}
		if err != nil {
			return db.Problem(fmt.Errorf("reading the user's %s: %w", part.name, err))
		}
		if _, err := fmt.Fprintf(w, "%s\n%q: %s", between, part.name, value); err != nil {
			return err
		}
		between = ","
	}
	for _, part := range streamed {
		if err := stream(ctx, tx, w, part.name, part.sql, userID, text); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "\n}\n")
	return err
}

// stream writes a list of the export row by row.
func stream(ctx context.Context, tx pgx.Tx, w io.Writer, name, sql string, userID int64, text string) error {
	rows, err := tx.Query(ctx, sql, userID, text)
	if err != nil {
		return db.Problem(fmt.Errorf("reading the user's %s: %w", name, err))
	}
	defer rows.Close()
	if _, err := fmt.Fprintf(w, ",\n%q: [", name); err != nil {
		return err
	}
	between := ""
	for rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			return db.Problem(fmt.Errorf("reading the user's %s: %w", name, err))
		}
		if _, err := io.WriteString(w, between+"\n"+value); err != nil {
			return err
		}
		between = ","
	}
	if err := rows.Err(); err != nil {
		return db.Problem(fmt.Errorf("reading the user's %s: %w", name, err))
	}
	_, err = io.WriteString(w, "]")
	return err
}
