package drivertest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// badTasks are task ids that no hypervisor has.
var badTasks = []string{"", "no-such-task", "../../etc/passwd", "a\x00b", "UPID:nowhere:00000001:00000001:00000001:qmstart:1:root@pam:"}

// tasks tests Host.Tasks. The list is the service's memory after a restart: it
// looks for its own task there before it sends a request again. Therefore
// CompleteSince must never claim more than the list contains, and a task must
// name the credential that requested it.
func (s *suite) tasks(t *testing.T) {
	s.run(t, "a running task is listed", func(t *testing.T, ctx context.Context) {
		hook(t, "RunningTask", s.RunningTask != nil)
		id := s.RunningTask(t)
		task := s.findTask(t, ctx, id, true)
		if task.Status != hypervisor.TaskRunning || !task.Ended.IsZero() || task.Started.IsZero() {
			t.Errorf("task is %+v, want a running one", task)
		}
	})
	s.run(t, "a failed task is listed among errors", func(t *testing.T, ctx context.Context) {
		hook(t, "FailedTask", s.FailedTask != nil)
		id := s.FailedTask(t)
		task := s.findTask(t, ctx, id, false)
		if task.Status != hypervisor.TaskFailed || task.Error == "" || task.Ended.IsZero() {
			t.Errorf("task is %+v, want a failed one with its text", task)
		}
		s.wantAmongErrors(t, ctx, id)
	})
	s.run(t, "a task of unknown end is listed among errors", func(t *testing.T, ctx context.Context) {
		hook(t, "LostTask", s.LostTask != nil)
		id := s.LostTask(t)
		if task := s.findTask(t, ctx, id, false); task.Status != hypervisor.TaskUnknown || task.Ended.IsZero() {
			t.Errorf("task is %+v, want an ended one of unknown end", task)
		}
		s.wantAmongErrors(t, ctx, id)
	})
	s.run(t, "neither running tasks nor those that ended well are among errors", func(t *testing.T, ctx context.Context) {
		hook(t, "RunningTask and EndedTask", s.RunningTask != nil && s.EndedTask != nil)
		running, ended := s.RunningTask(t), s.EndedTask(t)
		for _, task := range s.errors(t, ctx).Tasks {
			if task.ID == running || task.ID == ended {
				t.Errorf("task %s is among the errors as %s", task.ID, task.Status)
			}
		}
	})
	s.run(t, "newest first and within the limit", func(t *testing.T, ctx context.Context) {
		hook(t, "EndedTask", s.EndedTask != nil)
		for range 3 {
			s.EndedTask(t)
		}
		list, err := s.host(t, endpoint.Monitoring).Tasks(ctx, hypervisor.TaskQuery{Limit: 2})
		must(t, "listing tasks", err)
		tasks := list.Tasks
		if len(tasks) < 2 {
			s.forgotten(t, list)
		}
		if len(tasks) != 2 {
			t.Fatalf("%d tasks, want 2", len(tasks))
		}
		if tasks[0].Started.Before(tasks[1].Started) {
			t.Errorf("the older task is first: %v, %v", tasks[0].Started, tasks[1].Started)
		}
		if list.ReachesBackTo(tasks[1].Started.Add(-time.Nanosecond)) {
			t.Errorf("a list that was truncated after %v claims to be complete since %v", tasks[1].Started, list.CompleteSince)
		}
	})
	s.run(t, "since and node narrow", func(t *testing.T, ctx context.Context) {
		host := s.host(t, endpoint.Monitoring)
		list, err := host.Tasks(ctx, hypervisor.TaskQuery{Limit: 10, Since: time.Now().Add(48 * time.Hour)})
		must(t, "listing tasks of the future", err)
		if len(list.Tasks) > 0 {
			t.Errorf("%d tasks start in two days", len(list.Tasks))
		}
		list, err = host.Tasks(ctx, hypervisor.TaskQuery{Limit: 10, Node: "no-such-node"})
		if err == nil && len(list.Tasks) > 0 {
			t.Errorf("a node that does not exist has %d tasks", len(list.Tasks))
		}
	})
	s.run(t, "guest narrows", func(t *testing.T, ctx context.Context) {
		need[hypervisor.LifecycleManager](t, s)
		hook(t, "NewGuest", s.NewGuest != nil)
		ref, other := s.NewGuest(t, s.kind(), hypervisor.GuestStopped), s.NewGuest(t, s.kind(), hypervisor.GuestStopped)
		before := s.guestTasks(t, ctx, ref).Tasks // what making it left
		id, _ := s.act(t, ctx, ref, hypervisor.Start)
		s.act(t, ctx, other, hypervisor.Start)
		if id == "" {
			t.Skip("the hypervisor starts guests without a task")
		}
		list := s.guestTasks(t, ctx, ref)
		tasks := list.Tasks
		if len(tasks) == 0 {
			s.forgotten(t, list)
		}
		if s.ForgetsTasks {
			before = slices.DeleteFunc(before, func(b hypervisor.Task) bool {
				return !slices.ContainsFunc(tasks, func(t hypervisor.Task) bool { return t.ID == b.ID })
			})
		}
		if len(tasks) != len(before)+1 || tasks[0].ID != id || tasks[0].Operation != hypervisor.Start.Operation() {
			t.Errorf("tasks are %+v, want those from before, %+v, and as the newest the start %s", tasks, before, id)
		}
		for _, task := range tasks {
			if task.GuestID != ref.ID {
				t.Errorf("task %s of guest %s is among those of guest %s", task.ID, task.GuestID, ref.ID)
			}
		}
	})
	s.run(t, "a list that proves something names who asked", func(t *testing.T, ctx context.Context) {
		need[hypervisor.LifecycleManager](t, s)
		hook(t, "NewGuest", s.NewGuest != nil)
		ref, target := s.NewGuest(t, s.kind(), hypervisor.GuestStopped), s.Target(t, endpoint.Lifecycle)
		host := s.open(t, target)
		id, err := as[hypervisor.LifecycleManager](t, host).Act(ctx, ref, hypervisor.Start)
		must(t, "starting the guest", err)
		if id == "" {
			t.Skip("the hypervisor starts guests without a task")
		}
		wait(t, ctx, host, id, 0)
		list := s.guestTasks(t, ctx, ref)
		if list.CompleteSince.IsZero() {
			t.Skip("the list does not claim to be complete")
		}
		i := slices.IndexFunc(list.Tasks, func(t hypervisor.Task) bool { return t.ID == id })
		if i < 0 {
			t.Fatalf("tasks are %+v since %v, want %s among them", list.Tasks, list.CompleteSince, id)
		}
		task, asked := list.Tasks[i], target.Credential.ID
		if task.TokenID != asked && task.User+"!"+task.TokenID != asked {
			t.Errorf("the task belongs to %q, %q, want %s: otherwise the service sends its request again", task.User, task.TokenID, asked)
		}
	})
	s.run(t, "bad limits", func(t *testing.T, ctx context.Context) {
		host := s.host(t, endpoint.Monitoring)
		for _, limit := range []int{-1, 0, 501, 1 << 40} {
			list, err := host.Tasks(ctx, hypervisor.TaskQuery{Limit: limit})
			if err != nil {
				wantKind(t, err, plugin.Invalid)
			} else if len(list.Tasks) > 500 {
				t.Errorf("limit %d gave %d tasks", limit, len(list.Tasks))
			}
		}
	})
}

// errors lists the tasks that did not succeed. Each must have failed or have an
// unknown end.
func (s *suite) errors(t *testing.T, ctx context.Context) hypervisor.TaskList {
	t.Helper()
	list, err := s.host(t, endpoint.Monitoring).Tasks(ctx, hypervisor.TaskQuery{Limit: 500, Errors: true})
	must(t, "listing errors", err)
	for _, task := range list.Tasks {
		if task.Status != hypervisor.TaskFailed && task.Status != hypervisor.TaskUnknown || task.Ended.IsZero() {
			t.Errorf("task %s is among the errors: %s, ended %v", task.ID, task.Status, task.Ended)
		}
	}
	return list
}

// wantAmongErrors checks that a task is in the list of errors.
func (s *suite) wantAmongErrors(t *testing.T, ctx context.Context, id string) {
	t.Helper()
	list := s.errors(t, ctx)
	if !slices.ContainsFunc(list.Tasks, func(t hypervisor.Task) bool { return t.ID == id }) {
		s.forgotten(t, list)
		t.Errorf("task %s is not among the errors", id)
	}
}

// guestTasks lists the tasks of one guest.
func (s *suite) guestTasks(t *testing.T, ctx context.Context, ref hypervisor.GuestRef) hypervisor.TaskList {
	t.Helper()
	list, err := s.host(t, endpoint.Monitoring).Tasks(ctx, hypervisor.TaskQuery{Limit: 50, Guest: &ref})
	must(t, "listing the guest's tasks", err)
	return list
}

// forgotten skips a test that needs an ended task in the list, if the
// hypervisor forgets such tasks and the list says so.
func (s *suite) forgotten(t *testing.T, list hypervisor.TaskList) {
	t.Helper()
	if s.ForgetsTasks && list.CompleteSince.IsZero() {
		t.Skip("the hypervisor forgets tasks that ended")
	}
}

// findTask finds a task by its id in the list. For an ended task it skips the
// test if the hypervisor forgets them.
func (s *suite) findTask(t *testing.T, ctx context.Context, id string, running bool) hypervisor.Task {
	t.Helper()
	list, err := s.host(t, endpoint.Monitoring).Tasks(ctx, hypervisor.TaskQuery{Limit: 500})
	must(t, "listing tasks", err)
	for _, task := range list.Tasks {
		if task.ID == id {
			return task
		}
	}
	if !running {
		s.forgotten(t, list)
	}
	t.Fatalf("task %s is not among %d tasks", id, len(list.Tasks))
	return hypervisor.Task{}
}
