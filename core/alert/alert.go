// Package alert keeps the record of what people should look at: rows that are raised once, stay open while the matter
// lasts, and are resolved. The activity feed shows them.
package alert

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Severity is how much an alert matters.
type Severity string

// The severities.
const (
	Info    Severity = "info"
	Warning Severity = "warning"
)

// HostPermission is the rule of a host whose monitoring token lacks a privilege.
const HostPermission = "host.permission"

// RaiseOnHost opens an alert of the rule about a host, unless one is open already. The caller holds the host's row, so
// that two instances raise one. A host that is gone raises none.
func RaiseOnHost(ctx context.Context, tx pgx.Tx, hostID int64, rule string, severity Severity, message string) error {
	_, err := tx.Exec(ctx, `INSERT INTO alerts (team_id, host_id, target_kind, target_id, target_name, rule, severity, message)
		SELECT team_id, id, 'host', id, name, $2, $3, $4 FROM hosts WHERE id = $1
			AND NOT EXISTS (SELECT FROM alerts WHERE host_id = $1 AND rule = $2 AND resolved_at IS NULL)`, hostID, rule, severity, message)
	if err != nil {
		return fmt.Errorf("raising an alert: %w", err)
	}
	return nil
}

// ResolveOnHost ends the open alerts of the rule about a host. Where there were any, an alert of severity info, resolved
// from the start, tells it at its own place in the feed.
func ResolveOnHost(ctx context.Context, tx pgx.Tx, hostID int64, rule, message string) error {
	tag, err := tx.Exec(ctx, "UPDATE alerts SET resolved_at = now() WHERE host_id = $1 AND rule = $2 AND resolved_at IS NULL", hostID, rule)
	if err == nil && tag.RowsAffected() > 0 {
		_, err = tx.Exec(ctx, `INSERT INTO alerts (team_id, host_id, target_kind, target_id, target_name, rule, severity, message, resolved_at)
			SELECT team_id, id, 'host', id, name, $2, $3, $4, now() FROM hosts WHERE id = $1`, hostID, rule, Info, message)
	}
	if err != nil {
		return fmt.Errorf("resolving an alert: %w", err)
	}
	return nil
}
