package audit

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"gorm.io/gorm"

	"github.com/hostler/hostler/core/db"
)

// Record is a row as the database returns it, for reading millions of them:
// numbers as digits, details as JSON, nil for null. Its slices are valid until
// the next row.
type Record struct {
	At                                                                    time.Time
	ID, ActorType, ActorID, ActorEmail, Action, TargetKind, TargetID      []byte
	TargetName, HostID, JobID, Result, Error, Address, RequestID, Details []byte
}

// recordColumns are those of a Record after the time, in the order of its fields.
const recordColumns = "id, actor_type, actor_id, actor_email, action, target_kind, target_id, target_name, host_id, job_id, result, " +
	"error, address, request_id, details::text"

// Each reads all matching rows, the oldest first, in the state of one moment,
// and calls fn for each. It uses one connection and the memory of a few rows,
// however slow fn is. The page of f is ignored. It ends with the error of fn or
// of the context, or after the last row.
func Each(ctx context.Context, d *db.DB, f Filter, fn func(*Record) error) error {
	if f.impossible() {
		return nil
	}
	q := f.narrow(d.Gorm(ctx).Session(&gorm.Session{DryRun: true}).Model(&Row{})).Select("at, " +
		recordColumns).Order("at, id").Find(&[]map[string]any{}).Statement
	columns := 1 + strings.Count(recordColumns, ",") + 1
	formats := make(pgx.QueryResultFormats, columns) // digits as text
	formats[0] = pgx.BinaryFormatCode
	// A single statement sees one moment, and PostgreSQL sends its rows as they
	// are fetched.
	rows, err := d.Pool.Query(ctx, q.SQL.String(), append([]any{formats}, q.Vars...)...)
	if err != nil {
		return db.Problem(fmt.Errorf("reading audit rows: %w", err))
	}
	defer rows.Close()
	var r Record
	for rows.Next() {
		raw := rows.RawValues()
		if len(raw) != columns || rows.FieldDescriptions()[0].Format != pgx.BinaryFormatCode {
			return isBinary(rows)
		}
		r.At = timestamp(raw[0])
		for i, field := range []*[]byte{&r.ID, &r.ActorType, &r.ActorID, &r.ActorEmail, &r.Action, &r.TargetKind, &r.TargetID, &r.TargetName,
			&r.HostID, &r.JobID, &r.Result, &r.Error, &r.Address, &r.RequestID, &r.Details} {
			*field = raw[i+1]
		}
		if err := fn(&r); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return db.Problem(fmt.Errorf("reading audit rows: %w", err))
	}
	return nil
}

// postgresEpoch is the year 2000 in microseconds of Unix time.
const postgresEpoch = 946_684_800_000_000

// timestamp reads a timestamptz in PostgreSQL's binary format.
func timestamp(raw []byte) time.Time {
	return time.UnixMicro(int64(binary.BigEndian.Uint64(raw)) + postgresEpoch).UTC()
}
