package guest

import (
	"context"
	"regexp"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// holders is how many of a guest's newest tasks are looked through for one that was in the way.
const holders = 25

// contended is what the text of a failure has when another task was in the way.
var contended = regexp.MustCompile(`(?i)\b(lock|locked|busy)\b`)

// blame adds to a failure over a lock which other task worked on the guest when the step failed: the hypervisor's own text names no more
// than a file. Any other failure has its cause elsewhere. The monitoring token asks, since a task may be anybody's.
func (a *act) blame(ctx context.Context, s step, err error) error {
	status, verdict := job.Verdict(err)
	if err == nil || verdict && (status != job.Failed || !contended.MatchString(job.Text(err))) || !verdict && sdk.KindOf(err) != sdk.Busy {
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

// holder is the task of others that was in the way of the step.
func (a *act) holder(s step, tasks []hypervisor.Task) *hypervisor.Task {
	var ours *hypervisor.Task
	for i := range tasks {
		if t := &tasks[i]; a.run.Begun(s.name) && a.ours(s, *t) && (ours == nil || t.Started.After(ours.Started)) {
			ours = t
		}
	}
	return inTheWayOf(ours, tasks)
}

// inTheWayOf returns the oldest of the other tasks that was running when ours began, or that runs now if ours is nil. A hypervisor may
// tell times in whole seconds: one that ended in the second in which ours began had ended. A console holds no lock.
func inTheWayOf(ours *hypervisor.Task, tasks []hypervisor.Task) (found *hypervisor.Task) {
	for i := range tasks {
		t := &tasks[i]
		running := t.Status == hypervisor.TaskRunning
		if ours != nil {
			running = t.ID != ours.ID && !t.Started.After(ours.Started) && (running || t.Ended.After(ours.Started))
		}
		if running && t.Operation != hypervisor.OperationConsole && (found == nil || t.Started.Before(found.Started)) {
			found = t
		}
	}
	return found
}
