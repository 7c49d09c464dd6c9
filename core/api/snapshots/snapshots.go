// Package snapshots is the HTTP resource of the snapshots of VMs and apps: to
// list, take, delete and roll back to them. The list comes from the hypervisor
// and is not stored; the others start jobs.
package snapshots

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/idempotency"
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

// Register declares the same four operations for VMs and for apps.
func Register(a *op.API, deps Deps) {
	for _, s := range []struct {
		kind, one, tag string
		on             op.On
		guests         Guests
	}{{"vm", "a VM", "VMs", op.VM, deps.VMs}, {"app", "an app", "Apps", op.App, deps.Apps}} {
		h, path := handlers{s.guests, deps.Actor}, "/api/v1/"+s.kind+"s/:"+s.kind+"_id/snapshots"
		op.Get(a, path, h.list, op.Spec{
			ID: "list_" + s.kind + "_snapshots", Summary: "List the snapshots of " + s.one,
			Tag: s.tag, Role: identity.Viewer, On: s.on, Calls: true,
			Description: "Lists the snapshots as the hypervisor reports them, oldest first; they are not stored. The " +
				"current state is not a snapshot.",
		})
		op.Post(a, path, h.take, op.Spec{
			ID: "create_" + s.kind + "_snapshot", Summary: "Take a snapshot of " + s.one,
			Tag: s.tag, Role: identity.Operator, On: s.on, Calls: true,
			Needs: endpoint.Lifecycle, Status: http.StatusAccepted, Audit: op.Audit{Action: s.kind + ".snapshot_create"}, Replay: h.started,
			Description: "Starts a job that takes the snapshot. A name that is taken is 409 `conflict`. `vmstate` " +
				"includes the memory if the hypervisor supports it.",
		})
		op.Delete(a, path+"/:name", h.remove, op.Spec{
			ID: "delete_" + s.kind + "_snapshot", Summary: "Delete a snapshot of " + s.one,
			Tag: s.tag, Role: identity.Operator, On: s.on, Calls: true,
			Needs: endpoint.Lifecycle, Status: http.StatusAccepted, Audit: op.Audit{Action: s.kind + ".snapshot_delete", Target: "name"},
			Plan:        true,
			Description: "Starts a job that deletes the snapshot. The guest and its other snapshots do not change.",
		})
		op.Post(a, path+"/:name/rollback", h.rollBack, op.Spec{
			ID: "rollback_" + s.kind + "_snapshot", Summary: "Roll back " +
				s.one +
				" to a snapshot",
			Tag: s.tag, Role: identity.Admin, On: s.on, Calls: true,
			Needs: endpoint.Lifecycle, Confirm: op.Confirm{When: op.ConfirmAlways, Field: "name"},
			Status: http.StatusAccepted, Audit: op.Audit{Action: s.kind + ".snapshot_rollback", Target: "name"}, Replay: h.started,
			Plan: true,
			Description: "Starts a job that rolls the guest back. Data written since the snapshot is lost, so it is 409 " +
				"`confirm_required` until `confirm` is the name of the guest. A running guest is stopped first.",
		})
	}
}

// request returns the guest that the path names.
func (h handlers) request(ctx context.Context, confirm *string) (guest.Request, error) {
	found := op.ResourceOf(ctx)
	return h.guests.Request(ctx, found.ID, found.TeamID, confirm)
}

func (h handlers) list(ctx context.Context, _ *struct{}) (*op.List[guest.Snapshot], error) {
	r, err := h.request(ctx, nil)
	if err != nil {
		return nil, err
	}
	all, err := h.actor.Snapshots(ctx, r.Guest)
	return &op.List[guest.Snapshot]{Total: len(all), Body: all}, err
}

type takeInput struct {
	Body struct {
		Name        string  `json:"name" minLength:"2" maxLength:"40" pattern:"^[A-Za-z][A-Za-z0-9_-]+$" example:"before-upgrade" doc:"Name of the snapshot; current is reserved"`
		Description *string `json:"description,omitempty" nullable:"true" maxLength:"4096" doc:"Description of the snapshot"`
		Memory      bool    `json:"vmstate,omitempty" doc:"Include the memory"`
	}
}

func (h handlers) take(ctx context.Context, in *takeInput) (*op.Body[guest.StartResult], error) {
	audit.Describe(ctx, func(e *audit.Entry) { e.Detail("snapshot", in.Body.Name) })
	spec := hypervisor.SnapshotSpec{Name: in.Body.Name, Memory: in.Body.Memory}
	if in.Body.Description != nil {
		spec.Description = *in.Body.Description
	}
	return start(ctx, h, guest.TakeSnapshot, nil, spec)
}

type nameInput struct {
	op.PlanParams
	Name string `path:"name" minLength:"1" maxLength:"255" example:"before-upgrade"`
}

func (h handlers) remove(ctx context.Context, in *nameInput) (*op.Body[guest.StartResult], error) {
	return start(ctx, h, guest.DeleteSnapshot, nil, in.Name)
}

type rollBackInput struct {
	op.PlanParams
	Name string `path:"name" minLength:"1" maxLength:"255" example:"before-upgrade"`
	Body *struct {
		Confirm *string `json:"confirm,omitempty" nullable:"true" maxLength:"200" doc:"Name of the guest"`
	}
}

func (h handlers) rollBack(ctx context.Context, in *rollBackInput) (*op.Body[guest.StartResult], error) {
	var confirm *string
	if in.Body != nil {
		confirm = in.Body.Confirm
	}
	return start(ctx, h, guest.RollBack, confirm, hypervisor.RollbackSpec{Name: in.Name})
}

// start starts a job on the guest that the path names.
func start[P any](ctx context.Context, h handlers, work guest.Work[P], confirm *string, spec P) (*op.Body[guest.StartResult], error) {
	r, err := h.request(ctx, confirm)
	if err != nil {
		return nil, err
	}
	started, err := work.Start(ctx, h.actor, r, spec)
	return &op.Body[guest.StartResult]{Body: started}, err
}

// started rebuilds the answer of take and rollBack for a repeated
// Idempotency-Key.
func (h handlers) started(ctx context.Context, made idempotency.Result) (any, error) {
	r, err := h.request(ctx, nil)
	if err != nil {
		return nil, err
	}
	return h.actor.StartResult(ctx, made.JobID, r.Guest.IsSelf)
}
