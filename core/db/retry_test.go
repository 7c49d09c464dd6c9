package db_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
)

// Two transactions that lock two rows in opposite order: PostgreSQL gives one up, and it is done again.
func TestTxIsDoneAgainAfterADeadlock(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	if _, err := d.Pool.Exec(t.Context(), "INSERT INTO settings (key, value) VALUES ('a', '0'), ('b', '0')"); err != nil {
		t.Fatal(err)
	}
	var both, ended sync.WaitGroup
	var runs atomic.Int32
	both.Add(2)
	var once sync.Once
	won := make(chan struct{}) // closed when one has ended: the other, done again before that, could collide with it once more
	for _, order := range [][2]string{{"a", "b"}, {"b", "a"}} {
		ended.Go(func() {
			var first sync.Once
			began := false
			err := d.Tx(t.Context(), func(tx *db.Tx) error {
				runs.Add(1)
				if began {
					<-won
				}
				began = true
				add := func(key string) error {
					return tx.Exec("UPDATE settings SET value = to_jsonb(value::text::int + 1) WHERE key = ?", key).Error
				}
				if err := add(order[0]); err != nil {
					return err
				}
				first.Do(func() { both.Done(); both.Wait() })
				return add(order[1])
			})
			once.Do(func() { close(won) })
			if err != nil {
				t.Error(err)
			}
		})
	}
	ended.Wait()
	var a, b int
	if err := d.Pool.QueryRow(t.Context(), "SELECT (SELECT value::text::int FROM settings WHERE key = 'a'), (SELECT value::text::int "+
		"FROM settings WHERE key = 'b')").Scan(&a, &b); err != nil {
		t.Fatal(err)
	}
	if a != 2 || b != 2 || runs.Load() != 3 {
		t.Errorf("values %d and %d after %d runs, want 2, 2, 3", a, b, runs.Load())
	}
}

func TestTxGivesUpWhatCollidesForEver(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	runs := 0
	err := d.Tx(t.Context(), func(*db.Tx) error { runs++; return &pgconn.PgError{Code: "40001"} })
	if !db.Retryable(err) || runs != 5 {
		t.Errorf("%v after %d runs", err, runs)
	}
	runs = 0
	stop := errors.New("stop")
	if err := d.Tx(t.Context(), func(*db.Tx) error { runs++; return stop }); !errors.Is(err, stop) || runs != 1 {
		t.Errorf("%v after %d runs", err, runs)
	}
}
