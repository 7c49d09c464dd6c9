package guest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// CloneOrder is a copy as it is asked for; nil takes what the hypervisor or the service chooses.
type CloneOrder struct {
	Full    bool
	Name    *string
	NewID   *int64
	Storage *string
	Target  *string
}

// Made is the answer to a request that makes a guest.
type Made struct {
	Started
	VMID     *int64 `json:"vmid" example:"105" doc:"The new guest's number at the hypervisor; null where its guests have none"`
	GuestRef string `json:"guest_ref" example:"105" doc:"The new guest's id at the hypervisor"`
}

// made is what an answer is made of again besides its job.
type made struct {
	VMID     *int64 `json:"vmid"`
	GuestRef string `json:"guest_ref"`
}

// MadeAgain is the answer to a request that makes a guest again, with its job as it is now.
func (a *Actor) MadeAgain(ctx context.Context, again idempotency.Made, isSelf bool) (Made, error) {
	var was made
	if err := json.Unmarshal(again.Kept, &was); err != nil {
		return Made{}, fmt.Errorf("decoding what an answer is made of: %w", err)
	}
	started, err := a.Started(ctx, again.JobID, isSelf)
	return Made{Started: started, VMID: was.VMID, GuestRef: was.GuestRef}, err
}

// cloneSpec is a copy with what its operation shows of it.
type cloneSpec struct {
	hypervisor.CloneSpec
	Order CloneOrder
}

// copied is where the copy of a guest is.
func (s cloneSpec) copied(of hypervisor.GuestRef) hypervisor.GuestRef {
	return hypervisor.GuestRef{Kind: of.Kind, Node: cmp.Or(s.Node, of.Node), ID: s.ID}
}

// clone is the work that copies a guest. The task is of the guest that is copied.
var clone = Work[cloneSpec]{
	Kind: "clone", Needs: endpoint.Lifecycle, Templates: true,
	Shows: func(spec cloneSpec) any {
		return struct {
			Full    bool    `json:"full"`
			Name    *string `json:"name,omitempty"`
			NewID   *int64  `json:"newid,omitempty"`
			Storage *string `json:"storage,omitempty"`
			Target  *string `json:"target,omitempty"`
		}(spec.Order)
	},
	Plan: func(_ context.Context, on Subject, spec cloneSpec, p *plan.Plan) error {
		p.Add(plan.KindGuest, spec.Name, "%s is copied to %s.", on.Guest.Name, spec.Name)
		if spec.Full {
			p.AddSized(plan.KindDisk, "", on.Guest.DiskTotalBytes, "Its disks are copied.")
		}
		return nil
	},
	Steps: []Step[cloneSpec]{{
		Name: "clone", Does: hypervisor.OperationClone,
		Says: func(spec cloneSpec) string { return fmt.Sprintf("making the copy %s (%s)", spec.Name, spec.ID) },
		Send: Using(func(c hypervisor.Cloner, ctx context.Context, ref hypervisor.GuestRef, spec cloneSpec) (string, error) {
			return c.Clone(ctx, ref, spec.CloneSpec)
		}),
		State: func(ctx context.Context, at hypervisor.Host, guest hypervisor.Guest, spec cloneSpec) (s State, err error) {
			there, err := at.Guest(ctx, spec.copied(guest.GuestRef))
			switch {
			case sdk.KindOf(err) == sdk.NotFound:
				return s, nil
			case err != nil:
				return s, err
			}
			s.Blocked = fmt.Sprintf("there is a guest %s", spec.ID)
			if there.Name == spec.Name {
				s.Made = fmt.Sprintf("there is the guest %s named %s", spec.ID, spec.Name)
			}
			return s, nil
		},
	}},
	End: func(ctx context.Context, e *Ending[cloneSpec]) error {
		made := e.Spec.copied(e.At)
		if err := e.anew(ctx, e.HostID, made); err != nil {
			return err
		}
		if err := e.supersede(ctx, e.HostID, made, e.Run.Job().CreatedAt); err != nil {
			return err
		}
		e.sync(ctx, e.Run, e.HostID)
		e.appear(ctx, e.Run, e.HostID, made)
		return nil
	},
}

// Clone asks for a copy of the request's guest. Problems besides those of Work.Prepare: invalid for each field that does not do;
// linked_clone_needs_template; and conflict for a number or name that is taken.
func Clone(ctx context.Context, a *Actor, r Request, order CloneOrder) (Made, error) {
	g, kind := r.Guest, hypervisor.GuestKind(r.Guest.Kind)
	spec := cloneSpec{Order: order, CloneSpec: hypervisor.CloneSpec{Full: order.Full, Name: copyName(g.Name)}}
	if order.Name != nil {
		spec.Name = *order.Name
	}
	node := g.Node
	if order.Target != nil {
		target, err := a.onlineNode(ctx, g.HostID, "target", order.Target)
		if err != nil {
			return Made{}, err
		}
		node = target
	}
	if node != g.Node {
		spec.Node = node
	}
	p, err := a.placeOn(ctx, g.HostID, hypervisor.PlacementQuery{Kind: kind, Node: node, Name: spec.Name, Number: order.NewID,
		ID: true, Storages: order.Storage != nil})
	if err != nil {
		return Made{}, err
	}
	if !guestName.MatchString(spec.Name) {
		p.refuse("name", "string_pattern_mismatch", "must begin and end with a letter or digit and have 1 to 63 letters, digits, . and -")
	}
	p.checkNumber("newid", order.NewID)
	if order.Storage != nil {
		spec.Storage = *order.Storage
		room := int64(0)
		if g.DiskTotalBytes != nil {
			room = *g.DiskTotalBytes
		}
		p.checkStorage("storage", spec.Storage, kind, room)
		if !order.Full {
			p.refuse("storage", "value_error", "a linked copy is where its template is")
		}
	}
	if err := p.err(); err != nil {
		return Made{}, err
	}
	if !order.Full && !g.Template {
		return Made{}, problem.New(problem.CodeLinkedCloneNeedsTemplate, "%s is no template: only of a template a copy can be made that shares "+
			"its disks; make a full copy, or a template first", g.Name)
	}
	spec.ID = p.ID
	result := made{VMID: p.Number, GuestRef: string(p.ID)}
	if err := idempotency.Keep(ctx, result); err != nil {
		return Made{}, err
	}
	started, err := clone.Start(ctx, a, r, spec)
	return Made{Started: started, VMID: result.VMID, GuestRef: result.GuestRef}, err
}

// copyName is what a copy is called by itself.
func copyName(name string) string {
	const suffix = "-copy"
	if len(name) > 63-len(suffix) {
		name = name[:63-len(suffix)]
	}
	return name + suffix
}
