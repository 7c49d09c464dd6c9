package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/problem"
)

// Optional is a field of a change with three states: not set leaves the value
// as it is, set with nil clears it, and set with a value replaces it.
type Optional[T any] struct {
	Set   bool
	Value *T
}

// Presentation holds the fields of an app that users enter and that the
// hypervisor does not know.
type Presentation struct {
	// Name cannot be cleared. nil leaves it as it is.
	Name        *string
	WebPort     Optional[int]
	WebPath     Optional[string]
	WebProtocol Optional[string]
	// Slug names the catalog entry from which the container was installed. It
	// decides which script updates the app.
	Slug Optional[string]
}

// fields returns the names of the fields that are set, as the API names them.
func (p Presentation) fields() (all []string) {
	for _, f := range []struct {
		name  string
		given bool
	}{{"name", p.Name != nil}, {"web_port", p.WebPort.Set}, {"web_path", p.WebPath.Set}, {"web_protocol", p.WebProtocol.Set},
		{"slug", p.Slug.Set}} {
		if f.given {
			all = append(all, f.name)
		}
	}
	return all
}

// ReconfigureResult is an app after a change.
type ReconfigureResult struct {
	App
	// Config is nil when the hypervisor was not asked.
	Config *guest.Config `json:"config" doc:"New configuration of the container; null if the request did not change it"`
}

// Reconfigure first changes an app's container at the hypervisor and then the
// app's own fields. Either part may be empty, but not both. Without a change of
// the container it does not contact the hypervisor.
//
// The two changes are not atomic. If something fails after the first change,
// the problem has the member done with the names of the fields that were
// changed.
//
// Problems: invalid, not_found, invalid_state if the app has no host or its
// container does not exist, guest_busy for a new slug while the app is being
// updated, and those of guest.Reconfigure.
func (s *Store) Reconfigure(ctx context.Context, id, team int64, o guest.ConfigRequest, shown Presentation) (ReconfigureResult, error) {
	if o.Empty() && len(shown.fields()) == 0 {
		return ReconfigureResult{}, guest.NothingToChange()
	}
	if shown.Name != nil {
		name, err := appName(*shown.Name)
		if err != nil {
			return ReconfigureResult{}, err
		}
		shown.Name = &name
	}
	if err := s.checkSlug(ctx, shown.Slug, "body", "slug"); err != nil {
		return ReconfigureResult{}, err
	}
	var out ReconfigureResult
	var done []string
	if !o.Empty() {
		r, err := s.Request(ctx, id, team, nil)
		if err != nil {
			return ReconfigureResult{}, err
		}
		config, err := guest.Reconfigure(ctx, s.Actor, r, o)
		if err != nil {
			return ReconfigureResult{}, err
		}
		out.Config, done = &config, o.Fields()
	}
	if fields := shown.fields(); len(fields) > 0 {
		audit.Describe(ctx, func(e *audit.Entry) { e.Detail("changed", fields) })
		if err := s.present(ctx, id, shown); err != nil {
			return ReconfigureResult{}, after(err, done)
		}
	}
	a, err := s.Get(ctx, id)
	if err != nil {
		return ReconfigureResult{}, after(err, append(done, shown.fields()...))
	}
	out.App = *a
	return out, nil
}

// appName trims a name. It refuses one that is empty or has characters that
// cannot be printed.
func appName(text string) (string, error) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || !utf8.ValidString(trimmed) || strings.ContainsFunc(trimmed, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "", problem.InvalidField("must be printable characters", "value_error", "body", "name")
	}
	return trimmed, nil
}

// after adds to an error the member done: the fields that were changed before
// the failure. It copies the error, because the original may be shared.
func after(err error, done []string) error {
	if len(done) == 0 {
		return err
	}
	told := *problem.From(err)
	told.Members = maps.Clone(told.Members)
	return told.With("done", done).WithCause(err)
}

// present writes the app's own fields and one row of the audit log.
func (s *Store) present(ctx context.Context, id int64, p Presentation) error {
	return s.Guests.DB.Tx(ctx, func(tx *db.Tx) error {
		if p.Slug.Set {
			if err := idle(ctx, tx, id); err != nil {
				return err
			}
		}
		tag, err := tx.Pgx.Exec(ctx, `UPDATE apps SET name = COALESCE($2, name),
			web_port = CASE WHEN $3 THEN $4::integer ELSE web_port END,
			web_path = CASE WHEN $5 THEN $6 ELSE web_path END,
			web_protocol = CASE WHEN $7 THEN $8 ELSE web_protocol END,
			slug = CASE WHEN $9 THEN $10 ELSE slug END WHERE id = $1`,
			id, p.Name, p.WebPort.Set, p.WebPort.Value, p.WebPath.Set, p.WebPath.Value, p.WebProtocol.Set, p.WebProtocol.Value, p.Slug.Set,
			p.Slug.Value)
		if err != nil {
			return fmt.Errorf("changing an app: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return problem.New(problem.CodeNotFound, "app not found")
		}
		return audit.Write(ctx, tx)
	})
}

// idle returns the problem guest_busy if a job is updating the app, because an
// update must end with the script of the entry with which it began. It locks
// the app's row: no update can begin until the transaction ends.
func idle(ctx context.Context, tx *db.Tx, id int64) error {
	var job *int64
	err := tx.Pgx.QueryRow(ctx, `SELECT (SELECT j.id FROM app_updates u JOIN jobs j ON j.id = u.job_id WHERE u.app_id = a.id
		AND j.status IN ('queued', 'running') LIMIT 1) FROM apps a WHERE a.id = $1 FOR NO KEY UPDATE OF a`, id).Scan(&job)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return problem.New(problem.CodeNotFound, "app not found")
	case err != nil:
		return fmt.Errorf("reading the app's update: %w", err)
	case job != nil:
		return problem.New(problem.CodeGuestBusy, "job %d is updating the app", *job).With("job_id", *job)
	}
	return nil
}
