package schedule_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/internal/waittest"
)

func TestDueScheduleStartsOneJob(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ann := b.user(identity.Operator)
	s := b.create(ann, hourly)
	one := noon.Truncate(time.Hour).Add(time.Hour)
	if !isAt(s.NextRunAt, one) || s.Writer.Email != ann.Email || *s.Writer.ID != ann.ID {
		t.Fatalf("%+v", s)
	}
	if wait := b.sweep(); wait != one.Sub(noon) {
		t.Errorf("waits %s", wait)
	}
	b.expect("0", "SELECT count(*) FROM jobs")
	b.at(one)
	b.sweep()
	b.sweep()
	b.expect("1", "SELECT count(*) FROM jobs WHERE schedule_id = $1 AND requested_by IS NULL AND requested_by_email = ''", s.ID)
	now := b.get(s.ID)
	if !isAt(now.LastRunAt, one) || !isAt(now.NextRunAt, one.Add(time.Hour)) || now.LastJobID == nil || !now.UpdatedAt.Equal(s.UpdatedAt) {
		t.Errorf("%+v", now)
	}
	b.expect("schedule.fire system Hourly ok t "+ann.Email,
		`SELECT concat_ws(' ', action, actor_type, target_name, result, job_id = $1, details->>'writer') FROM audit
			WHERE target_kind = 'schedule' AND action LIKE 'schedule.%'`, *now.LastJobID)
}

func TestLateScheduleStartsOneJob(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	s := b.create(b.user(identity.Admin), hourly)
	late := noon.Add(50*time.Hour + 17*time.Minute)
	b.at(late)
	b.sweep()
	b.expect("1", "SELECT count(*) FROM jobs")
	if now := b.get(s.ID); !isAt(now.NextRunAt, late.Truncate(time.Hour).Add(time.Hour)) {
		t.Errorf("next at %s", now.NextRunAt)
	}
}

// Two instances find the same schedule due, and both have made their checks before either begins its transaction.
func TestTwoInstancesStartOneJob(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	other := b.instance(dbtest.Open(t, b.url))
	s := b.create(b.user(identity.Operator), hourly)
	const rounds = 40
	for round := range rounds {
		b.at(noon.Add(time.Duration(round+1) * time.Hour))
		var ready, done sync.WaitGroup
		ready.Add(2)
		for _, store := range []*schedule.Store{b.store, other} {
			var first sync.Once
			store.SetHook(func(int64) { first.Do(func() { ready.Done(); ready.Wait() }) })
			done.Go(func() {
				if _, err := store.Sweep(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		done.Wait()
	}
	b.expect("40 40", "SELECT concat(count(*), ' ', count(DISTINCT created_at)) FROM jobs WHERE schedule_id = $1", s.ID)
	b.expect("40", "SELECT count(*) FROM audit WHERE action = 'schedule.fire' AND result = 'ok'")
}

// A process that dies after its checks has done nothing; another fires the schedule.
func TestKilledBeforeTheTransaction(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	s := b.create(b.user(identity.Operator), hourly)
	b.at(noon.Add(time.Hour))
	ctx, die := context.WithCancel(t.Context())
	b.store.SetHook(func(int64) { die() })
	if _, err := b.store.Sweep(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if now := b.get(s.ID); !isAt(now.NextRunAt, *s.NextRunAt) || now.LastError != "" || !now.Enabled {
		t.Errorf("%+v", now)
	}
	b.expect("0", "SELECT count(*) FROM jobs")
	if _, err := b.instance(b.db).Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.expect("1", "SELECT count(*) FROM jobs")
}

// What was checked is what is started: a schedule that is written between is looked at anew.
func TestWrittenBetweenCheckAndStart(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	admin := b.user(identity.Admin)
	s := b.create(admin, hourly)
	b.at(noon.Add(time.Hour))
	b.store.SetHook(func(int64) {
		b.store.SetHook(func(int64) {})
		if _, err := b.store.Update(b.as(admin), s.ID, func(d *schedule.Input) { d.Params = []byte(`{"thing_id":2}`) }, nil); err != nil {
			t.Error(err)
		}
	})
	b.sweep()
	b.expect("0", "SELECT count(*) FROM jobs")
	b.sweep()
	b.expect("2", "SELECT string_agg(target_id::text, ',') FROM jobs")
}

func TestWhatKeepsADueSchedule(t *testing.T) {
	t.Parallel()
	tests := []struct {
		code problem.Code
		off  bool
	}{
		{problem.CodeForbidden, true}, {problem.CodeNotFound, true}, {problem.CodeEntitlementRequired, true}, {problem.CodeInvalid, true},
		{problem.CodeSelfTarget, true}, {problem.CodeConfirmRequired, true},
		{problem.CodeGuestBusy, false}, {problem.CodeCapabilityMissing, false}, {problem.CodeInvalidState, false},
		{problem.CodeInternal, false}, {problem.CodeConflict, false}, {problem.CodeHypervisorError, false},
	}
	for _, test := range tests {
		t.Run(string(test.code), func(t *testing.T) {
			t.Parallel()
			b := newFixture(t)
			writer := b.user(identity.Operator)
			s := b.create(writer, hourly)
			next := b.create(b.user(identity.Operator), hourly)
			b.Exec("UPDATE schedules SET params = '{\"nothing\":1}' WHERE id = $1", next.ID)
			due := *s.NextRunAt
			b.at(due)
			b.refuse(problem.New(test.code, "because of this\x00"))
			b.sweep()
			now, reason := b.get(s.ID), "because of this"
			if test.code == problem.CodeForbidden {
				reason = "the rights of " + writer.Email + ", who last saved the schedule, are not sufficient: " + reason
			}
			if now.Enabled == test.off || now.LastError != reason || (now.DisabledReason != "") != test.off || now.LastRunAt != nil {
				t.Errorf("%+v", now)
			}
			if test.off != (now.NextRunAt == nil) || !test.off && !isAt(now.NextRunAt, due.Add(time.Hour)) {
				t.Errorf("next at %s", now.NextRunAt)
			}
			want := "schedule.fire failed " + string(test.code) + " because of this"
			if test.off {
				want = "schedule.disable ok  " + reason
			}
			b.expect(want, "SELECT concat_ws(' ', action, result, error, details->>'reason') FROM audit WHERE target_id = $1::bigint::text AND "+
				"actor_type = 'system'", s.ID)
			if other := b.get(next.ID); other.Enabled || !strings.Contains(other.DisabledReason, "parameters") {
				t.Errorf("the other schedule was not looked at: %+v", other)
			}
			b.expect("0", "SELECT count(*) FROM jobs")
			b.refuse(nil)
			b.at(due.Add(time.Hour))
			b.sweep()
			b.expect(map[bool]string{true: "0", false: "1"}[test.off], "SELECT count(*) FROM jobs")
			if !test.off {
				if now := b.get(s.ID); now.LastError != "" {
					t.Errorf("%+v", now)
				}
			}
		})
	}
}

// Nobody loses a nightly run because the database was failing over just then.
func TestDatabaseThatIsAwayCostsNoRun(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	s := b.create(b.user(identity.Operator), hourly)
	other := b.create(b.user(identity.Operator), hourly)
	b.at(*s.NextRunAt)
	for _, away := range []error{problem.New(problem.CodeDatabaseUnavailable, "away"), db.Problem(&pgconn.PgError{Code: "57P01"})} {
		b.refuse(away)
		if wait := b.sweep(); wait > time.Second {
			t.Errorf("it looks again in %s", wait)
		}
		for _, id := range []int64{s.ID, other.ID} {
			if now := b.get(id); !now.Enabled || !isAt(now.NextRunAt, *s.NextRunAt) || now.LastError != "" {
				t.Errorf("%+v", now)
			}
		}
	}
	b.refuse(nil)
	b.sweep()
	b.expect("2", "SELECT count(*) FROM jobs")
}

// During an update an older release finds a schedule due that it knows nothing of: the newer one runs it.
func TestKindOfAnotherRelease(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	s := b.create(b.user(identity.Operator), hourly)
	config := b.config(b.db)
	config.Kinds = nil
	older := schedule.New(config)
	look := func(at time.Time) *schedule.Schedule {
		t.Helper()
		b.at(at)
		if _, err := older.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		return b.get(s.ID)
	}
	due := *s.NextRunAt
	if now := look(due.Add(59 * time.Second)); !now.Enabled || !isAt(now.NextRunAt, due) || now.LastError != "" {
		t.Errorf("%+v", now)
	}
	b.sweep()
	b.expect("1", "SELECT count(*) FROM jobs")
	// Nobody knows it: that is told, and it costs a run and not the schedule.
	due = due.Add(time.Hour)
	if now := look(due.Add(time.Minute)); !now.Enabled || !isAt(now.NextRunAt, due.Add(time.Hour)) ||
		!strings.Contains(now.LastError, "no running instance supports jobs") {
		t.Errorf("%+v", now)
	}
	b.at(due.Add(time.Hour))
	b.sweep()
	b.expect("2", "SELECT count(*) FROM jobs")
}

// What Prepare returned is called once; a transaction that was given up is prepared anew.
func TestCollidedTransaction(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ann := b.user(identity.Operator)
	s := b.create(ann, hourly)
	other := hourly
	other.Params = []byte(`{"thing_id":2}`)
	b.create(ann, other)
	b.at(noon.Add(time.Hour))
	b.collisions = 1
	if wait := b.sweep(); wait > time.Second {
		t.Errorf("tried again only after %s", wait)
	}
	if now := b.get(s.ID); !isAt(now.NextRunAt, *s.NextRunAt) || now.LastError != "" {
		t.Errorf("%+v", now)
	}
	b.expect("2", "SELECT string_agg(target_id::text, ',') FROM jobs") // the other schedule need not wait
	b.sweep()
	b.expect("2", "SELECT count(*) FROM jobs")
	b.collisions = 2
	if _, err := b.store.RunNow(b.as(ann), s.ID); err != nil {
		t.Error(err)
	}
	b.expect("3", "SELECT count(*) FROM jobs")
	if len(b.preparedFor) != 2+3+3 {
		t.Errorf("prepared %d times", len(b.preparedFor))
	}
}

func TestBusyThingCostsOneRun(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	d := hourly
	d.Params = []byte(`{"thing_id":7,"alone":true}`)
	s := b.create(b.user(identity.Operator), d)
	for hour := range 2 {
		b.at(noon.Add(time.Duration(hour+1) * time.Hour))
		b.sweep()
	}
	b.expect("1", "SELECT count(*) FROM jobs")
	if now := b.get(s.ID); !now.Enabled || !strings.Contains(now.LastError, "not finished yet") ||
		!isAt(now.NextRunAt, s.NextRunAt.Add(2*time.Hour)) || !isAt(now.LastRunAt, noon.Add(time.Hour)) {
		t.Errorf("%+v", now)
	}
}

func TestPanicOfAKindCostsOneRun(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	s := b.create(b.user(identity.Operator), hourly)
	b.Exec(`UPDATE schedules SET params = '{"thing_id":1,"panic":true}'`)
	b.at(noon.Add(time.Hour))
	b.sweep()
	if now := b.get(s.ID); !now.Enabled || now.LastError == "" || !isAt(now.NextRunAt, s.NextRunAt.Add(time.Hour)) {
		t.Errorf("%+v", now)
	}
}

func TestWriterWhoMayNoLonger(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ sql, reason string }{
		"demoted": {"UPDATE team_members SET role = 'viewer' WHERE user_id = $1",
			"who last saved the schedule, are not sufficient: this requires the role operator"},
		"without": {"DELETE FROM team_members WHERE user_id = $1",
			"who last saved the schedule, are not sufficient: this requires the role operator"},
		"deactivated": {"UPDATE users SET is_active = false WHERE id = $1", "is not active"},
		"deleted":     {"DELETE FROM users WHERE id = $1", "is no longer a user"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t)
			ann, boss := b.user(identity.Operator), b.user(identity.Owner)
			s := b.create(ann, hourly)
			b.Exec(test.sql, ann.ID)
			if _, err := b.store.RunNow(b.as(boss), s.ID); problem.CodeOf(err) != problem.CodeForbidden ||
				!strings.Contains(err.Error(), ann.Email) {
				t.Errorf("run now: %v", err)
			}
			if now := b.get(s.ID); !now.Enabled || now.DisabledReason != "" {
				t.Errorf("run now changed the schedule: %+v", now)
			}
			b.at(noon.Add(time.Hour))
			b.sweep()
			now := b.get(s.ID)
			if now.Enabled || now.NextRunAt != nil || !strings.Contains(now.DisabledReason, test.reason) ||
				strings.Count(now.DisabledReason, ann.Email) != 1 || now.Writer.Email != ann.Email || now.Seeded {
				t.Errorf("%+v", now)
			}
			b.expect("0", "SELECT count(*) FROM jobs")
			// Whoever writes it makes it run again.
			again, err := b.store.Update(b.as(boss), s.ID, func(d *schedule.Input) { d.Enabled = true }, nil)
			if err != nil || !again.Enabled || again.DisabledReason != "" || *again.Writer.ID != boss.ID || again.NextRunAt == nil {
				t.Errorf("%+v, %v", again, err)
			}
		})
	}
}

func TestSeededScheduleRunsAsTheService(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.Exec(`INSERT INTO schedules (name, cron, job_kind, seeded, params) VALUES ('Came along', '0 3 * * *', 'touch', true, '{"thing_id":9}'),
		('Broken', '0 3 * * *', 'touch', true, '{"nothing":1}'), ('Unreadable', 'x', 'touch', true, '{}')`)
	b.sweep()
	three := time.Date(2026, 5, 5, 3, 0, 0, 0, time.UTC)
	if s := b.get(1); !isAt(s.NextRunAt, three) || s.Writer != nil || !s.Seeded || s.Timezone != "UTC" {
		t.Errorf("%+v", s)
	}
	if s := b.get(3); s.Enabled || !strings.Contains(s.DisabledReason, "five fields") {
		t.Errorf("%+v", s)
	}
	b.expect("0", "SELECT count(*) FROM jobs")
	b.at(three)
	b.sweep()
	b.expect("9 null", "SELECT concat(target_id, ' ', coalesce(requested_by::text, 'null')) FROM jobs WHERE schedule_id = 1")
	if s := b.get(2); s.Enabled || !strings.Contains(s.DisabledReason, "parameters") {
		t.Errorf("%+v", s)
	}
	if len(b.preparedFor) != 1 || b.preparedFor[0] != 0 {
		t.Errorf("prepared for %v", b.preparedFor)
	}
	b.expect("system the service itself", "SELECT concat(actor_type, ' ', details->>'writer') FROM audit WHERE action = 'schedule.fire'")
	ann := b.user(identity.Operator)
	made, err := b.store.RunNow(b.as(ann), 1)
	if err != nil || *made[0].RequestedBy != ann.ID || b.preparedFor[1] != 0 {
		t.Errorf("%+v, %v", made, err)
	}
	// Whoever changes it is its writer.
	s, err := b.store.Update(b.as(ann), 1, func(d *schedule.Input) { d.Cron = "0 4 * * *" }, nil)
	if err != nil || s.Seeded || s.Writer == nil || *s.Writer.ID != ann.ID {
		t.Errorf("%+v, %v", s, err)
	}
	b.Exec("DELETE FROM users WHERE id = $1", ann.ID)
	b.at(three.AddDate(0, 0, 2))
	b.sweep()
	if s := b.get(1); s.Enabled || !strings.Contains(s.DisabledReason, "no longer a user") {
		t.Errorf("a schedule whose writer is gone became the service's: %+v", s)
	}
}

// The loop with the database's own time: it sees what this instance and what another one writes.
func TestRun(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	config := b.config(b.db)
	config.Now = nil
	store := schedule.New(config)
	ctx, stop := context.WithCancel(t.Context())
	var loop sync.WaitGroup
	loop.Go(func() { store.Run(ctx) })
	defer loop.Wait()
	defer stop()
	far := hourly // the next time is at least eleven hours away, whenever the test runs
	far.Cron = b.Value("SELECT '0 ' || extract(hour FROM now() AT TIME ZONE 'UTC' + interval '12 hours')::int || ' * * *'")
	ann := b.user(identity.Operator)
	s, err := store.Create(b.as(ann), far, nil) // by the real clock: by the fixture's, it would be due at once
	if err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		b.Exec("UPDATE schedules SET next_run_at = now() - interval '1 second' WHERE id = $1", s.ID)
		waittest.Until(t, "a job comes", func() bool { return b.Value("SELECT count(*) > $1 FROM jobs", round) == "true" })
		b.expect("true", "SELECT next_run_at > now() AND next_run_at <= now() + interval '12 hours' AND last_run_at <= now() FROM schedules")
	}
	b.expect("3", "SELECT count(*) FROM jobs")
}
