package alert

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// inOrder sorts events by time, oldest first.
func inOrder(events []Event) {
	slices.SortStableFunc(events, func(a, b Event) int { return a.At.Compare(b.At) })
}

// Acknowledge records that the caller has seen an alert. An earlier
// acknowledgement stays in the history. The problem is invalid_state for a
// resolved alert.
func (s *Store) Acknowledge(ctx context.Context, id int64, note string, visible identity.VisibleTeams) (*Detail, error) {
	return s.act(ctx, id, visible, func(tx *db.Tx, by *int64) (pgx.Rows, error) {
		return tx.Pgx.Query(ctx, `WITH changed AS (UPDATE alerts SET acknowledged_at = now(), acknowledged_by = $2, ack_note = $3
				WHERE id = $1 AND resolved_at IS NULL RETURNING *),
			noted AS (INSERT INTO alert_acts (alert_id, at, what, by, note)
				SELECT id, acknowledged_at, 'acknowledged', acknowledged_by, ack_note FROM changed)
			SELECT id FROM changed`, id, by, note)
	})
}

// Silence suppresses messages about an alert until a time, or for a duration if
// until is nil, and about the next alerts of its rule on the same object. A
// time in the past ends a silence. Earlier silences stay in the history. The
// problem is invalid_state for a resolved alert.
func (s *Store) Silence(ctx context.Context, id int64, until *time.Time, lasts time.Duration, note string,
	visible identity.VisibleTeams) (*Detail, error) {
	return s.act(ctx, id, visible, func(tx *db.Tx, by *int64) (pgx.Rows, error) {
		return tx.Pgx.Query(ctx, `WITH changed AS (UPDATE alerts SET silenced_at = now(),
				silenced_until = COALESCE($4, now() + $5::interval), silenced_by = $2, silence_note = $3
				WHERE id = $1 AND resolved_at IS NULL RETURNING *),
			noted AS (INSERT INTO alert_acts (alert_id, at, what, by, note, until)
				SELECT id, silenced_at, 'silenced', silenced_by, silence_note, silenced_until FROM changed)
			SELECT id FROM changed`, id, by, note, until, lasts)
	})
}

// Resolve ends an alert by hand. It is not raised again before the breach was
// over once. The problem is invalid_state for a resolved alert.
func (s *Store) Resolve(ctx context.Context, id int64, note string, visible identity.VisibleTeams) (*Detail, error) {
	if note == "" {
		note = "Resolved manually."
	}
	return s.act(ctx, id, visible, func(tx *db.Tx, by *int64) (pgx.Rows, error) {
		return tx.Pgx.Query(ctx, `UPDATE alerts SET resolved_at = now(), resolved_by = $2, resolution = $3,
			told = CASE told WHEN '' THEN 'none' ELSE told END WHERE id = $1 AND resolved_at IS NULL RETURNING id`, id, by, note)
	})
}

// act changes an open alert that the caller may see, together with its audit
// entry.
func (s *Store) act(ctx context.Context, id int64, visible identity.VisibleTeams, change func(tx *db.Tx, by *int64) (pgx.Rows, error)) (
	d *Detail, err error) {
	var by *int64
	if caller := identity.FromContext(ctx); caller != nil && caller.UserID != 0 {
		by = &caller.UserID
	}
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		if d, err = get(ctx, tx.Pgx, id, visible); err != nil {
			return err
		}
		rows, err := change(tx, by)
		if err != nil {
			return fmt.Errorf("writing the alert: %w", err)
		}
		changed, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return fmt.Errorf("writing the alert: %w", err)
		}
		if len(changed) == 0 {
			return problem.New(problem.CodeInvalidState, "the alert is already resolved")
		}
		if d, err = get(ctx, tx.Pgx, id, visible); err != nil {
			return err
		}
		audit.Describe(ctx, func(e *audit.Entry) {
			e.TargetKind, e.TargetID, e.TargetName = "alert", strconv.FormatInt(id, 10), d.Target.Name
			e.TeamID, e.HostID = d.TeamID, d.HostID
			e.Detail("rule", d.Rule)
		})
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}
