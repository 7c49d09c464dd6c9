package poll

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/task"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// tasksTimeout bounds the question for tasks: it comes after the list was written, and nothing depends on it.
const tasksTimeout = 10 * time.Second

// readTasks asks a host for the newest tasks of its cluster while somebody looks at them, and keeps those that others started. That the
// host does not tell is no error.
func (p *Poller) readTasks(ctx context.Context, id, cluster int64) error {
	store := &task.Store{DB: p.db}
	watched, err := store.Watched(ctx)
	if err != nil || !watched {
		return err
	}
	var list hypervisor.TaskList
	asking, cancel := context.WithTimeout(ctx, tasksTimeout)
	defer cancel()
	err = p.within(asking, id, func(ctx context.Context, at hypervisor.Host) (err error) {
		list, err = at.Tasks(ctx, hypervisor.TaskQuery{Limit: task.Listed})
		return err
	})
	if ctx.Err() != nil {
		return nil // the service stops
	}
	if err != nil {
		p.log.Debug("a host does not tell its tasks", "host", id, "error", err)
		return nil
	}
	tasks := make([]hypervisor.Task, 0, min(len(list.Tasks), task.Listed))
	for _, t := range list.Tasks[:min(len(list.Tasks), task.Listed)] {
		if cleaned, ok := cleanTask(t); ok {
			tasks = append(tasks, cleaned)
		}
	}
	return store.Keep(ctx, cluster, id, tasks)
}

// cleanTask brings what a plugin told into bounds. One without an id, or of a time that cannot be, is none.
func cleanTask(t hypervisor.Task) (hypervisor.Task, bool) {
	if len(t.ID) > maxTaskID || t.Started.Year() < 1970 || t.Started.Year() > 9999 {
		return t, false
	}
	t.ID, t.Node, t.Type = clean(t.ID, maxTaskID), clean(t.Node, maxName), clean(t.Type, maxWord)
	t.User, t.TokenID, t.Error = clean(t.User, maxName), clean(t.TokenID, maxName), clean(sdk.HideSecrets(t.Error), 1000)
	if !t.GuestID.Valid() {
		t.GuestID = ""
	}
	if t.Ended.Before(t.Started) || t.Ended.Year() > 9999 { // zero too
		t.Ended = time.Time{}
	}
	switch t.Status {
	case hypervisor.TaskRunning:
		t.Ended = time.Time{}
	case hypervisor.TaskOK, hypervisor.TaskWarning, hypervisor.TaskFailed:
	default:
		t.Status = hypervisor.TaskUnknown
	}
	return t, t.ID != ""
}

// maxTaskID is the longest id of a task, in bytes.
const maxTaskID = 300
