package job_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// places is a fixture whose instances note in their jobs' transcripts where they are.
func places(t *testing.T) *fixture {
	t.Helper()
	w := newFixture(t, memdriver.Spec{})
	w.gone = time.Hour
	return w
}

// at makes an instance at a place; its jobs of the kind "noted" end at once, and those of "held" when they may.
func (w *fixture) at(t *testing.T, place string, held <-chan struct{}) *instance {
	t.Helper()
	w.place = place
	return w.add(t, map[string]job.Worker{
		"noted": job.WorkerFunc(func(_ context.Context, run *job.Run) error {
			run.Note("at %q", place)
			return nil
		}),
		"held": job.WorkerFunc(func(ctx context.Context, run *job.Run) error {
			run.Note("at %q", place)
			select {
			case <-held:
				return nil
			case <-run.Stopping():
				return errors.New("the instance stops")
			case <-ctx.Done():
				return ctx.Err()
			}
		}),
	})
}

func noted(place string) job.Spec {
	return job.Spec{Kind: "noted", Target: job.Target{Kind: "host", ID: 1}, TeamID: 1, Place: place}
}

// wasAt holds where a job has run.
func (i *instance) wasAt(t *testing.T, id int64, place string) {
	t.Helper()
	i.ended(t, id, job.Succeeded)
	if n := dbtest.Value[int64](t, i.db, "SELECT count(*) FROM job_events WHERE job_id = $1 AND text = $2", id, "at \""+place+"\""); n != 1 {
		t.Errorf("job %d was not run at %q:\n%s", id, place, i.transcript(t, id))
	}
}

// A job of a place runs on the instances that are there, whichever has enqueued it, and one of none on any.
func TestJobsRunAtTheirPlace(t *testing.T) {
	t.Parallel()
	w := places(t)
	here, there, nowhere := w.at(t, "here", nil), w.at(t, "there", nil), w.at(t, "", nil)
	for _, i := range []*instance{here, there, nowhere} {
		i.run(t)
	}
	type made struct {
		id    int64
		place string
	}
	var all []made
	for range 5 {
		for _, i := range []*instance{here, there, nowhere} {
			for _, place := range []string{"here", "there"} {
				all = append(all, made{i.enqueue(t, noted(place)), place})
			}
		}
	}
	for _, m := range all {
		here.wasAt(t, m.id, m.place)
	}
	here.ended(t, here.enqueue(t, noted("")), job.Succeeded)
}

// A job whose place nobody is at waits for an instance that comes there; the others leave it alone.
func TestJobWaitsForItsPlace(t *testing.T) {
	t.Parallel()
	w := places(t)
	here, later := w.at(t, "here", nil), w.at(t, "there", nil)
	here.run(t)
	id := here.enqueue(t, noted("there"))
	// Those that are made after it go by.
	for range 3 {
		here.wasAt(t, here.enqueue(t, noted("here")), "here")
	}
	if j, err := here.Get(t.Context(), id, everything); err != nil || j.Status != job.Queued {
		t.Fatalf("the job is %+v, %v", j, err)
	}
	later.run(t)
	here.wasAt(t, id, "there")
}

// A job that was begun at a place whose instance stopped is taken up at that place.
func TestJobComesBackToItsPlace(t *testing.T) {
	t.Parallel()
	w := places(t)
	held := make(chan struct{})
	here, there := w.at(t, "here", nil), w.at(t, "there", held)
	here.run(t)
	there.run(t)
	spec := noted("there")
	spec.Kind = "held"
	id := here.enqueue(t, spec)
	waittest.Until(t, "the job has begun", func() bool {
		j, err := here.Get(t.Context(), id, everything)
		return err == nil && j.Status == job.Running
	})
	if err := there.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	// It is handed to the queue again by the instance that is left, which does not take it.
	waittest.Until(t, "the job was taken up", func() bool {
		return dbtest.Value[bool](t, here.db, `SELECT r.state = 'available' AND r.queue = 'at_there'
			FROM jobs j JOIN river_job r ON r.id = j.river_id WHERE j.id = $1`, id)
	})
	here.wasAt(t, here.enqueue(t, noted("here")), "here")
	close(held)
	w.at(t, "there", held).run(t)
	j := here.ended(t, id, job.Succeeded)
	if n := dbtest.Value[int64](t, here.db, "SELECT count(*) FROM job_events WHERE job_id = $1 AND text = $2", id, `at "there"`); n != 2 ||
		j.Runs != 2 {
		t.Errorf("it was begun %d times at its place, in %d runs:\n%s", n, j.Runs, here.transcript(t, id))
	}
}

// A place that nobody was at for long is given up, and so are its jobs: any instance ends them. One where somebody is, or was lately, is
// not, however old its jobs are.
func TestPlaceThatIsGone(t *testing.T) {
	t.Parallel()
	w := places(t)
	here, there := w.at(t, "here", nil), w.at(t, "there", nil)
	gone, lately := here.enqueue(t, noted("gone")), here.enqueue(t, noted("lately"))
	never, young := here.enqueue(t, noted("never")), here.enqueue(t, noted("young"))
	old := here.enqueue(t, noted("there"))
	here.exec(t, "UPDATE jobs SET created_at = now() - interval '2 hours' WHERE id <> $1", young)
	here.exec(t, "UPDATE river_job SET scheduled_at = now() - interval '2 hours'")
	here.exec(t, `INSERT INTO job_places (id, seen_at) VALUES ('gone', now() - interval '61 minutes'),
		('lately', now() - interval '59 minutes'), ('there', now())`)
	here.run(t)
	here.wasAt(t, gone, "here")
	here.wasAt(t, never, "here")
	for what, id := range map[string]int64{"of a place where someone was lately": lately, "that is young": young,
		"of a place where someone is": old} {
		if j, err := here.Get(t.Context(), id, everything); err != nil || j.Status != job.Queued {
			t.Errorf("the job %s is %+v, %v", what, j, err)
		}
	}
	there.run(t)
	here.wasAt(t, old, "there")
	waittest.Until(t, "the instances are seen at their places", func() bool {
		return dbtest.Value[int64](t, here.db, `SELECT count(*) FROM job_places WHERE id IN ('here', 'there')
			AND seen_at > now() - interval '1 minute'`) == 2
	})
}
