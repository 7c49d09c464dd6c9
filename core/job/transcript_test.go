package job_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

func (i *instance) do(t testing.TB, kind string) int64 {
	t.Helper()
	return i.enqueue(t, job.Spec{Kind: kind, Target: job.Target{Kind: "vm", ID: 1, Name: "a"}, TeamID: 1})
}

func TestTranscriptIsClean(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	i := w.start(t, map[string]job.Worker{"dirty": job.WorkerFunc(func(_ context.Context, run *job.Run) error {
		run.Log("nul \x00 escape \x1b[31m bad \xff end\r\nnext\ttab")
		run.Log(strings.Repeat("ö", 10_000))
		run.Log("key -----BEGIN PRIVATE KEY-----\ncanary\n-----END PRIVATE KEY----- and MHcCAQEEIAxU" + strings.Repeat("A", 40) + " end")
		return nil
	})})
	id := i.do(t, "dirty")
	i.ended(t, id, job.Succeeded)
	events, err := i.Events(t.Context(), id, 2, 10)
	if err != nil {
		t.Fatal(err)
	}
	if want := "nul  escape [31m bad \uFFFD end  next\ttab"; events[0].Text != want {
		t.Errorf("got %q, want %q", events[0].Text, want)
	}
	if got := events[1].Text; len(got) > 4096 || !strings.HasSuffix(got, "ö…") {
		t.Errorf("a long line has %d bytes and ends in %q", len(got), got[len(got)-8:])
	}
	if got, want := events[2].Text, "key [secret] and [secret] end"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The harness sets the bound to 500 lines; notes and the end come through all the same.
func TestTranscriptIsBounded(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	i := w.start(t, map[string]job.Worker{"loud": job.WorkerFunc(func(_ context.Context, run *job.Run) error {
		for n := range 5000 {
			run.Log(fmt.Sprintf("line %d", n))
		}
		run.Note("that was all")
		return nil
	})})
	id := i.do(t, "loud")
	i.ended(t, id, job.Succeeded)
	lines := strings.Split(i.transcript(t, id), "\n")
	if len(lines) > 503 || lines[len(lines)-2] != "note: that was all" || !strings.Contains(lines[len(lines)-3], "transcript is full") {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-3:])
	}
}

// A follower on another instance hears of events and of the end, and again after its database connection broke.
func TestHubFollowsOverInstances(t *testing.T) {
	if testing.Short() {
		t.Skip("runs several instances: make check runs it")
	}
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	say, done := make(chan string), make(chan struct{})
	kinds := map[string]job.Worker{"talk": job.WorkerFunc(func(ctx context.Context, run *job.Run) error {
		for {
			select {
			case line := <-say:
				run.Log(line)
			case <-done:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})}
	a, b := w.start(t, kinds), w.start(t, kinds)
	id := a.do(t, "talk")
	followed := b.Hub().Subscribe(id)
	defer followed.Close()
	seen := 0
	await := func(text string) {
		t.Helper()
		waittest.Until(t, "the follower saw "+text, func() bool {
			events, err := b.Events(t.Context(), id, seen, 100)
			if err != nil {
				return false
			}
			for _, e := range events {
				seen = e.Seq
				if e.Text == text {
					return true
				}
			}
			select {
			case <-followed.C:
			case <-time.After(time.Minute):
				t.Fatal("the follower was not woken")
			}
			return false
		})
	}
	await("running")
	say <- "first"
	await("first")
	_, err := a.db.Pool.Exec(t.Context(),
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%events'")
	if err != nil {
		t.Fatal(err)
	}
	say <- "second"
	await("second")
	close(done)
	await("succeeded")
}

func TestSubscriptionsOfASlowFollowerHoldNobodyUp(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	i := w.start(t, map[string]job.Worker{"loud": job.WorkerFunc(func(_ context.Context, run *job.Run) error {
		for n := range 400 {
			run.Log(fmt.Sprint(n))
		}
		return nil
	})})
	id := i.do(t, "loud")
	for range 50 {
		defer i.Hub().Subscribe(id).Close() // nobody receives
	}
	i.ended(t, id, job.Succeeded)
}

// However many jobs there are, few are read for those of a guest.
func TestListOfAGuestReadsFewRows(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	dbtest.Exec(t, d, `INSERT INTO jobs (kind, status, team_id, target_kind, target_id, target_name, exclusive)
		SELECT k, 'succeeded', 1, k, i, '', 'guest:' || i FROM generate_series(1, 3000) i, (VALUES ('vm'), ('backup')) k (k)`)
	dbtest.Exec(t, d, "ANALYZE")
	for _, kind := range []string{"vm", "app"} {
		rows, err := d.Pool.Query(t.Context(), "EXPLAIN SELECT id"+job.Listed, true, []int64{}, "", "", kind, 3, 0, []int64{})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		text := strings.Join(plan, "\n")
		if err != nil || strings.Contains(text, "Seq Scan on jobs") || !strings.Contains(text, "jobs_on_backups") {
			t.Errorf("%s: %v\n%s", kind, err, text)
		}
	}
}

func TestListIsFilteredAndScoped(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	nothing := job.WorkerFunc(func(context.Context, *job.Run) error { return nil })
	i := w.add(t, map[string]job.Worker{"vm.start": nothing, "app.stop": nothing, "back": nothing})
	inventorytest.Write(t, i.db, inventorytest.Cluster{Hosts: []inventorytest.Host{{Name: "h", Node: "n"}},
		Guests: []inventorytest.Guest{{VMID: 100, Container: true, Name: "wiki"}}})
	dbtest.Exec(t, i.db, `INSERT INTO apps (host_id, cluster_id, guest_id, guest_ref, name) SELECT host_id, cluster_id, id, ref, name
		FROM guests`)
	if _, err := i.db.Pool.Exec(t.Context(), "INSERT INTO teams (id, name, slug) VALUES (2, 'Two', 'two')"); err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		i.enqueue(t, job.Spec{Kind: "vm.start", Target: job.Target{Kind: "vm", ID: int64(n)}, TeamID: 1})
	}
	foreign := i.enqueue(t, job.Spec{Kind: "app.stop", Target: job.Target{Kind: "app", ID: 3}, TeamID: 2})
	system := i.enqueue(t, job.Spec{Kind: "app.stop", Target: job.Target{Kind: "host", ID: 9}})
	i.enqueue(t, job.Spec{Kind: "back", Target: job.Target{Kind: "backup", ID: 1}, Exclusive: "guest:1"})
	i.enqueue(t, job.Spec{Kind: "back", Target: job.Target{Kind: "backup", ID: 2}, Exclusive: "guest:2"})
	two := everything
	two.All, two.Teams = false, []int64{2}
	for name, c := range map[string]struct {
		filter job.Filter
		all    bool
		total  int64
		rows   int
	}{
		"all":              {job.Filter{}, true, 9, 9},
		"a page":           {job.Filter{Page: 2, PerPage: 3}, true, 9, 3},
		"beyond":           {job.Filter{Page: 1_000_000, PerPage: 500}, true, 9, 0},
		"status":           {job.Filter{Status: job.Queued}, true, 9, 9},
		"other status":     {job.Filter{Status: job.Failed}, true, 0, 0},
		"kind":             {job.Filter{Kind: "vm.start"}, true, 5, 5},
		"target":           {job.Filter{TargetKind: "vm", TargetID: 3}, true, 1, 1},
		"and what it held": {job.Filter{TargetKind: "vm", TargetID: 2}, true, 2, 2},
		"of an app":        {job.Filter{TargetKind: "app", TargetID: 1}, true, 1, 1},
		"of a backup":      {job.Filter{TargetKind: "backup", TargetID: 2}, true, 1, 1},
		"these":            {job.Filter{IDs: []int64{foreign, system, 999999}}, true, 2, 2},
		"these of one":     {job.Filter{IDs: []int64{foreign, system}}, false, 1, 1},
		"the team's":       {job.Filter{}, false, 1, 1},
		"not the team's":   {job.Filter{Kind: "vm.start"}, false, 0, 0},
	} {
		visible := two
		if c.all {
			visible = everything
		}
		jobs, total, err := i.List(t.Context(), c.filter, visible)
		if err != nil || total != c.total || len(jobs) != c.rows {
			t.Errorf("%s: %d rows of %d, %v; want %d of %d", name, len(jobs), total, err, c.rows, c.total)
		}
	}
	if _, err := i.Get(t.Context(), foreign, two); err != nil {
		t.Error(err)
	}
	if _, err := i.Get(t.Context(), system, two); err == nil {
		t.Error("a team sees the instance's own job")
	}
}
