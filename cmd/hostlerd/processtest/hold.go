package processtest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/internal/waittest"
)

// hold makes statements wait in the database until release is called or the
// test ends. event is the head of a trigger, such as "BEFORE DELETE ON jobs".
// The trigger waits for an advisory lock that this function holds. A test can
// have one hold at a time.
func hold(t testing.TB, d *db.DB, event string) (release func()) {
	t.Helper()
	alter(t, d, `CREATE OR REPLACE FUNCTION test_hold() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN PERFORM pg_advisory_xact_lock_shared(77, 77); RETURN NULL; END $$`)
	alter(t, d, "CREATE OR REPLACE TRIGGER test_hold "+event+" FOR EACH STATEMENT EXECUTE FUNCTION test_hold()")
	conn, err := d.Pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "SELECT pg_advisory_lock(77, 77)"); err != nil {
		t.Fatal(err)
	}
	release = sync.OnceFunc(func() {
		if _, err := conn.Exec(context.WithoutCancel(t.Context()), "SELECT pg_advisory_unlock(77, 77)"); err != nil {
			t.Error(err)
		}
		conn.Release()
	})
	t.Cleanup(release) // a test that fails must not keep the pool from closing
	return release
}

// held waits until the given number of statements wait.
func held(t testing.TB, d *db.DB, want int) {
	t.Helper()
	waittest.Succeeds(t, "statements are held", func() error {
		n := number(t, d, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 77 AND objid = 77 AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
		if n < want {
			return fmt.Errorf("%d are", n)
		}
		return nil
	})
}

// oldJobs is the number of jobs that holdJobs creates: more than one batch of
// jobs.prune.
const oldJobs = 1200

// holdJobs makes the next job jobs.prune find old jobs and wait while it
// deletes them. It gives tests a job that runs for as long as they need.
func holdJobs(t testing.TB, d *db.DB) (release func()) {
	t.Helper()
	alter(t, d, `INSERT INTO jobs (kind, status, target_kind, target_id, target_name, created_at, finished_at)
		SELECT 'test.old', 'succeeded', 'instance', 0, 'old', now() - interval '200 days', now() - interval '200 days'
		FROM generate_series(1, $1)`, oldJobs)
	return hold(t, d, "BEFORE DELETE ON jobs")
}

// seed returns the ID of the schedule of a kind that every new database has.
func seed(t testing.TB, d *db.DB, kind string) int64 {
	t.Helper()
	return int64(number(t, d, "SELECT id FROM schedules WHERE seeded AND job_kind = $1", kind))
}
