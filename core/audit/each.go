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

// Record is a row as it comes from the database, for reading millions of them: numbers as digits, details as JSON, all nil
// where the row has null. Its slices hold until the next row.
type Record struct {
	At                                                                    time.Time
	ID, ActorType, ActorID, ActorEmail, Action, TargetKind, TargetID      []byte
	TargetName, HostID, JobID, Result, Error, Address, RequestID, Details []byte
}

// recordColumns are those of a Record after the time, in the order of its fields.
const recordColumns = "id, actor_type, actor_id, actor_email, action, target_kind, target_id, target_name, host_id, job_id, result, " +
	"error, address, request_id, details::text"

// Each reads all rows that match, the oldest first, as they are at one moment, and calls fn with one after the other. It uses
// one connection and the memory of a few rows, however slow fn is; f's page does not count. It ends with fn's error, with the
// context, or with the last row.
func Each(ctx context.Context, d *db.DB, f Filter, fn func(*Record) error) error {
	if f.impossible() {
		return nil
	}
	q := f.narrow(d.With(ctx).Session(&gorm.Session{DryRun: true}).Model(&Row{})).Select("at, " +
		recordColumns).Order("at, id").Find(&[]map[string]any{}).Statement
	columns := 1 + strings.Count(recordColumns, ",") + 1
	formats := make(pgx.QueryResultFormats, columns) // digits as text
	formats[0] = pgx.BinaryFormatCode
	// A single statement sees one moment, and PostgreSQL sends its rows as they are fetched.
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

// postgresEpoch is 2000 in the microseconds of Unix.
const postgresEpoch = 946_684_800_000_000

// timestamp is a timestamptz as PostgreSQL sends it in binary.
func timestamp(raw []byte) time.Time {
	return time.UnixMicro(int64(binary.BigEndian.Uint64(raw)) + postgresEpoch).UTC()
}
