package db

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/problem"
)

// CheckRowLimit returns the problem conflict if a table already has the maximum number of rows. Rows above that, from an older release or
// created at the same moment, are kept. things is what people call the rows.
func CheckRowLimit(ctx context.Context, tx *Tx, table, things string, most int) error {
	var count int
	if err := tx.Pgx.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&count); err != nil {
		return fmt.Errorf("counting %s: %w", things, err)
	}
	if count >= most {
		return problem.New(problem.CodeConflict, "cannot create another one: there are already %d %s; delete %d first", count, things,
			count-most+1)
	}
	return nil
}
