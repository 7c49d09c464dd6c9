package metric

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/setting"
)

// OpenMetrics is the media type of WriteGuests.
const OpenMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"

// guestFamilies are the families of guests that are not samples: a statement
// for the value, and for whether there is one.
var guestFamilies = []struct {
	family
	value, where string
}{
	{family{name: "running", help: "Whether the guest is running: 1 or 0."}, "CASE g.status WHEN 'running' THEN 1 ELSE 0 END",
		"g.status <> 'unknown'"},
	{family{name: "cpus", help: "Number of processors of the guest."}, "g.cpus", "g.cpus IS NOT NULL"},
	{family{name: "uptime_seconds", unit: "seconds", help: "How long the guest has been running."}, "g.uptime",
		"g.uptime IS NOT NULL AND g.status = 'running'"},
}

// WriteGuests writes the last figures of all visible guests as OpenMetrics 1.0,
// one family after another, with one statement for each, in the state of one
// moment. Figures that no poll has reported for a while are left out, so that a
// reader sees that they are missing. Every series has the labels id, kind, name
// and cluster; hostler_guest_info has the places and names that change.
func WriteGuests(ctx context.Context, d *db.DB, w io.Writer, visible identity.VisibleTeams) error {
	interval, err := setting.Get(ctx, d, setting.PollInterval)
	if err != nil {
		return err
	}
	fresh := max(5*time.Minute, 3*time.Duration(interval)*time.Second)
	tx, err := d.Pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return db.Problem(fmt.Errorf("beginning to read guests: %w", err))
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	e := exposition{tx: tx, w: w, args: []any{visible.All, visible.Teams, fresh}}
	if err := e.info(ctx); err != nil {
		return err
	}
	for _, f := range guestFamilies {
		if err := e.family(ctx, f.family, f.value, f.where); err != nil {
			return err
		}
	}
	for _, f := range measured {
		if err := e.family(ctx, f, "g."+f.column, "g.status = 'running' AND g."+f.column+" IS NOT NULL"); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "# EOF\n")
	return err
}

// exposition is an OpenMetrics text that is being written.
type exposition struct {
	tx   pgx.Tx
	w    io.Writer
	args []any
	line []byte
}

// guestNames are the labels of every series.
var guestNames = []string{"id", "kind", "name", "cluster"}

// These are the parts of the questions. A guest whose figures are older than $3
// is left out: Prometheus marks a series that is missing as stale, while a
// repeated old value would look fresh.
const (
	guestColumns = `SELECT g.id, g.kind, g.name, c.name`
	guestRows    = ` FROM guests g JOIN clusters c ON c.id = g.cluster_id JOIN hosts h ON h.id = g.host_id`
	guestFilter  = ` WHERE ($1 OR h.team_id = ANY ($2)) AND COALESCE(g.figures_at, c.figures_at, c.seen_at) >= now() - $3::interval`
)

// info writes the family of places and names.
func (e *exposition) info(ctx context.Context) error {
	e.line = append(e.line[:0], "# TYPE hostler_guest info\n# HELP hostler_guest Where the guest is, and what it is called elsewhere.\n"...)
	names := append(guestNames[:len(guestNames):len(guestNames)], "host", "node", "ref", "app")
	return e.rows(ctx, guestColumns+", h.name, g.node, g.ref, COALESCE(a.name, ''), '1'"+guestRows+
		" LEFT JOIN apps a ON a.guest_id = g.id"+guestFilter+" ORDER BY g.id", "hostler_guest_info", names)
}

// family writes one family.
func (e *exposition) family(ctx context.Context, f family, value, where string) error {
	name, sample, kind := prefix("guest")+f.name, prefix("guest")+f.name, "gauge"
	if f.counter {
		sample, kind = name+"_total", "counter"
	}
	e.line = fmt.Appendf(e.line[:0], "# TYPE %s %s\n", name, kind)
	if f.unit != "" {
		e.line = fmt.Appendf(e.line, "# UNIT %s %s\n", name, f.unit)
	}
	e.line = fmt.Appendf(e.line, "# HELP %s %s\n", name, f.help)
	return e.rows(ctx, guestColumns+", "+value+guestRows+guestFilter+" AND "+where+" ORDER BY g.id", sample, guestNames)
}

// rows writes the text in the line, and a line for each row: the values of the
// labels, and last the value of the sample. Finite numbers have the same form
// in PostgreSQL and in OpenMetrics.
func (e *exposition) rows(ctx context.Context, statement, sample string, labels []string) error {
	rows, err := e.tx.Query(ctx, statement, append([]any{pgx.QueryResultFormats{pgx.TextFormatCode}}, e.args...)...)
	if err != nil {
		return db.Problem(fmt.Errorf("reading guests: %w", err))
	}
	defer rows.Close()
	for rows.Next() {
		values := rows.RawValues()
		e.line = append(append(e.line, sample...), '{')
		for i, name := range labels {
			if i > 0 {
				e.line = append(e.line, ',')
			}
			e.line = append(append(e.line, name...), '=', '"')
			e.line = append(appendEscaped(e.line, values[i]), '"')
		}
		e.line = append(append(append(e.line, "} "...), values[len(labels)]...), '\n')
		if len(e.line) < chunk {
			continue
		}
		if err := e.flush(); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return db.Problem(fmt.Errorf("reading guests: %w", err))
	}
	return e.flush()
}

// flush writes the line and empties it for the next one.
func (e *exposition) flush() error {
	_, err := e.w.Write(e.line)
	e.line = e.line[:0]
	return err
}

// appendEscaped appends the value of a label.
func appendEscaped(b, value []byte) []byte {
	if !bytes.ContainsAny(value, "\\\"\n") {
		return append(b, value...)
	}
	for _, c := range value {
		switch c {
		case '\\', '"':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		default:
			b = append(b, c)
		}
	}
	return b
}
