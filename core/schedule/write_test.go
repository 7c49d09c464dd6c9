package schedule_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
)

func TestUpdate(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ann, bob := b.user(identity.Admin), b.user(identity.Admin)
	s := b.create(ann, hourly)
	one := *s.NextRunAt
	b.at(noon.Add(10 * time.Minute))
	tests := []struct {
		name    string
		change  func(*schedule.Input)
		next    time.Time
		changed string
	}{
		{"name", func(d *schedule.Input) { d.Name = "  Other " }, one, `["name", "writer"]`},
		{"params", func(d *schedule.Input) { d.Params = []byte(`{"thing_id":2}`) }, one, `["params"]`},
		{"the same", func(d *schedule.Input) { d.Params = []byte(`{ "thing_id" : 2 }`) }, one, `[]`},
		{"cron", func(d *schedule.Input) { d.Cron = "30  14 * * *" }, time.Date(2026, 5, 4, 14, 30, 0, 0, time.UTC), `["cron"]`},
		{"timezone", func(d *schedule.Input) { d.Timezone = "Europe/Berlin" }, time.Date(2026, 5, 4, 12, 30, 0, 0, time.UTC), `["timezone"]`},
		{"off", func(d *schedule.Input) { d.Enabled = false }, time.Time{}, `["enabled"]`},
		{"cron while off", func(d *schedule.Input) { d.Cron = "45 14 * * *" }, time.Time{}, `["cron"]`},
		{"on", func(d *schedule.Input) { d.Enabled = true }, time.Date(2026, 5, 4, 12, 45, 0, 0, time.UTC), `["enabled"]`},
	}
	for _, test := range tests {
		now, err := b.store.Update(b.as(bob), s.ID, test.change, nil)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if test.next.IsZero() != (now.NextRunAt == nil) || now.NextRunAt != nil && !now.NextRunAt.Equal(test.next) || *now.Writer.ID != bob.ID {
			t.Errorf("%s: %+v", test.name, now)
		}
		b.expect(test.changed, "SELECT details->'changed' FROM audit ORDER BY id DESC LIMIT 1")
	}
	if now := b.get(s.ID); now.Name != "Other" || now.Cron != "45 14 * * *" {
		t.Errorf("%+v", now)
	}
}

func TestUpdateChecksKindAndParametersTogether(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ann := b.user(identity.Admin)
	s := b.create(ann, hourly)
	b.refuse(problem.New(problem.CodeNotFound, "gone"))
	update := func(change func(*schedule.Input)) error {
		_, err := b.store.Update(b.as(ann), s.ID, change, nil)
		return err
	}
	if err := update(func(d *schedule.Input) { d.Name = "x" }); problem.CodeOf(err) != problem.CodeNotFound {
		t.Errorf("a name: %v", err)
	}
	if err := update(func(d *schedule.Input) {
		d.Enabled, d.Params = false,
			[]byte(`{"thing_id":5}`)
	}); problem.CodeOf(err) != problem.CodeNotFound {
		t.Errorf("other parameters and off: %v", err)
	}
	if err := update(func(d *schedule.Input) { d.Enabled, d.Params = false, []byte(`{ "thing_id": 1 }`) }); err != nil {
		t.Errorf("off: %v", err)
	}
	if err := update(func(d *schedule.Input) { d.Enabled = true }); problem.CodeOf(err) != problem.CodeNotFound {
		t.Errorf("on: %v", err)
	}
	if _, err := b.store.RunNow(b.as(ann), s.ID); problem.CodeOf(err) != problem.CodeNotFound {
		t.Errorf("run: %v", err)
	}
}

func TestFaultsAreToldTogether(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	_, err := b.store.Create(b.as(b.user(identity.Owner)),
		schedule.Input{Name: " \t", Cron: "0 0 31 2 *", Timezone: "Local", JobKind: "nothing", Enabled: true}, nil)
	var at []string
	for _, f := range problem.From(err).Faults {
		at = append(at, f.Loc[1].(string))
		if f.Loc[1] == "job_kind" && !strings.Contains(f.Msg, "touch") {
			t.Errorf("the known kinds are not named: %s", f.Msg)
		}
	}
	if !slices.Equal(at, []string{"name", "cron", "timezone", "job_kind"}) {
		t.Errorf("%v: %v", at, err)
	}
}

func TestRunNow(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ann, bob := b.user(identity.Admin), b.user(identity.Operator)
	s := b.create(ann, hourly)
	b.at(noon.Add(5 * time.Minute))
	run, err := b.store.RunNow(b.as(bob), s.ID)
	if err != nil || len(run) != 1 {
		t.Fatalf("%+v, %v", run, err)
	}
	made := run[0]
	if *made.RequestedBy != bob.ID || *made.ScheduleID != s.ID || *made.View().ScheduleID != s.ID {
		t.Fatalf("%+v, %v", made, err)
	}
	if b.preparedFor[len(b.preparedFor)-1] != ann.ID {
		t.Errorf("prepared for %v", b.preparedFor)
	}
	now := b.get(s.ID)
	if !isAt(now.NextRunAt, *s.NextRunAt) || now.LastRunAt != nil || now.LastJobID != nil || !now.UpdatedAt.Equal(s.UpdatedAt) {
		t.Errorf("%+v", now)
	}
	b.expect(bob.Email+" Hourly "+ann.Email,
		"SELECT concat_ws(' ', actor_email, target_name, details->>'writer') FROM audit WHERE job_id = $1", made.ID)
	if _, err := b.store.RunNow(b.as(bob), 999); problem.CodeOf(err) != problem.CodeNotFound {
		t.Errorf("%v", err)
	}
	// The one who presses has the rank, the writer has lost it.
	b.Exec("UPDATE team_members SET role = 'viewer' WHERE user_id = $1", ann.ID)
	if _, err := b.store.RunNow(b.as(bob), s.ID); problem.CodeOf(err) != problem.CodeForbidden || !strings.Contains(err.Error(), ann.Email) {
		t.Errorf("%v", err)
	}
	b.expect("1", "SELECT count(*) FROM jobs")
}

// What was checked is what is started: a schedule that is written between is checked anew, as its new writer.
func TestRunNowOfAScheduleThatIsWritten(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ann, bob := b.user(identity.Admin), b.user(identity.Owner)
	s := b.create(ann, hourly)
	b.store.SetHook(func(int64) {
		b.store.SetHook(func(int64) {})
		if _, err := b.store.Update(b.as(bob), s.ID, func(d *schedule.Input) { d.Params = []byte(`{"thing_id":2}`) }, nil); err != nil {
			t.Error(err)
		}
	})
	made, err := b.store.RunNow(b.as(ann), s.ID)
	if err != nil || made[0].Target.ID != 2 || b.preparedFor[len(b.preparedFor)-1] != bob.ID {
		t.Errorf("%+v, %v, prepared for %v", made, err, b.preparedFor)
	}
	b.expect("1", "SELECT count(*) FROM jobs")
}

func TestDeletedScheduleLeavesItsJobs(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ann := b.user(identity.Admin)
	s := b.create(ann, hourly)
	b.at(noon.Add(time.Hour))
	b.sweep()
	if err := b.store.Delete(b.as(ann), s.ID); err != nil {
		t.Fatal(err)
	}
	b.expect("1", "SELECT count(*) FROM jobs WHERE schedule_id IS NULL")
	if err := b.store.Delete(b.as(ann), s.ID); problem.CodeOf(err) != problem.CodeNotFound {
		t.Errorf("%v", err)
	}
	b.at(noon.Add(2 * time.Hour))
	b.sweep()
	b.expect("1", "SELECT count(*) FROM jobs")
}

// A schedule runs with all the rights of its writer: a key that reaches less far must not write one.
func TestKeyWithScopes(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ann := b.user(identity.Admin)
	with := func(scopes ...string) context.Context {
		ctx := b.as(ann)
		caller := *identity.FromContext(ctx)
		caller.KeyID, caller.Scopes = 1, scopes
		return identity.WithCaller(ctx, &caller)
	}
	if _, err := b.store.Create(with("schedules:write"), hourly, nil); problem.CodeOf(err) != problem.CodeForbidden {
		t.Errorf("%v", err)
	}
	if _, err := b.store.Create(with("schedules:write", "read"), hourly, nil); problem.CodeOf(err) != problem.CodeForbidden {
		t.Errorf("%v", err)
	}
	s, err := b.store.Create(with("schedules:write", "things:write"), hourly, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*schedule.Input){
		"a name": func(d *schedule.Input) { d.Name = "x" }, "off": func(d *schedule.Input) { d.Enabled = false },
	} {
		if _, err := b.store.Update(with("schedules:write"), s.ID, change, nil); problem.CodeOf(err) != problem.CodeForbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.store.RunNow(with("schedules:write"), s.ID); problem.CodeOf(err) != problem.CodeForbidden {
		t.Errorf("run: %v", err)
	}
	b.expect("0", "SELECT count(*) FROM jobs")
	if _, err := b.store.RunNow(with("schedules:write", "things:write"), s.ID); err != nil {
		t.Errorf("run: %v", err)
	}
}

// Lists show the parameters of schedules, so that these are bounded. What an older release kept stays, and all else of it can be changed.
func TestLongParameters(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ann := b.user(identity.Owner)
	params := json.RawMessage(`{"thing_id":1,"text":"` + strings.Repeat("x", 256<<10) + `"}`)
	lengthen := func(d *schedule.Input) { d.Params = params }
	check := func(schedule.Kind, json.RawMessage) []problem.Fault { return nil }
	long := hourly
	lengthen(&long)
	_, err := b.store.Create(b.as(ann), long, check)
	if faults := problem.From(err).Faults; len(faults) != 1 || fmt.Sprint(faults[0].Loc) != "[body params]" {
		t.Errorf("a new one: %v: %v", faults, err)
	}
	s := b.create(ann, hourly)
	_, err = b.store.Update(b.as(ann), s.ID, lengthen, check)
	if faults := problem.From(err).Faults; len(faults) != 1 || fmt.Sprint(faults[0].Loc) != "[body params]" {
		t.Errorf("one that becomes long: %v: %v", faults, err)
	}
	b.Exec("UPDATE schedules SET params = $1 WHERE id = $2", params, s.ID)
	s, err = b.store.Update(b.as(ann), s.ID, func(d *schedule.Input) { d.Name = "another name" }, check)
	if err != nil || s.Name != "another name" || len(s.Params) < len(params) {
		t.Errorf("one of an older release: %v", err)
	}
}

func TestSchedulesDoNotGatherWithoutBound(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ann := b.user(identity.Admin)
	s := b.create(ann, hourly)
	b.Exec("INSERT INTO schedules (name, cron, job_kind) SELECT 'n', '0 0 * * *', 'touch' FROM generate_series(2, $1)", schedule.MaxSchedules)
	if _, err := b.store.Create(b.as(ann), hourly, nil); problem.CodeOf(err) != problem.CodeConflict {
		t.Errorf("%v", err)
	}
	if err := b.store.Delete(b.as(ann), s.ID); err != nil {
		t.Fatal(err)
	}
	b.create(ann, hourly)
}

func TestTwoKindsOfOneName(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	kind := schedule.NewKind("a.b", "", func(context.Context, struct{}) (schedule.Enqueue, error) { return nil, nil })
	schedule.New(schedule.Config{Kinds: []schedule.Kind{kind, kind}})
}
