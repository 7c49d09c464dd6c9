package channel_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/channel"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/job/jobtest"
	"github.com/hostler/hostler/internal/waittest"
)

func TestMain(m *testing.M) { jobtest.Main(m, child) }

// lease is longer than any test: it ends when the test says so.
const lease = time.Hour

// child is an instance in a process of its own. At the named point it says so and stands still; without one it tells all it can.
func child(args []string) error {
	url, keyFile, point := args[0], args[1], args[2]
	d, err := db.Open(context.Background(), db.Config{URL: url, Logger: hclog.NewNullLogger()})
	if err != nil {
		return err
	}
	keys, err := loadKeys(keyFile)
	if err != nil {
		return err
	}
	s := channel.New(channel.Config{DB: d, Keys: keys, AllowLocal: true, Lease: lease, SendTime: lease / 3})
	s.Hook(func(at string) {
		if at == point {
			fmt.Println("at", point)
			select {}
		}
	})
	go s.Run(context.Background())
	return nil
}

// An instance that is killed loses nothing: another one goes on when its lease has ended. What it had not begun to send arrives once. What
// it had sent and not noted arrives again with the same id, by which a receiver knows it.
func TestKilledAtEachPoint(t *testing.T) {
	t.Parallel()
	for point, want := range map[string]int{"before-send": 1, "after-send": 2} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			url, keyFile := dbtest.URL(t), filepath.Join(t.TempDir(), "keys", "secret.key")
			f := newFixtureOn(t, dbtest.Open(t, url), newKeys(t, keyFile))
			c := newReceiver(t)
			f.hook(c)
			f.begin("alert:1", "warning")
			f.begin("alert:2", "warning")
			process := jobtest.Start(t, url, keyFile, point)
			process.Says(t, "at "+point)
			f.turn() // the lease is another's
			process.Kill()
			if n := len(c.requests()); n != want-1 {
				t.Errorf("%d requests of the one that was killed", n)
			}
			f.exec("UPDATE notification_queues SET leased_until = now()") // as time would
			f.told(t, c, 2)
			ids := map[string]int{}
			for _, r := range c.requests() {
				ids[r.json("title")+r.Header.Get("Webhook-Id")]++
			}
			if len(ids) != 2 || len(c.requests()) != want+1 {
				t.Errorf("arrived: %v", ids)
			}
		})
	}
}

// Instances that are killed at any moment, again and again, lose nothing; each can send one message anew at most, with the same id.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	url, keyFile := dbtest.URL(t), filepath.Join(t.TempDir(), "keys", "secret.key")
	f := newFixtureOn(t, dbtest.Open(t, url), newKeys(t, keyFile))
	c := newReceiver(t)
	f.hook(c, func(c *channel.Channel) { c.HourlyCap = 1000 })
	const matters, kills = 60, 4
	for i := range matters {
		f.begin(fmt.Sprint("alert:", i), "warning")
	}
	for i := range kills {
		process := jobtest.Start(t, url, keyFile, "")
		seen := len(c.requests())
		waittest.Until(t, "some more arrive", func() bool { return len(c.requests()) > min(seen+5, matters-1) })
		process.Kill()
		f.end(fmt.Sprint("alert:", i))
		f.exec("UPDATE notification_queues SET leased_until = now()") // as time would
	}
	f.told(t, c, matters+kills)
	seen := map[string]string{}
	for _, r := range c.requests() {
		what := r.json("title") + " " + r.json("state")
		if id := r.Header.Get("Webhook-Id"); seen[what] != "" && seen[what] != id {
			t.Errorf("%s arrived under two ids", what)
		}
		seen[what] = r.Header.Get("Webhook-Id")
	}
	if n := len(c.requests()); len(seen) != matters+kills || n > matters+2*kills {
		t.Errorf("%d arrived of %d, in %d requests", len(seen), matters+kills, n)
	}
}

// told turns until so many deliveries are sent, and nothing waits.
func (f *fixture) told(t *testing.T, _ *receiver, want int) {
	t.Helper()
	waittest.Until(t, "all is told", func() bool {
		f.turn()
		return dbtest.Value[int](t, f.DB, "SELECT count(*) FROM notification_deliveries WHERE state = 'sent'") == want &&
			dbtest.Value[int](t, f.DB, "SELECT count(*) FROM notification_events WHERE routed_at IS NULL") == 0
	})
}
