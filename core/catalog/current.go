package catalog

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/catalog"
)

// Current is the present entry of an app that was installed from it.
type Current struct {
	// Path is the name of the entry in the API; Source and Slug identify it at
	// its source.
	Path, Source, Slug string
	// Pin is the state of the source at the last sync. Commit is the last one
	// that changed the entry's own files; empty if the source does not say.
	Pin, Commit string
	Entry       sdk.Entry
}

// Current returns the entries with these paths that exist and whose sources are
// switched on.
func (s *Store) Current(ctx context.Context, paths []string) (map[string]*Current, error) {
	rows, err := s.DB.Pool.Query(ctx, `SELECT e.path, e.source, e.slug, s.pin, e.entry FROM catalog_entries e
		JOIN catalog_sources s ON s.name = e.source WHERE e.path = ANY($1) AND s.enabled`, paths)
	found := map[string]*Current{}
	if err == nil {
		_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (none struct{}, err error) {
			c := &Current{}
			var text []byte
			if err := row.Scan(&c.Path, &c.Source, &c.Slug, &c.Pin, &text); err != nil {
				return none, err
			}
			found[c.Path] = c
			err = json.Unmarshal(text, &c.Entry)
			c.Commit = c.Entry.App.String()
			return none, err
		})
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading entries of the catalog: %w", err))
	}
	return found, nil
}

// UpdateBundle returns the bundle that updates an installation of an entry; it
// is created if it is not stored yet. Problems: invalid_state if the source has
// none, catalog_source_error, plugin_unavailable.
func (s *Store) UpdateBundle(ctx context.Context, c *Current) (*bundle.Bundle, error) {
	b, err := s.bundleOf(ctx, &found{source: c.Source, slug: c.Slug, pin: c.Pin, entry: c.Entry}, sdk.Update)
	if err == nil && b == nil {
		err = problem.New(problem.CodeInvalidState, "the source has no files that update %s", c.Path).With("reason", "no_bundle")
	}
	return b, err
}

// UpdateLaunch asks the source how to run the bundle of UpdateBundle inside a
// container, and checks the answer. Problems are those of UpdateBundle.
func (s *Store) UpdateLaunch(ctx context.Context, c *Current, m *sdk.Manifest, container string) (sdk.Launch, error) {
	var launch sdk.Launch
	err := s.ask(ctx, c.Source, func(opened sdk.Catalog) (err error) {
		launch, err = opened.Launch(ctx, sdk.LaunchRequest{Slug: c.Slug, Pin: m.Pin, Purpose: sdk.Update, Place: m.Place, Name: container})
		if err == nil {
			err = sdk.CheckLaunch(launch, *m)
		}
		return err
	})
	return launch, err
}

// ask asks a question to a source that is switched on. Its errors are problems.
func (s *Store) ask(ctx context.Context, source string, question func(sdk.Catalog) error) error {
	r, err := stored(ctx, s.DB.Pool, source, "")
	if err != nil {
		return err
	}
	options, err := s.open(r)
	if err != nil {
		return err
	}
	info, err := s.info(ctx, source)
	if err == nil {
		err = r.trusts(info)
	}
	if err != nil {
		return s.sourceProblem(err, info, options)
	}
	opened, err := s.openSource(ctx, r, options)
	if err != nil {
		return s.sourceProblem(err, info, options)
	}
	defer func() { _ = opened.Close() }() // it was only asked
	if err := question(opened); err != nil {
		return s.sourceProblem(err, info, options)
	}
	return nil
}

// ConsentText returns the text for letting the entry's bundle run inside a
// container of a host.
func (c *Current) ConsentText(host string, m *sdk.Manifest, sum string) string {
	return updateText(host, c.Entry.Name, m, sum)
}
