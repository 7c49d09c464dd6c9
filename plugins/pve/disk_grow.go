package pve

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// GrowDisk sends one PUT with the new size, and waits for the task if the
// release makes one. The present size is no change for a VM, and refused for a
// container.
func (h *Host) GrowDisk(ctx context.Context, ref hypervisor.GuestRef, growth hypervisor.DiskGrowth) error {
	path, err := guestPath(ref, "resize")
	switch {
	case err != nil:
		return err
	case !diskKey.MatchString(growth.Key):
		return invalid("key", "%.80q is not a disk", growth.Key)
	case growth.SizeGB < 1:
		return invalid("size_gb", "a disk must have at least 1 GiB")
	}
	form := url.Values{"disk": {growth.Key}, "size": {strconv.FormatInt(growth.SizeGB, 10) + "G"}}
	if growth.Digest != "" {
		form.Set("digest", growth.Digest)
	}
	var answer pveapi.Text
	if _, err := h.api.Put(ctx, path, form, &answer); err != nil {
		return h.explain(ctx, ref.Node, growthError(absence(err)))
	}
	task := taskIn(string(answer))
	h.log.Debug("disk grows", "node", ref.Node, "guest", ref.ID, "disk", growth.Key, "task", task)
	if task == "" {
		return nil
	}
	result, err := h.WaitTask(ctx, task, 0, func(hypervisor.LogLine) error { return nil })
	if err != nil || result.OK() {
		return err
	}
	if result.Status == hypervisor.TaskUnknown {
		return plugin.Errorf(plugin.Refused, "task %s ended with an unknown result: the disk may have grown", task)
	}
	e := plugin.Errorf(pveapi.KindOfText(result.Message), "the disk was not grown: %s", result.Message)
	if len(result.Missing) > 0 {
		e.Kind, e.Missing, e.Path, e.Remedy = plugin.Denied, result.Missing, result.Path, result.Remedy
	}
	return growthError(absence(e))
}

// growthError turns an error about the new size of a disk into one of the SDK.
func growthError(err error) error {
	e, ok := asError(err)
	if !ok {
		return err
	}
	text := strings.ToLower(e.Message)
	switch {
	case isStale(e):
		e.Kind, e.Field = plugin.Conflict, "digest"
	case strings.Contains(text, "shrink"), strings.Contains(text, "already at specified size"):
		wrongParameter(e, "size_gb")
	case e.Kind == plugin.Invalid && e.Field == "size":
		e.Field = "size_gb"
	case e.Kind == plugin.Invalid && e.Field == "disk":
		e.Field = "key"
	// A container without such a disk is refused with the parts that its empty
	// description lacks.
	case strings.HasPrefix(text, "format error"), strings.Contains(text, "disk '") && strings.Contains(text, "' does not exist"),
		strings.Contains(text, "has no associated volume"), strings.Contains(text, "can't resize a cdrom"):
		wrongParameter(e, "key")
	}
	return e
}
