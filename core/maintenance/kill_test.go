package maintenance_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/job/jobtest"
	"github.com/hostler/hostler/core/maintenance"
	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/internal/waittest"
)

func TestMain(m *testing.M) { jobtest.Main(m, child) }

// child is an instance in a process of its own.
func child(args []string) error {
	d, err := db.Open(context.Background(), db.Config{URL: args[0], Logger: hclog.NewNullLogger()})
	if err != nil {
		return err
	}
	q, err := job.New(job.Config{DB: d})
	if err != nil {
		return err
	}
	maintenance.New(maintenance.Config{DB: d, Queue: q, Sessions: identitytest.New(d), AuditLog: &trail{}}).Register()
	if err := q.Start(context.Background()); err != nil {
		return err
	}
	fmt.Println("started")
	return nil
}

// killed runs a job in a process that is killed in the middle, and then on another instance, and gives its transcript.
// The job stands still at the rows that its trigger holds while the test has the lock.
func killed(t *testing.T, i *instance, url, kind, trigger string) string {
	t.Helper()
	i.Exec("CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(77, 77); RETURN " +
		"coalesce(NEW, OLD); END $$")
	i.Exec("CREATE TRIGGER wait " + trigger + " EXECUTE FUNCTION wait()")
	hold, err := i.db.Pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Release()
	if _, err := hold.Exec(t.Context(), "SELECT pg_advisory_lock(77, 77)"); err != nil {
		t.Fatal(err)
	}
	process := jobtest.Start(t, url)
	process.Says(t, "started")
	id := i.enqueue(kind)
	waittest.Until(t, "the chore stands still", func() bool {
		return i.Value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 77 AND NOT granted AND database = (SELECT "+
			"oid FROM pg_database WHERE datname = current_database())") == "1"
	})
	process.Kill()
	if _, err := hold.Exec(t.Context(), "SELECT pg_advisory_unlock(77, 77)"); err != nil {
		t.Fatal(err)
	}
	if err := i.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = i.Stop(context.Background()) })
	text := i.ended(id, job.Succeeded)
	want(t, text, "continues (run 2)")
	return text
}

func TestKilledWhilePruningJobs(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	i := prepare(t, url, maintenance.Config{})
	i.oldJobs(1201, 100, 2)
	killed(t, i, url, "jobs.prune", "BEFORE DELETE ON jobs FOR EACH ROW WHEN (OLD.id > 700)")
	// The batch that was under way may have been carried out by the server and counted by nobody.
	if n := i.Value("SELECT (SELECT count(*) FROM jobs WHERE kind = 'vm.start') = 0 AND (SELECT sum((details ->> 'jobs')::int) FROM " +
		"audit WHERE action = 'jobs.prune') IN (701, 1201)"); n != "true" {
		t.Errorf("left %s, the audit log has %s", i.Value("SELECT count(*) FROM jobs WHERE kind = 'vm.start'"), i.trail("jobs.prune"))
	}
}

func TestKilledWhileRollingUp(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	i := prepare(t, url, maintenance.Config{})
	now := time.Now()
	if err := metric.EnsurePartitions(t.Context(), i.db, now); err != nil {
		t.Fatal(err)
	}
	i.Exec(`INSERT INTO metric_samples (at, target_kind, target_id, cpu, net_in) SELECT $1::timestamptz + n * interval '1 minute', 'guest',
		g, 0.5, n
		FROM generate_series(0, 1439) n, generate_series(1, 5) g`, metric.Day(now).AddDate(0, 0, -1))
	killed(t, i, url, "metrics.maintain", "BEFORE INSERT ON metric_5m FOR EACH ROW WHEN (extract(hour FROM NEW.at AT TIME ZONE 'UTC') = 5)")
	if got := i.Value("SELECT (SELECT count(*) || ' ' || sum(samples) || ' ' || sum(net_in) FROM metric_5m) || ', ' || (SELECT count(*) " +
		"|| ' ' || sum(samples) || ' ' || sum(net_in) FROM metric_1h)"); got != "1440 7200 7195, 120 7200 7195" {
		t.Errorf("rolled up: %s", got)
	}
}
