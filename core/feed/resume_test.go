package feed_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/feed"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/internal/waittest"
)

// first joins with a cursor and gives the first message.
func first(t *testing.T, f *feed.Feed, sight feed.Filter, last string) feed.Message {
	t.Helper()
	c := join(t, f, sight, last)
	defer c.Close()
	return c.next()
}

// Whatever a reader comes with, it gets a place in the feed: where its cursor is good for nothing it loads anew.
func TestCursors(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := hello(t, f.feed, everything)
	good := c.last
	parts := strings.SplitN(good, ".", 3)
	origin, sight, at := parts[0], parts[1], parts[2]
	xmax := strings.Split(at, ":")[1]
	f.Exec("UPDATE feed_state SET floor = '2'")
	if m := first(t, f.feed, everything, good); m.Event != "hello" || m.ID == "" {
		t.Errorf("with a good one: %+v", m)
	}
	for cursor, reason := range map[string]string{
		"x": "unknown", ".": "unknown", "..": "unknown", "...": "unknown", "41": "unknown", "a.b.c": "unknown",
		strings.Repeat("9", 8000):                                    "unknown",
		origin + "." + sight + ".":                                   "unknown",
		origin + "." + sight + ".1:2":                                "unknown",
		origin + "." + sight + ".5:2:":                               "unknown",
		origin + "." + sight + ".0:0:":                               "unknown",
		origin + "." + sight + ".-1:2:":                              "unknown",
		origin + "." + sight + ".1:9:5,4":                            "unknown",
		origin + "." + sight + ".1:9:99":                             "unknown",
		origin + "." + sight + ".1:9:5,":                             "unknown",
		origin + "." + sight + ".1:9:x'; DROP TABLE feed_changes;--": "unknown",
		origin + "." + sight + ".1:99999999999999999999:":            "unknown",
		origin + "." + sight + ".1:9223372036854775807:":             "unknown", // what is still to come
		"0123." + sight + "." + at:                                   "unknown",
		origin + ".0123." + at:                                       "rights",
		origin + "." + sight + ".1:" + xmax + ":":                    "expired",
	} {
		m := first(t, f.feed, everything, cursor)
		if m.Event != "reset" || string(m.Data) != fmt.Sprintf(`{"reason":%q}`, reason) || m.ID == "" {
			t.Errorf("%.60s: %s %s, want %s", cursor, m.Event, m.Data, reason)
		}
	}
	// Who sees or wants something else than before loads anew, in whichever order teams are named.
	for name, other := range map[string]feed.Filter{
		"a team": ofTeam(1), "kinds": {Visible: everything.Visible, Kinds: []feed.Kind{feed.Job}},
		"figures": {Visible: everything.Visible, Figures: true}, "nothing": {},
	} {
		if m := first(t, f.feed, other, good); m.Event != "reset" || string(m.Data) != `{"reason":"rights"}` {
			t.Errorf("%s: %s %s", name, m.Event, m.Data)
		}
	}
	two := hello(t, f.feed, feed.Filter{Visible: identity.VisibleTeams{Teams: []int64{1, 2}}})
	if m := first(t, f.feed, feed.Filter{Visible: identity.VisibleTeams{Teams: []int64{2, 1}}}, two.last); m.Event != "hello" {
		t.Errorf("teams in another order: %s %s", m.Event, m.Data)
	}
	// After a reset the stream goes on from where it was.
	again := join(t, f.feed, everything, "x")
	defer again.Close()
	again.next()
	f.Exec("UPDATE guests SET name = 'a' WHERE id = 1")
	again.is(`guest 1 {"name":"a"}`)
}

// What a reader missed it is told when it comes back: the last state of each, with what it may see.
func TestResume(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c, ours := hello(t, f.feed, everything), hello(t, f.feed, ofTeam(1))
	f.Exec("UPDATE guests SET name = 'a' WHERE id = 1")
	f.Exec("UPDATE guests SET name = 'b', lock = 'x' WHERE id = 1")
	f.Exec("UPDATE guests SET name = 'c' WHERE id = 4")
	f.Exec(newGuest)
	f.Exec("DELETE FROM guests WHERE id = 2")
	for _, at := range []*feed.Feed{f.feed, instance(t, f.db)} {
		back := join(t, at, everything, c.last)
		back.next()
		back.is(`guest 1 {"lock":"x","name":"b"}`, `guest 4 {"name":"c"}`, "guest 5 whole", "guest 2 gone")
		if !back.quiet(250 * time.Millisecond) {
			t.Error("something comes twice")
		}
		resumed := first(t, at, everything, back.last)
		if resumed.Event != "hello" || string(resumed.Data) != `{"version":"1.2.3","resumed":true,"poll_interval_s":30}` || resumed.ID == "" {
			t.Errorf("with nothing missed: %+v", resumed)
		}
		back.Close()
		back = join(t, at, ofTeam(1), ours.last)
		back.next()
		back.is(`guest 1 {"lock":"x","name":"b"}`, "guest 5 whole", "guest 2 gone")
		back.Close()
	}
}

// The history is deleted when everybody has seen it for long enough, and who comes back later loads anew. What a transaction holds back
// that is not over is kept, and told.
func TestPrune(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := hello(t, f.feed, everything)
	late, err := f.db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = late.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := late.Exec(t.Context(), "UPDATE guests SET name = 'late' WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	f.Exec("UPDATE guests SET name = 'a' WHERE id = 2")
	c.is(`guest 2 {"name":"a"}`)
	prune := func(keep time.Duration) {
		t.Helper()
		if err := f.feed.Prune(t.Context(), keep); err != nil {
			t.Fatal(err)
		}
	}
	prune(0) // all that was there for all to see
	if n := f.Value("SELECT count(*) FROM feed_changes WHERE object = 2 AND kind = 'guest' AND what = 'changed'"); n != "1" {
		t.Errorf("what came behind a transaction that is not over: %s rows", n)
	}
	if err := late.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.is(`guest 1 {"name":"late"}`)
	f.Exec("UPDATE feed_marks SET at = at - interval '2 minutes'")
	prune(time.Hour)
	if n := f.Value("SELECT count(*) FROM feed_changes WHERE what = 'changed'"); n != "2" {
		t.Errorf("too early: %s rows are left", n)
	}
	old := c.last
	f.Exec("UPDATE guests SET name = 'b' WHERE id = 2")
	c.is(`guest 2 {"name":"b"}`)
	f.Exec("UPDATE feed_marks SET at = at - interval '2 minutes'")
	// Transactions of other databases of the server hold rows as well, for as long as they last.
	waittest.Until(t, "no rows are left", func() bool {
		prune(0)
		f.Exec("UPDATE feed_marks SET at = at - interval '2 minutes'")
		prune(time.Minute)
		return f.Value("SELECT count(*) FROM feed_changes") == "0"
	})
	if m := first(t, f.feed, everything, old); string(m.Data) != `{"reason":"expired"}` {
		t.Errorf("too late: %s %s", m.Event, m.Data)
	}
	f.Exec("UPDATE guests SET name = 'c' WHERE id = 2")
	c.is(`guest 2 {"name":"c"}`)
	// While another instance does so, this one does not wait.
	busy, err := f.db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := busy.Exec(t.Context(), "SELECT FROM feed_state FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	prune(0)
	if n := f.Value("SELECT count(*) FROM feed_changes"); n == "0" {
		t.Error("two instances prune at once")
	}
}

// Many come back to a restarted instance at once: what they missed is read once for all of them.
func TestManyComeBack(t *testing.T) {
	if testing.Short() {
		t.Skip("lets many readers return at once: make check runs it")
	}
	t.Parallel()
	url := dbtest.URL(t)
	d, statements := dbtest.Counting(t, url)
	inventorytest.Many(t, d, 100, 0)
	before := instance(t, d)
	cursor := hello(t, before, everything).last
	dbtest.Exec(t, d, "UPDATE guests SET name = name || 'x'")
	f := instance(t, d)
	c := hello(t, f, everything)
	const readers = 200
	n := statements.Count(func() {
		done := make(chan int, readers)
		for range readers {
			go func() {
				r, err := f.Join(t.Context(), everything, cursor)
				if err != nil {
					t.Error(err)
					done <- 0
					return
				}
				defer r.Close()
				told := 0
				for told == 0 {
					m, err := r.Next(t.Context())
					if err != nil {
						t.Error(err)
						break
					}
					if m.Event == "changes" {
						told = len(changesOf(t, m))
					}
				}
				done <- told
			}()
		}
		for range readers {
			if told := <-done; told != 100 {
				t.Errorf("a reader was told of %d objects", told)
			}
		}
	})
	if n > readers {
		t.Errorf("%d statements for %d readers", n, readers)
	}
	_ = c
}

// A copy of the database has the history of another one, whose transactions mean nothing here: it begins anew.
func TestCopiedDatabase(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := hello(t, f.feed, everything)
	c.Close()
	origin := f.Value("SELECT origin FROM feed_state")
	if origin == "" || origin != f.Value("SELECT feed_origin()") {
		t.Errorf("the history is of %q", origin)
	}
	// As in a dump that was made elsewhere: another origin, and rows of transactions that are not here yet.
	f.Exec("UPDATE feed_state SET origin = 'elsewhere', floor = '0'")
	f.Exec("INSERT INTO feed_changes (xid, kind, object, what) SELECT '900000000000', 'guest', 1, 'new' FROM generate_series(1, 10)")
	other := instance(t, f.db)
	cursor := strings.Replace(c.last, origin, "elsewhere", 1)
	back := join(t, other, everything, cursor)
	defer back.Close()
	if m := back.next(); m.Event != "reset" || string(m.Data) != `{"reason":"unknown"}` {
		t.Errorf("%s %s", m.Event, m.Data)
	}
	if n := f.Value("SELECT count(*) || ' ' || (SELECT origin FROM feed_state) FROM feed_changes"); n != "0 "+origin {
		t.Errorf("rows and origin: %s", n)
	}
	f.Exec("UPDATE guests SET name = 'a' WHERE id = 1")
	back.is(`guest 1 {"name":"a"}`)
}

// PostgreSQL is killed and comes back: whoever reads on misses nothing, and nobody else notices.
func TestDatabaseRestart(t *testing.T) {
	if testing.Short() {
		t.Skip("restarts a database server: make check runs it")
	}
	t.Parallel()
	server := dbtest.NewServer(t, dbtest.OwnOptions{Settings: []string{"fsync=on", "synchronous_commit=on", "full_page_writes=on"}})
	d := dbtest.Open(t, server.URL(t))
	if err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	inventorytest.Many(t, d, 10, 0)
	f := instance(t, d)
	c := hello(t, f, everything)
	for turn := range 3 {
		dbtest.Exec(t, d, "UPDATE guests SET name = $1 WHERE id = 1", fmt.Sprint("before", turn))
		cursor := c.last
		server.Kill()
		server.Start(t)
		waittest.Until(t, "the database answers", func() bool { return d.Pool.Ping(t.Context()) == nil })
		dbtest.Exec(t, d, "UPDATE guests SET name = $1 WHERE id = 2", fmt.Sprint("after", turn))
		for c.known["guest2"]["name"] != fmt.Sprint("after", turn) {
			c.next()
		}
		if c.known["guest1"]["name"] != fmt.Sprint("before", turn) || len(c.resets) > 0 {
			t.Errorf("after %d restarts: %v, resets %v", turn+1, c.known, c.resets)
		}
		back := join(t, f, everything, cursor)
		for back.known["guest2"]["name"] != fmt.Sprint("after", turn) && len(back.resets) == 0 {
			back.next()
		}
		if len(back.resets) > 0 {
			t.Errorf("back: %v", back.resets)
		}
		back.Close()
	}
}

// While the database is away nobody hangs: who joins is told so.
func TestDatabaseAway(t *testing.T) {
	if testing.Short() {
		t.Skip("takes the database away: make check runs it")
	}
	t.Parallel()
	server := dbtest.NewServer(t, dbtest.OwnOptions{})
	d := dbtest.Open(t, server.URL(t))
	if err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	inventorytest.Many(t, d, 1, 0)
	f := instance(t, d)
	server.Kill()
	waittest.Until(t, "the last process of the server ends", func() bool { return d.Pool.Ping(t.Context()) != nil })
	if _, err := f.Join(t.Context(), everything, ""); err == nil {
		t.Error("joined without a database")
	}
	server.Start(t)
	waittest.Until(t, "the database answers", func() bool { return d.Pool.Ping(t.Context()) == nil })
	waittest.Succeeds(t, "joining works again", func() error {
		r, err := f.Join(t.Context(), everything, "")
		if err == nil {
			r.Close()
		}
		return err
	})
}

// A closed feed ends all readers.
func TestClose(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := hello(t, f.feed, everything)
	ended := make(chan error)
	go func() {
		_, err := c.Next(context.WithoutCancel(t.Context()))
		ended <- err
	}()
	f.feed.Close()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a message came")
		}
	case <-time.After(limit):
		t.Fatal("a reader hangs")
	}
	if _, err := f.feed.Join(t.Context(), everything, ""); err == nil {
		t.Error("joined a closed feed")
	}
}
