package drivertest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// badTasks are task ids that no hypervisor has.
var badTasks = []string{"", "no-such-task", "../../etc/passwd", "a\x00b", "UPID:nowhere:00000001:00000001:00000001:qmstart:1:root@pam:"}

func (s *suite) tasks(t *testing.T) {
	s.run(t, "a running task is listed", func(t *testing.T, ctx context.Context) {
		hook(t, "RunningTask", s.RunningTask != nil)
		id := s.RunningTask(t)
		task := s.findTask(t, ctx, id)
		if task.Status != hypervisor.TaskRunning || !task.Ended.IsZero() || task.Started.IsZero() {
			t.Errorf("task is %+v, want a running one", task)
		}
	})
	s.run(t, "a failed task is listed among errors", func(t *testing.T, ctx context.Context) {
		hook(t, "FailedTask", s.FailedTask != nil)
		id := s.FailedTask(t)
		task := s.findTask(t, ctx, id)
		if task.Status != hypervisor.TaskFailed || task.Error == "" || task.Ended.IsZero() {
			t.Errorf("task is %+v, want a failed one with its text", task)
		}
		failed, err := s.host(t, hypervisor.Monitoring).Tasks(ctx, hypervisor.TaskQuery{Limit: 500, Errors: true})
		must(t, "listing failed tasks", err)
		if !slices.ContainsFunc(failed, func(t hypervisor.Task) bool { return t.ID == id }) {
			t.Error("the failed task is not among the failed ones")
		}
		for _, task := range failed {
			if task.Status != hypervisor.TaskFailed {
				t.Errorf("task %s is %s and not failed", task.ID, task.Status)
			}
		}
	})
	s.run(t, "newest first and within the limit", func(t *testing.T, ctx context.Context) {
		hook(t, "EndedTask", s.EndedTask != nil)
		for range 3 {
			s.EndedTask(t)
		}
		tasks, err := s.host(t, hypervisor.Monitoring).Tasks(ctx, hypervisor.TaskQuery{Limit: 2})
		must(t, "listing tasks", err)
		if len(tasks) != 2 {
			t.Fatalf("%d tasks, want 2", len(tasks))
		}
		if tasks[0].Started.Before(tasks[1].Started) {
			t.Errorf("the older task comes first: %v, %v", tasks[0].Started, tasks[1].Started)
		}
	})
	s.run(t, "since and node narrow", func(t *testing.T, ctx context.Context) {
		host := s.host(t, hypervisor.Monitoring)
		tasks, err := host.Tasks(ctx, hypervisor.TaskQuery{Limit: 10, Since: time.Now().Add(48 * time.Hour)})
		must(t, "listing tasks of the future", err)
		if len(tasks) > 0 {
			t.Errorf("%d tasks start in two days", len(tasks))
		}
		tasks, err = host.Tasks(ctx, hypervisor.TaskQuery{Limit: 10, Node: "no-such-node"})
		if err == nil && len(tasks) > 0 {
			t.Errorf("a node that does not exist has %d tasks", len(tasks))
		}
	})
	s.run(t, "guest narrows", func(t *testing.T, ctx context.Context) {
		s.need(t, hypervisor.AbilityLifecycle)
		hook(t, "NewGuest", s.NewGuest != nil)
		ref := s.NewGuest(t, hypervisor.VM, hypervisor.GuestStopped)
		id, _ := s.act(t, ctx, ref, hypervisor.Start)
		tasks, err := s.host(t, hypervisor.Monitoring).Tasks(ctx, hypervisor.TaskQuery{Limit: 50, Guest: &ref})
		must(t, "listing the guest's tasks", err)
		if id != "" && (len(tasks) != 1 || tasks[0].ID != id || tasks[0].Action != hypervisor.Start || tasks[0].GuestID != ref.ID) {
			t.Errorf("tasks are %+v, want the one start of guest %d", tasks, ref.ID)
		}
	})
	s.run(t, "bad limits", func(t *testing.T, ctx context.Context) {
		host := s.host(t, hypervisor.Monitoring)
		for _, limit := range []int{-1, 0, 501, 1 << 40} {
			tasks, err := host.Tasks(ctx, hypervisor.TaskQuery{Limit: limit})
			if err != nil {
				wantKind(t, err, hypervisor.Invalid)
			} else if len(tasks) > 500 {
				t.Errorf("limit %d gave %d tasks", limit, len(tasks))
			}
		}
	})
}

// findTask gets a task by its id from the list.
func (s *suite) findTask(t *testing.T, ctx context.Context, id string) hypervisor.Task {
	t.Helper()
	tasks, err := s.host(t, hypervisor.Monitoring).Tasks(ctx, hypervisor.TaskQuery{Limit: 500})
	must(t, "listing tasks", err)
	for _, task := range tasks {
		if task.ID == id {
			return task
		}
	}
	t.Fatalf("task %s is not among %d tasks", id, len(tasks))
	return hypervisor.Task{}
}
