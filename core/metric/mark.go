package metric

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
)

// maxMarks limits the marks of one answer.
const maxMarks = 500

// Mark is an event of a target: a job or an alert. The JSON names are those of
// the API.
type Mark struct {
	Kind   string     `json:"kind" enum:"job,alert" example:"job"`
	ID     int64      `json:"id" example:"57" doc:"ID of the job or the alert"`
	Target string     `json:"target" example:"vm:3" doc:"Target, named as in the query"`
	Title  string     `json:"title" example:"vm.start" doc:"Kind of the job, or rule of the alert"`
	State  string     `json:"state" example:"succeeded" doc:"Status of the job, or severity of the alert"`
	At     time.Time  `json:"at" doc:"When the job started, or was requested if it has not started; when the alert was raised"`
	Until  *time.Time `json:"until" doc:"When it ended; null until then"`
}

// markRows reads the marks. A job that restores a guest has the backup as its
// target, and the guest in its lock. Nodes and storages have no lasting id:
// their jobs have the id of the host that was asked, and their name; for a
// storage that is local to a node, the node is in the request.
const markRows = `WITH t AS (SELECT a.name, a.kind, COALESCE(o.id, a.id) AS id, a.called, a.node, a.held
	FROM unnest($1::text[], $2::text[], $3::bigint[], $9::text[], $10::text[], $11::text[]) AS a (name, kind, id, called, node, held)
	LEFT JOIN hosts h ON a.called <> '' AND h.id = a.id LEFT JOIN hosts o ON o.cluster_id = h.cluster_id)
SELECT * FROM (
	(SELECT 'job', j.id, t.name, j.kind, j.status, COALESCE(j.started_at, j.created_at) AS at, j.finished_at
		FROM t JOIN jobs j ON j.target_kind = t.kind AND j.target_id = t.id AND (t.called = '' OR j.target_name = t.called)
			AND (t.node = '' OR COALESCE(j.asked->>'node', t.node) = t.node)
		WHERE COALESCE(j.started_at, j.created_at) < $5 AND (j.finished_at IS NULL OR j.finished_at >= $4) AND ($6 OR j.team_id = ANY ($7))
		ORDER BY at DESC LIMIT $8)
	UNION ALL
	(SELECT 'job', j.id, t.name, j.kind, j.status, COALESCE(j.started_at, j.created_at) AS at, j.finished_at
		FROM t JOIN jobs j ON j.target_kind = 'backup' AND j.exclusive = t.held
		WHERE COALESCE(j.started_at, j.created_at) < $5 AND (j.finished_at IS NULL OR j.finished_at >= $4) AND ($6 OR j.team_id = ANY ($7))
		ORDER BY at DESC LIMIT $8)
	UNION ALL
	(SELECT 'alert', l.id, t.name, l.rule, l.severity, l.raised_at, l.resolved_at
		FROM t JOIN alerts l ON l.target_kind = t.kind AND l.target_id = t.id AND (t.called = '' OR l.target_name = t.called)
			AND (t.node = '' OR l.node IN ('', t.node))
		WHERE l.raised_at < $5 AND (l.resolved_at IS NULL OR l.resolved_at >= $4) AND ($6 OR l.team_id = ANY ($7))
		ORDER BY l.raised_at DESC LIMIT $8)
	ORDER BY 6 DESC LIMIT $8) newest ORDER BY 6, 1, 2`

// marks returns the newest jobs and alerts of the targets in a period, in the
// order of time.
func marks(ctx context.Context, d *db.DB, targets []found, from, to time.Time, visible identity.VisibleTeams) ([]Mark, error) {
	var names, kinds, called, nodes, held []string
	var ids []int64
	for i := range targets {
		t := &targets[i]
		thing, node, guest := "", "", ""
		switch t.Kind {
		case VM, App:
			if len(t.ids) > 0 {
				guest = fmt.Sprintf("guest:%d", t.ids[0])
			}
		case Node:
			thing = t.Node
		case Storage:
			if thing = t.Storage; !t.shared {
				node = t.Node
			}
		}
		names, kinds, called, nodes, ids = append(names, t.String()), append(kinds, string(t.Kind)), append(called, thing),
			append(nodes, node), append(ids, t.ID)
		held = append(held, guest)
	}
	rows, err := d.Pool.Query(ctx, markRows, names, kinds, ids, from, to, visible.All, visible.Teams, maxMarks, called, nodes, held)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading jobs and alerts: %w", err))
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m Mark, err error) {
		err = row.Scan(&m.Kind, &m.ID, &m.Target, &m.Title, &m.State, &m.At, &m.Until)
		m.At = m.At.UTC()
		if m.Until != nil {
			*m.Until = m.Until.UTC()
		}
		return m, err
	})
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading jobs and alerts: %w", err))
	}
	return all, nil
}
