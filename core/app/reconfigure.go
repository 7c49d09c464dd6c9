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

// Optional is a value that may be left as it is (not Set) or cleared (nil).
type Optional[T any] struct {
	Set   bool
	Value *T
}

// Presentation is what people say of an app. The hypervisor knows nothing of it.
type Presentation struct {
	// Name is never cleared.
	Name        *string
	WebPort     Optional[int]
	WebPath     Optional[string]
	WebProtocol Optional[string]
	// Slug is the entry of the catalog that has made the app's container.
	Slug Optional[string]
}

// fields are those that are given, as the API names them.
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

// Reconfigure changes an app's container at the hypervisor and then what people say of the app. Either may be empty; without a
// change of the container no hypervisor is asked. A failure after the first tells in the member done what was done. Problems:
// invalid, not_found, invalid_state when the app has no host or its container is not there, guest_busy for another entry of an app that is
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

// appName refuses a name that nobody can see.
func appName(text string) (string, error) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || !utf8.ValidString(trimmed) || strings.ContainsFunc(trimmed, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "", problem.InvalidField("must be printable characters", "value_error", "body", "name")
	}
	return trimmed, nil
}

// after tells in a failure what was done before it.
func after(err error, done []string) error {
	if len(done) == 0 {
		return err
	}
	told := *problem.From(err)
	told.Members = maps.Clone(told.Members)
	return told.With("done", done).WithCause(err)
}

// present writes what people say of the app.
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

// idle refuses to give another entry to an app that is updated by the one that it has: problem guest_busy. No update can begin until the
// transaction ends.
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
