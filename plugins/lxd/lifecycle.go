package lxd

import (
	"context"
	"slices"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// commands maps actions to those of the server. With force, the guest is not
// asked.
var commands = map[hypervisor.Action]struct {
	action lxdapi.Action
	force  bool
}{
	hypervisor.Start:    {lxdapi.Start, false},
	hypervisor.Stop:     {lxdapi.Stop, true},
	hypervisor.Shutdown: {lxdapi.Stop, false},
	hypervisor.Restart:  {lxdapi.Restart, false},
	hypervisor.Pause:    {lxdapi.Freeze, false},
	hypervisor.Resume:   {lxdapi.Unfreeze, false},
	hypervisor.Reset:    {lxdapi.Restart, true},
}

// Act implements hypervisor.LifecycleManager. It checks that the ID still
// belongs to the same guest and sends one request. The server accepts every
// action and starts an operation, which fails if the state of the guest does
// not allow the action.
func (h *Host) Act(ctx context.Context, ref hypervisor.GuestRef, action hypervisor.Action) (string, error) {
	if !slices.Contains(actions, action) {
		return "", plugin.Errorf(plugin.Unsupported, "a %s does not support the action %.40q", ref.Kind, action)
	}
	f, err := h.find(ctx, ref, h.api.Definition)
	if err != nil {
		return "", err
	}
	return h.act(ctx, f.address, action)
}

// act performs an action and returns the ID of its operation. A shutdown and a
// restart get a time limit: LXD waits for the guest that long and then fails
// the operation, without killing the guest.
func (h *Host) act(ctx context.Context, at lxdapi.InstanceRef, action hypervisor.Action) (string, error) {
	command := commands[action]
	options := lxdapi.ActOptions{Force: command.force}
	if action == hypervisor.Shutdown || action == hypervisor.Restart {
		options.Timeout = h.pace.Shutdown
	}
	op, err := h.api.Act(ctx, at, command.action, options)
	return h.begun(ctx, at, action.Operation(), op, err)
}

// begun returns the ID of the operation that a request started, and remembers
// its project for WaitTask.
func (h *Host) begun(ctx context.Context, at lxdapi.InstanceRef, what hypervisor.Operation, op *lxdapi.Operation, err error) (
	string, error) {
	if err != nil {
		return "", h.judge(ctx, err, at.Project)
	}
	h.projects.remember(operationKey{h.target.Address, op.ID}, at.Project)
	h.log.Debug("operation started", "project", at.Project, "guest", at.Name, "operation", string(what), "id", op.ID)
	return op.ID, nil
}
