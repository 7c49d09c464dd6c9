package job_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// A list has the parameters of jobs that are short, and of others how long they are; a job itself has all of them.
func TestListLeavesLongParametersOut(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	i := w.add(t, map[string]job.Worker{"some": job.WorkerFunc(func(context.Context, *job.Run) error { return nil })})
	asked := func(text string) int64 {
		return i.enqueue(t, job.Spec{Kind: "some", Target: job.Target{Kind: "vm", ID: 1}, PublicParams: map[string]any{"text": text}})
	}
	long := strings.Repeat("x", 16<<10)
	short, other := asked("short"), asked(long)
	listed, _, err := i.List(t.Context(), job.Filter{}, everything)
	if err != nil {
		t.Fatal(err)
	}
	byID, err := i.ByIDs(t.Context(), []int64{short, other})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range append(listed, byID...) {
		params := j.View().Params
		if j.ID == short && params["text"] != "short" || j.ID == other && (len(params) != 1 || params["truncated_from_bytes"] == nil) {
			t.Errorf("job %d is listed with %.100v", j.ID, params)
		}
	}
	if whole, err := i.Get(t.Context(), other, everything); err != nil || whole.View().Params["text"] != long {
		t.Errorf("the job itself: %v", err)
	}
}
