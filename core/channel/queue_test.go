package channel_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/core/channel"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/notify"
	"github.com/hostler/hostler/internal/waittest"
)

// A channel is told of a beginning once and of its end once, and of no end whose beginning it was not told.
func TestAnIncidentIsToldOnceAndItsEndOnce(t *testing.T) {
	t.Parallel()
	f, all, critical := newFixture(t), newReceiver(t), newReceiver(t)
	f.hook(all)
	f.hook(critical, func(c *channel.Channel) { c.Routes = []channel.Route{{Severity: "critical"}} })
	f.end("alert:0") // began before anybody listened
	f.begin("alert:1", "warning")
	f.begin("alert:1", "warning") // written twice
	f.turn()
	f.begin("alert:1", "warning")
	f.begin("alert:2", "critical")
	f.end("alert:1")
	f.end("alert:1")
	f.turn()
	f.end("alert:2") // its severity is info by now
	f.turn()
	f.turn()
	all.wantTitles(t, "alert:1 open", "alert:2 open", "alert:1 resolved", "alert:2 resolved")
	critical.wantTitles(t, "alert:2 open", "alert:2 resolved")
}

// Routes say what passes; those of a team's channel never reach beyond the team.
func TestRoutes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec("INSERT INTO teams (id, name, slug) VALUES (2, 'Two', 'two'), (3, 'Three', 'three')")
	receivers := map[string]*receiver{}
	for name, c := range map[string]channel.Channel{
		"everything": {},
		"team 2":     {TeamID: 2},
		"warnings":   {Routes: []channel.Route{{Severity: "warning"}}},
		"jobs":       {Routes: []channel.Route{{Severity: "info", Kinds: []string{"job_failed"}}}},
		"prod":       {Routes: []channel.Route{{Severity: "info", Tags: []string{"Prod", "live"}}}},
		"of team 3":  {Routes: []channel.Route{{Severity: "info", Teams: []int64{3}}}},
		"one rule":   {Routes: []channel.Route{{Severity: "info", Rules: []string{"disk.full"}}}},
		"either": {Routes: []channel.Route{{Severity: "critical"}, {Severity: "info", Kinds: []string{"alert"},
			Tags: []string{"prod"}}}},
	} {
		receivers[name] = newReceiver(t)
		f.hook(receivers[name], func(into *channel.Channel) { into.TeamID, into.Routes = c.TeamID, c.Routes })
	}
	off := newReceiver(t)
	c := f.hook(off)
	if _, err := f.Update(t.Context(), c.ID, func(c *channel.Channel) { c.Enabled = false }, nil); err != nil {
		t.Fatal(err)
	}
	two, three := int64(2), int64(3)
	f.tell(notify.Event{Title: "a", Severity: "info", Tags: []string{"test", "prod"}})
	f.tell(notify.Event{Title: "b", TeamID: &two, Rule: "disk.full"})
	f.tell(notify.Event{Title: "c", TeamID: &three, Severity: "critical"})
	f.tell(notify.Event{Title: "d", TeamID: &three, Kind: notify.JobFailed, Severity: "info", Tags: []string{"prod"}})
	f.tell(notify.Event{Title: "e", TeamID: &two, Kind: notify.BackupReport, Severity: "info"})
	f.tell(notify.Event{Title: "f", Kind: notify.BackupReport, Severity: "info"})
	f.turn()
	for name, want := range map[string]string{"everything": "cabdf", "team 2": "be", "warnings": "cb", "jobs": "d", "prod": "ad",
		"of team 3": "cd",
		"one rule":  "b", "either": "ca"} {
		got := ""
		for _, title := range receivers[name].titles() {
			got += title[:1]
		}
		if got != want {
			t.Errorf("%s: told %q, want %q", name, got, want)
		}
	}
	off.wantTitles(t)
	// A team's channels go with it.
	f.exec("DELETE FROM teams WHERE id = 2")
	if n := dbtest.Value[int](t, f.DB, "SELECT count(*) FROM notification_channels WHERE team_id = 2"); n != 0 {
		t.Errorf("%d channels of a team that is gone", n)
	}
}

// A receiver that is away gets all later, in order, and is left alone meanwhile: longer after each failure, and as long as it says.
func TestAReceiverThatIsAwayGetsAllLater(t *testing.T) {
	t.Parallel()
	f, c := newFixture(t), newReceiver(t)
	made := f.hook(c)
	const seconds = "SELECT extract(epoch FROM now())::float8"
	// waits turns and holds that the next try comes at least and at most so many seconds after the turn.
	waits := func(least, most float64) {
		t.Helper()
		before := dbtest.Value[float64](t, f.DB, seconds)
		f.turn()
		after := dbtest.Value[float64](t, f.DB, seconds)
		next := dbtest.Value[float64](t, f.DB, "SELECT extract(epoch FROM next_at)::float8 FROM notification_queues")
		if next < before+least || next > after+most {
			t.Errorf("the next try is %v to %v s after the turn, want %v to %v", next-after, next-before, least, most)
		}
	}
	c.answer(func(w http.ResponseWriter, _ *request) {
		w.Header().Set("Retry-After", "120")
		http.Error(w, "slow\ndown", http.StatusTooManyRequests)
	})
	f.begin("alert:1", "warning")
	f.begin("alert:2", "warning")
	waits(100, 120)
	q := f.queue(made.ID)
	if q.Failures != 1 || q.NextTryAt == nil || q.Pending != 2 ||
		*q.LastError != "the receiver answered 429 Too Many Requests: slow down" {
		t.Errorf("%+v", q)
	}
	f.turn()
	if n := len(c.requests()); n != 1 {
		t.Errorf("%d requests: it is not left alone", n)
	}
	c.answer(status(http.StatusBadGateway, ""))
	for range 2 {
		f.again()
		f.turn()
	}
	f.again()
	waits(35, 40) // after four failures
	f.exec("UPDATE notification_queues SET failures = 90, next_at = now()")
	waits(890, 900)
	c.answer(func(w http.ResponseWriter, _ *request) { // a day is more than is waited for
		w.Header().Set("Retry-After", time.Now().Add(24*time.Hour).UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	f.again()
	waits(3590, 3600)
	f.end("alert:1")
	c.answer(nil)
	f.again()
	f.turn()
	got := c.requests()
	ids := map[string]int{}
	for _, r := range got {
		ids[r.Header.Get("Webhook-Id")]++
	}
	c.wantTitles(t, append(slices.Repeat([]string{"alert:1 open"}, len(got)-2), "alert:2 open", "alert:1 resolved")...)
	if len(ids) != 3 || ids[got[0].Header.Get("Webhook-Id")] != len(got)-2 {
		t.Errorf("the ids are %v", ids)
	}
	if q := f.queue(made.ID); q.Failures != 0 || q.Pending != 0 || q.LastOKAt == nil || q.LastError == nil {
		t.Errorf("%+v", q)
	}
}

// What a receiver will never take is given up at once, and stands in the way of nothing. Nobody hears of the end then.
func TestWhatIsRefusedIsGivenUp(t *testing.T) {
	t.Parallel()
	f, c := newFixture(t), newReceiver(t)
	made := f.hook(c)
	c.answer(func(w http.ResponseWriter, r *request) {
		if r.json("title") == "alert:1" {
			http.Error(w, "bad shape", http.StatusUnprocessableEntity)
		}
	})
	f.begin("alert:1", "warning")
	f.begin("alert:2", "warning")
	f.turn()
	f.end("alert:1")
	f.turn()
	f.wantStates("alert:1 open failed", "alert:2 open sent")
	if q := f.queue(made.ID); q.Failures != 0 || !strings.Contains(*q.LastError, "422 Unprocessable Entity: bad shape") {
		t.Errorf("%+v", q)
	}
}

// What could not be sent for a day is given up, and so is the end of what was not told.
func TestWhatIsTooOldIsGivenUp(t *testing.T) {
	t.Parallel()
	f, c := newFixture(t), newReceiver(t)
	f.hook(c)
	c.answer(status(http.StatusServiceUnavailable, ""))
	f.begin("alert:1", "warning")
	f.turn()
	f.begin("alert:2", "warning")
	f.end("alert:1")
	f.exec("UPDATE notification_deliveries SET due_at = now() - interval '25 hours'")
	c.answer(nil)
	f.again()
	f.turn()
	f.wantStates("alert:1 open failed", "alert:2 open sent", "alert:1 resolved skipped")
	c.wantTitles(t, "alert:1 open", "alert:2 open")
	list, total, err := f.Deliveries(asOwner(t), channel.Filter{State: "failed"}, 0, 10)
	if err != nil || total != 1 || list[0].Error == nil || *list[0].Error != "the receiver answered 503 Service Unavailable" ||
		list[0].Attempts != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	list, total, err = f.Deliveries(asOwner(t), channel.Filter{Incident: "alert:1"}, 0, 10)
	if err != nil || total != 2 || list[0].Event != "resolved" || list[1].Event != "open" || *list[1].Incident != "alert:1" {
		t.Errorf("of one matter: %d %+v, %v", total, list, err)
	}
}

// A receiver that hangs holds up itself alone, and is cut off.
func TestAReceiverThatHangsHoldsUpNobodyElse(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a receiver that does not respond: make check runs it")
	}
	t.Parallel()
	f := newFixture(t, func(c *channel.Config) { c.SendTime, c.Lease = time.Hour, 3*time.Hour })
	slow, quick := newReceiver(t), newReceiver(t)
	hangs, told := f.hook(slow), f.hook(quick)
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	slow.answer(func(w http.ResponseWriter, r *request) {
		w.WriteHeader(http.StatusOK) // a header and nothing more of the body that is promised
		w.(http.Flusher).Flush()
		select {
		case <-end:
		case <-r.Context().Done():
		}
	})
	drips, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = drips.Close() })
	silent := f.add(channel.Channel{Kind: channel.Webhook, Settings: channel.Settings{URL: "http://" + drips.Addr().String()}}, nil)
	f.begin("alert:1", "warning")
	// The others may hang for an hour.
	ctx, cancel := context.WithCancel(t.Context())
	var turn sync.WaitGroup
	turn.Go(func() { _ = f.Turn(ctx) })
	waittest.Until(t, "all channels are tried and the quick one delivers", func() bool {
		q := f.queue(told.ID)
		return q.LastOKAt != nil && q.Pending == 0 &&
			dbtest.Value[int](t, f.DB, "SELECT count(*) FROM notification_deliveries WHERE attempts > 0") == 3
	})
	cancel()
	turn.Wait()
	f.again()
	newFixtureOn(t, f.DB, f.keys, func(c *channel.Config) { c.SendTime = 5 * time.Second }).turn() // and here for five seconds
	quick.wantTitles(t, "alert:1 open")
	if q := f.queue(silent.ID); q.Failures != 1 || q.Pending != 1 || !strings.Contains(*q.LastError, "cannot be reached") {
		t.Errorf("%+v", q)
	}
	// The status was good: it was taken, and the body has nothing to say.
	if q := f.queue(hangs.ID); q.Failures != 0 || q.Pending != 0 {
		t.Errorf("%+v", q)
	}
}

// No redirect is followed, whether it leads inside or elsewhere, and no address inside is called, whatever its name is.
func TestNoAddressInsideIsCalled(t *testing.T) {
	t.Parallel()
	f, c, inside := newFixture(t), newReceiver(t), newReceiver(t)
	made := f.hook(c)
	for _, code := range []int{301, 302, 303, 307, 308} {
		c.answer(func(w http.ResponseWriter, r *request) { http.Redirect(w, r.Request, inside.URL+"/secrets", code) })
		f.tell(notify.Event{})
		f.again()
		f.turn()
		if q := f.queue(made.ID); !strings.Contains(*q.LastError, fmt.Sprintf("answered %d", code)) {
			t.Errorf("%d: %s", code, *q.LastError)
		}
	}
	if n := len(inside.requests()); n != 0 {
		t.Errorf("%d requests inside", n)
	}
	// The name is one that resolves to this machine; that it may be called is taken back after it was stored.
	f.exec(`UPDATE notification_channels SET settings = jsonb_build_object('url', $1::text)`, strings.Replace(inside.URL, "127.0.0.1",
		"localhost", 1))
	strict := channel.New(channel.Config{DB: f.DB, Keys: f.keys})
	for _, url := range []string{inside.URL, strings.Replace(inside.URL, "127.0.0.1", "localhost", 1),
		strings.Replace(inside.URL, "127.0.0.1", "[::ffff:127.0.0.1]", 1), "http://169.254.169.254/latest", "http://192.168.0.1:1/x",
		"http://[64:ff9b::10.0.0.1]:1/", "http://100.64.0.1:1/"} {
		f.exec(`UPDATE notification_channels SET settings = jsonb_build_object('url', $1::text), allow_private = false`, url)
		f.again()
		if err := strict.Turn(t.Context()); err != nil {
			t.Error(err)
		}
		q := f.queue(made.ID)
		if q.LastError == nil || !strings.Contains(*q.LastError, "not allowed") {
			t.Errorf("%s: %v", url, *q.LastError)
		}
	}
	if n := len(inside.requests()); n != 0 {
		t.Errorf("%d requests inside", n)
	}
}

// Several instances tell everything once.
func TestSeveralInstancesTellEverythingOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("runs several instances: make check runs it")
	}
	t.Parallel()
	f := newFixture(t)
	var all []*receiver
	for range 4 {
		c := newReceiver(t)
		all = append(all, c)
		f.hook(c, func(c *channel.Channel) { c.HourlyCap = 1000 })
	}
	for i := range 20 {
		f.begin(fmt.Sprint("alert:", i), "warning")
	}
	var turns sync.WaitGroup
	for range 6 {
		other := newFixtureOn(t, f.DB, f.keys)
		turns.Go(func() {
			for range 3 {
				if err := other.Turn(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 20 {
		f.end(fmt.Sprint("alert:", i))
	}
	turns.Wait()
	f.turn()
	for _, c := range all {
		got := c.titles()
		if len(got) != 40 {
			t.Errorf("told %d times: %q", len(got), got)
		}
		slices.Sort(got)
		if len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Errorf("told twice: %q", got)
		}
		for i := range 20 {
			title := fmt.Sprint("alert:", i)
			if in := c.titles(); slices.Index(in, title+" open") > slices.Index(in, title+" resolved") {
				t.Errorf("the end of %s was told before its beginning", title)
			}
		}
	}
}
