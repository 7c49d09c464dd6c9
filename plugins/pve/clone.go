package pve

import (
	"context"
	"net/url"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// Clone says always whether the copy is a full one: by itself the hypervisor decides by whether the source is a template. As CreateVM
// does, it names the pool of a token that may make guests in a pool only.
func (h *Host) Clone(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.CloneSpec) (string, error) {
	if _, err := vmid(spec.ID); err != nil {
		return "", invalid("id", "%.40q is no id of a guest", spec.ID)
	}
	path, err := guestPath(ref, "clone")
	if err != nil {
		return "", err
	}
	form := url.Values{"newid": {string(spec.ID)}, "full": {"0"}}
	if spec.Full {
		form.Set("full", "1")
	}
	for name, value := range map[string]string{
		map[hypervisor.GuestKind]string{hypervisor.VM: "name", hypervisor.Container: "hostname"}[ref.Kind]: spec.Name,
		"storage": spec.Storage, "target": spec.Node,
	} {
		if value != "" {
			form.Set(name, value)
		}
	}
	if spec.Node == ref.Node {
		form.Del("target")
	}
	task, err := h.postGuest(ctx, path, form, spec.ID)
	if err != nil {
		return "", h.explain(ctx, ref.Node, h.allocateError(ctx, spec.ID, err))
	}
	h.log.Debug("copy started", "node", ref.Node, "guest", ref.ID, "copy", spec.ID, "task", task)
	return taskIn(task), nil
}
