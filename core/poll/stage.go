package poll

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// staging creates the tables that receive a poll. They live as long as their
// connection and are emptied by every commit: creating them in each poll would
// bloat PostgreSQL's catalog.
const staging = `
CREATE TEMP TABLE IF NOT EXISTS poll_guests (kind text, ref text, uid text, identity text COLLATE "C", vmid bigint, node text, name text,
	status text, template boolean, lock text, pool text, tags text[],
	cpu double precision, cpus double precision, memory bigint, memory_total bigint, disk bigint, disk_total bigint,
	net_in bigint, net_out bigint, disk_read bigint, disk_write bigint, uptime bigint,
	cpu_seconds double precision, cpu_seconds_at timestamptz, figures_at timestamptz) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS poll_storages (node text, name text, type text, shared boolean, status text, content text[],
	used bigint, total bigint) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS poll_samples (at timestamptz, kind text, node text, identity text COLLATE "C", storage text,
	cpu double precision,
	memory bigint, memory_total bigint,
	disk bigint, disk_total bigint, net_in bigint, net_out bigint, disk_read bigint, disk_write bigint) ON COMMIT DELETE ROWS;`

// stage sends the rows of a poll to the staging tables.
func stage(ctx context.Context, tx pgx.Tx, v *inventory) error {
	conn := tx.Conn().PgConn()
	if _, err := conn.Exec(ctx, staging).ReadAll(); err != nil {
		return fmt.Errorf("creating the staging tables: %w", err)
	}
	for _, t := range []struct {
		table, columns string
		rows           *copyRows
	}{{"poll_guests", guestColumns, &v.guests}, {"poll_storages", storageColumns, &v.storages}, {"poll_samples", sampleColumns, &v.samples}} {
		if t.rows.n == 0 {
			continue
		}
		statement := fmt.Sprintf("COPY %s (%s) FROM STDIN (FORMAT binary)", t.table, t.columns)
		if _, err := conn.CopyFrom(ctx, t.rows.reader(), statement); err != nil {
			return fmt.Errorf("copying into %s: %w", t.table, err)
		}
	}
	return nil
}
