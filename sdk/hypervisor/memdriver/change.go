package memdriver

import (
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// work is the work of a change's task.
type work struct {
	operation hypervisor.Operation
	// end is called when the task ends, with the cluster's lock, unless
	// somebody stopped it. Its error fails the task.
	end func() error
}

// change runs every call that changes a guest: it checks the token, finds the
// guest, checks the privilege, refuses a locked guest with Busy, lets apply
// judge the request and starts the task. The guest changes when the task ends;
// the task of a guest with the name "stuck" runs until somebody stops it. apply
// is called with the cluster's lock.
func (h *Host) change(ctx context.Context, method, privilege string, ref hypervisor.GuestRef,
	apply func(guest *guest) (work, error)) (string, error) {
	c, privileges, err := h.begin(ctx, method)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	guest, err := c.find(ref)
	if err != nil {
		return "", err
	}
	if err := require(privileges, privilege, guestPath(ref.ID)); err != nil {
		return "", err
	}
	if guest.Lock != "" {
		return "", plugin.Errorf(plugin.Busy, "guest %s is locked (%s)", ref.ID, guest.Lock)
	}
	todo, err := apply(guest)
	if err != nil {
		return "", err
	}
	return h.run(c, guest, todo), nil
}

// run starts the task of a change. The caller holds the cluster's lock.
func (h *Host) run(c *Cluster, guest *guest, todo work) (taskID string) {
	t := c.newTask(guest.Node, "guest_"+string(todo.operation), guest.GuestRef, h.target.Credential)
	t.Operation = todo.operation
	t.add(fmt.Sprintf("%s of %s %s begins", todo.operation, guest.Kind, guest.ID))
	if guest.Name != "stuck" {
		time.AfterFunc(c.taskTime, func() { c.finish(t, guest, todo) })
	}
	return t.ID
}

// finish ends the task of a change, unless somebody stopped it.
func (c *Cluster) finish(t *task, guest *guest, done work) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.Status != hypervisor.TaskRunning {
		return
	}
	err := fmt.Errorf("the guest no longer exists")
	if c.guests[guest.ID] == guest { // it may have another id by now
		err = done.end()
		c.hangUp()
	}
	if err != nil {
		t.add(err.Error())
		t.end(hypervisor.TaskFailed, err.Error())
		return
	}
	t.add("guest is " + guest.Status)
	t.end(hypervisor.TaskOK, "OK")
}

// invalid returns the error for a parameter that is not accepted.
func invalid(field, format string, args ...any) error {
	err := plugin.Errorf(plugin.Invalid, format, args...)
	err.Field = field
	return err
}
