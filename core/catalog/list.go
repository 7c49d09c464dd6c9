package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// Filter restricts a list; empty fields do not.
type Filter struct {
	Category, Query, EntryType string
	// Sort is "name", "popularity", "newest" or "updated", and "name" when it
	// is anything else. Without one, a query's best come first.
	Sort string
}

// listed is an item with the values for sorting and searching.
type listed struct {
	Item
	// names are the words of its name and slug, and folded its name, in lower
	// case. has says of each term of a query whether it is in any of its texts.
	names, folded string
	has           []bool
}

// items reads the entries of the sources that are switched on in one statement.
// Its first argument is the terms of the query: PostgreSQL searches the texts,
// so that descriptions need not be read.
func (s *Store) items(ctx context.Context, condition string, args ...any) ([]*listed, error) {
	rows, err := s.DB.Pool.Query(ctx, `SELECT e.source, e.slug, e.path, e.name, e.entry_type, e.categories, e.summary, e.tags, e.created_at,
		e.updated_at, e.installable, e.variant_of, r.icon IS NOT NULL, CASE WHEN s.popularity THEN e.popularity END,
		split_part(e.words, E'\n', 1), ARRAY(SELECT strpos(e.words, t.term) > 0 FROM unnest($1::text[]) t (term))
		FROM catalog_entries e JOIN catalog_sources s ON s.name = e.source
		LEFT JOIN catalog_icon_references r ON r.source = e.source AND r.reference = e.icon
		WHERE s.enabled AND `+condition, args...)
	if err == nil {
		var all []*listed
		if all, err = db.CollectRows(rows, scanListed); err == nil {
			return all, nil
		}
	}
	return nil, db.Problem(fmt.Errorf("reading the entries of the catalog: %w", err))
}

// scanListed reads one row of the list.
func scanListed(row pgx.CollectableRow) (*listed, error) {
	l := &listed{}
	var slug, variant string
	var created, updated *time.Time
	err := row.Scan(&l.Source, &slug, &l.Slug, &l.Name, &l.EntryType, &l.Categories, &l.Summary, &l.Tags, &created, &updated, &l.Installable,
		&variant, &l.HasIcon, &l.Popularity, &l.names, &l.has)
	if err != nil {
		return nil, err
	}
	l.folded = strings.ToLower(l.Name)
	l.CreatedAt, l.UpdatedAt = utc(created), utc(updated)
	if len(l.Categories) > 0 {
		l.Category = &l.Categories[0]
	}
	if variant != "" {
		l.VariantOf = new(pathOf(l.Source, variant))
	}
	return l, nil
}

// hidden leaves out variants of an installable entry, which offers them itself.
const hidden = ` AND NOT EXISTS (SELECT FROM catalog_entries v WHERE v.source = e.source AND v.slug = e.variant_of AND v.installable)`

// List returns all entries that match. With the type "ct" it leaves out
// variants of listed entries.
func (s *Store) List(ctx context.Context, f Filter) ([]Item, error) {
	condition := "($2 = '' OR $2 = ANY (e.categories)) AND ($3 = '' OR e.entry_type = $3)"
	if f.EntryType == "ct" {
		condition += hidden
	}
	terms := strings.Fields(fold(f.Query))
	terms = append([]string{}, terms[:min(len(terms), maxTerms)]...)
	all, err := s.items(ctx, condition, terms, f.Category, f.EntryType)
	if err != nil {
		return nil, err
	}
	var ranks map[*listed]int
	if len(terms) > 0 {
		all, ranks = match(all, terms)
	}
	slices.SortStableFunc(all, f.order(ranks))
	items := make([]Item, len(all))
	for i, l := range all {
		items[i] = l.Item
	}
	return items, nil
}

// order returns the comparison for sorting. Unknown values come last, and the
// name decides between equal ones.
func (f Filter) order(ranks map[*listed]int) func(a, b *listed) int {
	return func(a, b *listed) int {
		first := 0
		switch f.Sort {
		case "popularity":
			first = descending(a.Popularity, b.Popularity, cmp.Compare[float64])
		case "newest":
			first = descending(a.CreatedAt, b.CreatedAt, time.Time.Compare)
		case "updated":
			first = descending(a.UpdatedAt, b.UpdatedAt, time.Time.Compare)
		case "":
			first = cmp.Compare(ranks[a], ranks[b])
		}
		return cmp.Or(first, strings.Compare(a.folded, b.folded), strings.Compare(a.Slug, b.Slug))
	}
}

// descending compares optional values, larger first and nil last.
func descending[T any](a, b *T, compare func(a, b T) int) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return compare(*b, *a)
}
