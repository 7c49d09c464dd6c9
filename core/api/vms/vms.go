// Package vms is the HTTP resource of virtual machines: to list, get, create
// and destroy them, and to change their power state. The configuration,
// snapshots, clones, migrations, network interfaces, options and consoles of
// VMs each have a package of their own.
package vms

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/vm"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Deps has what the operations of this package need.
type Deps struct{ VMs *vm.Store }

type handlers struct{ vms *vm.Store }

const tag = "VMs"

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.VMs}
	op.Get(a, "/api/v1/vms", h.list, op.Spec{
		ID: "list_vms", Summary: "List VMs", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Lists every VM of the hosts that the caller can see, as of the last poll, once each, no matter " +
			"which nodes of a cluster are enrolled. The list is not paged.",
	})
	op.Get(a, "/api/v1/vms/:vm_id", h.get, op.Spec{
		ID: "get_vm", Summary: "Get a VM", Tag: tag, Role: identity.Viewer, On: op.VM,
		Description: "Returns the VM as of the last poll. The `status` is `unknown` while no host of its cluster " +
			"responds.",
	})
	op.Post(a, "/api/v1/vms", h.create, op.Spec{
		ID: "create_vm", Summary: "Create a VM", Tag: tag, Role: identity.Admin, On: op.Anywhere, Calls: true,
		Status: http.StatusAccepted, Audit: op.Audit{Action: "vm.create"}, Replay: h.made,
		Description: "Starts a job that creates the VM, and returns it with the planned VMID. If another guest takes " +
			"that VMID meanwhile, the job uses another one, unless `vmid` was given. The request is checked against " +
			"the resources of the node; all faults are 422 before the job starts. The VM gets one disk, one NIC behind " +
			"the hypervisor's firewall, and UEFI if its `ostype` requires it. Without `node`, it is created on the " +
			"host's own node, or on the first online node.",
	})
	op.Get(a, "/api/v1/hosts/:host_id/nodes/:node/placement", h.placement, op.Spec{
		ID: "get_placement", Summary: "List the resources of a node for new guests", Tag: tag, Role: identity.Viewer, On: op.Host, Calls: true,
		Needs: endpoint.Monitoring,
		Description: "Returns the choices of a form: storages with their free space, networks for NICs, types of " +
			"operating systems, limits of the hypervisor, and an unused VMID. They are read from the hypervisor, and " +
			"requests for new, cloned and restored guests are checked against them. Nothing is reserved. A node that " +
			"does not exist is 404.",
	})
	op.Delete(a, "/api/v1/vms/:vm_id", h.remove, op.Spec{
		ID: "delete_vm", Summary: "Destroy a VM", Tag: tag, Role: identity.Owner, On: op.VM, Calls: true,
		Needs: endpoint.Lifecycle, Confirm: op.Confirm{When: op.ConfirmAlways, Field: "name"}, Plan: true,
		Status: http.StatusAccepted, Audit: op.Audit{Action: "vm.delete"},
		Description: "Starts a job that destroys the VM and its disks without a backup. Refused in this order: 409 " +
			"`self_target` for the VM that the service runs in, `guest_running`, `protected` if its protection option " +
			"is set, `volume_in_use` for a template with linked clones, and `confirm_required` until `confirm` is its " +
			"name.",
	})
	op.Post(a, "/api/v1/vms/:vm_id/:action", h.act, op.Spec{
		ID: "act_on_vm", Summary: "Change the power state of a VM", Tag: tag, Role: identity.Operator, On: op.VM,
		Needs: endpoint.Lifecycle, Confirm: op.Confirm{When: op.ConfirmSelf, Field: "name"}, Plan: true,
		Status: http.StatusAccepted, Unsupported: true, Audit: op.Audit{Action: "vm.{action}"}, Replay: h.acted,
		Description: "Starts a job; its transcript contains the hypervisor's task log. Only one job at a time works on " +
			"a guest: a second one is 409 `guest_busy`. A host without a lifecycle token is 409 `capability_missing`. " +
			"Actions that interrupt the VM that the service runs in are 409 `self_target` until `confirm` is its name. " +
			"Starting a VM that was migrated to another cluster and kept with the tag `moved` is 409 " +
			"`confirm_required` until `confirm` is its name.",
	})
}

type deleteInput struct {
	op.PlanParams
	Body *struct {
		Confirm *string `json:"confirm,omitempty" nullable:"true" maxLength:"200" doc:"Name of the VM"`
		Purge   *bool   `json:"purge,omitempty" doc:"Also remove it from the hypervisor's jobs and high availability; true if absent"`
	}
}

func (h handlers) remove(ctx context.Context, in *deleteInput) (*op.Body[guest.StartResult], error) {
	var confirm *string
	spec := hypervisor.DestroySpec{Purge: true}
	if in.Body != nil {
		confirm = in.Body.Confirm
		if in.Body.Purge != nil {
			spec.Purge = *in.Body.Purge
		}
	}
	r, err := h.vms.Request(ctx, op.ResourceOf(ctx).ID, op.ResourceOf(ctx).TeamID, confirm)
	if err != nil {
		return nil, err
	}
	started, err := guest.Destroy.Start(ctx, h.vms.Actor, r, spec)
	return &op.Body[guest.StartResult]{Body: started}, err
}

type listInput struct {
	Host   int64  `query:"host" minimum:"1" doc:"Only VMs of this host"`
	Status string `query:"status" enum:"running,stopped,paused,suspended,unknown,pending" doc:"Only VMs with this status"`
	Q      string `query:"q" maxLength:"200" doc:"Only VMs whose name, node, tag or ID contains this text"`
}

func (h handlers) list(ctx context.Context, in *listInput) (*op.List[guest.Guest], error) {
	all, err := h.vms.List(ctx, guest.Filter{HostID: in.Host, Status: in.Status, Query: in.Q}, identity.FromContext(ctx).Visible())
	return &op.List[guest.Guest]{Total: len(all), Body: all}, err
}

func (h handlers) get(ctx context.Context, _ *struct{}) (*op.Body[*guest.Guest], error) {
	g, err := h.vms.Get(ctx, op.ResourceOf(ctx).ID)
	return &op.Body[*guest.Guest]{Body: g}, err
}

type actInput struct {
	op.PlanParams
	Action string `path:"action" enum:"start,stop,shutdown,restart,pause,resume,reset"`
	Body   *struct {
		Confirm *string `json:"confirm,omitempty" nullable:"true" maxLength:"200" doc:"Name of the VM, if a confirmation is required"`
	}
}

func (h handlers) act(ctx context.Context, in *actInput) (*op.Body[guest.StartResult], error) {
	var confirm *string
	if in.Body != nil {
		confirm = in.Body.Confirm
	}
	r, err := h.vms.Request(ctx, op.ResourceOf(ctx).ID, op.ResourceOf(ctx).TeamID, confirm)
	if err != nil {
		return nil, err
	}
	started, err := guest.Lifecycle(hypervisor.Action(in.Action)).Start(ctx, h.vms.Actor, r, struct{}{})
	return &op.Body[guest.StartResult]{Body: started}, err
}

// acted rebuilds the answer of act for a repeated Idempotency-Key.
func (h handlers) acted(ctx context.Context, made idempotency.Result) (any, error) {
	g, err := h.vms.Get(ctx, op.ResourceOf(ctx).ID)
	if err != nil {
		return nil, err
	}
	return h.vms.Actor.StartResult(ctx, made.JobID, g.IsSelf)
}
