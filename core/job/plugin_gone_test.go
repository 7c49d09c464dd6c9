package job_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// dying is a host whose plugin is dead for the first calls of each method.
type dying struct {
	*memdriver.Host
	calls *[3]atomic.Int32
	// dead is for how many calls each of Guest, Act and WaitTask fails; Act fails after it was carried out.
	dead [3]int32
}

func (h *dying) gone(method int) error {
	if h.calls[method].Add(1) <= h.dead[method] {
		return fmt.Errorf("calling: %w", plugin.ErrGone)
	}
	return nil
}

func (h *dying) Guest(ctx context.Context, ref hypervisor.GuestRef) (hypervisor.Guest, error) {
	if err := h.gone(0); err != nil {
		return hypervisor.Guest{}, err
	}
	return h.Host.Guest(ctx, ref)
}

func (h *dying) Act(ctx context.Context, ref hypervisor.GuestRef, action hypervisor.Action) (string, error) {
	id, err := h.Host.Act(ctx, ref, action)
	if gone := h.gone(1); gone != nil {
		return "", gone
	}
	return id, err
}

func (h *dying) WaitTask(ctx context.Context, id string, from int, line func(hypervisor.LogLine) error) (hypervisor.TaskResult, error) {
	if err := h.gone(2); err != nil {
		return hypervisor.TaskResult{}, err
	}
	return h.Host.WaitTask(ctx, id, from, line)
}

// A plugin that dies under a job and is started again costs the job nothing.
func TestPluginDies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dead   [3]int32
		status job.Status
		note   string
	}{
		"before":   {[3]int32{1, 0, 0}, job.Succeeded, ""},
		"sending":  {[3]int32{0, 1, 0}, job.Succeeded, "found the task"},
		"waiting":  {[3]int32{0, 0, 1}, job.Succeeded, "the hypervisor's plugin is not running"},
		"for good": {[3]int32{100, 0, 0}, job.Failed, "the hypervisor's plugin is not running"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
				var calls [3]atomic.Int32
				i := w.add(t, map[string]job.Worker{"twisted": job.WorkerFunc(func(ctx context.Context, run *job.Run) error {
					var o order
					if err := run.Params(&o); err != nil {
						return err
					}
					_, err := run.Do(ctx, stepOn(o, func(context.Context) (hypervisor.Host, error) {
						return &dying{w.open().(*memdriver.Host), &calls, c.dead}, nil
					}))
					return err
				})})
				i.endOnceFound(w)
				i.run(t)
				ref := w.endless()
				id := i.enqueue(t, w.unreliableJob(ref))
				i.ended(t, id, c.status)
				if got := i.transcript(t, id); !strings.Contains(got, c.note) {
					t.Errorf("no %q in\n%s", c.note, got)
				}
				if c.status == job.Succeeded {
					w.once(t, ref)
				}
			})
		})
	}
}
