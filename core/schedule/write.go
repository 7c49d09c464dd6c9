package schedule

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// DefaultZone is the time zone of a schedule without one.
const DefaultZone = "UTC"

// Input is a schedule as people write it.
type Input struct {
	Name     string
	Cron     string
	Timezone string
	JobKind  string
	Params   json.RawMessage
	Enabled  bool
}

// CheckParams compares parameters with their kind's schema. The faults are at
// body.params.
type CheckParams func(kind Kind, params json.RawMessage) []problem.Fault

// maxName is in characters, maxParams in bytes. Lists contain the parameters;
// those of a backup of 500 guests with long names take 160 KiB.
const maxName, maxParams = 200, 256 << 10

// MaxSchedules limits the schedules: due ones are started one after another,
// and thousands would be late.
const MaxSchedules = 1000

// Faults returns all faults of a draft that do not depend on its writer.
func (s *Store) Faults(d Input, check CheckParams) []problem.Fault {
	var faults []problem.Fault
	add := func(field, msg string) {
		faults = append(faults, problem.Fault{Loc: []any{"body", field}, Msg: msg, Type: "value_error"})
	}
	if name := strings.TrimSpace(d.Name); name == "" || utf8.RuneCountInString(name) > maxName ||
		strings.ContainsFunc(name, unicode.IsControl) {
		add("name", "must be 1 to 200 characters without control characters")
	}
	if _, err := ParseCron(d.Cron); err != nil {
		add("cron", err.Error())
	}
	if _, err := ParseZone(d.Timezone); err != nil {
		add("timezone", err.Error())
	}
	kind, known := s.kinds[d.JobKind]
	if !known {
		add("job_kind", "must be one of "+strings.Join(s.kindNames(), ", "))
		return faults
	}
	if check != nil {
		faults = append(faults, check(kind, d.Params)...)
	}
	if kind.Refuse != nil {
		if field, why := kind.Refuse(d.Params); why != "" {
			faults = append(faults, problem.Fault{Loc: []any{"body", "params", field}, Msg: why, Type: "value_error"})
		}
	}
	return faults
}

func (s *Store) kindNames() []string {
	var names []string
	for _, kind := range s.Kinds() {
		names = append(names, kind.Name)
	}
	return names
}

// tooLong returns the fault of parameters that exceed maxParams.
func tooLong(d Input) []problem.Fault {
	if len(d.Params) <= maxParams {
		return nil
	}
	return problem.InvalidField("must be at most "+problem.Size(maxParams), "value_error", "body", "params").Faults
}

// Create stores a schedule; the caller becomes its writer. Problems: invalid,
// forbidden if the caller's API key lacks the scope, those of the kind's
// Prepare, and conflict above MaxSchedules.
func (s *Store) Create(ctx context.Context, d Input, check CheckParams) (*Schedule, error) {
	faults := append(s.Faults(d, check), tooLong(d)...)
	if len(faults) > 0 {
		return nil, problem.Invalid(faults...)
	}
	d = tidied(d)
	if err := s.admit(ctx, d); err != nil {
		return nil, err
	}
	var made *Schedule
	err := s.db.Tx(ctx, func(tx *db.Tx) error {
		if err := db.CheckRowLimit(ctx, tx, "schedules", "schedules", MaxSchedules); err != nil {
			return err
		}
		next, err := s.next(ctx, tx, d)
		if err != nil {
			return err
		}
		id, email := writer(ctx)
		rows, err := tx.Pgx.Query(ctx, `
			INSERT INTO schedules (name, cron, timezone, job_kind, params, enabled, next_run_at, writer_id, writer_email)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING `+columns,
			d.Name, d.Cron, d.Timezone, d.JobKind, d.Params, d.Enabled, next, id, email)
		if err == nil {
			made, err = pgx.CollectExactlyOneRow(rows, scan)
		}
		if err != nil {
			return fmt.Errorf("writing the schedule: %w", err)
		}
		describe(ctx, made, map[string]any{"job_kind": d.JobKind, "cron": d.Cron, "timezone": d.Timezone, "enabled": d.Enabled})
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	s.wake()
	return made, nil
}

// Update changes a schedule by the function. The caller becomes the writer,
// with whose rights it runs from then on, and the service's reason for
// switching it off is cleared. Kind and parameters are checked together, also
// if they do not change, unless the schedule is off afterwards and keeps both:
// switching off always works. Problems: not_found, those of Create, and
// conflict if others keep writing the same schedule.
func (s *Store) Update(ctx context.Context, id int64, change func(*Input), check CheckParams) (*Schedule, error) {
	for range 5 {
		was, err := s.read(ctx, s.db.Pool, id)
		if err != nil {
			return nil, err
		}
		d := Input{Name: was.Name, Cron: was.Cron, Timezone: was.Timezone, JobKind: was.JobKind, Params: was.Params, Enabled: was.Enabled}
		change(&d)
		if len(d.Params) == 0 {
			d.Params = json.RawMessage("{}")
		}
		if d, err = s.checked(ctx, was, d, check); err != nil {
			return nil, err
		}
		written, err := s.rewrite(ctx, was, d)
		if err != nil || written != nil {
			s.wake()
			return written, err
		}
	}
	return nil, problem.New(problem.CodeConflict, "someone else is changing the schedule; try again")
}

// checked returns the draft that may replace the schedule.
func (s *Store) checked(ctx context.Context, was *Schedule, d Input, check CheckParams) (Input, error) {
	keeps := d.JobKind == was.JobKind && sameJSON(d.Params, was.Params)
	rests := keeps && !d.Enabled
	faults := s.Faults(d, check)
	if !keeps {
		faults = append(faults, tooLong(d)...)
	}
	if rests {
		faults = slices.DeleteFunc(faults, func(f problem.Fault) bool { return f.Loc[1] == "job_kind" || f.Loc[1] == "params" })
	}
	if len(faults) > 0 {
		return d, problem.Invalid(faults...)
	}
	d = tidied(d)
	if rests {
		return d, s.inScope(ctx, s.kinds[d.JobKind])
	}
	return d, s.admit(ctx, d)
}

// rewrite returns nil without an error if the schedule has changed since it was
// read.
func (s *Store) rewrite(ctx context.Context, was *Schedule, d Input) (written *Schedule, err error) {
	err = s.db.Tx(ctx, func(tx *db.Tx) error {
		written = nil
		now, err := lock(ctx, tx, was)
		if err != nil || now == nil {
			return err
		}
		next := now.NextRunAt
		if d.Cron != was.Cron || d.Timezone != was.Timezone || d.Enabled != was.Enabled {
			if next, err = s.next(ctx, tx, d); err != nil {
				return err
			}
		}
		id, email := writer(ctx)
		rows, err := tx.Pgx.Query(ctx, `
			UPDATE schedules SET name = $2, cron = $3, timezone = $4, job_kind = $5, params = $6, enabled = $7, next_run_at = $8, writer_id = $9,
				writer_email = $10, seeded = false, disabled_reason = '', updated_at = clock_timestamp()
			WHERE id = $1 RETURNING `+columns,
			was.ID, d.Name, d.Cron, d.Timezone, d.JobKind, d.Params, d.Enabled, next, id, email)
		if err == nil {
			written, err = pgx.CollectExactlyOneRow(rows, scan)
		}
		if err != nil {
			return fmt.Errorf("writing the schedule: %w", err)
		}
		describe(ctx, written, map[string]any{"changed": changed(was, written)})
		return audit.Write(ctx, tx)
	})
	return written, err
}

// sameJSON reports whether two objects differ at most in spaces and the order
// of keys.
func sameJSON(a, b json.RawMessage) bool {
	var one, other any
	for raw, into := range map[*json.RawMessage]*any{&a: &one, &b: &other} {
		decoder := json.NewDecoder(bytes.NewReader(*raw))
		decoder.UseNumber()
		if err := decoder.Decode(into); err != nil {
			return false
		}
	}
	return reflect.DeepEqual(one, other)
}

// changed returns the keys that differ.
func changed(was, is *Schedule) []string {
	keys := []string{}
	for _, key := range []struct {
		name string
		same bool
	}{
		{"cron", was.Cron == is.Cron}, {"enabled", was.Enabled == is.Enabled}, {"job_kind", was.JobKind == is.JobKind},
		{"name", was.Name == is.Name},
		{"params", string(was.Params) == string(is.Params)}, {"timezone", was.Timezone == is.Timezone},
		{"writer", was.Writer != nil && was.Writer.ID != nil && is.Writer.ID != nil && *was.Writer.ID == *is.Writer.ID},
	} {
		if !key.same {
			keys = append(keys, key.name)
		}
	}
	return keys
}

// Delete deletes a schedule; its jobs stay. The problem is not_found.
func (s *Store) Delete(ctx context.Context, id int64) error {
	return s.db.Tx(ctx, func(tx *db.Tx) error {
		rows, err := tx.Pgx.Query(ctx, "DELETE FROM schedules WHERE id = $1 RETURNING "+columns, id)
		if err != nil {
			return fmt.Errorf("deleting the schedule: %w", err)
		}
		gone, err := pgx.CollectRows(rows, scan)
		if err != nil {
			return fmt.Errorf("deleting the schedule: %w", err)
		}
		if len(gone) == 0 {
			return problem.New(problem.CodeNotFound, "schedule not found")
		}
		describe(ctx, gone[0], map[string]any{"job_kind": gone[0].JobKind})
		return audit.Write(ctx, tx)
	})
}

// tidied returns a draft without faults in its stored form.
func tidied(d Input) Input {
	d.Name = strings.TrimSpace(d.Name)
	d.Cron = strings.Join(strings.Fields(d.Cron), " ")
	if len(d.Params) == 0 {
		d.Params = json.RawMessage("{}")
	}
	return d
}

// admit checks whether the caller may start the draft's job.
func (s *Store) admit(ctx context.Context, d Input) error {
	kind := s.kinds[d.JobKind]
	if err := s.inScope(ctx, kind); err != nil {
		return err
	}
	_, err := kind.Prepare(ctx, d.Params)
	return err
}

// inScope restricts an API key with scopes to these, because the schedule would
// run with all rights of its writer.
func (s *Store) inScope(ctx context.Context, kind Kind) error {
	caller := identity.FromContext(ctx)
	if caller == nil || caller.Scopes == nil || kind.Scope == "" {
		return nil
	}
	if needed := kind.Scope + ":write"; !slices.Contains(caller.Scopes, needed) {
		return problem.New(problem.CodeForbidden, "for this kind of schedule, the API key needs the scope %s",
			needed).With("scope", needed)
	}
	return nil
}

// Times returns the next n times, in UTC, at which a schedule would be due. The
// problem is invalid at the name of the query parameter.
func (s *Store) Times(ctx context.Context, text, zone string, n int) ([]time.Time, error) {
	if _, err := ParseCron(text); err != nil {
		return nil, problem.InvalidField(err.Error(), "value_error", "query", "cron")
	}
	if _, err := ParseZone(zone); err != nil {
		return nil, problem.InvalidField(err.Error(), "value_error", "query", "timezone")
	}
	e, err := NewExpression(text, zone)
	if err != nil {
		return nil, err
	}
	at, err := s.now(ctx, s.cfg.DB.Pool)
	if err != nil {
		return nil, err
	}
	times := make([]time.Time, 0, n)
	for range n {
		if at = e.Next(at); at.IsZero() {
			break
		}
		times = append(times, at)
	}
	return times, nil
}

// next returns the first time of the draft; nil if it is off.
func (s *Store) next(ctx context.Context, tx *db.Tx, d Input) (*time.Time, error) {
	if !d.Enabled {
		return nil, nil
	}
	e, err := NewExpression(d.Cron, d.Timezone)
	if err != nil {
		return nil, err
	}
	now, err := s.now(ctx, tx.Pgx)
	if err != nil {
		return nil, err
	}
	if next := e.Next(now); !next.IsZero() {
		return &next, nil
	}
	return nil, problem.InvalidField("never matches", "value_error", "body", "cron")
}

func writer(ctx context.Context) (id *int64, email string) {
	if caller := identity.FromContext(ctx); caller != nil {
		return &caller.UserID, caller.Email
	}
	return nil, ""
}

// describe makes the schedule the target of the audit entry.
func describe(ctx context.Context, s *Schedule, details map[string]any) {
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetKind, e.TargetID, e.TargetName = "schedule", strconv.FormatInt(s.ID, 10), s.Name
		if e.Details == nil {
			e.Details = map[string]any{}
		}
		for key, value := range details {
			e.Details[key] = value
		}
	})
}
