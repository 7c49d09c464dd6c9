package db_test

import (
	"context"
	"errors"
	"testing"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
)

type nothing struct{}

func (nothing) Kind() string { return "nothing" }

// Rows of gorm, of pgx and of the queue live and die together.
func TestTxIsOneTransaction(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	queue, err := river.NewClient(riverpgxv5.New(d.Pool), &river.Config{})
	if err != nil {
		t.Fatal(err)
	}
	write := func(tx *db.Tx) error {
		if err := tx.Exec("INSERT INTO settings (key, value) VALUES ('by gorm', '1')").Error; err != nil {
			return err
		}
		if _, err := tx.Pgx.Exec(t.Context(), "INSERT INTO settings (key, value) VALUES ('by pgx', '1')"); err != nil {
			return err
		}
		_, err := queue.InsertTx(t.Context(), tx.Pgx, nothing{}, nil)
		return err
	}
	count := func() (settings, jobs int) {
		t.Helper()
		row := d.Pool.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM settings), (SELECT count(*) FROM river_job)")
		if err := row.Scan(&settings, &jobs); err != nil {
			t.Fatal(err)
		}
		return settings, jobs
	}

	stop := errors.New("stop")
	if err := d.Tx(t.Context(), func(tx *db.Tx) error { return errors.Join(write(tx), stop) }); !errors.Is(err, stop) {
		t.Fatalf("got %v, want the function's own error", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = d.Tx(t.Context(), func(tx *db.Tx) error {
			if err := write(tx); err != nil {
				t.Error(err)
			}
			panic("boom")
		})
	}()
	ctx, cancel := context.WithCancel(t.Context())
	if err := d.Tx(ctx, func(tx *db.Tx) error { defer cancel(); return write(tx) }); err == nil {
		t.Fatal("a transaction whose context ended was committed")
	}
	if settings, jobs := count(); settings != 0 || jobs != 0 {
		t.Fatalf("%d settings and %d jobs are left of transactions that failed", settings, jobs)
	}
	if err := d.Tx(t.Context(), write); err != nil {
		t.Fatal(err)
	}
	if settings, jobs := count(); settings != 2 || jobs != 1 {
		t.Fatalf("%d settings and %d jobs, want 2 and 1", settings, jobs)
	}
}

// With one connection in the pool a transaction that leaked it would block the next for ever.
func TestTxGivesItsConnectionBack(t *testing.T) {
	t.Parallel()
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for range 5 {
		_ = d.Tx(t.Context(), func(*db.Tx) error { return errors.New("no") })
		if err := d.Tx(t.Context(), func(tx *db.Tx) error { return tx.Exec("SELECT 1").Error }); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLockIsHeldOnceAndFreed(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	a, b := dbtest.Open(t, url), dbtest.Open(t, url)
	first, err := a.TryLock(t.Context(), db.LockPoll, 7)
	if err != nil || first == nil {
		t.Fatalf("got %v, %v", first, err)
	}
	if second, err := b.TryLock(t.Context(), db.LockPoll, 7); err != nil || second != nil {
		t.Fatalf("the second holder got %v, %v", second, err)
	}
	if other, err := b.TryLock(t.Context(), db.LockJob, 7); err != nil || other == nil {
		t.Fatalf("the same id of another class got %v, %v", other, err)
	} else {
		other.Unlock()
	}
	first.Unlock()
	if third, err := b.TryLock(t.Context(), db.LockPoll, 7); err != nil || third == nil {
		t.Fatalf("after it was freed: %v, %v", third, err)
	} else {
		third.Unlock()
	}
}

func TestMigrateTwiceAndAtOnce(t *testing.T) {
	t.Parallel()
	url := dbtest.EmptyURL(t)
	a, b := dbtest.Open(t, url), dbtest.Open(t, url)
	failed := make(chan error, 2)
	for _, d := range []*db.DB{a, b} {
		go func() { failed <- d.Migrate(t.Context()) }()
	}
	for range 2 {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	have, want, err := a.SchemaVersion(t.Context())
	if err != nil || have != want || want == 0 {
		t.Fatalf("version %d of %d, %v", have, want, err)
	}
}
