package selfupdate_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/selfupdate"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/updater/installation"
)

func (i *instance) follow() {
	i.t.Helper()
	if err := i.SyncSchedule(i.t.Context()); err != nil {
		i.t.Fatal(err)
	}
}

// timetable is the schedules of looking for releases.
func (i *instance) timetable() string {
	i.t.Helper()
	return i.Value("SELECT coalesce(string_agg(id || ' ' || enabled || ' ' || seeded || ' ' || cron || ' ' || disabled_reason, ', ' " +
		"ORDER BY id), 'none') FROM schedules WHERE job_kind = 'update.check'")
}

func (i *instance) source(there bool) {
	i.Configure(func(c *installation.Config) {
		c.Source, c.Channel = "", ""
		if there {
			c.Source, c.Channel = i.Releases, "stable"
		}
	})
}

// The schedule goes with the configuration, and is the users' own in between.
func TestFollow(t *testing.T) {
	t.Parallel()
	i := start(t, nil)
	i.source(false)
	before := i.timetable()
	if !strings.Contains(before, " false true 0 4 * * * no source") {
		t.Fatal(before)
	}
	i.follow()
	if got := i.timetable(); got != before {
		t.Errorf("without a source: %s", got)
	}
	i.source(true)
	i.follow()
	on := i.timetable()
	if !regexp.MustCompile(`^\d+ true true \d+ \d+ \* \* \* $`).MatchString(on) {
		t.Errorf("with a source: %s", on)
	}
	again(t, i.url, i.Installation, nil).follow()
	if got := i.timetable(); got != on {
		t.Errorf("once more: %s after %s", got, on)
	}
	// Damaged is not gone.
	i.Write(i.File, "{")
	i.follow()
	if got := i.timetable(); got != on {
		t.Errorf("with a damaged configuration: %s", got)
	}
	// What a user does stays until the configuration comes anew.
	i.source(true)
	table := schedule.New(schedule.Config{DB: i.db, Users: identitytest.New(i.db), Kinds: i.Kinds()})
	admin := identitytest.As(t, identitytest.New(i.db), identity.Admin)
	ctx := identity.WithCaller(t.Context(),
		&identity.Caller{UserID: admin.ID, Email: admin.Email, Teams: map[int64]identity.Role{identity.DefaultTeam: identity.Admin}})
	all, _, err := table.List(ctx, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var id int64
	for _, s := range all {
		if s.JobKind == selfupdate.CheckKind {
			id = s.ID
		}
	}
	if _, err := table.Update(ctx, id, func(d *schedule.Input) { d.Enabled, d.Cron = false, "1 1 * * *" }, nil); err != nil {
		t.Fatal(err)
	}
	i.follow()
	off := fmt.Sprintf("%d false false 1 1 * * * ", id)
	if got := i.timetable(); got != off {
		t.Errorf("a user has switched it off: %s", got)
	}
	i.source(false)
	i.follow()
	i.source(true)
	i.follow()
	if got := i.timetable(); got != fmt.Sprintf("%d true false 1 1 * * * ", id) {
		t.Errorf("configured anew: %s", got)
	}
	i.source(false)
	i.follow()
	if got := i.timetable(); !strings.HasPrefix(got, fmt.Sprintf("%d false false 1 1 * * * no source", id)) {
		t.Errorf("not configured any more: %s", got)
	}
	i.source(true)
	i.follow()
	if err := table.Delete(ctx, id); err != nil {
		t.Fatal(err)
	}
	i.follow()
	if got := i.timetable(); got != "none" {
		t.Errorf("a user has deleted it: %s", got)
	}
	i.source(false)
	i.follow()
	i.source(true)
	i.follow()
	if got := i.timetable(); !regexp.MustCompile(`^\d+ true true \d+ \d+ \* \* \* $`).MatchString(got) {
		t.Errorf("made anew: %s", got)
	}
	if got, want := i.Value("SELECT string_agg(action || ' ' || actor_type, ', ' ORDER BY id) FROM audit"),
		"schedule.enable system, schedule.disable system, schedule.enable system"; !strings.HasPrefix(got, "schedule.enable system") ||
		!strings.HasSuffix(got, "schedule.create system") {
		t.Errorf("the audit log has %s, want %s …", got, want)
	}
}

// Many instances that start at once agree on one schedule and one time; installations do not all ask at the same minute.
func TestFollowAtOnce(t *testing.T) {
	t.Parallel()
	i := start(t, nil)
	instances := []*instance{i, again(t, i.url, i.Installation, nil), again(t, i.url, i.Installation, nil)}
	times := map[string]bool{}
	for range 8 {
		i.source(true)
		var wg sync.WaitGroup
		for n := range 9 {
			wg.Go(func() {
				if err := instances[n%3].SyncSchedule(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		times[i.timetable()] = true
		i.source(false)
		i.follow()
	}
	if n := i.Value("SELECT count(*) FILTER (WHERE action = 'schedule.enable') || ' ' || count(*) FILTER (WHERE action = " +
		"'schedule.disable') FROM audit"); n != "8 8" {
		t.Errorf("it was switched on and off %s times", n)
	}
	if len(times) < 4 {
		t.Errorf("the times are %v", times)
	}
}

// The job looks and says what it found; one that finds the source broken fails with the reason.
func TestCheckJob(t *testing.T) {
	t.Parallel()
	i := start(t, nil)
	if err := i.queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = i.queue.Stop(t.Context()) })
	kind := i.Kinds()[0]
	did := func() (status job.Status, text string) {
		t.Helper()
		enqueue, err := kind.Prepare(t.Context(), json.RawMessage("{}"))
		if err != nil {
			t.Fatal(err)
		}
		var id int64
		if err := i.db.Tx(t.Context(), func(tx *db.Tx) error {
			j, err := enqueue(t.Context(), tx)
			if err == nil {
				id = j.ID
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		waittest.Succeeds(t, "the job has ended", func() error {
			j, err := i.queue.Get(t.Context(), id, identity.VisibleTeams{All: true, Teams: []int64{}})
			if err == nil && !j.Status.Finished() {
				return fmt.Errorf("it is %s", j.Status)
			}
			if err == nil {
				status, text = j.Status, j.Error
			}
			return err
		})
		return status, text + i.Value("SELECT coalesce(string_agg(text, E'\n' ORDER BY seq), '') FROM job_events WHERE job_id = $1", id)
	}
	if status, text := did(); status != job.Failed || !strings.Contains(text, "manifest.json") {
		t.Errorf("nothing published: %s %s", status, text)
	}
	i.Publish("1.1.0", nil)
	if status, text := did(); status != job.Succeeded || !strings.Contains(text, "release 1.1.0 of stable can replace 1.0.0") {
		t.Errorf("%s %s", status, text)
	}
	if s := i.status(); s.Available == nil || s.Available.Version != "1.1.0" {
		t.Errorf("%+v", s)
	}
	i.Publish("1.1.1", nil)
	i.source(false)
	if status, text := did(); status != job.Failed || !strings.Contains(text, "no source") {
		t.Errorf("not configured: %s %s", status, text)
	}
	operator := identity.WithCaller(t.Context(),
		&identity.Caller{UserID: 1, Teams: map[int64]identity.Role{identity.DefaultTeam: identity.Operator, 7: identity.Owner}})
	if _, err := kind.Prepare(operator, json.RawMessage("{}")); err == nil || problem.CodeOf(err) != problem.CodeForbidden {
		t.Errorf("an operator: %v", err)
	}
	if _, err := kind.Prepare(t.Context(), json.RawMessage(`{"a":1}`)); err == nil || problem.CodeOf(err) != problem.CodeInvalid {
		t.Errorf("parameters: %v", err)
	}
}
