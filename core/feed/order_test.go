package feed_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/feed"
	"github.com/hostler/hostler/internal/waittest"
)

// write counts up names of guests in transactions of several guests, some of which are long, overlap, roll back, or write much later
// than they began, until it is told to stop.
func write(ctx context.Context, d *db.DB, seed uint64, guests int, stop <-chan struct{}) error {
	r := rand.New(rand.NewPCG(seed, 1))
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		err := d.Tx(ctx, func(tx *db.Tx) error {
			ids := make([]int, 1+r.IntN(4))
			for i := range ids {
				ids[i] = 1 + r.IntN(guests)
			}
			slices.Sort(ids) // no deadlocks
			for _, id := range slices.Compact(ids) {
				if _, err := tx.Pgx.Exec(ctx, "UPDATE guests SET name = (name::int + 1)::text WHERE id = $1", id); err != nil {
					return err
				}
				if r.IntN(4) == 0 {
					if _, err := tx.Pgx.Exec(ctx, "SELECT pg_sleep($1)", r.Float64()*0.08); err != nil {
						return err
					}
				}
			}
			if r.IntN(10) == 0 {
				return errUndo
			}
			return nil
		})
		if err != nil && !errors.Is(err, errUndo) {
			return err
		}
	}
}

// follow reads at changing instances, leaves and comes back at random, and holds each name against the one before: nothing goes back in
// time. It ends when it was told the last state of all, which is known once over is closed.
func follow(ctx context.Context, t *testing.T, feeds []*feed.Feed, seed uint64, cursor string, known map[int64]int,
	over <-chan struct{}, want map[int64]int) error {
	r := rand.New(rand.NewPCG(seed, 2))
	versions := map[int64]int64{}
	complete := func() bool {
		select {
		case <-over:
		default:
			return false
		}
		for id, n := range want {
			if known[id] != n {
				return false
			}
		}
		return true
	}
	for !complete() {
		reader, err := feeds[r.IntN(len(feeds))].Join(ctx, everything, cursor)
		if err != nil {
			return err
		}
		stay := time.Duration(r.IntN(400)) * time.Millisecond
		within, cancel := context.WithTimeout(ctx, stay)
		for {
			m, err := reader.Next(within)
			if err != nil {
				break
			}
			if r.IntN(20) == 0 { // the connection breaks before it arrives
				break
			}
			if m.Event == "reset" {
				cancel()
				return fmt.Errorf("a reset: %s", m.Data)
			}
			if m.Event == "changes" {
				for _, c := range changesOf(t, m) {
					n, err := strconv.Atoi(fmt.Sprint(c.Set["name"]))
					if err != nil || n < known[c.ID] || c.Version < versions[c.ID] {
						cancel()
						return fmt.Errorf("guest %d: %v of version %d after %d of version %d", c.ID, c.Set["name"], c.Version, known[c.ID],
							versions[c.ID])
					}
					known[c.ID], versions[c.ID] = n, c.Version
				}
			}
			if m.ID != "" {
				cursor = m.ID
			}
		}
		cancel()
		reader.Close()
		if ctx.Err() != nil {
			return fmt.Errorf("it was not told all: %v, want %v", known, want)
		}
	}
	return nil
}

// However transactions overlap, and wherever and how often readers come back, each is told of the last state of everything, and never
// of an earlier state after a later one.
func TestNothingIsLostOrOutOfOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("writes and reads at once for long: make check runs it")
	}
	t.Parallel()
	url := dbtest.URL(t)
	d := dbtest.Open(t, url)
	const guests, writers, readers = 12, 6, 24
	inventorytest.Many(t, d, guests, 0)
	dbtest.Exec(t, d, "UPDATE guests SET name = '0'")
	feeds := []*feed.Feed{instance(t, d), instance(t, dbtest.Open(t, url))}
	cursor := hello(t, feeds[0], everything).last
	ctx, cancel := context.WithTimeout(t.Context(), 10*limit)
	defer cancel()
	stop, over := make(chan struct{}), make(chan struct{})
	var writing, reading sync.WaitGroup
	var failed atomic.Int32
	want := map[int64]int{}
	for n := range writers {
		writing.Go(func() {
			if err := write(ctx, d, uint64(n), guests, stop); err != nil {
				t.Error(err)
			}
		})
	}
	for n := range readers {
		reading.Go(func() {
			if err := follow(ctx, t, feeds, uint64(n), cursor, map[int64]int{}, over, want); err != nil {
				failed.Add(1)
				t.Errorf("reader %d: %v", n, err)
			}
		})
	}
	waittest.Until(t, "there were many changes, of each guest", func() bool {
		return dbtest.Value[bool](t, d, "SELECT sum(name::int) >= 1000 AND min(name::int) > 0 FROM guests")
	})
	close(stop)
	writing.Wait()
	rows, err := d.Pool.Query(t.Context(), "SELECT id, name::int FROM guests WHERE name <> '0'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var n int
		if err := rows.Scan(&id, &n); err != nil {
			t.Fatal(err)
		}
		want[id] = n
	}
	close(over)
	reading.Wait()
	if len(want) != guests {
		t.Errorf("only %d guests were changed", len(want))
	}
}

// One that falls behind is told of several stretches at once, the last state of each object in one message.
func TestReaderThatFallsBehind(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a slow reader: make check runs it")
	}
	t.Parallel()
	f := newFixture(t)
	slow, quick := hello(t, f.feed, everything), hello(t, f.feed, everything)
	for _, sql := range []string{
		"UPDATE guests SET name = 'a' WHERE id = 1",
		"UPDATE guests SET lock = 'b' WHERE id = 1",
		newGuest,
		"UPDATE guests SET name = 'newer' WHERE id = 5",
		"DELETE FROM guests WHERE id = 3",
		"UPDATE guests SET host_id = 2 WHERE id = 2",
		"UPDATE guests SET name = 'c' WHERE id = 2",
	} {
		f.Exec(sql)
		quick.changes() // each is a message of its own
	}
	slow.is(`guest 1 {"lock":"b","name":"a"}`, "guest 5 whole", "guest 3 gone", "guest 2 whole")
	if slow.known["guest5"]["name"] != "newer" || slow.known["guest2"]["name"] != "c" {
		t.Errorf("known: %v", slow.known)
	}
	// The same of a team that lost what others have now.
	behind := hello(t, f.feed, ofTeam(2))
	f.Exec("UPDATE guests SET name = 'd' WHERE id = 2")
	quick.changes()
	f.Exec("UPDATE guests SET host_id = 1 WHERE id = 2")
	quick.changes()
	f.Exec("UPDATE guests SET name = 'e' WHERE id = 2")
	quick.changes()
	behind.is("guest 2 gone")
	f.Exec("UPDATE hosts SET team_id = 1 WHERE id = 2")
	quick.next()
	f.Exec("UPDATE guests SET name = 'e' WHERE id = 1")
	quick.next()
	if m := behind.next(); m.Event != "reset" {
		t.Errorf("%s %s", m.Event, m.Data)
	}
}

// Readers share the work: as many statements serve a hundred as serve one, and no more than a few for each stretch.
func TestStatementsDoNotGrowWithReaders(t *testing.T) {
	t.Parallel()
	count := func(readers int) int64 {
		d, statements := dbtest.Counting(t, dbtest.URL(t))
		inventorytest.Many(t, d, 10, 0)
		f := instance(t, d)
		clients := make([]*client, readers)
		for i := range clients {
			clients[i] = hello(t, f, everything)
		}
		return statements.Count(func() {
			dbtest.Exec(t, d, "UPDATE guests SET name = 'a'")
			for _, c := range clients {
				if got := c.changes(); len(got) != 10 {
					t.Errorf("told %v", got)
				}
			}
		})
	}
	if one, many := count(1), count(100); many > one+20 { // looks that find nothing may come in between, more of them on a slow machine
		t.Errorf("%d statements for a reader, %d for a hundred", one, many)
	}
}
