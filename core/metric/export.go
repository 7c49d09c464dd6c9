package metric

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/setting"
)

// Cursor is the place of a sample in the order of all: time, kind and id.
type Cursor struct {
	At   time.Time
	Kind string
	ID   int64
}

// Label is a name and its value.
type Label struct{ Name, Value string }

// Sample is the measurement of one object at one time, in the form for other
// databases.
type Sample struct {
	Cursor
	// Labels say what it is of, sorted by name; none is empty.
	Labels []Label
	Values []Value
}

// Value is one figure; the name of a counter ends in _total.
type Value struct {
	Name  string
	Value float64
}

// These bound the questions that an export asks of the database.
const (
	// exportWindow is how much time one question goes through.
	exportWindow = 2 * time.Minute
	// settled is by how much more than the time between two polls samples are
	// left alone: a poll brings some of the time before it.
	settled = 10 * time.Second
	// slowest is the longest poll that samples wait for.
	slowest = 10 * time.Minute
)

// exportColumns maps labels to the columns with their values, and the kinds
// that have them.
var exportColumns = []struct{ name, value string }{
	{"cluster", "COALESCE(gc.name, nc.name, sc.name, '')"},
	{"id", "CASE WHEN s.target_kind IN ('guest', 'host') THEN s.target_id::text ELSE '' END"},
	{"kind", "COALESCE(g.kind, '')"},
	{"name", "COALESCE(g.name, h.name, '')"},
	{"node", "COALESCE(n.name, st.node, '')"},
	{"storage", "COALESCE(st.name, '')"},
}

// exportRows reads the samples after $1, $2, $3 and before $4, at most $5.
// Objects that are gone have no name and are left out.
var exportRows = func() string {
	columns := make([]string, 0, len(exportColumns)+len(measured))
	for _, c := range exportColumns {
		columns = append(columns, c.value)
	}
	for _, f := range measured {
		columns = append(columns, "s."+f.column+"::float8")
	}
	return `SELECT s.at, s.target_kind, s.target_id, COALESCE(g.id, n.id, st.id, h.id) IS NOT NULL, ` + strings.Join(columns, ", ") + `
FROM (SELECT * FROM metric_samples WHERE at >= $1 AND at < $4 AND (at, target_kind, target_id) > ($1, $2, $3)
	ORDER BY at, target_kind, target_id LIMIT $5) s
LEFT JOIN guests g ON s.target_kind = 'guest' AND g.id = s.target_id LEFT JOIN clusters gc ON gc.id = g.cluster_id
LEFT JOIN nodes n ON s.target_kind = 'node' AND n.id = s.target_id LEFT JOIN clusters nc ON nc.id = n.cluster_id
LEFT JOIN storages st ON s.target_kind = 'storage' AND st.id = s.target_id LEFT JOIN clusters sc ON sc.id = st.cluster_id
LEFT JOIN hosts h ON s.target_kind = 'host' AND h.id = s.target_id
ORDER BY s.at, s.target_kind, s.target_id`
}()

// Export returns the samples after a place, the oldest first, at most limit,
// and the place up to which it has looked. No sample comes before that any
// more, except those that fill an old gap. more reports that there is more.
// Samples are held back as long as a poll may still add to their time.
func Export(ctx context.Context, d *db.DB, after Cursor, limit int) (found []Sample, to Cursor, more bool, err error) {
	interval, err := setting.Get(ctx, d, setting.PollInterval)
	if err != nil {
		return nil, after, false, err
	}
	// The samples of a poll have the time at which its transaction began, and
	// become visible when it ends.
	var horizon time.Time
	err = d.Pool.QueryRow(ctx, `SELECT LEAST(now() - $1::interval, GREATEST(now() - $2::interval, COALESCE((SELECT min(xact_start)
		FROM pg_stat_activity WHERE datname = current_database() AND backend_xid IS NOT NULL AND pid <> pg_backend_pid()), now())))`,
		time.Duration(interval)*time.Second+settled, slowest).Scan(&horizon)
	if err != nil {
		return nil, after, false, db.Problem(fmt.Errorf("reading running polls: %w", err))
	}
	if !after.At.Before(horizon) {
		return nil, after, false, nil
	}
	to = Cursor{At: horizon}
	if end := after.At.Add(exportWindow); end.Before(horizon) {
		to.At, more = end, true
	}
	rows, err := d.Pool.Query(ctx, exportRows, after.At, after.Kind, after.ID, to.At, limit)
	if err != nil {
		return nil, after, false, db.Problem(fmt.Errorf("reading samples: %w", err))
	}
	n := 0
	var last Cursor
	found, err = readSamples(rows, func(p Cursor) { n, last = n+1, p })
	if err != nil {
		return nil, after, false, db.Problem(fmt.Errorf("reading samples: %w", err))
	}
	if n == limit {
		to, more = last, true
	}
	return found, to, more, nil
}

// readSamples converts rows. each is called for every row, also for objects
// that are gone.
func readSamples(rows pgx.Rows, each func(Cursor)) (found []Sample, err error) {
	defer rows.Close()
	var place Cursor
	var there bool
	labels, values := make([]string, len(exportColumns)), make([]*float64, len(measured))
	into := []any{&place.At, &place.Kind, &place.ID, &there}
	for i := range labels {
		into = append(into, &labels[i])
	}
	for i := range values {
		into = append(into, &values[i])
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		each(place)
		if !there {
			continue
		}
		s := Sample{Cursor: place}
		for i, text := range labels {
			if text != "" {
				s.Labels = append(s.Labels, Label{exportColumns[i].name, text})
			}
		}
		for i, f := range measured {
			// A host's traffic is the sum of its guests' counters. It falls
			// when one of them stops, and a reader would take the remainder for
			// new traffic.
			if values[i] == nil || f.counter && place.Kind == string(Host) {
				continue
			}
			name := prefix(place.Kind) + f.name
			if f.counter {
				name += "_total"
			}
			s.Values = append(s.Values, Value{name, *values[i]})
		}
		if len(s.Values) > 0 {
			found = append(found, s)
		}
	}
	return found, rows.Err()
}
