package audit_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
)

func all(t *testing.T, d *db.DB) []audit.Row {
	t.Helper()
	rows, _, err := audit.List(t.Context(), d, audit.Filter{AllTeams: true})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// The row and the change it tells of are one.
func TestWriteIsPartOfTheTransaction(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	ctx, attempt := audit.Begin(t.Context(), audit.Entry{ActorType: audit.ActorUser, Action: "vm.start"})
	stop := errors.New("stop")
	err := d.Tx(ctx, func(tx *db.Tx) error { return errors.Join(audit.Write(ctx, tx), stop) })
	if !errors.Is(err, stop) || len(all(t, d)) != 0 {
		t.Fatalf("%v, %d rows", err, len(all(t, d)))
	}
	audit.Describe(ctx, func(e *audit.Entry) { e.TargetName = "db01" })
	if err := d.Tx(ctx, func(tx *db.Tx) error { return audit.Write(ctx, tx) }); err != nil {
		t.Fatal(err)
	}
	rows := all(t, d)
	if len(rows) != 1 || rows[0].TargetName != "db01" || rows[0].Result != audit.ResultOK || !attempt.Written() {
		t.Errorf("%+v", rows)
	}
}

func TestRowsTakeWhateverTextComes(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	bad := "x\x00\xff" + strings.Repeat("ä", 100_000)
	err := audit.Recorder{DB: d}.Record(context.Background(), audit.Entry{
		ActorType: audit.ActorAnonymous, Result: audit.ResultRefused, ActorEmail: bad, Action: bad, TargetKind: "vm", TargetID: bad,
		TargetName: bad, Error: bad, Address: bad, RequestID: bad, Details: map[string]any{bad: bad, "list": []any{bad}},
	})
	if err != nil {
		t.Fatal(err)
	}
	row := all(t, d)[0]
	if n := len([]rune(row.TargetName)); n != 512 || len(row.Details) > 40_000 || string(row.Details) == "{}" {
		t.Errorf("%d characters, %d bytes of details", n, len(row.Details))
	}
}
