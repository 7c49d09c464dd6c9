package pve

import (
	"context"
	"net/url"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// nameKeys are the parameters that name a new guest.
var nameKeys = map[hypervisor.GuestKind]string{hypervisor.VM: "name", hypervisor.Container: "hostname"}

// Clone implements hypervisor.Cloner. It always states whether the copy is
// full: without that Proxmox VE decides by whether the source is a template.
// Like CreateVM, it names the pool for a token that may create guests only in a
// pool.
func (h *Host) Clone(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.CloneSpec) (string, error) {
	if _, err := vmid(spec.ID); err != nil {
		return "", invalid("id", "%.40q is not a valid guest ID", spec.ID)
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
		nameKeys[ref.Kind]: spec.Name, "storage": spec.Storage, "target": spec.Node,
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
