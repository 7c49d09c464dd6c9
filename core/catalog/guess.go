package catalog

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/catalog"
)

// Has implements app.Catalog. Entries of a source that is off count as missing.
func (s *Store) Has(ctx context.Context, path string) (bool, error) {
	f, err := s.find(ctx, path)
	if problem.CodeOf(err) == problem.CodeNotFound {
		return false, nil
	}
	return err == nil && f.entry.Type == sdk.ContainerEntry, err
}

// Guess implements app.Catalog. It assumes that an installable entry created a
// container whose name is the entry's slug or name, ignoring case and
// everything except letters and digits.
func (s *Store) Guess(ctx context.Context) (func(name string) string, error) {
	rows, err := s.DB.Pool.Query(ctx, `SELECT e.path, e.slug, e.name FROM catalog_entries e JOIN catalog_sources s ON s.name = e.source
		WHERE s.enabled AND e.installable AND e.entry_type = $1`, string(sdk.ContainerEntry))
	paths := map[string]string{}
	if err == nil {
		var path, slug, name string
		_, err = pgx.ForEachRow(rows, []any{&path, &slug, &name}, func() error {
			for _, called := range []string{bare(slug), bare(name)} {
				if other, taken := paths[called]; taken && other != path {
					paths[called] = "" // nobody knows which of them
				} else {
					paths[called] = path
				}
			}
			return nil
		})
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the names of the catalog's entries: %w", err))
	}
	delete(paths, "")
	return func(name string) string { return paths[bare(name)] }, nil
}

// bare returns the small letters and digits of a name.
func bare(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}
