package db_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
)

// A list is read as a whole, unless it is so long that reading it would take the service's memory.
func TestCollectRows(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	list := func(n int) ([]string, error) {
		rows, err := d.Pool.Query(t.Context(), "SELECT repeat('x', 1048576) FROM generate_series(1, $1)", n)
		if err != nil {
			t.Fatal(err)
		}
		return db.CollectRows(rows, pgx.RowTo[string])
	}
	if all, err := list(0); err != nil || all == nil || len(all) != 0 {
		t.Errorf("of none: %d rows, %v", len(all), err)
	}
	if all, err := list(32); err != nil || len(all) != 32 || len(all[0]) != 1<<20 {
		t.Errorf("of 32 MiB: %d rows, %v", len(all), err)
	}
	var long *db.ListTooLarge
	if all, err := list(40); !errors.As(err, &long) || long.Fits != 32 || all != nil {
		t.Errorf("of 40 MiB: %d rows, %v", len(all), err)
	}
	if all, err := list(1); err != nil || len(all) != 1 { // the connection is as before
		t.Errorf("afterwards: %d rows, %v", len(all), err)
	}
}
