package notify_test

import (
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/notify"
)

// What is called strangely, or gone meanwhile, undoes nothing of what happened; what concerns one user reaches nobody else.
func TestWrite(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	gone := int64(99)
	write := func(e notify.Event) {
		t.Helper()
		e.Kind, e.State, e.Severity = notify.JobFailed, notify.OneTime, "info"
		if err := d.Tx(t.Context(), func(tx *db.Tx) error { return notify.Write(t.Context(), tx.Pgx, e) }); err != nil {
			t.Error(err)
		}
	}
	write(notify.Event{Title: "a\x00b\xff", TargetName: "\x00", Tags: []string{"x\x00"}, TeamID: &gone})
	write(notify.Event{Title: "for one", UserID: &gone})
	got := dbtest.Value[string](t, d, `SELECT string_agg(concat_ws(',', title, target_name, tags::text, team_id, user_id), ';') FROM
		notification_events`)
	if want := "ab\uFFFD,,{x}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
