package guest

import (
	"context"
	"fmt"
	"slices"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// createKind is the kind of jobs that make VMs.
const createKind = "vm.create"

// VMOrder is a VM as it is asked for, its defaults filled in; nil takes what the hypervisor or the service chooses.
type VMOrder struct {
	HostID   int64   `json:"host_id"`
	Name     string  `json:"name"`
	Node     *string `json:"node,omitempty"`
	VMID     *int64  `json:"vmid,omitempty"`
	Cores    int64   `json:"cores"`
	MemoryMB int64   `json:"memory_mb"`
	DiskGB   int64   `json:"disk_gb"`
	Storage  string  `json:"storage"`
	Bridge   string  `json:"bridge"`
	VLANTag  *int64  `json:"vlan_tag,omitempty"`
	ISO      *string `json:"iso,omitempty"`
	OSType   string  `json:"ostype"`
	Start    bool    `json:"start"`
}

// createParams are those of a job that makes a VM.
type createParams struct {
	HostID int64             `json:"host_id"`
	Spec   hypervisor.VMSpec `json:"spec"`
	// Wanted says that the number was asked for, so that no other will do.
	Wanted bool `json:"wanted,omitempty"`
	Start  bool `json:"start,omitempty"`
}

// Create asks for a VM on a host of the team. All that is wrong with the order is one problem invalid, found by asking the hypervisor
// what a VM can be made of there; other problems: conflict for a number or name that is taken, and those of host.Ask.
func Create(ctx context.Context, a *Actor, teamID int64, order VMOrder) (Made, error) {
	able := func(at hypervisor.Host) error {
		_, err := host.Able[hypervisor.Provisioner](at)
		return err
	}
	if err := a.Hosts.Require(ctx, order.HostID, endpoint.Lifecycle, able); err != nil {
		return Made{}, err
	}
	node, err := a.onlineNode(ctx, order.HostID, "node", order.Node)
	if err != nil {
		return Made{}, err
	}
	query := hypervisor.PlacementQuery{Kind: hypervisor.VM, Node: node, Name: order.Name, Number: order.VMID, ID: true, Storages: true,
		Bridges: true}
	if order.ISO != nil {
		query.Image = *order.ISO
	}
	p, err := a.placeOn(ctx, order.HostID, query)
	if err != nil {
		return Made{}, err
	}
	p.checkVM(order)
	if err := p.err(); err != nil {
		return Made{}, err
	}
	var mark string
	if err := a.DB.Pool.QueryRow(ctx, "SELECT gen_random_uuid()::text").Scan(&mark); err != nil {
		return Made{}, db.Problem(fmt.Errorf("making a mark for a VM: %w", err))
	}
	params := createParams{HostID: order.HostID, Wanted: order.VMID != nil, Start: order.Start, Spec: hypervisor.VMSpec{
		ID: p.ID, Node: node, Name: order.Name, Cores: order.Cores, MemoryMB: order.MemoryMB, DiskGB: order.DiskGB, Storage: order.Storage,
		Bridge: order.Bridge, VLAN: order.VLANTag, Image: query.Image, OSType: order.OSType, Mark: mark,
	}}
	result := made{VMID: p.Number, GuestRef: string(p.ID)}
	if err := idempotency.Keep(ctx, result); err != nil {
		return Made{}, err
	}
	var enqueued *job.Job
	err = a.DB.Tx(ctx, func(tx *db.Tx) (err error) {
		enqueued, err = a.Queue.Enqueue(ctx, tx, job.Spec{
			Kind: createKind, Target: job.Target{Kind: "host", ID: order.HostID, Name: p.hostName}, TeamID: teamID, HostID: order.HostID,
			Exclusive: fmt.Sprintf("id:%d:%s", p.clusterID, p.ID), Params: params, Asked: order,
		})
		if err != nil {
			return err
		}
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return Made{}, err
	}
	return Made{Started: Started{Job: enqueued.View()}, VMID: result.VMID, GuestRef: result.GuestRef}, nil
}

// checkMost refuses a number above the hypervisor's bound, if it has one.
func (p *place) checkMost(field string, n, most int64) {
	if most > 0 && n > most {
		p.refuse(field, "less_than_equal", "must be at most %d", most)
	}
}

// checkVM refuses what the VM cannot be made of.
func (p *place) checkVM(o VMOrder) {
	if !guestName.MatchString(o.Name) {
		p.refuse("name", "string_pattern_mismatch", "must begin and end with a letter or digit and have 1 to 63 letters, digits, . and -")
	}
	p.checkMost("cores", o.Cores, p.Limits.Cores)
	p.checkMost("memory_mb", o.MemoryMB, p.Limits.MemoryMB)
	p.checkMost("disk_gb", o.DiskGB, p.Limits.DiskGB)
	p.checkNumber("vmid", o.VMID)
	p.checkStorage("storage", o.Storage, hypervisor.VM, o.DiskGB<<30)
	if !slices.Contains(p.Bridges, o.Bridge) {
		p.refuse("bridge", "value_error", "the node has no such bridge, or the monitoring token does not see it")
	}
	if o.ISO != nil && !p.ImageFound {
		p.refuse("iso", "value_error", "there is no such installation image on the node")
	}
	if !slices.Contains(p.OSTypes, o.OSType) {
		p.refuse("ostype", "value_error", "must be one of %v", p.OSTypes)
	}
}
