package guest

import (
	"context"
	"regexp"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// maxHolderTasks is the number of the guest's newest tasks that are searched for the
// one that was in the way.
const maxHolderTasks = 25

// contended matches the text of a failure that another task caused.
var contended = regexp.MustCompile(`(?i)\b(lock|locked|busy)\b`)

// addLockHolder adds to a failure over a lock which other task worked on the guest at
// that time. The hypervisor's own text often names no more than a lock file.
// Other failures are returned unchanged. It reads with the monitoring token,
// because the task may be anybody's.
func (a *guestRun) addLockHolder(ctx context.Context, s step, err error) error {
	status, verdict := job.Verdict(err)
	if err == nil || verdict && (status != job.Failed || !contended.MatchString(job.Text(err))) || !verdict && sdk.KindOf(err) != sdk.Busy {
		return err
	}
	list, failed := callHost(ctx, a, func(ctx context.Context, host hypervisor.Host) (hypervisor.TaskList, error) {
		return host.Tasks(ctx, hypervisor.TaskQuery{Guest: &a.ref, Limit: maxHolderTasks})
	})
	if failed != nil {
		a.run.Note("could not read which other task is working on the guest: %s", job.Explain(failed))
		return err
	}
	other := a.lockHolder(s, list.Tasks)
	if other == nil {
		return err
	}
	by := other.User
	if by == "" {
		by = "someone"
	}
	return job.Fail("%s; at that time another task was working on the guest: %s by %s since %s (%s)",
		job.Text(err), other.Type, by, other.Started.UTC().Format("15:04:05 UTC"), other.ID)
}

// lockHolder returns the task of somebody else that was in the way of the step, or
// nil.
func (a *guestRun) lockHolder(s step, tasks []hypervisor.Task) *hypervisor.Task {
	var ours *hypervisor.Task
	for i := range tasks {
		if t := &tasks[i]; a.run.StepStarted(s.name) && a.ours(s, *t) && (ours == nil || t.Started.After(ours.Started)) {
			ours = t
		}
	}
	return lockHolderOf(ours, tasks)
}

// lockHolderOf returns the oldest other task that was running when ours began, or
// that is running now if ours is nil. Hypervisors report times in whole
// seconds, so a task that ended in the second in which ours began counts as
// ended. A console holds no lock and is ignored.
func lockHolderOf(ours *hypervisor.Task, tasks []hypervisor.Task) (found *hypervisor.Task) {
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
