package job_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

func (i *instance) job(t testing.TB, id int64) *job.Job {
	t.Helper()
	j, err := i.Get(t.Context(), id, everything)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// How much of a task is done comes from its log, and stays with the job when the process that followed it has ended. What was asked
// for is shown as it was asked for.
func TestProgressOfATask(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
		ref := w.endless()
		first, g := w.add(t, nil), newGate(t)
		first.Hook(g.at("waiting"))
		first.run(t)
		spec := w.spec(ref, hypervisor.Stop)
		spec.PublicParams = map[string]any{"name": "one", "size": int64(math.MaxInt64)}
		id := first.enqueue(t, spec)
		<-g.reached
		g.release()
		task := w.once(t, ref)
		tells := func(i *instance, line string, want float64) {
			t.Helper()
			w.cluster.AddLine(task, line)
			waittest.Succeeds(t, "the job shows "+line, func() error {
				v := i.job(t, id).View()
				if v.LastLine != line || v.Progress == nil || *v.Progress != want {
					return fmt.Errorf("it shows %v, %q", v.Progress, v.LastLine)
				}
				return nil
			})
		}
		if v := first.job(t, id).View(); v.Progress != nil || fmt.Sprint(v.Params) != "map[name:one size:9223372036854775807]" {
			t.Errorf("at first: progress %v, asked for %v", v.Progress, v.Params)
		}
		tells(first, "copied 7 %", 0.07)
		tells(first, "copied 42 %", 0.42)
		tells(first, "copied all of it 420 %", 0.42) // which is none
		if err := first.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		second := w.start(t, nil)
		tells(second, "something else", 0.42)
		tells(second, "copied 50 %", 0.5)
		w.cluster.AddLine(task, strings.Repeat("ö", 1000))
		w.cluster.EndTask(task, hypervisor.TaskOK, "OK")
		j := second.ended(t, id, job.Succeeded)
		if v := j.View(); v.Progress == nil || *v.Progress != 1 {
			t.Errorf("at the end: %v", v.Progress)
		}
	})
}

// The last line is cut, and a job whose log tells nothing of how much is done has no progress at its end either.
func TestProgressThatNobodyTells(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	ref := w.endless()
	i := w.start(t, nil)
	id := i.enqueue(t, w.spec(ref, hypervisor.Stop))
	waittest.Until(t, "the task runs", func() bool { return i.job(t, id).TaskID != "" })
	w.cluster.AddLine(w.once(t, ref), strings.Repeat("ö", 1000))
	waittest.Until(t, "the line is there", func() bool { return i.job(t, id).LastLine == strings.Repeat("ö", 256) })
	w.cluster.EndTask(w.once(t, ref), hypervisor.TaskFailed, "no space left")
	if j := i.ended(t, id, job.Failed); j.Progress != nil || !strings.Contains(j.LastLine, "no space left") {
		t.Errorf("%v, %q", j.Progress, j.LastLine)
	}
}
