package secret

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Table is a column with sealed values, for UsedKeys and Rotate.
type Table struct {
	Name, Column string
	// Key are the columns that name a row; a value there is bound to Row of these, each as PostgreSQL writes it as text.
	Key []string
}

// Querier is what UsedKeys needs of a pool, a connection or a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// UsedKeys lists the keys that the sealed values of the tables need.
func UsedKeys(ctx context.Context, q Querier, tables []Table) ([]KeyID, error) {
	var all []KeyID
	seen := map[KeyID]bool{}
	for _, t := range tables {
		rows, err := q.Query(ctx, fmt.Sprintf("SELECT DISTINCT substring(%[1]s FROM 1 FOR %[3]d) FROM %[2]s WHERE %[1]s IS NOT NULL",
			identifier(t.Column), identifier(t.Name), headerSize+1))
		if err != nil {
			return nil, fmt.Errorf("finding encrypted values in %s: %w", t.Name, err)
		}
		heads, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		if err != nil {
			return nil, fmt.Errorf("finding encrypted values in %s: %w", t.Name, err)
		}
		for _, head := range heads {
			id, err := KeyOf(head)
			if err != nil {
				return nil, fmt.Errorf("reading %s.%s: %w", t.Name, t.Column, err)
			}
			if !seen[id] {
				seen[id] = true
				all = append(all, id)
			}
		}
	}
	return all, nil
}

// identifier quotes a name, which may have its schema before it.
func identifier(name string) string { return pgx.Identifier(strings.Split(name, ".")).Sanitize() }

// columns lists the key's columns as text.
func (t Table) columns() string {
	parts := make([]string, len(t.Key))
	for i, c := range t.Key {
		parts[i] = identifier(c) + "::text"
	}
	return strings.Join(parts, ", ")
}

// place is where the row's value is bound to.
func (t Table) place(key []string) Binding {
	parts := make([]any, len(key))
	for i, k := range key {
		parts[i] = k
	}
	return Binding{Table: t.Name, Column: t.Column, Row: Row(parts...)}
}
