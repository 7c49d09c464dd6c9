// Package vms is the HTTP resource of virtual machines.
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

// Deps is what the resource works with.
type Deps struct{ VMs *vm.Store }

type handlers struct{ vms *vm.Store }

const tag = "VMs"

// Register declares the operations.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.VMs}
	op.Get(a, "/api/v1/vms", h.list, op.Spec{
		ID: "list_vms", Summary: "List VMs", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Every VM of the hosts that the caller may see, as the last poll found it: a VM of a cluster is listed once, whichever " +
			"members of the cluster are enrolled. The list is not paged.",
	})
	op.Get(a, "/api/v1/vms/:vm_id", h.get, op.Spec{
		ID: "get_vm", Summary: "Get a VM", Tag: tag, Role: identity.Viewer, On: op.VM,
		Description: "The VM as the last poll found it. While its host cannot be reached its status is `unknown`.",
	})
	op.Post(a, "/api/v1/vms", h.create, op.Spec{
		ID: "create_vm", Summary: "Make a VM", Tag: tag, Role: identity.Admin, On: op.Anywhere, Calls: true,
		Status: http.StatusAccepted, Audit: op.Audit{Action: "vm.create"}, Recall: h.made,
		Description: "Answers with the job that makes it and the number that it will have, which another guest may take meanwhile: then the " +
			"job takes another, unless `vmid` was given. The order is checked against what the hypervisor has on the node, and all that is wrong " +
			"with it is 422 before there is a job. It gets one disk, one NIC behind the hypervisor's firewall, and UEFI where its `ostype` " +
			"cannot do without. Without `node` it is made on the host's own, or on the first that is online.",
	})
	op.Get(a, "/api/v1/hosts/:host_id/nodes/:node/placement", h.placement, op.Spec{
		ID: "get_placement", Summary: "Tell what a guest can be made of on a node", Tag: tag, Role: identity.Viewer, On: op.Host, Calls: true,
		Needs: endpoint.Monitoring,
		Description: "What forms offer: the storages of the node and what is left of them, the networks that a NIC can be attached to, the " +
			"words for operating systems, the hypervisor's bounds, and a number that is free. It is asked of the hypervisor, and the same that " +
			"orders of new guests, copies and restored ones are checked against. Nothing is reserved. A node that is not there is 404.",
	})
	op.Delete(a, "/api/v1/vms/:vm_id", h.remove, op.Spec{
		ID: "delete_vm", Summary: "Destroy a VM", Tag: tag, Role: identity.Owner, On: op.VM, Calls: true,
		Needs: endpoint.Lifecycle, Confirm: op.Confirm{When: op.ConfirmAlways, Field: "name"}, Plan: true,
		Status: http.StatusAccepted, Audit: op.Audit{Action: "vm.delete"},
		Description: "Answers with the job that does it. The VM and its disks are destroyed, and no backup is made before. It is refused in " +
			"this order: 409 `self_target` for the VM that the service itself runs in, `guest_running`, `protected` where its option says " +
			"so, `volume_in_use` for a template with linked clones, and `confirm_required` until `confirm` holds its name.",
	})
	op.Post(a, "/api/v1/vms/:vm_id/:action", h.act, op.Spec{
		ID: "act_on_vm", Summary: "Start, stop or otherwise change a VM's power state", Tag: tag, Role: identity.Operator, On: op.VM,
		Needs: endpoint.Lifecycle, Confirm: op.Confirm{When: op.ConfirmSelf, Field: "name"}, Plan: true,
		Status: http.StatusAccepted, Unsupported: true, Audit: op.Audit{Action: "vm.{action}"}, Recall: h.acted,
		Description: "Answers with the job that does it; its transcript is the hypervisor's task log. One job works on a guest at a time: a " +
			"second is 409 `guest_busy`. A host without a token for lifecycle is 409 `capability_missing`. Actions that interrupt the VM which " +
			"the service itself runs in are 409 `self_target` until `confirm` holds its name; so is a start of one that was moved to another " +
			"cluster and left with the tag `moved`, as 409 `confirm_required`.",
	})
}

type deleteInput struct {
	op.Planned
	Body *struct {
		Confirm *string `json:"confirm,omitempty" nullable:"true" maxLength:"200" doc:"The VM's name"`
		Purge   *bool   `json:"purge,omitempty" doc:"Take it out of the hypervisor's jobs and high availability too; true unless given"`
	}
}

func (h handlers) remove(ctx context.Context, in *deleteInput) (*op.Body[guest.Started], error) {
	var confirm *string
	spec := hypervisor.DestroySpec{Purge: true}
	if in.Body != nil {
		confirm = in.Body.Confirm
		if in.Body.Purge != nil {
			spec.Purge = *in.Body.Purge
		}
	}
	r, err := h.vms.Request(ctx, op.Found(ctx).ID, op.Found(ctx).TeamID, confirm)
	if err != nil {
		return nil, err
	}
	started, err := guest.Destroy.Start(ctx, h.vms.Actor, r, spec)
	return &op.Body[guest.Started]{Body: started}, err
}

type listInput struct {
	Host   int64  `query:"host" minimum:"1" doc:"Only VMs of this host"`
	Status string `query:"status" enum:"running,stopped,paused,suspended,unknown,pending" doc:"Only VMs in this state"`
	Q      string `query:"q" maxLength:"200" doc:"Only VMs whose name, node, tag or id contains this"`
}

func (h handlers) list(ctx context.Context, in *listInput) (*op.List[guest.Guest], error) {
	all, err := h.vms.List(ctx, guest.Filter{HostID: in.Host, Status: in.Status, Query: in.Q}, identity.FromContext(ctx).Visible())
	return &op.List[guest.Guest]{Total: len(all), Body: all}, err
}

func (h handlers) get(ctx context.Context, _ *struct{}) (*op.Body[*guest.Guest], error) {
	g, err := h.vms.Get(ctx, op.Found(ctx).ID)
	return &op.Body[*guest.Guest]{Body: g}, err
}

type actInput struct {
	op.Planned
	Action string `path:"action" enum:"start,stop,shutdown,restart,pause,resume,reset"`
	Body   *struct {
		Confirm *string `json:"confirm,omitempty" nullable:"true" maxLength:"200" doc:"The VM's name, where a confirmation is asked for"`
	}
}

func (h handlers) act(ctx context.Context, in *actInput) (*op.Body[guest.Started], error) {
	var confirm *string
	if in.Body != nil {
		confirm = in.Body.Confirm
	}
	r, err := h.vms.Request(ctx, op.Found(ctx).ID, op.Found(ctx).TeamID, confirm)
	if err != nil {
		return nil, err
	}
	started, err := guest.Lifecycle(hypervisor.Action(in.Action)).Start(ctx, h.vms.Actor, r, struct{}{})
	return &op.Body[guest.Started]{Body: started}, err
}

// acted makes the answer of act again.
func (h handlers) acted(ctx context.Context, made idempotency.Made) (any, error) {
	g, err := h.vms.Get(ctx, op.Found(ctx).ID)
	if err != nil {
		return nil, err
	}
	return h.vms.Actor.Started(ctx, made.JobID, g.IsSelf)
}
