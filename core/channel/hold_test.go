package channel_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/channel"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/notify"
)

// A flood is told up to the cap, the rest an hour later in one digest, and nothing is lost or told twice.
func TestAFloodIsCappedAndDigested(t *testing.T) {
	if testing.Short() {
		t.Skip("sends a flood: make check runs it")
	}
	t.Parallel()
	f, c := newFixture(t), newReceiver(t)
	made := f.hook(c, func(c *channel.Channel) { c.HourlyCap = 10 })
	const flood = 10_000
	f.exec(`INSERT INTO notification_events (kind, incident, state, severity, title)
		SELECT 'alert', 'alert:' || n, 'open', CASE WHEN n % 1000 = 0 THEN 'critical' ELSE 'warning' END, 'guest ' || n || ' is down'
		FROM generate_series(1, $1) n`, flood)
	f.turn()
	f.turn()
	got := c.titles()
	if len(got) != 10 || !slices.Contains(got, "guest 10000 is down open") { // what is critical goes first
		t.Errorf("told %q", got)
	}
	if q := f.queue(made.ID); q.Held != flood-10 || q.Pending != 0 {
		t.Errorf("%+v", q)
	}
	// One that was told ends; it counts for the cap too. One that is held ends: both are the digest's.
	f.end("alert:1000")
	f.end("alert:17")
	f.turn()
	f.exec("UPDATE notification_deliveries SET held_until = held_until - interval '1 hour', done_at = done_at - interval '1 hour'")
	f.turn()
	got = c.titles()
	if len(got) != 11 {
		t.Fatalf("told %q", got)
	}
	digest := c.requests()[10]
	is(t, digest.json("kind"), "digest")
	is(t, digest.json("severity"), "warning")
	is(t, digest.json("title"), "9991 more events: 9989 warning") // that 17 is over, and so is 1000
	has(t, digest.json("body"), "guest 1 is down", "and 9941 more")
	f.turn()
	folded := dbtest.Value[int](t, f.DB, "SELECT count(*) FROM notification_deliveries WHERE state = 'folded' AND digest_id IS NOT NULL")
	sent := dbtest.Value[int](t, f.DB, "SELECT count(*) FROM notification_deliveries WHERE state = 'sent'")
	if folded != flood-10+2 || sent != 11 || len(c.titles()) != 11 {
		t.Errorf("%d told by the digest, %d sent, %d arrived", folded, sent, len(c.titles()))
	}
	// Who was told by the digest is told of the end.
	f.end("alert:99")
	f.turn()
	if got := c.titles(); len(got) != 12 || got[11] != "alert:99 resolved" {
		t.Errorf("told %q", got[11:])
	}
}

// A digest that is never taken has told nobody.
func TestADigestThatIsRefused(t *testing.T) {
	t.Parallel()
	f, c := newFixture(t), newReceiver(t)
	f.hook(c, func(c *channel.Channel) { c.HourlyCap = 1 })
	f.begin("alert:1", "warning")
	f.begin("alert:2", "warning")
	f.turn()
	c.answer(status(400, "no"))
	f.exec("UPDATE notification_deliveries SET held_until = now()")
	f.turn()
	f.end("alert:2")
	f.turn()
	f.wantStates("alert:1 open sent", "alert:2 open failed", "digest told failed")
}

// In quiet hours nothing is told but what is critical, where that is wanted. After them all is told that still lasts, and in one message
// what is over.
func TestQuietHours(t *testing.T) {
	t.Parallel()
	var now atomic.Pointer[time.Time]
	at := func(hour int) { now.Store(new(time.Date(2026, 3, 10, hour, 30, 0, 0, time.UTC))) }
	f := newFixture(t, func(c *channel.Config) { c.Now = func() time.Time { return *now.Load() } })
	passes, waits := newReceiver(t), newReceiver(t)
	for to, critical := range map[*receiver]bool{passes: true, waits: false} {
		f.hook(to, func(c *channel.Channel) {
			c.Quiet = &channel.QuietHours{From: "22:00", To: "07:00", Timezone: "Europe/Berlin", CriticalPasses: critical}
		})
	}
	at(23)
	f.begin("alert:1", "warning")
	f.begin("alert:2", "critical")
	f.begin("alert:3", "warning")
	f.tell(notify.Event{Kind: notify.JobFailed, Title: "job"})
	f.turn()
	f.end("alert:2")
	f.end("alert:3")
	f.turn()
	passes.wantTitles(t, "alert:2 open", "alert:2 resolved")
	waits.wantTitles(t)
	f.turn()
	at(8)
	f.exec("UPDATE notification_deliveries SET held_until = held_until - interval '10 years' WHERE held_until IS NOT NULL")
	f.turn()
	passes.wantTitles(t, "alert:2 open", "alert:2 resolved", "1 more event told", "alert:1 open", "job told")
	waits.wantTitles(t, "2 more events told", "alert:1 open", "job told")
	has(t, waits.requests()[0].json("body"), "[resolved] alert:2", "[resolved] alert:3")
	f.end("alert:1")
	f.turn()
	if got := waits.titles(); got[len(got)-1] != "alert:1 resolved" {
		t.Errorf("told %q", got)
	}
	// Other hours hold at once, for what is held as well.
	at(23)
	f.begin("alert:4", "warning")
	f.turn()
	for id := range int64(2) {
		if _, err := f.Update(t.Context(), id+1, func(c *channel.Channel) { c.Quiet = nil }, nil); err != nil {
			t.Fatal(err)
		}
	}
	f.turn()
	for _, c := range []*receiver{passes, waits} {
		if got := c.titles(); got[len(got)-1] != "alert:4 open" {
			t.Errorf("told %q", got)
		}
	}
}

func TestQuietHoursByTheClock(t *testing.T) {
	t.Parallel()
	night := &channel.QuietHours{From: "22:00", To: "07:00", Timezone: "Europe/Berlin"}
	noon := &channel.QuietHours{From: "12:00", To: "13:30", Timezone: "America/New_York"}
	jump := &channel.QuietHours{From: "01:00", To: "02:30", Timezone: "Europe/Berlin"}
	for _, test := range []struct {
		quiet    *channel.QuietHours
		at, ends string
	}{
		{nil, "2026-03-10T23:00:00Z", ""},
		{night, "2026-03-10T20:59:59Z", ""},
		{night, "2026-03-10T21:00:00Z", "2026-03-11T06:00:00Z"},
		{night, "2026-03-11T05:59:59Z", "2026-03-11T06:00:00Z"},
		{night, "2026-03-11T06:00:00Z", ""},
		{night, "2026-03-28T22:00:00Z", "2026-03-29T05:00:00Z"}, // the clock is put forward in that night
		{night, "2026-10-24T21:00:00Z", "2026-10-25T06:00:00Z"}, // and back in this one
		{night, "2026-10-25T00:30:00Z", "2026-10-25T06:00:00Z"},
		{noon, "2026-03-10T16:00:00Z", "2026-03-10T17:30:00Z"},
		{noon, "2026-03-10T15:59:59Z", ""},
		{noon, "2026-03-10T17:30:00Z", ""},
		{jump, "2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"}, // 02:30 is skipped: an hour later
	} {
		at, err := time.Parse(time.RFC3339, test.at)
		if err != nil {
			t.Fatal(err)
		}
		end, err := test.quiet.End(at)
		got := ""
		if !end.IsZero() {
			got = end.UTC().Format(time.RFC3339)
		}
		if err != nil || got != test.ends {
			t.Errorf("%+v at %s: %q, want %q (%v)", test.quiet, test.at, got, test.ends, err)
		}
	}
	if _, err := (&channel.QuietHours{From: "1", To: "2", Timezone: "Mars"}).End(time.Now()); err == nil {
		t.Error("a zone that is none")
	}
}

// What was told long ago is forgotten, a beginning not before its end.
func TestPrune(t *testing.T) {
	t.Parallel()
	f, c := newFixture(t), newReceiver(t)
	f.hook(c)
	f.begin("alert:1", "warning")
	f.begin("alert:2", "warning")
	f.end("alert:2")
	f.tell(notify.Event{})
	f.turn()
	f.begin("alert:3", "warning")
	f.exec(`UPDATE notification_deliveries SET created_at = now() - interval '31 days'; UPDATE notification_events SET at = now() -
		interval '31 days'`)
	if err := channel.Prune(f.Store, t.Context()); err != nil {
		t.Fatal(err)
	}
	f.wantStates("alert:1 open sent")
	left := dbtest.Value[string](t, f.DB, "SELECT string_agg(incident, ' ' ORDER BY id) FROM notification_events")
	if left != "alert:1 alert:3" {
		t.Errorf("the events are %q", left)
	}
	f.end("alert:1")
	f.turn()
	if got := strings.Join(c.titles(), ","); !strings.HasSuffix(got, "alert:1 resolved") {
		t.Errorf("told %s", got)
	}
	f.exec("UPDATE notification_deliveries SET created_at = now() - interval '400 days'")
	if err := channel.Prune(f.Store, t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(f.states()); got != "[]" {
		t.Errorf("left: %s", got)
	}
}
