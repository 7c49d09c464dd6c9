package pve

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Guest asks the guest's node directly. The list of the cluster may be some
// seconds old.
func (h *Host) Guest(ctx context.Context, ref hypervisor.GuestRef) (hypervisor.Guest, error) {
	path, err := guestPath(ref, "status", "current")
	if err != nil {
		return hypervisor.Guest{}, err
	}
	var data json.RawMessage
	meta, err := h.api.Get(ctx, path, nil, &data)
	if err != nil {
		return hypervisor.Guest{}, h.explain(ctx, ref.Node, h.unseen(ctx, ref, absence(err)))
	}
	guest, err := currentGuest(data, ref)
	if err != nil {
		return hypervisor.Guest{}, err
	}
	guest.At = meta.Date
	return guest, nil
}

// absence turns an error into NotFound only if it says that the guest has no
// configuration. Another missing object, such as a storage, does not mean that
// the guest is gone.
func absence(err error) error {
	e, ok := asError(err)
	if !ok || e.Kind != plugin.NotFound || strings.Contains(strings.ToLower(e.Message), "configuration file") {
		return err
	}
	return plugin.Errorf(plugin.Refused, "%s", e.Message)
}

// unseen returns NotFound for a guest that the token may not see and whose id
// is free. A token with rights in a pool only is refused for a guest that does
// not exist; but every token may ask whether an id is free. A call that may
// send only one request (plugin.Once) is not explained.
func (h *Host) unseen(ctx context.Context, ref hypervisor.GuestRef, err error) error {
	number, bad := vmid(ref.ID)
	if plugin.KindOf(err) != plugin.Denied || bad != nil || plugin.IsOnce(ctx) {
		return err
	}
	if free, _, failed := h.freeID(ctx, &number); failed != nil || free == "" {
		return err
	}
	return plugin.Errorf(plugin.NotFound, "guest %s does not exist", ref.ID)
}

// currentGuest reads a guest's status/current.
func currentGuest(data json.RawMessage, ref hypervisor.GuestRef) (hypervisor.Guest, error) {
	row := &resourceRow{}
	if err := pveapi.Object(data, row); err != nil {
		return hypervisor.Guest{}, plugin.Errorf(plugin.Protocol, "the guest's status is not an object: %w", err)
	}
	if row.status.Null() {
		return hypervisor.Guest{}, plugin.Errorf(plugin.Protocol, "the hypervisor did not report whether the guest runs")
	}
	number, err := vmid(ref.ID)
	if err != nil {
		return hypervisor.Guest{}, err
	}
	row.vmid = figure{n: number, set: true} // older releases leave it out for VMs
	var guest hypervisor.Guest
	newShaper().guest(&guest, row, ref.Kind, ref.Node, false)
	var more struct {
		HA struct {
			Managed pveapi.Flag `json:"managed"`
		} `json:"ha"`
	}
	_ = json.Unmarshal(data, &more) // what is no answer about high availability is none
	guest.HA = bool(more.HA.Managed)
	return guest, nil
}
