// Package clones is the HTTP resource that clones VMs and apps. It has the same
// operation for both: POST …/clone, which starts a job.
package clones

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/sdk/endpoint"
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

// Register declares the same operation for VMs and for apps.
func Register(a *op.API, deps Deps) {
	for _, s := range []struct {
		kind, one, tag string
		on             op.On
		guests         Guests
		besides        string
	}{
		{"vm", "a VM", "VMs", op.VM, deps.VMs, ""},
		{"app", "an app", "Apps", op.App, deps.Apps, " The clone is a container; it becomes an app when you adopt it."},
	} {
		h := handlers{s.guests, deps.Actor}
		op.Post(a, "/api/v1/"+s.kind+"s/:"+s.kind+"_id/clone", h.clone, op.Spec{
			ID: "clone_" + s.kind, Summary: "Clone " +
				s.one, Tag: s.tag, Role: identity.Admin, On: s.on, Calls: true, Plan: true,
			Needs: endpoint.Lifecycle, Status: http.StatusAccepted, Audit: op.Audit{Action: s.kind + ".clone"},
			Replay: h.cloned,
			Description: "Starts a job that clones the guest, and returns it with the VMID of the new guest. A linked " +
				"clone (`full` false) requires a template (409 `linked_clone_needs_template`), and a full clone of a " +
				"container requires that it is stopped (409 `guest_running`). Without `name`, the name is derived from the " +
				"source; a clone on another node (`target`) requires a storage that both nodes can access." +
				s.besides,
		})
	}
}

type cloneInput struct {
	op.PlanParams
	Body *struct {
		Full    *bool   `json:"full,omitempty" doc:"Create a full clone, the default; false for a linked clone"`
		Name    *string `json:"name,omitempty" nullable:"true" minLength:"1" maxLength:"63" example:"web2" doc:"Name of the clone"`
		NewID   *int64  `json:"newid,omitempty" nullable:"true" minimum:"1" maximum:"999999999" doc:"VMID of the clone; an unused one if absent"`
		Storage *string `json:"storage,omitempty" nullable:"true" minLength:"1" maxLength:"100" doc:"Storage for its disks"`
		Target  *string `json:"target,omitempty" nullable:"true" minLength:"1" maxLength:"253" doc:"Node of the clone"`
	}
}

func (h handlers) clone(ctx context.Context, in *cloneInput) (*op.Body[guest.CreateResult], error) {
	order := guest.CloneRequest{Full: true}
	if b := in.Body; b != nil {
		order.Name, order.NewID, order.Storage, order.Target = b.Name, b.NewID, b.Storage, b.Target
		order.Full = b.Full == nil || *b.Full
	}
	r, err := h.request(ctx)
	if err != nil {
		return nil, err
	}
	done, err := guest.Clone(ctx, h.actor, r, order)
	return &op.Body[guest.CreateResult]{Body: done}, err
}

// request returns the guest that the path names.
func (h handlers) request(ctx context.Context) (guest.Request, error) {
	found := op.ResourceOf(ctx)
	return h.guests.Request(ctx, found.ID, found.TeamID, nil)
}

// cloned rebuilds the answer of clone for a repeated Idempotency-Key.
func (h handlers) cloned(ctx context.Context, made idempotency.Result) (any, error) {
	r, err := h.request(ctx)
	if err != nil {
		return nil, err
	}
	return h.actor.ReplayCreate(ctx, made, r.Guest.IsSelf)
}
