package job_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// listing is a host whose list of tasks is empty and complete since a time.
type listing struct {
	*unreliableHost
	since time.Time
}

func (h listing) Tasks(context.Context, hypervisor.TaskQuery) (hypervisor.TaskList, error) {
	return hypervisor.TaskList{CompleteSince: h.since}, nil
}

// A request is sent again only when the list without its task reaches back to it, as far as clocks may lie apart, or when the
// step itself says that it may be.
func TestAbsentFromTheList(t *testing.T) {
	t.Parallel()
	clock := time.Now().Truncate(time.Second)
	allow := func(int32) error { return nil }
	for name, c := range map[string]struct {
		since  time.Time
		absent func(asked int32) error
		status job.Status
		sends  int32
		text   string
	}{
		"no time is known":         {time.Time{}, nil, job.Unknown, 1, "does not reach back to the request"},
		"all of time":              {time.Unix(0, 0), nil, job.Succeeded, 2, "did not reach the hypervisor; sending it again"},
		"just far enough":          {clock.Add(-2 * time.Minute), nil, job.Succeeded, 2, "sending it again"},
		"within the clocks' error": {clock.Add(-2*time.Minute + time.Second), nil, job.Unknown, 1, "does not reach back to the request"},
		"later than the request":   {clock.Add(time.Second), nil, job.Unknown, 1, "does not reach back to the request"},
		"the step allows it":       {time.Time{}, allow, job.Succeeded, 2, "sending it again, which is safe for this request"},
		"the step forbids it": {time.Unix(0, 0), func(int32) error { return job.Undetermined("another token") }, job.Unknown, 1,
			"another token"},
		"the step cannot be asked for a while": {time.Time{}, func(asked int32) error {
			if asked < 3 {
				return errCut
			}
			return nil
		}, job.Succeeded, 2, "the connection broke"},
		"the step cannot be asked": {time.Time{}, func(int32) error { return errCut }, job.Unknown, 1, "could not be determined"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
				w.lost = 3 * time.Second
				ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
				var sends, asked atomic.Int32
				act := func(real func() (string, error)) (string, error) {
					if sends.Add(1) == 1 {
						return "", errCut
					}
					return real()
				}
				i := w.start(t, map[string]job.Worker{"listed": job.WorkerFunc(func(ctx context.Context, run *job.Run) error {
					step := stepOn(order{ref, hypervisor.Restart}, func(context.Context) (hypervisor.Host, error) {
						return listing{&unreliableHost{w.open().(*memdriver.Host), act}, c.since}, nil
					})
					step.Before = func(context.Context) (time.Time, bool, error) { return clock, false, nil }
					if c.absent != nil {
						step.OnMissing = func(_ context.Context, sent time.Time, reaches bool) error {
							if !sent.Equal(clock) || reaches == c.since.IsZero() {
								t.Errorf("asked of a request at %v, want %v; the list reaches: %v", sent, clock, reaches)
							}
							return c.absent(asked.Add(1))
						}
					}
					_, err := run.Do(ctx, step)
					return err
				})})
				id := i.enqueue(t, job.Spec{Kind: "listed", Target: job.Target{Kind: "vm", ID: number(ref)}})
				j := i.ended(t, id, c.status)
				if got := i.transcript(t, id) + j.Error; !strings.Contains(got, c.text) || sends.Load() != c.sends {
					t.Errorf("%d requests, want %d; %q is wanted in\n%s", sends.Load(), c.sends, c.text, got)
				}
			})
		})
	}
}
