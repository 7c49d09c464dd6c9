package guest

import (
	"context"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// holders is how many of a guest's newest tasks are looked through for one that was in the way.
const holders = 25

// blame adds to a failure which other task worked on the guest when the step failed: most often it held the guest's
// lock, and the hypervisor's own text names no more than a file. The monitoring token asks, since a task may be anybody's.
func (a *act) blame(ctx context.Context, s step, err error) error {
	status, verdict := job.Verdict(err)
	if err == nil || verdict && status != job.Failed || !verdict && sdk.KindOf(err) != sdk.Busy {
		return err
	}
	list, failed := ask(ctx, a, func(ctx context.Context, host hypervisor.Host) (hypervisor.TaskList, error) {
		return host.Tasks(ctx, hypervisor.TaskQuery{Guest: &a.ref, Limit: holders})
	})
	if failed != nil {
		a.run.Note("which other task works on the guest could not be read: %s", job.Explain(failed))
		return err
	}
	other := a.holder(s, list.Tasks)
	if other == nil {
		return err
	}
	by := other.User
	if by == "" {
		by = "somebody"
	}
	return job.Fail("%s; at that time another task worked on the guest: %s of %s since %s (%s)",
		job.Text(err), other.Type, by, other.Started.UTC().Format("15:04:05 UTC"), other.ID)
}

// holder is the oldest task of others that ran while ours did, or runs now when ours never came to be.
func (a *act) holder(s step, tasks []hypervisor.Task) *hypervisor.Task {
	var ours, found *hypervisor.Task
	for i := range tasks {
		if t := &tasks[i]; a.run.Begun(s.name) && a.ours(s, *t) && (ours == nil || t.Started.After(ours.Started)) {
			ours = t
		}
	}
	for i := range tasks {
		t := &tasks[i]
		if ours != nil && t.ID == ours.ID {
			continue
		}
		overlaps := ours != nil && !t.Ended.Before(ours.Started) && !t.Started.After(ours.Started)
		if (t.Status == hypervisor.TaskRunning || overlaps) && (found == nil || t.Started.Before(found.Started)) {
			found = t
		}
	}
	return found
}
