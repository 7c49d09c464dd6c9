package secret_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/internal/waittest"
)

var tables = []secret.Table{
	{Name: "vault", Key: []string{"host", "kind"}, Column: "value"},
	{Name: "seeds", Key: []string{"id"}, Column: "seed"},
}

// fixture is a database with two tables of sealed values, and the key file.
type fixture struct {
	db   *db.DB
	path string
	rows int
}

func newFixture(t *testing.T, rows int) *fixture {
	t.Helper()
	v := &fixture{db: dbtest.New(t), path: keyPath(t)}
	dbtest.Exec(t, v.db, `CREATE TABLE vault (host bigint, kind text, value bytea NOT NULL, PRIMARY KEY (host, kind))`)
	dbtest.Exec(t, v.db, `CREATE TABLE seeds (id bigint PRIMARY KEY, seed bytea)`)
	dbtest.Exec(t, v.db, `INSERT INTO seeds VALUES (1000000, NULL)`)
	b := v.load(t)
	for range rows {
		v.add(t, b)
	}
	return v
}

func (v *fixture) used(ctx context.Context) ([]secret.KeyID, error) {
	return secret.NeededKeys(ctx, v.db.Pool, tables)
}

// load is what a starting service does.
func (v *fixture) load(t *testing.T) *secret.Box {
	t.Helper()
	b, err := secret.Load(context.Background(), v.path, v.used)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (v *fixture) add(t *testing.T, b *secret.Box) {
	t.Helper()
	i := v.rows
	v.rows++
	dbtest.Exec(t, v.db, "INSERT INTO vault VALUES ($1, 'a/b', $2)", i,
		seal(t, b, fmt.Sprint("value ", i), secret.Binding{Table: "vault", Column: "value", Row: secret.Row(i, "a/b")}))
	dbtest.Exec(t, v.db, "INSERT INTO seeds VALUES ($1, $2)", i,
		seal(t, b, fmt.Sprint("seed ", i), secret.Binding{Table: "seeds", Column: "seed", Row: secret.Row(i)}))
}

// check opens every value.
func (v *fixture) check(t *testing.T, b *secret.Box) {
	t.Helper()
	for i := range v.rows {
		var value, seed []byte
		if err := v.db.Pool.QueryRow(t.Context(), "SELECT value, seed FROM vault JOIN seeds ON id = host WHERE host = $1", i).Scan(&value,
			&seed); err != nil {
			t.Fatal(err)
		}
		text, err := b.Open(value, secret.Binding{Table: "vault", Column: "value", Row: secret.Row(i, "a/b")})
		if err != nil || text.Reveal() != fmt.Sprint("value ", i) {
			t.Errorf("value %d: %v", i, err)
		}
		text, err = b.Open(seed, secret.Binding{Table: "seeds", Column: "seed", Row: secret.Row(i)})
		if err != nil || text.Reveal() != fmt.Sprint("seed ", i) {
			t.Errorf("seed %d: %v", i, err)
		}
	}
}

func (v *fixture) rotation() secret.Rotation {
	return secret.Rotation{DB: v.db, Tables: tables, Batch: 4}
}

// rotated is how a rotation ended.
type rotated struct {
	report secret.Report
	err    error
}

func (v *fixture) rotating(t *testing.T, b *secret.Box) <-chan rotated {
	done := make(chan rotated, 1)
	go func() {
		report, err := b.Rotate(context.WithoutCancel(t.Context()), v.rotation())
		done <- rotated{report, err}
	}()
	return done
}

// waits returns when a statement that begins so waits for a lock. The rotation must not have ended before.
func (v *fixture) waits(t *testing.T, begins string, done <-chan rotated) {
	t.Helper()
	waittest.Until(t, "a statement waits for a lock: "+begins, func() bool {
		select {
		case r := <-done:
			t.Fatalf("the rotation did not wait: %+v, %v", r.report, r.err)
		default:
		}
		return dbtest.Value[bool](t, v.db, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
			AND wait_event_type = 'Lock' AND query LIKE $1 || '%')`, begins)
	})
}

func TestRotate(t *testing.T) {
	t.Parallel()
	v := newFixture(t, 10)
	service := v.load(t) // runs all the time
	old := service.Primary()
	report, err := v.load(t).Rotate(t.Context(), v.rotation())
	if err != nil {
		t.Fatal(err)
	}
	if report.Resumed || report.Rewritten != 20 || report.Primary == old || len(report.Dropped) != 0 {
		t.Errorf("%+v", report)
	}
	used, err := v.used(t.Context())
	if err != nil || len(used) != 1 || used[0] != report.Primary {
		t.Errorf("keys in use: %v, %v", used, err)
	}
	v.check(t, service)
	v.add(t, service)
	if service.Primary() != report.Primary {
		t.Error("the running service seals with the old key")
	}
	v.check(t, v.load(t))

	info, err := os.Stat(v.path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	second, err := service.Rotate(t.Context(), v.rotation())
	if err != nil || second.Rewritten != 22 || len(second.Dropped) != 0 {
		t.Errorf("second: %+v, %v", second, err)
	}
	third, err := service.Rotate(t.Context(), v.rotation().Keeping(-time.Minute))
	if err != nil || len(third.Dropped) != 3 {
		t.Errorf("third: %+v, %v", third, err)
	}
	v.check(t, v.load(t))
	v.check(t, service)
}

func TestRotateKilled(t *testing.T) {
	t.Parallel()
	killed := errors.New("killed")
	for _, step := range []string{"begin", "key", "announced", "batch 1", "batch 3", "batch 5", "rewritten", "retired"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			v := newFixture(t, 10)
			service := v.load(t)
			batches, reached := 0, false
			_, err := v.load(t).Rotate(t.Context(), v.rotation().Reaching(func(at string) error {
				if at == "batch" {
					batches++
					at = fmt.Sprint("batch ", batches)
				}
				if at == step {
					reached = true
					return killed
				}
				return nil
			}))
			if !reached || !errors.Is(err, killed) {
				t.Fatalf("reached %v, %v", reached, err)
			}
			v.check(t, service)
			v.check(t, v.load(t))
			v.add(t, service)
			report, err := v.load(t).Rotate(t.Context(), v.rotation())
			if err != nil {
				t.Fatal(err)
			}
			if want := step != "begin" && step != "retired"; report.Resumed != want {
				t.Errorf("resumed: %v", report.Resumed)
			}
			used, err := v.used(t.Context())
			if err != nil || len(used) != 1 || used[0] != report.Primary {
				t.Errorf("keys in use: %v, %v", used, err)
			}
			v.check(t, service)
			v.check(t, v.load(t))
		})
	}
}

func TestRotateTwiceAtOnce(t *testing.T) {
	t.Parallel()
	v := newFixture(t, 3)
	inside, proceed := make(chan struct{}), make(chan struct{})
	var once sync.Once
	done := make(chan error, 1)
	go func() {
		b, err := secret.Load(context.Background(), v.path, v.used)
		if err == nil {
			_, err = b.Rotate(context.Background(), v.rotation().Reaching(func(string) error {
				once.Do(func() { close(inside); <-proceed })
				return nil
			}))
		}
		done <- err
	}()
	<-inside
	if _, err := v.load(t).Rotate(t.Context(), v.rotation()); !errors.Is(err, secret.ErrRotating) {
		t.Errorf("the second: %v", err)
	}
	close(proceed)
	if err := <-done; err != nil {
		t.Errorf("the first: %v", err)
	}
	v.check(t, v.load(t))
}

// TestRotateUnderWrites rotates again and again while services read and replace values.
func TestRotateUnderWrites(t *testing.T) {
	if testing.Short() {
		t.Skip("lets writers race: make check runs it")
	}
	t.Parallel()
	v := newFixture(t, 8)
	var writes atomic.Int64
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 3 {
		service := v.load(t)
		writers.Go(func() {
			for i := w; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				row := i % v.rows
				at := secret.Binding{Table: "vault", Column: "value", Row: secret.Row(row, "a/b")}
				sealed, err := service.Seal(secret.New(fmt.Sprint("value ", row)), at)
				if err == nil {
					_, err = v.db.Pool.Exec(context.Background(), "UPDATE vault SET value = $1 WHERE host = $2", sealed, row)
				}
				var read []byte
				if err == nil {
					err = v.db.Pool.QueryRow(context.Background(), "SELECT value FROM vault WHERE host = $1", row).Scan(&read)
				}
				if err == nil {
					_, err = service.Open(read, at)
				}
				if err != nil {
					t.Error(err)
					return
				}
				writes.Add(1)
			}
		})
	}
	b := v.load(t)
	for range 5 {
		before := writes.Load()
		if _, err := b.Rotate(t.Context(), v.rotation()); err != nil {
			t.Error(err)
		}
		waittest.Until(t, "ten more values are written", func() bool { return writes.Load() >= before+10 || t.Failed() })
	}
	close(stop)
	writers.Wait()
	v.check(t, v.load(t))
}

func TestRotateRefuses(t *testing.T) {
	t.Parallel()
	t.Run("swapped rows", func(t *testing.T) {
		t.Parallel()
		v := newFixture(t, 2)
		dbtest.Exec(t, v.db, "UPDATE vault a SET value = b.value FROM vault b WHERE a.host <> b.host")
		if _, err := v.load(t).Rotate(t.Context(), v.rotation()); !errors.Is(err, secret.ErrDecrypt) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a key that is gone", func(t *testing.T) {
		t.Parallel()
		v := newFixture(t, 2)
		b := v.load(t)
		other := load(t, keyPath(t))
		dbtest.Exec(t, v.db, "UPDATE seeds SET seed = $1 WHERE id = 1", seal(t, other, "x", place))
		if _, err := b.Rotate(t.Context(), v.rotation()); !errors.Is(err, secret.ErrKeyWrong) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no sealed value", func(t *testing.T) {
		t.Parallel()
		v := newFixture(t, 1)
		b := v.load(t)
		dbtest.Exec(t, v.db, "UPDATE seeds SET seed = 'plain text' WHERE id = 0")
		if _, err := b.Rotate(t.Context(), v.rotation()); !errors.Is(err, secret.ErrDecrypt) {
			t.Errorf("got %v", err)
		}
	})
}

// A row that somebody holds for long is waited for: no value is left under the old key.
func TestRotateWaitsForAHeldRow(t *testing.T) {
	t.Parallel()
	v := newFixture(t, 6)
	b := v.load(t)
	tx, err := v.db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := tx.Exec(t.Context(), "SELECT FROM vault WHERE host = 3 FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	done := v.rotating(t, b)
	v.waits(t, "SELECT ctid", done)
	// Whoever held it has sealed another value with the old key meanwhile, or left it as it was.
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := <-done
	used, err := secret.UsedKeys(t.Context(), v.db.Pool, tables)
	if r.err != nil || r.report.Rewritten != 12 || err != nil || len(used) != 1 || used[0] != r.report.Primary {
		t.Errorf("%+v, %v; keys in use: %v, %v", r.report, r.err, used, err)
	}
	v.check(t, v.load(t))
}

// A retired key that a value needs, one that was committed late, stays in the file however long ago it was retired.
func TestRotateKeepsAKeyInUse(t *testing.T) {
	t.Parallel()
	v := newFixture(t, 2)
	b := v.load(t)
	late := seal(t, b, "value 1", secret.Binding{Table: "vault", Column: "value", Row: secret.Row(1, "a/b")})
	old := b.Primary()
	rotation := v.rotation().Keeping(-time.Minute)
	first, err := b.Rotate(t.Context(), rotation.Reaching(func(step string) error {
		if step == "retired" {
			dbtest.Exec(t, v.db, "UPDATE vault SET value = $1 WHERE host = 1", late)
		}
		return nil
	}))
	if err != nil || len(first.Dropped) != 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	v.check(t, b)
	v.check(t, v.load(t))
	second, err := b.Rotate(t.Context(), rotation)
	if err != nil || len(second.Dropped) != 2 || !slices.Contains(second.Dropped, old) {
		t.Errorf("the next one: %+v, %v", second, err)
	}
	v.check(t, v.load(t))
}

// A retired key that nothing uses is kept for as long as a value under it may still be on its way.
func TestRotateKeepsAYoungRetiredKey(t *testing.T) {
	t.Parallel()
	v := newFixture(t, 1)
	b := v.load(t)
	for range 2 {
		if report, err := b.Rotate(t.Context(), v.rotation().Keeping(time.Hour)); err != nil || len(report.Dropped) != 0 {
			t.Errorf("%+v, %v", report, err)
		}
	}
}

// Where it cannot be told which key seals now, no value is sealed with it either: instances with a copy would not know.
func TestRotateStopsWhenItCannotAnnounce(t *testing.T) {
	t.Parallel()
	v := newFixture(t, 2)
	b := v.load(t)
	old := b.Primary()
	dbtest.Exec(t, v.db, "ALTER TABLE secret_key ADD CONSTRAINT nothing CHECK (id = '')")
	if report, err := b.Rotate(t.Context(), v.rotation()); err == nil || report.Rewritten != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	if used, err := v.used(t.Context()); err != nil || len(used) != 1 || used[0] != old {
		t.Errorf("keys in use: %v, %v", used, err)
	}
	dbtest.Exec(t, v.db, "ALTER TABLE secret_key DROP CONSTRAINT nothing")
	if report, err := b.Rotate(t.Context(), v.rotation()); err != nil || !report.Resumed || report.Rewritten != 4 {
		t.Errorf("%+v, %v", report, err)
	}
	v.check(t, v.load(t))
}

// An instance that has just started says that its key seals at the moment in which a rotation says so of a new one: the rotation
// has the last word.
func TestRotateHasTheLastWord(t *testing.T) {
	t.Parallel()
	v := newFixture(t, 2)
	b := v.load(t)
	old := b.Primary()
	tx, err := v.db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := tx.Exec(t.Context(), "INSERT INTO secret_key (id) VALUES ($1)", old.String()); err != nil {
		t.Fatal(err)
	}
	done := v.rotating(t, b)
	v.waits(t, "INSERT INTO secret_key", done)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := <-done
	if r.err != nil || r.report.Primary == old || v.announced(t) != r.report.Primary {
		t.Errorf("%v; %s is announced, rotated to %s from %s", r.err, v.announced(t), r.report.Primary, old)
	}
	v.check(t, v.load(t))
}

// Another rotation that announces its key meanwhile, from another copy of the file, stops this one before it seals anything.
func TestRotateStopsWhenAnotherFileSeals(t *testing.T) {
	t.Parallel()
	v := newFixture(t, 2)
	b := v.load(t)
	if _, err := b.Rotate(t.Context(), v.rotation()); err != nil {
		t.Fatal(err)
	}
	old := b.Primary()
	report, err := b.Rotate(t.Context(), v.rotation().Reaching(func(step string) error {
		if step == "key" {
			dbtest.Exec(t, v.db, "UPDATE secret_key SET id = '0000000a'")
		}
		return nil
	}))
	if !errors.Is(err, secret.ErrKeyWrong) || report.Rewritten != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	if used, err := v.used(t.Context()); err != nil || !slices.Equal(used, []secret.KeyID{old, 10}) {
		t.Errorf("keys in use and announced: %v, %v", used, err)
	}
}
