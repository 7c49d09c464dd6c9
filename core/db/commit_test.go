package db_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/waittest"
)

// waiting is a server whose commits wait for a standby that does not come, once hang was called.
type waiting struct {
	*dbtest.OwnServer
	url string
}

func newWaiting(t *testing.T) *waiting {
	t.Helper()
	s := &waiting{OwnServer: dbtest.NewServer(t, dbtest.OwnOptions{Settings: []string{
		"wal_level=replica", "max_wal_senders=2", "synchronous_commit=on"}})}
	s.url = s.URL(t)
	s.Exec(t, s.url, "CREATE TABLE notes (note text)")
	return s
}

// open opens the server's database with the limits; zero means a minute.
func (s *waiting) open(t *testing.T, commit, settle time.Duration) *db.DB {
	t.Helper()
	cfg := db.Config{URL: s.url, CommitLimit: time.Minute, SettleLimit: time.Minute}
	if commit > 0 {
		cfg.CommitLimit = commit
	}
	if settle > 0 {
		cfg.SettleLimit = settle
	}
	d, err := db.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// standby makes commits wait for a standby that does not come, or lets them go.
func (s *waiting) standby(t *testing.T, wanted bool) {
	t.Helper()
	name := ""
	if wanted {
		name = "nobody"
	}
	s.Exec(t, "", "ALTER SYSTEM SET synchronous_standby_names = '"+name+"'")
	s.Exec(t, "", "SELECT pg_reload_conf()")
	waittest.Until(t, "commits do as "+name+" says", func() bool { // the server takes its time
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		probe, err := pgx.Connect(t.Context(), s.url)
		if err != nil {
			return false
		}
		defer func() { _ = probe.Close(t.Context()) }()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = probe.Exec(ctx, "INSERT INTO notes VALUES ('probe')")
		}()
		hangs := false
		waittest.Until(t, "the probe ends or waits for a standby", func() bool {
			select {
			case <-done:
				return true
			default:
			}
			hangs = s.waits(t, probe.PgConn().PID())
			return hangs
		})
		cancel()
		<-done
		return hangs == wanted
	})
}

// waits reports whether the commit of a session waits for a standby.
func (s *waiting) waits(t *testing.T, pid uint32) (waits bool) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close(t.Context()) }()
	err = conn.QueryRow(t.Context(), "SELECT wait_event = 'SyncRep' FROM pg_stat_activity WHERE pid = $1", pid).Scan(&waits)
	return err == nil && waits
}

// hung waits until n commits wait for a standby.
func (s *waiting) hung(t *testing.T, d *db.DB, n int) {
	t.Helper()
	waittest.Until(t, fmt.Sprintf("%d commits wait", n), func() bool {
		var found int
		err := d.Pool.QueryRow(t.Context(),
			"SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'commit'").Scan(&found)
		return err == nil && found >= n
	})
}

func note(text string) func(*db.Tx) error {
	return func(tx *db.Tx) error { return tx.Exec("INSERT INTO notes VALUES (?)", text).Error }
}

// stored asks on a connection of its own: those of the pool may be those of a server that was killed.
func stored(t *testing.T, d *db.DB, note string) (there bool) {
	t.Helper()
	conn, err := pgx.ConnectConfig(t.Context(), d.Pool.Config().ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if err := conn.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM notes WHERE note = $1)", note).Scan(&there); err != nil {
		t.Fatal(err)
	}
	return there
}

// A commit that hangs is waited for although its caller left, and its outcome is told.
func TestCommitOutlivesItsCaller(t *testing.T) {
	t.Parallel()
	s := newWaiting(t)
	d := s.open(t, 0, 0)
	s.standby(t, true)
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan error, 1)
	committed := 0
	go func() {
		done <- d.Tx(ctx, func(tx *db.Tx) error { tx.OnCommit(func() { committed++ }); return note("left")(tx) })
	}()
	s.hung(t, d, 1)
	leave()
	select {
	case err := <-done:
		t.Fatalf("the commit was cut off: %v", err)
	case <-time.After(200 * time.Millisecond): // that it ends must not happen; there is nothing to wait for
	}
	s.standby(t, false)
	if err := <-done; err != nil || committed != 1 || !stored(t, d, "left") {
		t.Fatalf("%v, told of %d commits", err, committed)
	}
}

// A commit whose answer does not come is found out about: it was made.
func TestCommitWithoutAnAnswerIsLookedUp(t *testing.T) {
	t.Parallel()
	s := newWaiting(t)
	d := s.open(t, 0, 0)
	s.standby(t, true)
	done := make(chan error, 1)
	go func() { done <- d.Tx(t.Context(), note("ended")) }()
	s.hung(t, d, 1)
	s.Exec(t, "", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'commit'")
	if err := <-done; err != nil || !stored(t, d, "ended") {
		t.Errorf("its session was ended: %v", err)
	}
	hasty := s.open(t, 300*time.Millisecond, 0)
	if err := hasty.Tx(t.Context(), note("limit")); err != nil || !stored(t, d, "limit") {
		t.Errorf("its time was up: %v", err)
	}
}

// What became of a commit is looked up although its caller left.
func TestLookUpOutlivesItsCaller(t *testing.T) {
	t.Parallel()
	s := newWaiting(t)
	d := s.open(t, 0, 0)
	s.standby(t, true)
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.Tx(ctx, note("left alone")) }()
	s.hung(t, d, 1)
	leave()
	s.Exec(t, "", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'commit'")
	if err := <-done; err != nil || !stored(t, d, "left alone") {
		t.Errorf("its session was ended: %v", err)
	}
}

// While the server is down nobody knows; later it says so.
func TestCommitOfAKilledServer(t *testing.T) {
	t.Parallel()
	s := newWaiting(t)
	d := s.open(t, 0, 200*time.Millisecond)
	s.standby(t, true)
	done := make(chan error, 1)
	told := false
	go func() {
		done <- d.Tx(t.Context(), func(tx *db.Tx) error { tx.OnCommit(func() { told = true }); return note("killed")(tx) })
	}()
	s.hung(t, d, 1)
	s.Kill()
	err := <-done
	open := db.UnsettledOutcome(err)
	if open == nil || problem.CodeOf(err) != problem.CodeOutcomeUnknown || told {
		t.Fatalf("%v, told %v", err, told)
	}
	if again := db.Problem(err); problem.CodeOf(again) != problem.CodeOutcomeUnknown {
		t.Error(again)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, known := open.Settle(ctx); known {
		t.Error("it is known while the server is down")
	}
	s.Start(t)
	minute, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if committed, known := open.Settle(minute); !committed || !known || !stored(t, d, "killed") {
		t.Errorf("committed %v, known %v", committed, known)
	}
	d.Pool.Reset()
	// A server that took over might have given the number to another transaction.
	db.NoteTimeline(d, "00000009")
	s.standby(t, true)
	go func() { done <- d.Tx(t.Context(), note("taken over")) }()
	s.hung(t, d, 1)
	s.Exec(t, "", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'commit'")
	if err := <-done; db.UnsettledOutcome(err) == nil {
		t.Errorf("of another server: %v", err)
	}
}

// A commit that the server ends with the whole session before it is made is no success.
func TestCommitThatIsUndoneWithItsSession(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	for _, statement := range []string{
		"CREATE TABLE notes (note text)",
		"CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM " +
			"pg_sleep(60); RETURN NULL; END $$",
		"CREATE CONSTRAINT TRIGGER leave AFTER INSERT ON notes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION leave()",
	} {
		if _, err := d.Pool.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	told := false
	err := d.Tx(t.Context(), func(tx *db.Tx) error { tx.OnCommit(func() { told = true }); return note("undone")(tx) })
	if problem.CodeOf(err) != problem.CodeDatabaseUnavailable || db.UnsettledOutcome(err) != nil || told || stored(t, d, "undone") {
		t.Errorf("%v, told %v", err, told)
	}
}

// A collision at the commit is certain, and the transaction is done again.
func TestCollisionAtTheCommit(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	for _, statement := range []string{
		"CREATE TABLE notes (note text)",
		"CREATE SEQUENCE tries",
		`CREATE FUNCTION collide() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF nextval('tries') < 3 THEN RAISE EXCEPTION USING ERRCODE = '40001'; END IF; RETURN NULL; END $$`,
		"CREATE CONSTRAINT TRIGGER collide AFTER INSERT ON notes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION collide()",
	} {
		if _, err := d.Pool.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	runs, told := 0, 0
	err := d.Tx(t.Context(), func(tx *db.Tx) error {
		runs++
		tx.OnCommit(func() { told++ })
		return note("again")(tx)
	})
	if err != nil || runs != 3 || told != 1 || !stored(t, d, "again") {
		t.Errorf("%v after %d runs, told of %d commits", err, runs, told)
	}
}

// A transaction that has failed and is committed all the same is a failure.
func TestCommitOfAFailedTransaction(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	err := d.Tx(t.Context(), func(tx *db.Tx) error { _ = tx.Exec("SELECT 1/0").Error; return nil })
	if !errors.Is(err, pgx.ErrTxCommitRollback) {
		t.Error(err)
	}
}
