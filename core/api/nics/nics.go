// Package nics is the HTTP resource of the network interfaces of VMs and apps.
// One operation lists the interfaces of a guest, the other changes one of them.
// Both contact the hypervisor while the caller waits.
package nics

import (
	"context"
	"slices"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Guests finds the VM or the app that a path names. Package vm and package app
// implement it.
type Guests interface {
	Request(ctx context.Context, id, team int64, confirm *string) (guest.Request, error)
}

// Deps has what the operations of this package need.
type Deps struct {
	VMs, Apps Guests
	Actor     *guest.Actor
}

type handlers struct {
	guests Guests
	actor  *guest.Actor
}

// changeTime is how long a change may take, with the requests before and after
// it that read the configuration.
const changeTime = 3 * time.Minute

// Register declares the same two operations for VMs and for apps.
func Register(a *op.API, deps Deps) {
	for _, s := range []struct {
		kind, one, tag string
		on             op.On
		guests         Guests
		besides        string
	}{
		{"vm", "a VM", "VMs", op.VM, deps.VMs, " The addresses of a VM are set inside it: `ip`, `gw`, `ip6` and `gw6` are 409 " +
			"`vm_addressing_not_editable`."},
		{"app", "an app", "Apps", op.App, deps.Apps, " A gateway must be in the network of its address; the IPv4 and " +
			"IPv6 settings are checked as they would be after the change."},
	} {
		h, path := handlers{s.guests, deps.Actor}, "/api/v1/"+s.kind+"s/:"+s.kind+"_id/network"
		op.Get(a, path, h.list, op.Spec{
			ID: "list_" + s.kind + "_nics", Summary: "List the network interfaces of " + s.one, Tag: s.tag, Role: identity.Viewer, On: s.on,
			Calls: true, Needs: endpoint.Monitoring,
			Description: "Reads the NICs from the hypervisor, sorted by key. `addresses` are reported by the guest within " +
				"three seconds, for a VM by its guest agent. If the guest cannot report them, they are null and " +
				"`addresses_error` explains why. They are stored and shown in lists of guests.",
		})
		op.Put(a, path+"/:iface", h.change, op.Spec{
			ID: "change_" + s.kind + "_nic", Summary: "Change a network interface of " + s.one, Tag: s.tag, Role: identity.Operator, On: s.on,
			Calls: true, Needs: endpoint.Lifecycle, Audit: op.Audit{Action: s.kind + ".change_nic", Target: "iface"}, Timeout: changeTime,
			Description: "Changes the NIC at once, in one request to the hypervisor. Absent fields are kept; null " +
				"removes a value. `iface` is the key of the NIC, such as net0, or its name in the container. If the guest " +
				"does not have it and the body contains `bridge`, a NIC with this key is added, of the same model as the " +
				"first one; a driver that cannot add NICs is 501 `unsupported`. 409 " +
				"`guest_busy` while a job works on the guest. An outdated `digest` is 409 `digest_conflict`. The " +
				"addresses that the guest reports are not read for the response." +
				s.besides,
		})
	}
}

func (h handlers) request(ctx context.Context) (guest.Request, error) {
	return h.guests.Request(ctx, op.ResourceOf(ctx).ID, op.ResourceOf(ctx).TeamID, nil)
}

func (h handlers) list(ctx context.Context, _ *struct{}) (*op.List[guest.Interface], error) {
	r, err := h.request(ctx)
	if err != nil {
		return nil, err
	}
	all, err := h.actor.Network(ctx, r.Guest)
	return &op.List[guest.Interface]{Total: len(all), Body: all}, err
}

type changeInput struct {
	Iface string `path:"iface" minLength:"1" maxLength:"64" example:"net0"`
	Body  struct {
		Bridge   op.Optional[string]  `json:"bridge,omitzero" minLength:"1" maxLength:"64" example:"vmbr0"`
		Tag      op.Optional[int64]   `json:"tag,omitzero" minimum:"1" maximum:"4094" doc:"VLAN tag"`
		Rate     op.Optional[float64] `json:"rate,omitzero" exclusiveMinimum:"0" maximum:"1000000" doc:"Rate limit in MB per second"`
		MTU      op.Optional[int64]   `json:"mtu,omitzero" minimum:"1" maximum:"65535"`
		Firewall op.Optional[bool]    `json:"firewall,omitzero"`
		LinkDown op.Optional[bool]    `json:"link_down,omitzero"`
		IP       op.Optional[string]  `json:"ip,omitzero" minLength:"1" maxLength:"64" example:"192.0.2.5/24" doc:"For an app: an address with prefix, dhcp or manual"`
		Gateway  op.Optional[string]  `json:"gw,omitzero" minLength:"1" maxLength:"64" example:"192.0.2.1"`
		IP6      op.Optional[string]  `json:"ip6,omitzero" minLength:"1" maxLength:"64" example:"auto" doc:"For an app: an address with prefix, dhcp, auto or manual"`
		Gateway6 op.Optional[string]  `json:"gw6,omitzero" minLength:"1" maxLength:"64"`
		Digest   string               `json:"digest,omitempty" maxLength:"200" doc:"Digest of the list that you read"`
	}
}

// order returns the change that the body describes.
func (in *changeInput) order() hypervisor.NICChange {
	b := &in.Body
	change := hypervisor.NICChange{Digest: b.Digest, Set: hypervisor.NIC{
		Bridge: b.Bridge.Value, VLAN: b.Tag.Pointer(), Rate: b.Rate.Pointer(), MTU: b.MTU.Pointer(), Firewall: b.Firewall.Value,
		LinkDown: b.LinkDown.Value, IP: b.IP.Value, Gateway: b.Gateway.Value, IP6: b.IP6.Value, Gateway6: b.Gateway6.Value,
	}}
	for _, field := range []struct {
		name      string
		set, null bool
	}{
		{hypervisor.NICBridge, b.Bridge.Set, b.Bridge.Null}, {hypervisor.NICVLAN, b.Tag.Set, b.Tag.Null},
		{hypervisor.NICRate, b.Rate.Set, b.Rate.Null}, {hypervisor.NICMTU, b.MTU.Set, b.MTU.Null},
		{hypervisor.NICFirewall, b.Firewall.Set, b.Firewall.Null}, {hypervisor.NICLinkDown, b.LinkDown.Set, b.LinkDown.Null},
		{hypervisor.NICIP, b.IP.Set, b.IP.Null}, {hypervisor.NICGateway, b.Gateway.Set, b.Gateway.Null},
		{hypervisor.NICIP6, b.IP6.Set, b.IP6.Null}, {hypervisor.NICGateway6, b.Gateway6.Set, b.Gateway6.Null},
	} {
		switch {
		case field.null:
			change.Clear = append(change.Clear, field.name)
		case field.set:
			change.Fields = append(change.Fields, field.name)
		}
	}
	slices.Sort(change.Fields)
	slices.Sort(change.Clear)
	return change
}

func (h handlers) change(ctx context.Context, in *changeInput) (*op.Body[guest.InterfaceChangeResult], error) {
	r, err := h.request(ctx)
	if err != nil {
		return nil, err
	}
	changed, err := guest.ChangeNIC(ctx, h.actor, r, in.Iface, in.order())
	return &op.Body[guest.InterfaceChangeResult]{Body: changed}, err
}
