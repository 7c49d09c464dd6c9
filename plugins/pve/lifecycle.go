package pve

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// commands maps actions to the words of Proxmox VE.
var commands = map[hypervisor.Action]string{
	hypervisor.Start:    "start",
	hypervisor.Stop:     "stop",
	hypervisor.Shutdown: "shutdown",
	hypervisor.Restart:  "reboot",
	hypervisor.Pause:    "suspend",
	hypervisor.Resume:   "resume",
	hypervisor.Reset:    "reset",
}

// overrule makes a stop end a running shutdown, which holds the lock of the
// guest: the token's own, and with Sys.Modify on the node anybody's. Without it
// the stop waits for ten seconds and fails.
const overrule = "overrule-shutdown"

// Act sends one POST and never repeats one that may have been accepted.
// Containers refuse at once what their state does not allow; VMs mostly accept
// it and start a task that fails.
func (h *Host) Act(ctx context.Context, ref hypervisor.GuestRef, action hypervisor.Action) (string, error) {
	if !slices.Contains(hypervisor.Actions(ref.Kind), action) {
		return "", plugin.Errorf(plugin.Unsupported, "a %s does not support the action %q", ref.Kind, action)
	}
	path, err := guestPath(ref, "status", commands[action])
	if err != nil {
		return "", err
	}
	var form url.Values
	if action == hypervisor.Stop {
		form = url.Values{overrule: {"1"}}
	}
	var answer pveapi.Text
	_, err = h.api.Post(ctx, path, form, &answer)
	// A node older than 8.2 does not know the parameter, whatever the release
	// of the entry node, and every node refuses it for a guest of the HA
	// manager. Parameters are checked before anything is done, so that this
	// request had no effect and can be sent again without it.
	if e, ok := asError(err); ok && form != nil && e.Kind == plugin.Invalid && e.Field == overrule {
		_, err = h.api.Post(ctx, path, nil, &answer)
	}
	if err != nil {
		return "", h.explain(ctx, ref.Node, err)
	}
	h.log.Debug("action sent", "node", ref.Node, "guest", ref.ID, "action", string(action), "task", string(answer))
	return taskIn(string(answer)), nil
}

// taskIn returns the task in an answer, if the answer has the form of one. Some
// calls finish at once and return no task.
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
		return "", plugin.Errorf(plugin.Invalid, "%q is not a kind of guest", ref.Kind)
	}
	id, err := vmid(ref.ID)
	if err != nil {
		return "", err
	}
	return nodePath(ref.Node, append([]string{kind, strconv.FormatInt(id, 10)}, rest...)...)
}

// guestNumber is the form of a VMID: 100 to 999999999.
var guestNumber = regexp.MustCompile(`^[1-9][0-9]{2,8}$`)

// vmid returns the number of a guest's id. An id of another form belongs to no
// guest.
func vmid(id hypervisor.GuestID) (int64, error) {
	if !guestNumber.MatchString(string(id)) {
		return 0, plugin.Errorf(plugin.NotFound, "guest %.40q does not exist: guest IDs are numbers from 100 to 999999999", id)
	}
	return strconv.ParseInt(string(id), 10, 64)
}
