package feed

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// row is one row of the history.
type row struct {
	id     int64
	xid    uint64
	kind   Kind
	object int64
	what   string
	team   *int64
	fields []string
}

// rowColumns are the columns of a row of the history, in the order in which it
// is scanned. xid is read as text because it has more bits than PostgreSQL's
// integer types.
const rowColumns = "c.id, c.xid::text, c.kind, c.object, c.what, c.team, c.fields"

// news are the rows of the history that a position has not seen.
type news struct {
	at      position
	origin  string
	floor   uint64
	version int64
	rows    []row
	// copied says that the history is another database's.
	copied bool
}

// selectNews reads everything that is not visible in the snapshot $1, in one
// statement and so in one snapshot, which becomes the new position. An empty $1
// stands for now. The order is that of the index, so that the cost does not
// depend on the length of the history.
const selectNews = `WITH present AS MATERIALIZED (
	SELECT pg_current_snapshot() AS at, feed_origin() AS origin, s.origin AS kept, s.floor, nextval('feed_version') AS version,
		COALESCE(NULLIF($1::text, '')::pg_snapshot, pg_current_snapshot()) AS seen FROM feed_state s)
SELECT p.at::text, p.origin, p.kept, p.floor::text, p.version, c.id, c.xid::text, c.kind, c.object, c.what, c.team, c.fields
FROM present p LEFT JOIN LATERAL (SELECT * FROM feed_changes c WHERE c.xid >= pg_snapshot_xmin(p.seen)
	AND NOT pg_visible_in_snapshot(c.xid, p.seen) ORDER BY c.xid LIMIT $2) c ON true ORDER BY c.id`

// read returns the rows that a position has not seen, at most mostRows and one
// more.
func (f *Feed) read(ctx context.Context, since string) (news, error) {
	rows, err := f.DB.Pool.Query(ctx, selectNews, since, mostRows+1)
	if err != nil {
		return news{}, db.Problem(fmt.Errorf("reading what changed: %w", err))
	}
	var n news
	var at, kept, floor string
	var id, object *int64
	var xid, kind, what *string
	var r row
	targets := []any{&at, &n.origin, &kept, &floor, &n.version, &id, &xid, &kind, &object, &what, &r.team, &r.fields}
	_, err = pgx.ForEachRow(rows, targets, func() error {
		if id == nil {
			return nil
		}
		one := row{id: *id, kind: Kind(*kind), object: *object, what: *what, team: r.team, fields: r.fields}
		r = row{}
		one.xid, err = strconv.ParseUint(*xid, 10, 64)
		n.rows = append(n.rows, one)
		return err
	})
	if err == nil {
		n.at, err = parsePosition(at)
	}
	if err == nil {
		n.floor, err = strconv.ParseUint(floor, 10, 64)
	}
	if err != nil {
		return news{}, db.Problem(fmt.Errorf("reading what changed: %w", err))
	}
	n.copied = kept != n.origin
	return n, nil
}

// since returns the rows of transactions from a first one on, in order, at most
// mostRows and one more.
func (f *Feed) since(ctx context.Context, first uint64) ([]row, error) {
	rows, err := f.DB.Pool.Query(ctx, "SELECT "+rowColumns+" FROM (SELECT * FROM feed_changes WHERE xid >= $1::text::xid8 "+
		"ORDER BY xid LIMIT $2) c ORDER BY c.id", strconv.FormatUint(first, 10), mostRows+1)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the history: %w", err))
	}
	found, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (row, error) {
		var one row
		var xid string
		err := r.Scan(&one.id, &xid, &one.kind, &one.object, &one.what, &one.team, &one.fields)
		if err == nil {
			one.xid, err = strconv.ParseUint(xid, 10, 64)
		}
		return one, err
	})
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the history: %w", err))
	}
	return found, nil
}

// adopt makes the history one of this database: rows that a copy has brought
// along are deleted. One of several instances does it.
func (f *Feed) adopt(ctx context.Context) error {
	return f.DB.Tx(ctx, func(tx *db.Tx) error {
		// No cursor of this origin is older than this: there is no floor yet.
		tag, err := tx.Pgx.Exec(ctx, "UPDATE feed_state SET origin = feed_origin(), floor = '0' WHERE origin <> feed_origin()")
		if err != nil {
			return fmt.Errorf("copying the history: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return nil
		}
		for _, statement := range []string{"DELETE FROM feed_changes", "DELETE FROM feed_marks"} {
			if _, err := tx.Pgx.Exec(ctx, statement); err != nil {
				return fmt.Errorf("dropping the history of another database: %w", err)
			}
		}
		return nil
	})
}
