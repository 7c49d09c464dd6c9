package db_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/problem"
)

func TestBound(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	bound := func(most int) error { // there is the default team
		return d.Tx(t.Context(), func(tx *db.Tx) error { return db.CheckRowLimit(t.Context(), tx, "teams", "teams", most) })
	}
	err := bound(1)
	if problem.CodeOf(err) != problem.CodeConflict || !strings.Contains(err.Error(), "there are already 1 teams; delete 1 first") {
		t.Errorf("of at most one: %v", err)
	}
	if err := bound(0); !strings.Contains(fmt.Sprint(err), "delete 2 first") {
		t.Errorf("of none: %v", err)
	}
	if err := bound(2); err != nil {
		t.Errorf("of at most two: %v", err)
	}
}
