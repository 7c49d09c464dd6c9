// Package template keeps named sets of rules, with the aliases, IP sets and options that belong to them, which are put into scopes of
// firewalls as drafts.
package template

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/firewall/draft"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/scope"
)

// Store keeps templates. Its methods may be called at the same time.
type Store struct {
	DB     *db.DB
	Drafts *draft.Store
}

// Input is what a template shall be.
type Input struct {
	Name        string        `json:"name" minLength:"1" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]+$" example:"web server"`
	Description string        `json:"description,omitempty" maxLength:"1000" example:"Open ports of all web servers"`
	Shared      bool          `json:"shared,omitempty" doc:"All teams can read and use it; only for templates of the default team"`
	Content     draft.Content `json:"content"`
}

// Template is a named set of rules that is kept.
type Template struct {
	ID          int64         `json:"id" example:"3"`
	TeamID      int64         `json:"team_id" example:"1" doc:"Team that owns it"`
	Shared      bool          `json:"shared" example:"true" doc:"true if all teams can read and use it"`
	Name        string        `json:"name" example:"web server"`
	Description *string       `json:"description" example:"Open ports of all web servers"`
	Version     int64         `json:"version" minimum:"1" example:"1" doc:"Send it with a change; 409 digest_conflict if it is out of date"`
	Content     draft.Content `json:"content"`
	CreatedBy   string        `json:"created_by" example:"ann@example.com"`
	CreatedAt   time.Time     `json:"created_at"`
	UpdatedAt   time.Time     `json:"updated_at"`
}

// MaxTemplates a team may have.
const MaxTemplates = 200

const columns = "id, team_id, shared, name, nullif(description, ''), version, content, created_by, created_at, updated_at"

// seen is the condition for those that a caller may read, of two parameters: whether all, and the teams.
const seen = "(shared OR $1 OR team_id = ANY ($2))"

func scan(row pgx.CollectableRow) (t Template, err error) {
	var content []byte
	if err = row.Scan(&t.ID, &t.TeamID, &t.Shared, &t.Name, &t.Description, &t.Version, &content, &t.CreatedBy, &t.CreatedAt,
		&t.UpdatedAt); err != nil {
		return t, err
	}
	t.CreatedAt, t.UpdatedAt = t.CreatedAt.UTC(), t.UpdatedAt.UTC()
	return t, json.Unmarshal(content, &t.Content)
}

// check refuses a wish that no template of the team can be: problem invalid.
func (w *Input) check(team int64) error {
	if w.Shared && team != identity.DefaultTeam {
		return problem.InvalidField("only templates of the default team can be shared", "value_error", "body", "shared")
	}
	return w.Content.Check()
}

func notFound() error { return problem.New(problem.CodeNotFound, "template not found") }

// Create keeps a new template of a team, of which the caller must be an operator. Problems: not_found, invalid, forbidden, and conflict
// when there are MaxTemplates already.
func (s *Store) Create(ctx context.Context, team int64, w Input) (Template, error) {
	by := ""
	if caller := identity.FromContext(ctx); caller != nil {
		by = caller.Email
		switch held := caller.On(team); {
		case held == identity.NoRole:
			return Template{}, noTeam()
		case held < identity.Operator:
			return Template{}, problem.New(problem.CodeForbidden, "this requires the role %s", identity.Operator).With("role",
				identity.Operator.String())
		}
	}
	content, err := w.encode(team)
	if err != nil {
		return Template{}, err
	}
	var made Template
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		var count int
		if err := tx.Pgx.QueryRow(ctx, "SELECT count(*) FROM firewall_templates WHERE team_id = $1", team).Scan(&count); err != nil {
			return fmt.Errorf("counting templates: %w", err)
		}
		if count >= MaxTemplates { // a few more at the same moment do no harm
			return problem.New(problem.CodeConflict, "the team already has %d templates; delete one first", count)
		}
		rows, err := tx.Pgx.Query(ctx, `INSERT INTO firewall_templates (team_id, shared, name, description, content, created_by)
			SELECT id, $2, $3, $4, $5, $6 FROM teams WHERE id = $1 RETURNING `+columns, team, w.Shared, w.Name, w.Description, content, by)
		if err == nil {
			made, err = pgx.CollectExactlyOneRow(rows, scan)
		}
		if errors.Is(err, pgx.ErrNoRows) {
			return noTeam()
		}
		if err != nil {
			return fmt.Errorf("writing a template: %w", err)
		}
		describe(ctx, nil, &made)
		return audit.Write(ctx, tx)
	})
	return made, err
}

func noTeam() error { return problem.New(problem.CodeNotFound, "team not found") }

// encode checks a wish for a template of a team, and gives its content as it is kept.
func (w *Input) encode(team int64) ([]byte, error) {
	if err := w.check(team); err != nil {
		return nil, err
	}
	return json.Marshal(w.Content)
}

// describe describes a template in the audit log, as it was and as it is; nil where there is none.
func describe(ctx context.Context, was, is *Template) {
	audit.Describe(ctx, func(e *audit.Entry) {
		for _, at := range []struct {
			when string
			t    *Template
		}{{"before", was}, {"after", is}} {
			if t := at.t; t != nil {
				e.TargetKind, e.TargetID, e.TargetName, e.TeamID = "firewall_template", fmt.Sprint(t.ID), t.Name, &t.TeamID
				e.Detail(at.when, map[string]any{"name": t.Name, "shared": t.Shared, "content": t.Content})
			}
		}
	})
}

// Get is one template, or problem not_found.
func (s *Store) Get(ctx context.Context, id int64) (Template, error) {
	visible := identity.FromContext(ctx).Visible()
	rows, err := s.DB.Pool.Query(ctx, "SELECT "+columns+" FROM firewall_templates WHERE "+seen+" AND id = $3", visible.All, visible.Teams, id)
	if err != nil {
		return Template{}, db.Problem(fmt.Errorf("reading a template: %w", err))
	}
	t, err := pgx.CollectExactlyOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return Template{}, notFound()
	}
	if err != nil {
		return Template{}, db.Problem(fmt.Errorf("reading a template: %w", err))
	}
	return t, nil
}

// Summary is a template in a list: without its content.
type Summary struct {
	ID          int64     `json:"id" example:"3"`
	TeamID      int64     `json:"team_id" example:"1" doc:"Team that owns it"`
	Shared      bool      `json:"shared" example:"true" doc:"true if all teams can read and use it"`
	Name        string    `json:"name" example:"web server"`
	Description *string   `json:"description" example:"Open ports of all web servers"`
	Version     int64     `json:"version" minimum:"1" example:"1"`
	Rules       int       `json:"rule_count" example:"3" doc:"Number of rules; get the template to see them"`
	Aliases     int       `json:"alias_count" example:"1"`
	IPSets      int       `json:"ipset_count" example:"0"`
	CreatedBy   string    `json:"created_by" example:"ann@example.com"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// List are the templates that may be read, by name, with how many there are.
func (s *Store) List(ctx context.Context, offset, limit int) (all []Summary, total int, err error) {
	visible := identity.FromContext(ctx).Visible()
	batch := &pgx.Batch{}
	batch.Queue("SELECT count(*) FROM firewall_templates WHERE "+seen, visible.All, visible.Teams).
		QueryRow(func(row pgx.Row) error { return row.Scan(&total) })
	const length = "jsonb_array_length(coalesce(nullif(content -> '%s', 'null'), '[]'))"
	batch.Queue("SELECT id, team_id, shared, name, nullif(description, ''), version, "+fmt.Sprintf(length, "rules")+", "+
		fmt.Sprintf(length, "aliases")+", "+fmt.Sprintf(length, "ipsets")+", created_by, created_at, updated_at FROM firewall_templates WHERE "+
		seen+" ORDER BY lower(name), id OFFSET $3 LIMIT $4", visible.All, visible.Teams, offset, limit).Query(func(rows pgx.Rows) error {
		all, err = db.CollectRows(rows, pgx.RowToStructByPos[Summary])
		return err
	})
	if err := s.DB.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, 0, db.Problem(fmt.Errorf("listing templates: %w", err))
	}
	for i := range all {
		all[i].CreatedAt, all[i].UpdatedAt = all[i].CreatedAt.UTC(), all[i].UpdatedAt.UTC()
	}
	return all, total, nil
}

// mayWrite is Get for a caller who may also change the template: problem forbidden for one who may not, and not_found for one of a shared
// template that is another team's.
func (s *Store) mayWrite(ctx context.Context, id int64) (Template, error) {
	if _, err := schedule.Require(ctx, s.DB, scope.Template, id, identity.Operator); err != nil {
		return Template{}, err
	}
	return s.Get(ctx, id)
}

// Replace makes another template of one that was at a version when it was read. What was filled with it before stays as it is. Problems:
// not_found, forbidden, invalid, and digest_conflict with the template as it is now.
func (s *Store) Replace(ctx context.Context, id, version int64, w Input) (Template, error) {
	was, err := s.mayWrite(ctx, id)
	if err != nil {
		return Template{}, err
	}
	content, err := w.encode(was.TeamID)
	if err != nil {
		return Template{}, err
	}
	if was.Version != version {
		return Template{}, stale(was)
	}
	var now Template
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		rows, err := tx.Pgx.Query(ctx, `UPDATE firewall_templates SET name = $3, description = $4, shared = $5, content = $6,
			version = version + 1, updated_at = now() WHERE id = $1 AND version = $2 RETURNING `+columns, id, version, w.Name, w.Description,
			w.Shared, content)
		if err == nil {
			now, err = pgx.CollectExactlyOneRow(rows, scan)
		}
		if err != nil {
			return fmt.Errorf("writing a template: %w", err)
		}
		describe(ctx, &was, &now)
		return audit.Write(ctx, tx)
	})
	if errors.Is(err, pgx.ErrNoRows) { // changed, or deleted, since it was read
		if was, err = s.Get(ctx, id); err == nil {
			err = stale(was)
		}
	}
	return now, err
}

func stale(now Template) error {
	return problem.New(problem.CodeDigestConflict, "someone else changed the template in the meantime").With("current", now)
}

// Delete forgets a template. Drafts that were made of it, and what was filled with it, stay. Problems: not_found and forbidden.
func (s *Store) Delete(ctx context.Context, id int64) error {
	was, err := s.mayWrite(ctx, id)
	if err != nil {
		return err
	}
	return s.DB.Tx(ctx, func(tx *db.Tx) error {
		tag, err := tx.Pgx.Exec(ctx, "DELETE FROM firewall_templates WHERE id = $1", id)
		if err != nil {
			return fmt.Errorf("deleting a template: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return notFound()
		}
		describe(ctx, &was, nil)
		return audit.Write(ctx, tx)
	})
}

// Filling says where a template goes.
type Filling struct {
	HostID  int64
	Name    string
	Scopes  []draft.ScopeRef
	Replace bool
	Pos     int
}

// Fill makes a draft that puts a template into scopes of a cluster. A name that is empty is that of the template. Problems: not_found,
// invalid_state where nothing would change, and those of [draft.Store.Create].
func (s *Store) Fill(ctx context.Context, id int64, f Filling) (draft.Draft, error) {
	t, err := s.Get(ctx, id)
	if err != nil {
		return draft.Draft{}, err
	}
	if f.Name == "" {
		f.Name = t.Name
	}
	return s.Drafts.Create(ctx, draft.Request{HostID: f.HostID, Name: f.Name, Filling: &draft.Filling{Content: t.Content, Scopes: f.Scopes,
		Replace: f.Replace, Pos: f.Pos}})
}
