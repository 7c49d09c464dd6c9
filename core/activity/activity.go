// Package activity merges what has happened lately, from jobs, alerts and the audit log, into one feed.
//
// A job stands in it at the time when it was asked for, in the place of the row in the audit log that started it: an entry keeps
// its place while its status changes. An alert stands at the time when it was raised and, as info, at the time when it was
// resolved; what follows from another alert is left out. The row of the audit log that started a job is left out, and any other
// is in, one of an attempt that came to nothing too.
package activity

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
)

// Kind is which source an entry comes from.
type Kind string

// The kinds.
const (
	Job   Kind = "job"
	Alert Kind = "alert"
	Audit Kind = "audit"
)

// Entry is one thing that has happened.
type Entry struct {
	Kind Kind
	// ID is that of the job, the alert or the row of the audit log.
	ID int64
	At time.Time
	// Name is the job's kind, the alert's rule or the action in the audit log.
	Name string
	// Text says more, where there is more to say: why a job or an attempt failed, or what the alert is about.
	Text string
	// State is the job's status, the alert's severity or the attempt's result.
	State      string
	TargetKind string
	TargetID   string
	TargetName string
	HostID     *int64
	// Actor is the e-mail address of who asked for it; empty for the service itself and for strangers.
	Actor string
}

// Visibility says whose entries of each source are shown.
type Visibility struct{ Jobs, Alerts, Audit identity.VisibleTeams }

// VisibilityOf is what a caller may see: jobs and alerts of teams where the caller is a viewer, the audit log where an admin.
func VisibilityOf(c *identity.Caller) Visibility {
	return Visibility{Jobs: c.Visible(), Alerts: c.Visible(), Audit: c.VisibleAs(identity.Admin)}
}

// source is one part of the feed: where it comes from, and which column is its time.
type source struct{ columns, from, where, at string }

var (
	jobs = source{
		columns: `'job' AS kind, id, created_at AS at, jobs.kind AS name, error AS text, status AS state,
			target_kind, target_id::text AS target_id, target_name, host_id, requested_by_email AS actor`,
		from: "jobs", where: "true", at: "created_at",
	}
	alerts = source{
		columns: `'alert' AS kind, id, raised_at AS at, rule AS name, message AS text, severity AS state,
			target_kind, target_id::text AS target_id, target_name, host_id, '' AS actor`,
		from: "alerts", where: "cause_id IS NULL", at: "raised_at",
	}
	ends = source{
		columns: `'alert' AS kind, id, resolved_at AS at, rule AS name, resolution AS text, 'info' AS state,
			target_kind, target_id::text AS target_id, target_name, host_id, '' AS actor`,
		from: "alerts", where: "resolved_at IS NOT NULL AND cause_id IS NULL", at: "resolved_at",
	}
	// An attempt that was refused or failed after it had enqueued its job has taken the job back.
	trail = source{
		columns: `'audit' AS kind, id, at, action AS name, error AS text, result AS state,
			target_kind, target_id, target_name, host_id, actor_email AS actor`,
		from: "audit", where: "(job_id IS NULL OR result <> 'ok')", at: "at",
	}
)

// newest selects the newest $1 rows that may be seen. Team by team, each is a short walk along an index, however many rows
// other teams have.
func (s source) newest(visible identity.VisibleTeams, teams string) string {
	const pattern = "(SELECT %s FROM %s WHERE %s ORDER BY %s DESC, id DESC LIMIT $1)"
	if visible.All {
		return fmt.Sprintf(pattern, s.columns, s.from, s.where, s.at)
	}
	ofTeam := fmt.Sprintf(pattern, s.columns, s.from, "team_id = team AND "+s.where, s.at)
	return fmt.Sprintf("(SELECT found.* FROM unnest(%s::bigint[]) AS team CROSS JOIN LATERAL %s AS found ORDER BY at DESC, id DESC LIMIT "+
		"$1)", teams, ofTeam)
}

// List gives the newest entries that may be seen, the newest first, at most limit.
func List(ctx context.Context, d *db.DB, sight Visibility, limit int) ([]Entry, error) {
	args := []any{limit}
	var parts []string
	for _, part := range []struct {
		source  source
		visible identity.VisibleTeams
	}{{jobs, sight.Jobs}, {alerts, sight.Alerts}, {ends, sight.Alerts}, {trail, sight.Audit}} {
		teams := ""
		if !part.visible.All {
			args = append(args, part.visible.Teams)
			teams = fmt.Sprintf("$%d", len(args))
		}
		parts = append(parts, part.source.newest(part.visible, teams))
	}
	rows, err := d.Pool.Query(ctx, strings.Join(parts, " UNION ALL ")+" ORDER BY at DESC, kind, id DESC LIMIT $1", args...)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the activity: %w", err))
	}
	entries, err := db.CollectRows(rows, func(row pgx.CollectableRow) (e Entry, err error) {
		return e, row.Scan(&e.Kind, &e.ID, &e.At, &e.Name, &e.Text, &e.State, &e.TargetKind, &e.TargetID, &e.TargetName, &e.HostID, &e.Actor)
	})
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the activity: %w", err))
	}
	return entries, nil
}
