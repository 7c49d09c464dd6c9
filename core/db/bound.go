package db

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/problem"
)

// Bound returns problem conflict when a table has as many rows as it may have. Rows beyond that, of an older release or made at the same
// moment, stay. Things is what people call the rows.
func Bound(ctx context.Context, tx *Tx, table, things string, most int) error {
	var count int
	if err := tx.Pgx.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&count); err != nil {
		return fmt.Errorf("counting %s: %w", things, err)
	}
	if count >= most {
		return problem.New(problem.CodeConflict, "there are %d %s already; delete %d first", count, things, count-most+1)
	}
	return nil
}
