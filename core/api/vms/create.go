package vms

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/scope"
)

type createInput struct {
	Body struct {
		HostID   int64   `json:"host_id" minimum:"1" example:"1" doc:"ID of the host"`
		Name     string  `json:"name" minLength:"1" maxLength:"63" example:"web1" doc:"Letters, digits, . and -, starting and ending with a letter or digit"`
		Bridge   string  `json:"bridge,omitempty" minLength:"1" maxLength:"64" default:"vmbr0" example:"vmbr0" doc:"Network of the NIC"`
		Cores    int64   `json:"cores,omitempty" minimum:"1" maximum:"8192" default:"2" doc:"Number of cores"`
		DiskGB   int64   `json:"disk_gb,omitempty" minimum:"1" maximum:"1048576" default:"32" doc:"Size of the disk in GiB"`
		MemoryMB int64   `json:"memory_mb,omitempty" minimum:"16" maximum:"16777216" default:"2048" doc:"Memory in MiB"`
		NoNIC    bool    `json:"no_nic,omitempty" doc:"Create the VM without a NIC; bridge is ignored"`
		OSType   string  `json:"ostype,omitempty" minLength:"1" maxLength:"64" default:"l26" example:"l26" doc:"Type of operating system, as the hypervisor names it"`
		Start    bool    `json:"start,omitempty" doc:"Start the VM after it is created"`
		Storage  string  `json:"storage,omitempty" minLength:"1" maxLength:"100" default:"local-lvm" example:"local-lvm" doc:"Storage for the disk"`
		ISO      *string `json:"iso,omitempty" nullable:"true" minLength:"1" maxLength:"400" example:"local:iso/debian-13.iso" doc:"Installation image for its CD drive"`
		Node     *string `json:"node,omitempty" nullable:"true" minLength:"1" maxLength:"253" example:"pve1" doc:"Node of the VM; if absent, the host's own or the first online one"`
		VLANTag  *int64  `json:"vlan_tag,omitempty" nullable:"true" minimum:"1" maximum:"4094" doc:"VLAN tag of the NIC"`
		VMID     *int64  `json:"vmid,omitempty" nullable:"true" minimum:"1" maximum:"999999999" doc:"VMID; an unused one if absent"`
	}
}

func (h handlers) create(ctx context.Context, in *createInput) (*op.Body[guest.CreateResult], error) {
	b := &in.Body
	found, err := schedule.Require(ctx, h.vms.Actor.DB, scope.Host, b.HostID, identity.Admin)
	if err != nil {
		return nil, err
	}
	done, err := guest.Create(ctx, h.vms.Actor, found.TeamID, guest.VMRequest{
		HostID: b.HostID, Name: b.Name, Node: b.Node, VMID: b.VMID, Cores: b.Cores, MemoryMB: b.MemoryMB, DiskGB: b.DiskGB, Storage: b.Storage,
		Bridge: b.Bridge, NoNIC: b.NoNIC, VLANTag: b.VLANTag, ISO: b.ISO, OSType: b.OSType, Start: b.Start,
	})
	return &op.Body[guest.CreateResult]{Body: done}, err
}

// made rebuilds the answer of create for a repeated Idempotency-Key.
func (h handlers) made(ctx context.Context, made idempotency.Result) (any, error) {
	return h.vms.Actor.ReplayCreate(ctx, made, false)
}

type placementInput struct {
	Node string `path:"node" minLength:"1" maxLength:"253" example:"pve1" doc:"Name of a node of the host's cluster"`
}

func (h handlers) placement(ctx context.Context, in *placementInput) (*op.Body[guest.Placement], error) {
	placement, err := h.vms.Actor.Placement(ctx, op.ResourceOf(ctx).ID, in.Node)
	return &op.Body[guest.Placement]{Body: placement}, err
}
