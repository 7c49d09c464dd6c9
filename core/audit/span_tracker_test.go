package audit_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
)

// underway is one process, as far as it has something that lasts.
type underway struct {
	dbtest.SQL
	t        *testing.T
	of       *audit.SpanTracker
	recorder audit.Recorder
}

func newUnderway(t *testing.T, d *db.DB) *underway {
	t.Helper()
	of := &audit.SpanTracker{DB: d}
	return &underway{dbtest.On(t, d), t, of, audit.Recorder{DB: d, Spans: of}}
}

// opened is the row of a console's beginning.
func opened(key string) audit.Entry {
	id, team, host := int64(7), int64(2), int64(3)
	return audit.Entry{ActorType: audit.ActorUser, ActorID: &id, ActorEmail: "ann@example.com", Action: "vm.console_open", TargetKind: "vm",
		TargetID: "11", TargetName: "db01", TeamID: &team, HostID: &host, Address: "192.0.2.7", RequestID: "r-" + key,
		Result: audit.ResultOK, Details: map[string]any{"kind": "terminal", "password": "never-kept"},
		Span: &audit.Span{Key: key, End: "vm.console_close"}}
}

func (u *underway) record(e audit.Entry) {
	u.t.Helper()
	if err := u.recorder.Record(u.t.Context(), e); err != nil {
		u.t.Fatal(err)
	}
}

func (u *underway) turn() {
	u.t.Helper()
	if err := audit.Turn(u.of, u.t.Context()); err != nil {
		u.t.Fatal(err)
	}
}

// later lets as much time pass as shows that a process without signs of life has ended.
func (u *underway) later() {
	u.t.Helper()
	u.Exec("UPDATE audit_underway SET seen_at = seen_at - interval '61 seconds', begun_at = begun_at - interval '61 seconds'")
}

// ends are the rows of ends.
func (u *underway) ends() (found []audit.Row) {
	u.t.Helper()
	for _, row := range all(u.t, u.of.DB) {
		if row.Action == "vm.console_close" {
			found = append(found, row)
		}
	}
	return found
}

// What a process had open that was killed gets the row of its end from another one, once, with who had it and that the rest is not
// known; what a living process has open, and what ended by itself, get none.
func TestEndOfWhatAKilledProcessHad(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	killed, lives := newUnderway(t, d), newUnderway(t, d)
	killed.record(opened("a"))
	killed.record(opened("b"))
	lives.record(opened("c"))
	over := opened("b")
	over.Action, over.Span = "vm.console_close", &audit.Span{Key: "b"}
	over.Detail("bytes_out", 12)
	killed.record(over)

	lives.turn()
	if got := lives.ends(); len(got) != 1 || !strings.Contains(string(got[0].Details), `"bytes_out": 12`) {
		t.Fatalf("before it is known that the process has ended: %+v", got)
	}
	lives.later()
	lives.turn()
	lives.turn()
	got := lives.ends()
	if len(got) != 2 {
		t.Fatalf("there are %d ends: %+v", len(got), got)
	}
	row := got[0]
	var details map[string]any
	if err := json.Unmarshal(row.Details, &details); err != nil {
		t.Fatal(err)
	}
	if row.RequestID != "r-a" || *row.ActorID != 7 || row.ActorEmail != "ann@example.com" || row.TargetID != "11" ||
		row.TargetName != "db01" ||
		*row.TeamID != 2 || *row.HostID != 3 || row.Address != "192.0.2.7" || row.Result != audit.ResultFailed ||
		row.Error != "outcome_unknown" || time.Since(row.At) > time.Minute {
		t.Errorf("%+v", row)
	}
	reason, _ := details["reason"].(string)
	_, counted := details["bytes_out"]
	if details["kind"] != "terminal" || !strings.HasPrefix(reason, "the service ended first") || counted || details["begun_at"] == nil {
		t.Errorf("%s", row.Details)
	}
	if strings.Contains(string(row.Details), "never-kept") || lives.Value("SELECT count(*) FROM audit_underway") != "1" {
		t.Errorf("%s, %s are under way", row.Details, lives.Value("SELECT string_agg(entry::text, ' ') FROM audit_underway"))
	}
}

// Two that look at once write one row.
func TestTwoProcessesWriteOneEnd(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	killed := newUnderway(t, d)
	for _, key := range []string{"a", "b", "c", "d"} {
		killed.record(opened(key))
	}
	killed.later()
	done := make(chan error, 4)
	for range cap(done) {
		go func() { done <- audit.Turn(&audit.SpanTracker{DB: d}, t.Context()) }()
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got := killed.ends(); len(got) != 4 {
		t.Errorf("there are %d ends", len(got))
	}
}

// Where the row of an end could not be written it is owed: it comes as that of a process that has ended.
func TestEndThatCouldNotBeWritten(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	u := newUnderway(t, d)
	u.record(opened("a"))
	over := opened("a")
	over.Action, over.Span, over.Result = "vm.console_close", &audit.Span{Key: "a"}, "none that the trail knows"
	if err := u.recorder.Record(t.Context(), over); err == nil {
		t.Fatal("the row was written")
	}
	u.later()
	u.turn()
	if got := u.ends(); len(got) != 1 || got[0].Error != "outcome_unknown" {
		t.Errorf("%+v", got)
	}
}

// While the database was away nobody could give a sign of life: others are not taken for ended at once when it is back, and those that
// have ended are later.
func TestNobodyIsLostWithTheDatabase(t *testing.T) {
	if testing.Short() {
		t.Skip("takes the database away: make check runs it")
	}
	t.Parallel()
	d := dbtest.New(t)
	others, u := newUnderway(t, d), newUnderway(t, d)
	u.of.Every = time.Hour
	others.record(opened("lives"))
	others.record(opened("dead"))
	others.Exec("UPDATE audit_underway SET seen_at = seen_at - interval '1 day'")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := audit.Turn(u.of, gone); err == nil {
		t.Fatal("the turn went well without a database")
	}
	u.turn()
	if got := u.ends(); len(got) != 0 {
		t.Errorf("they were taken for ended: %+v", got)
	}
	others.Exec("UPDATE audit_underway SET seen_at = now() + interval '1 hour' WHERE key = 'lives'") // it gives its signs
	soon := newUnderway(t, d)
	soon.of.Every = 10 * time.Millisecond
	if err := audit.Turn(soon.of, gone); err == nil {
		t.Fatal("the turn went well without a database")
	}
	waittest.Until(t, "the one that has ended is told of", func() bool {
		soon.turn()
		return len(u.ends()) > 0
	})
	if got := u.ends(); len(got) != 1 || got[0].RequestID != "r-dead" {
		t.Errorf("%+v", got)
	}
}
