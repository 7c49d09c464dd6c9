package feed

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/hostler/hostler/core/db"
)

// figures are the figures of the guests and nodes of one cluster, in rows
// without names. They change with every poll, and for ten thousand guests the
// names of the fields would be most of the text.
type figures struct {
	at string
	// guests and nodes are rows by team, each with a comma before.
	guests, nodes map[int64][]byte
}

// guestFigures and nodeFigures name the members of the rows. Readers go by
// these names, not by the order.
const (
	guestFigures = `"guest_columns":["id","cpu","memory_bytes","disk_bytes","uptime_s"]`
	nodeFigures  = `"node_columns":["node","cpu","memory_bytes","disk_bytes","uptime_s"]`
)

// appendTo appends the figures that a reader may see, with a comma in front;
// nothing if the reader may see nothing of the cluster.
func (f *figures) appendTo(b []byte, cluster, version int64, s Filter) []byte {
	length := len(b)
	b = append(b, `,{"kind":"figures","id":`...)
	b = strconv.AppendInt(b, cluster, 10)
	b = append(b, `,"version":`...)
	b = strconv.AppendInt(b, version, 10)
	b = append(b, `,"at":`...)
	b = append(b, f.at...)
	seen := false
	for _, part := range []struct {
		head, name string
		rows       map[int64][]byte
	}{{guestFigures, "guests", f.guests}, {nodeFigures, "nodes", f.nodes}} {
		b = append(append(append(b, ','), part.head...), `,"`+part.name+`":[`...)
		begin := len(b)
		for team, rows := range part.rows {
			if s.sees(team) {
				b, seen = append(b, rows...), true
			}
		}
		if len(b) > begin { // no comma before the first row
			b = append(b[:begin], b[begin+1:]...)
		}
		b = append(b, ']')
	}
	if !seen {
		return b[:length]
	}
	return append(b, '}')
}

// selectFigures builds the rows in PostgreSQL. Objects that do not run have no
// figures and are left out. Fractions have three digits.
const selectFigures = `SELECT c.id, COALESCE(to_json(date_trunc('milliseconds', c.figures_at))::text, 'null'), r.node, r.team,
	COALESCE(string_agg(',[' || r.name || ',' || COALESCE(round(r.cpu::numeric, 3)::text, 'null') || ',' || COALESCE(r.memory::text, 'null')
		|| ',' || COALESCE(r.disk::text, 'null') || ',' || COALESCE(r.uptime::text, 'null') || ']', '' ORDER BY r.id), '')
FROM clusters c LEFT JOIN LATERAL (
	SELECT false AS node, h.team_id AS team, g.id, g.id::text AS name, g.cpu, g.memory, g.disk, g.uptime
	FROM guests g JOIN hosts h ON h.id = g.host_id WHERE g.cluster_id = c.id AND num_nonnulls(g.cpu, g.memory, g.uptime) > 0
	UNION ALL
	SELECT true, h.team_id, n.id, to_json(n.name)::text, n.cpu, n.memory, n.disk, n.uptime
	FROM nodes n JOIN hosts h ON h.id = n.host_id WHERE n.cluster_id = c.id AND num_nonnulls(n.cpu, n.memory, n.uptime) > 0) r ON true
WHERE c.id = ANY ($1) GROUP BY c.id, r.node, r.team`

// readFigures reads the figures of clusters, in one statement.
func (f *Feed) readFigures(ctx context.Context, clusters []int64) (map[int64]*figures, error) {
	rows, err := f.DB.Pool.Query(ctx, selectFigures, clusters)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading figures: %w", err))
	}
	all := map[int64]*figures{}
	var cluster int64
	var at string
	var node *bool
	var team *int64
	var list []byte
	_, err = pgx.ForEachRow(rows, []any{&cluster, &at, &node, &team, (*textBytes)(&list)}, func() error {
		one := all[cluster]
		if one == nil {
			one = &figures{at: at, guests: map[int64][]byte{}, nodes: map[int64][]byte{}}
			all[cluster] = one
		}
		switch {
		case node == nil || team == nil || len(list) == 0:
		case *node:
			one.nodes[*team] = slices.Clone(list)
		default:
			one.guests[*team] = slices.Clone(list)
		}
		return nil
	})
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading figures: %w", err))
	}
	return all, nil
}

// textBytes takes a text as bytes.
type textBytes []byte

// ScanText implements pgtype.TextScanner.
func (t *textBytes) ScanText(v pgtype.Text) error {
	*t = append((*t)[:0], v.String...)
	return nil
}
