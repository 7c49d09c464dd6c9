package maintenance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/maintenance"
	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/setting"
	"github.com/hostler/hostler/internal/waittest"
)

var everything = identity.VisibleTeams{All: true, Teams: []int64{}}

// instance is one service of several on a database.
type instance struct {
	*job.Queue
	dbtest.SQL
	t     testing.TB
	db    *db.DB
	kinds map[string]schedule.Kind
}

// trail is the part of the audit log that maintenance uses.
type trail struct {
	mu     sync.Mutex
	before []time.Time
	// blanked are the times before which addresses were taken out.
	blanked []time.Time
	rows    int64
	err     error
}

func (p *trail) RemoveAddresses(_ context.Context, before time.Time) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blanked = append(p.blanked, before)
	return p.rows, p.err
}

func (p *trail) Prune(_ context.Context, before time.Time) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.before = append(p.before, before)
	return p.rows, p.err
}

// start makes an instance and runs it until the test ends. Fields of the configuration that are not set are the real ones.
func start(t testing.TB, url string, c maintenance.Config) *instance {
	t.Helper()
	i := prepare(t, url, c)
	if err := i.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = i.Stop(context.Background()) })
	return i
}

func prepare(t testing.TB, url string, c maintenance.Config) *instance {
	t.Helper()
	d := dbtest.Open(t, url)
	q, err := job.New(job.Config{DB: d, ResumeEvery: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	c.DB, c.Queue = d, q
	if c.Sessions == nil {
		c.Sessions = identitytest.New(d)
	}
	if c.AuditLog == nil {
		c.AuditLog = &trail{}
	}
	u := maintenance.New(c)
	u.Register()
	i := &instance{Queue: q, SQL: dbtest.On(t, d), t: t, db: d, kinds: map[string]schedule.Kind{}}
	for _, kind := range u.Kinds() {
		i.kinds[kind.Name] = kind
	}
	return i
}

// ask enqueues a job as a schedule does.
func (i *instance) ask(ctx context.Context, kind string) (id int64, err error) {
	enqueue, err := i.kinds[kind].Prepare(ctx, json.RawMessage("{}"))
	if err != nil {
		return 0, err
	}
	err = i.db.Tx(ctx, func(tx *db.Tx) error {
		j, err := enqueue(ctx, tx)
		if err == nil {
			id = j.ID
		}
		return err
	})
	return id, err
}

func (i *instance) enqueue(kind string) int64 {
	i.t.Helper()
	id, err := i.ask(i.t.Context(), kind)
	if err != nil {
		i.t.Fatalf("%s: %v", kind, err)
	}
	return id
}

// ended waits for the end of a job, which must be the given one, and gives its transcript.
func (i *instance) ended(id int64, want job.Status) string {
	i.t.Helper()
	var j *job.Job
	waittest.Until(i.t, fmt.Sprintf("job %d has ended", id), func() bool {
		var err error
		j, err = i.Get(i.t.Context(), id, everything)
		return err == nil && j.Status.Finished()
	})
	text := i.Value("SELECT string_agg(text, E'\n' ORDER BY seq) FROM job_events WHERE job_id = $1", id)
	if j.Status != want {
		i.t.Fatalf("job %d is %s (%s)\n%s", id, j.Status, j.Error, text)
	}
	return text
}

func (i *instance) did(kind string) string {
	i.t.Helper()
	return i.ended(i.enqueue(kind), job.Succeeded)
}

func (i *instance) trail(kind string) string {
	i.t.Helper()
	return i.Value("SELECT coalesce(string_agg(actor_type || ' ' || details || ' ' || (job_id IS NOT NULL), ', ' ORDER BY id), '') FROM "+
		"audit WHERE action = $1", kind)
}

func (i *instance) set(changes string) {
	i.t.Helper()
	var c setting.Changes
	if err := json.Unmarshal([]byte(changes), &c); err != nil {
		i.t.Fatal(err)
	}
	if _, err := (&setting.Store{DB: i.db}).Update(i.t.Context(), c); err != nil {
		i.t.Fatal(err)
	}
}

func want(t testing.TB, text string, pieces ...string) {
	t.Helper()
	for _, piece := range pieces {
		if !strings.Contains(text, piece) {
			t.Errorf("%q is not in\n%s", piece, text)
		}
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	i := start(t, dbtest.URL(t), maintenance.Config{})
	user := identitytest.As(t, identitytest.New(i.db), identity.Viewer)
	i.Exec("INSERT INTO sessions (user_id, token_hash, expires_at) SELECT $1, int4send(n), now() - interval '1 second' FROM "+
		"generate_series(1, 2500) n", user.ID)
	i.Exec("DELETE FROM login_failures")
	i.Exec("INSERT INTO login_failures (bucket, failures, window_ends) VALUES ('old', 1, now() - interval '1 second'), ('new', 1, now() " +
		"+ interval '1 hour')")
	want(t, i.did("sessions.prune"), "deleted 2501 rows: expired sessions")
	if left := i.Value("SELECT (SELECT count(*) FROM sessions) || ' ' || (SELECT " +
		"string_agg(bucket, '') FROM login_failures)"); left != "1 new" {
		t.Errorf("left: %s", left)
	}
	want(t, i.did("sessions.prune"), "deleted 0 rows")
	if rows := i.trail("sessions.prune"); rows != `system {"rows": 2501} true` {
		t.Errorf("the audit log has %s", rows)
	}
}

// oldJobs makes n jobs that ended some days ago, each with events.
func (i *instance) oldJobs(n, days, events int) {
	i.t.Helper()
	i.Exec(`WITH made AS (INSERT INTO jobs (kind, status, target_kind, target_id, target_name, event_count, created_at, finished_at)
			SELECT 'vm.start', (ARRAY['succeeded', 'failed', 'canceled', 'unknown'])[1 + n % 4], 'vm', n, 'vm', $3,
			now() - $2 * interval '1 day', now() - $2 * interval '1 day' FROM generate_series(1, $1::int) n RETURNING id)
		INSERT INTO job_events (job_id, seq, kind, text) SELECT id, seq, 'log', 'line' FROM made, generate_series(1, $3::int) seq`, n, days,
		events)
}

func TestJobs(t *testing.T) {
	t.Parallel()
	i := start(t, dbtest.URL(t), maintenance.Config{})
	i.oldJobs(1201, 91, 3)
	i.oldJobs(10, 89, 3)
	i.Exec(`INSERT INTO jobs (kind, status, target_kind, target_id, target_name, created_at) VALUES ('vm.start', 'queued', 'vm', 1, ` +
		`'unfinished', now() - interval '1 year'), ('vm.start', 'running', 'vm', 2, 'unfinished', now() - interval '1 year')`)
	text := i.did("jobs.prune")
	want(t, text, "deleted 1201 jobs that ended before ")
	if left := i.Value("SELECT (SELECT count(*) FROM jobs WHERE kind = 'vm.start') || ' ' || (SELECT count(*) FROM job_events WHERE kind " +
		"= 'log')"); left != "12 30" {
		t.Errorf("left: %s", left)
	}
	if rows := i.trail("jobs.prune"); rows != `system {"jobs": 1201} true` {
		t.Errorf("the audit log has %s", rows)
	}
	// Another time holds with the next run.
	i.set(`{"jobs.keep_days": 1}`)
	want(t, i.did("jobs.prune"), "deleted 10 jobs")
}

// A batch is bounded by lines too: the rows that go with the jobs.
func TestJobsWithLongTranscripts(t *testing.T) {
	t.Parallel()
	i := start(t, dbtest.URL(t), maintenance.Config{})
	i.oldJobs(5, 100, 10)
	i.Exec("UPDATE jobs SET event_count = 30000")
	want(t, i.did("jobs.prune"), "deleted 5 jobs")
}

func TestAudit(t *testing.T) {
	t.Parallel()
	rows := &trail{rows: 3}
	i := start(t, dbtest.URL(t), maintenance.Config{AuditLog: rows})
	want(t, i.did("audit.prune"), "audit.retention_days is 0")
	if len(rows.before) != 0 {
		t.Error("the audit log was shortened all the same")
	}
	i.set(`{"audit.retention_days": 30}`)
	began := time.Now()
	want(t, i.did("audit.prune"), "deleted 3 rows of the audit log from before ")
	asked := rows.before[0].Add(30 * 24 * time.Hour)
	if asked.Before(began.Add(-time.Second)) || asked.After(time.Now().Add(time.Second)) {
		t.Errorf("rows older than %s went", time.Since(rows.before[0]))
	}
	if left := i.trail("audit.prune"); left != "" {
		t.Errorf("a row beside that of the audit log itself: %s", left)
	}
	if len(rows.blanked) != 0 {
		t.Error("addresses were taken out all the same")
	}
	i.set(`{"audit.retention_days": 0, "audit.address_days": 7}`)
	began = time.Now()
	want(t, i.did("audit.prune"), "removed the addresses from 3 rows of the audit log from before ")
	asked = rows.blanked[0].Add(7 * 24 * time.Hour)
	if asked.Before(began.Add(-time.Second)) || asked.After(time.Now().Add(time.Second)) {
		t.Errorf("addresses were taken out of rows older than %s", time.Since(rows.blanked[0]))
	}
	rows.err = errors.New("canary")
	id := i.enqueue("audit.prune")
	if text := i.ended(id, job.Failed); strings.Contains(text, "canary") {
		t.Errorf("the cause is told:\n%s", text)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	i := start(t, dbtest.URL(t), maintenance.Config{})
	today := metric.Day(time.Now())
	for _, age := range []int{1, 4} {
		if err := metric.EnsurePartitions(t.Context(), i.db, today.AddDate(0, 0, -age)); err != nil {
			t.Fatal(err)
		}
	}
	i.Exec(`INSERT INTO metric_samples (at, target_kind, target_id, cpu, net_in) SELECT at, 'guest', 1, 0.5, extract(epoch FROM at)::bigint
		FROM generate_series($1::timestamptz, now(), interval '7 minutes') at`, today.AddDate(0, 0, -4))
	text := i.did("metrics.maintain")
	want(t, text, "rolled up 5m to ", "rolled up 1h to ",
		"dropped the samples of the partition that starts on "+today.AddDate(0, 0, -4).Format(time.DateOnly))
	days, err := metric.Partitions(t.Context(), i.db, metric.Raw)
	if err != nil || days[0].Before(today.AddDate(0, 0, -3)) {
		t.Errorf("samples are kept from %v, %v", days, err)
	}
	if from := i.Value("SELECT min(at) = $1 AND sum(samples) > 800 FROM metric_1h", today.AddDate(0, 0, -4)); from != "true" {
		t.Error("what was dropped had not been rolled up")
	}
	if rows := i.trail("metrics.maintain"); !strings.HasPrefix(rows, `system {"partitions": `) || strings.Contains(rows, ",") {
		t.Errorf("the audit log has %s", rows)
	}
	want(t, i.did("metrics.maintain"), "succeeded")
	if rows := i.trail("metrics.maintain"); strings.Contains(rows, ", ") {
		t.Errorf("a run that dropped nothing left a row: %s", rows)
	}
}

// Old samples are not dropped before they are rolled up, even when rolling up fails.
func TestMetricsKeepsWhatIsNotRolledUp(t *testing.T) {
	t.Parallel()
	i := start(t, dbtest.URL(t), maintenance.Config{})
	old := metric.Day(time.Now()).AddDate(0, 0, -9)
	if err := metric.EnsurePartitions(t.Context(), i.db, old); err != nil {
		t.Fatal(err)
	}
	i.Exec("INSERT INTO metric_samples (at, target_kind, target_id, cpu) VALUES ($1, 'guest', 1, 0.5)", old)
	i.Exec("ALTER TABLE metric_5m ADD CONSTRAINT broken CHECK (cpu_avg <> 0.5)")
	i.ended(i.enqueue("metrics.maintain"), job.Failed)
	if n := i.Value("SELECT count(*) FROM metric_samples"); n != "1" {
		t.Fatalf("%s samples are left, want 1", n)
	}
	i.Exec("ALTER TABLE metric_5m DROP CONSTRAINT broken")
	i.did("metrics.maintain")
	if n := i.Value("SELECT (SELECT count(*) FROM metric_samples) || ' ' || (SELECT count(*) FROM metric_5m)"); n != "0 1" {
		t.Errorf("samples and rows of five minutes: %s", n)
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	i := start(t, dbtest.URL(t), maintenance.Config{Sessions: &slow{gate: make(chan struct{})}})
	as := func(role identity.Role, team int64) context.Context {
		return identity.WithCaller(t.Context(), &identity.Caller{Teams: map[int64]identity.Role{team: role}})
	}
	for name, kind := range i.kinds {
		if _, err := kind.Prepare(t.Context(), json.RawMessage(`{"days": 1}`)); problem.CodeOf(err) != problem.CodeInvalid || err == nil {
			t.Errorf("%s takes parameters: %v", name, err)
		}
		for _, ctx := range []context.Context{as(identity.Operator, 1), as(identity.Owner, 7)} {
			if _, err := kind.Prepare(ctx, json.RawMessage(`{}`)); problem.CodeOf(err) != problem.CodeForbidden || err == nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := kind.Prepare(as(identity.Admin, 1), json.RawMessage(`{}`)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// At most one of a kind at a time.
	id := i.enqueue("sessions.prune")
	if _, err := i.ask(t.Context(), "sessions.prune"); problem.CodeOf(err) != problem.CodeGuestBusy || err == nil {
		t.Errorf("a second one: %v", err)
	}
	j, err := i.Get(t.Context(), id, everything)
	if err != nil || j.Target.Kind != "instance" || j.TeamID != nil {
		t.Errorf("%+v, %v", j, err)
	}
	if _, err := i.Get(t.Context(), id, identity.VisibleTeams{Teams: []int64{1, 7}}); problem.CodeOf(err) != problem.CodeNotFound ||
		err == nil {
		t.Errorf("a team sees the instance's job: %v", err)
	}
}

// The schedules that come with the service ask for kinds that there are.
func TestSeeds(t *testing.T) {
	t.Parallel()
	i := prepare(t, dbtest.URL(t), maintenance.Config{})
	if n := i.Value("SELECT count(*) FROM schedules WHERE seeded AND enabled AND timezone = 'UTC' AND writer_id IS NULL AND job_kind = "+
		"ANY($1)", []string{"sessions.prune", "jobs.prune", "audit.prune", "metrics.maintain"}); n != "4" || len(i.kinds) != 4 {
		t.Errorf("%s schedules for %d kinds", n, len(i.kinds))
	}
}

// slow deletes a row each time the gate lets it.
type slow struct {
	gate chan struct{}
	mu   sync.Mutex
	done int
}

func (s *slow) Prune(ctx context.Context) (int64, error) {
	select {
	case _, open := <-s.gate:
		if !open {
			return 0, nil
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.done++
		return 1, nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

func TestCancelEndsAtABatchAndTellsWhatWasDone(t *testing.T) {
	t.Parallel()
	store := &slow{gate: make(chan struct{})}
	i := start(t, dbtest.URL(t), maintenance.Config{Sessions: store})
	id := i.enqueue("sessions.prune")
	store.gate <- struct{}{}
	store.gate <- struct{}{}
	waittest.Until(t, "both are noted", func() bool {
		return i.Value("SELECT progress ->> 'work' FROM jobs WHERE id = $1", id) == `{"deleted": 2}`
	})
	if _, err := i.RequestCancel(t.Context(), id, everything); err != nil {
		t.Fatal(err)
	}
	want(t, i.ended(id, job.Canceled), "deleted 2 rows")
	if rows := i.trail("sessions.prune"); rows != `system {"rows": 2} true` {
		t.Errorf("the audit log has %s", rows)
	}
}

// A service that stops leaves the job to another instance, which counts on.
func TestStopIsResumedElsewhere(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	one, two := &slow{gate: make(chan struct{})}, &slow{gate: make(chan struct{}, 1)}
	i := start(t, url, maintenance.Config{Sessions: one})
	id := i.enqueue("sessions.prune")
	one.gate <- struct{}{}
	waittest.Until(t, "it is noted", func() bool {
		return i.Value("SELECT coalesce(progress ->> 'work', '') FROM jobs WHERE id = $1", id) == `{"deleted": 1}`
	})
	if err := i.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rows := i.trail("sessions.prune"); rows != "" {
		t.Errorf("the audit log has %s too early", rows)
	}
	two.gate <- struct{}{}
	close(two.gate)
	other := start(t, url, maintenance.Config{Sessions: two})
	want(t, other.ended(id, job.Succeeded), "continues (run 2)")
	if rows := other.trail("sessions.prune"); rows != `system {"rows": 2} true` {
		t.Errorf("the audit log has %s", rows)
	}
}

// Two instances are asked for the same at the same time, again and again: one job at a time, nothing lost, nothing twice.
func TestTwoInstancesAtOnce(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	a, b := start(t, url, maintenance.Config{}), start(t, url, maintenance.Config{})
	a.oldJobs(1700, 100, 1)
	var wg sync.WaitGroup
	for _, i := range []*instance{a, b, a, b} {
		for _, kind := range []string{"jobs.prune", "metrics.maintain", "sessions.prune"} {
			wg.Go(func() {
				if _, err := i.ask(t.Context(), kind); err != nil && problem.CodeOf(err) != problem.CodeGuestBusy {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	waittest.Until(t, "all jobs have ended", func() bool { return a.Value("SELECT count(*) FROM jobs WHERE finished_at IS NULL") == "0" })
	if n := a.Value("SELECT count(*) FROM jobs WHERE kind <> 'vm.start' AND status <> 'succeeded'"); n != "0" {
		t.Errorf("%s jobs did not end well", n)
	}
	if n := a.Value("SELECT (SELECT count(*) FROM jobs WHERE kind = 'vm.start') || ' ' || (SELECT sum((details ->> 'jobs')::int) FROM " +
		"audit WHERE action = 'jobs.prune')"); n != "0 1700" {
		t.Errorf("jobs left and deleted: %s", n)
	}
}
