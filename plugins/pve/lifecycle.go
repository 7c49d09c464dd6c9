package pve

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// commands are the hypervisor's words for the actions.
var commands = map[hypervisor.Action]string{
	hypervisor.Start:    "start",
	hypervisor.Stop:     "stop",
	hypervisor.Shutdown: "shutdown",
	hypervisor.Restart:  "reboot",
	hypervisor.Pause:    "suspend",
	hypervisor.Resume:   "resume",
	hypervisor.Reset:    "reset",
}

// Act sends one POST without parameters, which every release takes, and never repeats it. Containers refuse at once what
// their state does not allow; VMs mostly take it and start a task that fails.
func (h *Host) Act(ctx context.Context, ref hypervisor.GuestRef, action hypervisor.Action) (string, error) {
	if !slices.Contains(hypervisor.Actions(ref.Kind), action) {
		return "", hypervisor.Errorf(hypervisor.Unsupported, "a %s cannot do %q", ref.Kind, action)
	}
	path, err := guestPath(ref, "status", commands[action])
	if err != nil {
		return "", err
	}
	var answer pveapi.Text
	if _, err := h.api.Post(ctx, path, nil, &answer); err != nil {
		return "", h.explain(ctx, ref.Node, err)
	}
	h.log.Debug("action sent", "node", ref.Node, "guest", ref.ID, "action", string(action), "task", string(answer))
	return taskIn(string(answer)), nil
}

// taskIn is the task in an answer, which is one only when it looks like one: some calls are done at once.
func taskIn(answer string) string {
	if strings.HasPrefix(answer, "UPID:") {
		return answer
	}
	return ""
}

// guestPath is the path of a guest on its node.
func guestPath(ref hypervisor.GuestRef, rest ...string) (string, error) {
	kind := "qemu"
	switch ref.Kind {
	case hypervisor.VM:
	case hypervisor.Container:
		kind = "lxc"
	default:
		return "", hypervisor.Errorf(hypervisor.Invalid, "%q is not a kind of guest", ref.Kind)
	}
	if ref.ID < 100 || ref.ID > 999999999 {
		return "", hypervisor.Errorf(hypervisor.NotFound, "there is no guest %d: ids go from 100 to 999999999", ref.ID)
	}
	return nodePath(ref.Node, append([]string{kind, strconv.FormatInt(ref.ID, 10)}, rest...)...)
}
