package selfupdate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/notify"
	"github.com/hostler/hostler/updater/installation"
)

// updaterName is the actor in the audit log of runs that nobody requested
// through the service.
const updaterName = "hostler-updater"

// errUnreadable means that the updater's files cannot be read. Run tries again
// only when they change.
var errUnreadable = errors.New("reading the results of updates")

// RecordRuns writes one entry of the audit log, and one notification, for each
// finished run of the updater and each request that it refused, unless an
// instance has written it already. The updater itself has no access to the
// database.
func (s *Store) RecordRuns(ctx context.Context) error {
	c, err := s.configuration()
	if err != nil || c == nil || s.shape != ShapePackage {
		return err
	}
	runs, err := installation.FinishedRuns(c.StateDir)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnreadable, err)
	}
	keys := make([]string, len(runs))
	for i := range runs {
		keys[i] = keyOf(&runs[i])
	}
	rows, err := s.db.Pool.Query(ctx, "SELECT run FROM update_reports WHERE run = ANY($1)", keys)
	if err != nil {
		return db.Problem(fmt.Errorf("reading the last run in the audit log: %w", err))
	}
	told, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return db.Problem(fmt.Errorf("reading the last run in the audit log: %w", err))
	}
	for i := range runs {
		if !slices.Contains(told, keys[i]) {
			err = errors.Join(err, s.tellOne(ctx, keys[i], &runs[i]))
		}
	}
	return err
}

// keyOf returns the key of a finished run in update_reports. A refused request
// has no run ID.
func keyOf(run *installation.Status) string {
	if run.State == installation.StateRefused {
		return line("refused " + run.Request + " " + run.StartedAt.UTC().Format(time.RFC3339Nano))
	}
	return line(run.Run)
}

func (s *Store) tellOne(ctx context.Context, key string, run *installation.Status) error {
	return s.db.Tx(ctx, func(tx *db.Tx) error {
		// Another instance that is at the same row makes this one wait for its end.
		added, err := tx.Pgx.Exec(ctx, "INSERT INTO update_reports (run) VALUES ($1) ON CONFLICT DO NOTHING", key)
		if err != nil {
			return fmt.Errorf("recording that the audit log has a run: %w", err)
		}
		if added.RowsAffected() == 0 {
			return nil
		}
		entry := entryOf(run)
		err = tx.Pgx.QueryRow(ctx, "SELECT actor_type, actor_id, actor_email FROM update_requests WHERE id = $1", run.Request).
			Scan(&entry.ActorType, &entry.ActorID, &entry.ActorEmail)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("reading who requested the update: %w", err)
		}
		if err := notifyOf(ctx, tx, run); err != nil {
			return err
		}
		return audit.WriteEntry(tx, entry)
	})
}

// notifyOf writes the notification of a run that changed the service or was to
// change it. Dry runs and refused requests get none.
func notifyOf(ctx context.Context, tx *db.Tx, run *installation.Status) error {
	if run.DryRun || run.State == installation.StateRefused {
		return nil
	}
	e := notify.Event{Kind: notify.UpdateRolledBack, State: notify.OneTime, Severity: "critical", TargetKind: "release",
		TargetName: line(run.To),
		Body:       line(run.Reason), Link: "/settings"}
	switch {
	case run.State == installation.StateDone:
		e.Kind, e.Severity = notify.UpdateDone, "info"
		e.Title = fmt.Sprintf("Hostler was updated from %s to %s", line(run.From), line(run.To))
	case run.State == installation.StateRolledBack && run.Revert:
		e.Severity = "info"
		e.Title = fmt.Sprintf("The update to %s was undone as requested; Hostler is %s again", line(run.To), line(run.From))
	case run.State == installation.StateRolledBack:
		e.Severity = "warning"
		e.Title = fmt.Sprintf("The update to %s was undone; Hostler stays at %s", line(run.To), line(run.From))
	default:
		e.Title = fmt.Sprintf("The update from %s to %s failed", line(run.From), line(run.To))
	}
	return notify.Write(ctx, tx.Pgx, e)
}

// entryOf returns the audit log entry of a run, with the updater as the actor.
func entryOf(run *installation.Status) audit.Entry {
	entry := audit.Entry{
		ActorType: audit.ActorSystem, ActorEmail: updaterName, Action: "update." + string(run.State), TargetKind: "release",
		TargetName: line(run.To),
		Result:     audit.ResultFailed, Error: "update_" + string(run.State),
		Details: map[string]any{"from": line(run.From), "to": line(run.To), "started_at": stamp(run.StartedAt),
			"finished_at": stamp(run.FinishedAt)},
	}
	for key, value := range map[string]string{"run": run.Run, "request": run.Request, "reason": run.Reason} {
		if value != "" {
			entry.Details[key] = line(value)
		}
	}
	switch {
	case run.DryRun:
		entry.Action = "update.dry_run"
		if run.State == installation.StateDone {
			entry.Result, entry.Error = audit.ResultOK, ""
		}
	case run.State == installation.StateDone, run.State == installation.StateRolledBack && run.Revert:
		entry.Result, entry.Error = audit.ResultOK, ""
	case run.State == installation.StateRefused:
		entry.Result = audit.ResultRefused
	}
	return entry
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
