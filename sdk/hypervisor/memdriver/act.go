package memdriver

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// change is what an action needs and leads to.
type change struct {
	from []string
	to   string
}

var changes = map[hypervisor.Action]change{
	hypervisor.Start:    {[]string{hypervisor.GuestStopped, hypervisor.GuestSuspended}, hypervisor.GuestRunning},
	hypervisor.Stop:     {[]string{hypervisor.GuestRunning, hypervisor.GuestPaused}, hypervisor.GuestStopped},
	hypervisor.Shutdown: {[]string{hypervisor.GuestRunning, hypervisor.GuestPaused}, hypervisor.GuestStopped},
	hypervisor.Restart:  {[]string{hypervisor.GuestRunning}, hypervisor.GuestRunning},
	hypervisor.Pause:    {[]string{hypervisor.GuestRunning}, hypervisor.GuestPaused},
	hypervisor.Resume:   {[]string{hypervisor.GuestPaused, hypervisor.GuestSuspended}, hypervisor.GuestRunning},
	hypervisor.Reset:    {[]string{hypervisor.GuestRunning}, hypervisor.GuestRunning},
}

func guestPath(id int64) string { return fmt.Sprintf("/guests/%d", id) }

// Act implements hypervisor.Lifecycler. The state changes when the task ends. A guest with a lock is Busy, one whose name is
// "stuck" gets a task that runs until it is stopped, and the shutdown of a paused guest is taken and fails in its task.
func (h *Host) Act(ctx context.Context, ref hypervisor.GuestRef, action hypervisor.Action) (string, error) {
	c, privileges, err := h.begin(ctx, "act")
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	guest, err := c.find(ref)
	if err != nil {
		return "", err
	}
	if err := require(privileges, GuestPower, guestPath(ref.ID)); err != nil {
		return "", err
	}
	wanted, ok := changes[action]
	if !ok || !slices.Contains(hypervisor.Actions(ref.Kind), action) {
		err := plugin.Errorf(plugin.Invalid, "a %s has no action %q", ref.Kind, action)
		err.Field = "action"
		return "", err
	}
	if guest.Lock != "" {
		return "", plugin.Errorf(plugin.Busy, "guest %d is locked (%s)", ref.ID, guest.Lock)
	}
	if !slices.Contains(wanted.from, guest.Status) {
		return "", plugin.Errorf(plugin.Conflict, "guest %d is %s", ref.ID, guest.Status)
	}
	t := c.newTask(guest.Node, "guest_"+string(action), ref, h.target.Credential)
	t.Operation = action.Operation()
	t.add(fmt.Sprintf("%s of %s %d begins", action, ref.Kind, ref.ID))
	if guest.Name != "stuck" {
		time.AfterFunc(c.taskTime, func() { c.finish(t, ref.ID, action, wanted.to) })
	}
	return t.ID, nil
}

// finish ends an action's task, unless somebody stopped it.
func (c *Cluster) finish(t *task, id int64, action hypervisor.Action, status string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.Status != hypervisor.TaskRunning {
		return
	}
	guest, ok := c.guests[id]
	if !ok {
		t.add("the guest is gone")
		t.end(hypervisor.TaskFailed, "the guest is gone")
		return
	}
	if action == hypervisor.Shutdown && guest.Status == hypervisor.GuestPaused {
		t.add("the guest is paused and cannot shut down")
		t.end(hypervisor.TaskFailed, "the guest is paused and cannot shut down")
		return
	}
	setStatus(guest, status)
	t.add("guest is " + status)
	t.end(hypervisor.TaskOK, "OK")
}
