package lxd

import (
	"context"
	"strings"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Guest reads one instance with its state.
func (h *Host) Guest(ctx context.Context, ref hypervisor.GuestRef) (hypervisor.Guest, error) {
	f, err := h.find(ctx, ref, h.api.Instance)
	if err != nil {
		return hypervisor.Guest{}, err
	}
	guest, _ := f.at.guest(f.instance, f.meta.Date)
	observed(&guest, f.instance.State)
	guest.At = f.meta.Date
	return guest, nil
}

// found is an instance that a reference names, with what was read of it.
type found struct {
	address  lxdapi.InstanceRef
	instance *lxdapi.Instance
	meta     lxdapi.Meta
	at       place
}

// readInstance is lxdapi.Client.Instance, or Definition to read an instance
// without its state.
type readInstance func(context.Context, lxdapi.InstanceRef) (*lxdapi.Instance, lxdapi.Meta, error)

// find reads the instance of a reference and checks that it is still the same
// guest: kind, node and UID must match, because names can be reused. Otherwise
// it is NotFound. A server that is not in a cluster reports the location
// "none"; its own name takes that place.
func (h *Host) find(ctx context.Context, ref hypervisor.GuestRef, read readInstance) (*found, error) {
	address, err := instanceRef(ref.ID)
	if err != nil {
		return nil, err
	}
	instance, meta, err := read(ctx, address)
	if err != nil {
		return nil, h.judge(ctx, absence(err), address.Project)
	}
	f := &found{address: address, instance: instance, meta: meta}
	if instance.Project == "" {
		instance.Project = address.Project
	}
	if instance.Location == "" || instance.Location == alone {
		server, _, err := h.about(ctx)
		if err != nil {
			return nil, err
		}
		f.at.server = server.Environment.Name
	}
	is, known := f.at.ref(instance)
	switch {
	case !known:
		return nil, plugin.Errorf(plugin.Protocol, "the instance has an unknown type: %.40q", instance.Type)
	case is.Kind != ref.Kind:
		return nil, plugin.Errorf(plugin.NotFound, "%s is not a %s", ref.ID, ref.Kind)
	case is.Node != ref.Node:
		return nil, plugin.Errorf(plugin.NotFound, "%s is not on the node %.80q", ref.ID, ref.Node)
	case ref.UID != "" && is.UID != ref.UID:
		return nil, plugin.Errorf(plugin.NotFound, "%s is a different guest now", ref.ID)
	}
	return f, nil
}

// absence turns NotFound into Refused unless the instance or its project is
// missing. Callers take NotFound for a guest that no longer exists, so a
// missing profile must not look like that.
func absence(err error) error {
	e, ok := asError(err)
	if !ok || e.Kind != plugin.NotFound {
		return err
	}
	text := strings.ToLower(e.Message)
	if strings.Contains(text, "instance not found") || strings.Contains(text, "project not found") {
		return err
	}
	return plugin.Errorf(plugin.Refused, "%s", e.Message)
}
