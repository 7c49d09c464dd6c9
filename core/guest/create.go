package guest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// createKind is the kind of jobs that create VMs.
const createKind = "vm.create"

// VMRequest describes a requested VM with all defaults filled in. A nil field
// leaves the choice to the hypervisor or the service.
type VMRequest struct {
	HostID   int64   `json:"host_id"`
	Name     string  `json:"name"`
	Node     *string `json:"node,omitempty"`
	VMID     *int64  `json:"vmid,omitempty"`
	Cores    int64   `json:"cores"`
	MemoryMB int64   `json:"memory_mb"`
	DiskGB   int64   `json:"disk_gb"`
	Storage  string  `json:"storage"`
	Bridge   string  `json:"bridge"`
	// NoNIC creates a VM without a NIC, whatever Bridge says.
	NoNIC   bool    `json:"no_nic,omitempty"`
	VLANTag *int64  `json:"vlan_tag,omitempty"`
	ISO     *string `json:"iso,omitempty"`
	OSType  string  `json:"ostype"`
	Start   bool    `json:"start"`
}

// createParams are the parameters of a job that creates a VM.
type createParams struct {
	HostID int64             `json:"host_id"`
	Spec   hypervisor.VMSpec `json:"spec"`
	// Warnings are written into the job's transcript.
	Warnings []string `json:"warnings,omitempty"`
	// Wanted is true if the user requested the number. The job then does not
	// use another one.
	Wanted bool `json:"wanted,omitempty"`
	Start  bool `json:"start,omitempty"`
}

// Create enqueues the creation of a VM on a host of the team. It asks the
// hypervisor what a VM can use there. All faults of the order are one problem
// invalid; other problems are those of host.Call.
func Create(ctx context.Context, a *Actor, teamID int64, order VMRequest) (CreateResult, error) {
	able := func(at hypervisor.Host) error {
		_, err := host.AsAbility[hypervisor.Provisioner](at)
		return err
	}
	// A host without the token or the ability is refused before anything is
	// asked of the hypervisor.
	if err := a.Hosts.Require(ctx, order.HostID, endpoint.Lifecycle, able); err != nil {
		return CreateResult{}, err
	}
	node, err := a.onlineNode(ctx, order.HostID, "node", order.Node)
	if err != nil {
		return CreateResult{}, withName(err, order.Name)
	}
	query := hypervisor.PlacementQuery{Kind: hypervisor.VM, Node: node, Name: order.Name, Number: order.VMID, ID: true, Storages: true,
		Bridges: !order.NoNIC}
	bridge := order.Bridge
	if order.NoNIC {
		bridge = ""
	}
	if order.ISO != nil {
		query.Image = *order.ISO
	}
	p, err := a.placeOn(ctx, order.HostID, "vmid", query)
	if err != nil {
		return CreateResult{}, err
	}
	p.checkVM(order)
	if err := p.err(); err != nil {
		return CreateResult{}, err
	}
	// The mark is stored in the VM's configuration. If the answer to the
	// request is lost, the job recognises its VM by the mark.
	var mark string
	if err := a.DB.Pool.QueryRow(ctx, "SELECT gen_random_uuid()::text").Scan(&mark); err != nil {
		return CreateResult{}, db.Problem(fmt.Errorf("generating a marker for a VM: %w", err))
	}
	spec := hypervisor.VMSpec{
		ID: p.ID, Node: node, Name: order.Name, Cores: order.Cores, MemoryMB: order.MemoryMB, DiskGB: order.DiskGB, Storage: order.Storage,
		Bridge: bridge, VLAN: order.VLANTag, Image: query.Image, OSType: order.OSType, Mark: mark,
	}
	err = permitted(ctx, a.Hosts, order.HostID, endpoint.Lifecycle, func(ctx context.Context, at hypervisor.CreationChecker) error {
		return at.CheckVM(ctx, spec)
	})
	if err != nil {
		return CreateResult{}, err
	}
	var answer CreateResult
	// The ID is reserved in the transaction that enqueues the job, so that a
	// parallel request gets another one.
	err = a.DB.Tx(ctx, func(tx *db.Tx) error {
		if err := p.reserve(ctx, tx, order.VMID != nil); err != nil {
			return err
		}
		spec.ID = p.ID
		result := made{VMID: p.Number, GuestRef: string(p.ID)}
		if err := idempotency.SaveData(ctx, result); err != nil {
			return err
		}
		enqueued, err := a.Queue.Enqueue(ctx, tx, job.Spec{
			Kind: createKind, Target: job.Target{Kind: "host", ID: order.HostID, Name: p.hostName}, TeamID: teamID, HostID: order.HostID,
			Exclusive: fmt.Sprintf("id:%d:%s", p.clusterID, p.ID), PublicParams: order,
			Params: createParams{HostID: order.HostID, Wanted: order.VMID != nil, Start: order.Start, Spec: spec,
				Warnings: p.warnings},
		})
		if err != nil {
			return err
		}
		answer = CreateResult{StartResult: StartResult{Job: enqueued.View()}, VMID: result.VMID, GuestRef: result.GuestRef}
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return CreateResult{}, err
	}
	return answer, nil
}

// checkMost records a fault for a number above the hypervisor's limit. A limit
// of zero means none.
func (p *place) checkMost(field string, n, most int64) {
	if most > 0 && n > most {
		p.refuse(field, "less_than_equal", "must be at most %d", most)
	}
}

// smallDisks is the space in bytes of the additional disks that a hypervisor
// creates for a VM: firmware settings and a TPM.
const smallDisks = 16 << 20

// noImage is the fault of an image that the node of a VM does not have.
const noImage = "this installation image does not exist on the node"

// checkVM records all faults of an order.
func (p *place) checkVM(o VMRequest) {
	p.checkName(o.Name)
	p.checkMost("cores", o.Cores, p.Limits.Cores)
	p.checkMost("memory_mb", o.MemoryMB, p.Limits.MemoryMB)
	p.checkMost("disk_gb", o.DiskGB, p.Limits.DiskGB)
	p.checkStorage("storage", o.Storage, hypervisor.VM, o.DiskGB<<30+smallDisks)
	switch {
	case o.NoNIC && o.VLANTag != nil:
		p.refuse("vlan_tag", "value_error", "a VM without a NIC cannot have a VLAN tag")
	case !o.NoNIC && !slices.Contains(p.Bridges, o.Bridge):
		p.refuse("bridge", "value_error", "the node does not have this bridge, or the monitoring token cannot see it")
	}
	if o.ISO != nil && !p.ImageFound {
		p.refuse("iso", "value_error", noImage)
	}
	if !slices.Contains(p.OSTypes, o.OSType) {
		p.refuse("ostype", "value_error", "must be one of %s", strings.Join(p.OSTypes, ", "))
	}
}
