package job_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// During an update an older release is handed a job that it knows nothing of: the newer one does it.
func TestJobOfAnotherRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("runs an older release: make check runs it")
	}
	t.Parallel()
	w := newFixture(t, memdriver.Spec{Nodes: 1})
	newer := w.add(t, map[string]job.Worker{"new": job.WorkerFunc(func(context.Context, *job.Run) error { return nil })})
	w.start(t, nil) // the older
	id := newer.enqueue(t, job.Spec{Kind: "new", Target: job.Target{Kind: "instance"}})
	// It was handed out twice at least, to the only one that runs.
	waittest.Until(t, "the older release was handed the job again", func() bool {
		return dbtest.Value[int](t, newer.db,
			"SELECT count(*) FROM river_job WHERE state = 'completed' AND (args->>'job_id')::bigint = $1", id) >= 2
	})
	j, err := newer.Get(t.Context(), id, everything)
	if err != nil || j.Status != job.Queued || j.Runs != 0 {
		t.Fatalf("%+v, %v", j, err)
	}
	newer.run(t)
	newer.ended(t, id, job.Succeeded)
}

func TestJobThatNobodyKnows(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{Nodes: 1})
	newer := w.add(t, map[string]job.Worker{"new": job.WorkerFunc(func(context.Context, *job.Run) error { return nil })})
	untouched := newer.enqueue(t, job.Spec{Kind: "new", Target: job.Target{Kind: "instance"}})
	begun := newer.enqueue(t, job.Spec{Kind: "new", Target: job.Target{Kind: "instance"}})
	_, err := newer.db.Pool.Exec(t.Context(),
		`UPDATE jobs SET status = 'running', progress = '{"steps":{"act":{"state":"sending"}}}' WHERE id = $1`, begun)
	if err != nil {
		t.Fatal(err)
	}
	older, err := job.New(job.Config{DB: dbtest.Open(t, w.url), ResumeEvery: 100 * time.Millisecond,
		UnknownKindLimit: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := older.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = older.Stop(context.Background()) })
	if j := newer.ended(t, untouched, job.Failed); !strings.Contains(j.Error, "does not know") {
		t.Errorf("%+v", j)
	}
	if j := newer.ended(t, begun, job.Unknown); !strings.Contains(j.Error, "may have started") {
		t.Errorf("%+v", j)
	}
}
