package db_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
)

// received keeps what a subscriber was told.
type received struct {
	mu     sync.Mutex
	heard  []string
	missed int
}

func (h *received) subscriber(channels ...string) db.Subscriber {
	return db.Subscriber{
		Channels: channels,
		OnNotify: func(channel, payload string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.heard = append(h.heard, channel+" "+payload)
		},
		OnReconnect: func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.missed++
		},
	}
}

func (h *received) told() (heard []string, missed int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.heard...), h.missed
}

func notify(t *testing.T, d *db.DB, channel, payload string) {
	t.Helper()
	if _, err := d.Pool.Exec(t.Context(), "SELECT pg_notify($1, $2)", channel, payload); err != nil {
		t.Fatal(err)
	}
}

// listeners counts the connections that listen on the database.
func listeners(t *testing.T, d *db.DB) (n int) {
	t.Helper()
	err := d.Pool.QueryRow(t.Context(),
		"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%events'").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestListenerTellsEveryEarItsOwn(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	here, there := dbtest.Open(t, url), dbtest.Open(t, url)
	var one, both received
	stopOne := here.Listener().Listen(one.subscriber("red"))
	waittest.Until(t, "the first subscriber listens", func() bool { _, missed := one.told(); return missed == 1 })
	stopBoth := here.Listener().Listen(both.subscriber("red", "Blue; DROP TABLE users")) // a channel is a name and no SQL
	waittest.Until(t, "the second subscriber listens", func() bool { _, missed := both.told(); return missed == 1 })
	if _, missed := one.told(); missed != 1 {
		t.Errorf("the first subscriber was told %d times that it may have missed something", missed)
	}
	if n := listeners(t, there); n != 1 {
		t.Errorf("%d connections listen, want one for all", n)
	}
	notify(t, there, "red", "1")
	notify(t, there, "Blue; DROP TABLE users", "2")
	notify(t, there, "green", "3")
	notify(t, there, "red", "4")
	waittest.Until(t, "both heard", func() bool { a, _ := one.told(); b, _ := both.told(); return len(a) == 2 && len(b) == 3 })
	a, _ := one.told()
	b, _ := both.told()
	if fmt.Sprint(a) != "[red 1 red 4]" || fmt.Sprint(b) != "[red 1 Blue; DROP TABLE users 2 red 4]" {
		t.Errorf("heard %q and %q", a, b)
	}
	stopOne()
	stopOne()
	notify(t, there, "red", "5")
	waittest.Until(t, "the subscriber that is left heard", func() bool { b, _ := both.told(); return len(b) == 4 })
	if a, _ := one.told(); len(a) != 2 {
		t.Errorf("the one that stopped heard %q", a)
	}
	stopBoth()
	waittest.Until(t, "no connection is kept for nobody", func() bool { return listeners(t, there) == 0 })
	var late received
	here.Listener().Listen(late.subscriber("red"))
	waittest.Until(t, "one that comes later listens", func() bool { _, missed := late.told(); return missed == 1 })
}

func TestListenerComesBackAndTellsThatItWasGone(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	here, there := dbtest.Open(t, url), dbtest.Open(t, url)
	var h received
	here.Listener().Listen(h.subscriber("red"))
	for life := 1; life <= 3; life++ {
		waittest.Until(t, fmt.Sprintf("life %d began", life), func() bool { _, missed := h.told(); return missed == life })
		notify(t, there, "red", fmt.Sprint(life))
		waittest.Until(t, "it heard", func() bool { heard, _ := h.told(); return len(heard) == life })
		_, err := there.Pool.Exec(t.Context(),
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%events'")
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Subscribers that come and go while much is said lose nothing that was said after their first OnReconnect.
func TestListenerLosesNothingWhileEarsComeAndGo(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	here, there := dbtest.Open(t, url), dbtest.Open(t, url)
	var steady received
	here.Listener().Listen(steady.subscriber("red"))
	waittest.Until(t, "the steady subscriber listens", func() bool { _, missed := steady.told(); return missed == 1 })
	done := make(chan struct{})
	var coming sync.WaitGroup
	for i := range 3 {
		coming.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				var h received
				stop := here.Listener().Listen(h.subscriber("red", fmt.Sprintf("own%d", i)))
				if n%2 == 0 {
					waittest.Until(t, "a passing subscriber listens", func() bool { _, missed := h.told(); return missed == 1 })
				}
				stop()
			}
		})
	}
	const said = 500
	for n := range said {
		notify(t, there, "red", fmt.Sprint(n))
	}
	waittest.Until(t, "all was heard", func() bool { heard, _ := steady.told(); return len(heard) >= said })
	close(done)
	coming.Wait()
	heard, missed := steady.told()
	for n, text := range heard {
		if text != fmt.Sprintf("red %d", n) {
			t.Fatalf("heard %q at place %d", text, n)
		}
	}
	if missed != 1 {
		t.Errorf("the connection was made %d times", missed)
	}
}

func TestListenerEndsWithItsDatabase(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	there := dbtest.Open(t, url)
	here, err := db.Open(t.Context(), db.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	var h received
	here.Listener().Listen(h.subscriber("red"))
	waittest.Until(t, "it listens", func() bool { _, missed := h.told(); return missed == 1 })
	here.Close()
	waittest.Until(t, "its connection is gone", func() bool { return listeners(t, there) == 0 })
	here.Listener().Listen(h.subscriber("red"))()
}
