package guest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// CloneRequest describes a requested copy. A nil field leaves the choice to the
// hypervisor or the service.
type CloneRequest struct {
	Full    bool
	Name    *string
	NewID   *int64
	Storage *string
	Target  *string
}

// CreateResult is the answer to a request that creates a guest.
type CreateResult struct {
	StartResult
	VMID     *int64 `json:"vmid" example:"105" doc:"VMID of the new guest; null if the hypervisor has no VMIDs"`
	GuestRef string `json:"guest_ref" example:"105" doc:"ID of the new guest on the hypervisor"`
}

// made is stored for idempotent repetition, beside the job.
type made struct {
	VMID     *int64 `json:"vmid"`
	GuestRef string `json:"guest_ref"`
}

// ReplayCreate rebuilds the answer to a repeated request that creates a guest,
// with the present state of its job.
func (a *Actor) ReplayCreate(ctx context.Context, again idempotency.Result, isSelf bool) (CreateResult, error) {
	var was made
	if err := json.Unmarshal(again.Data, &was); err != nil {
		return CreateResult{}, fmt.Errorf("decoding the job's parameters: %w", err)
	}
	started, err := a.StartResult(ctx, again.JobID, isSelf)
	return CreateResult{StartResult: started, VMID: was.VMID, GuestRef: was.GuestRef}, err
}

// cloneSpec is the copy of a job, with the order that the API shows.
type cloneSpec struct {
	hypervisor.CloneSpec
	Order CloneRequest
	// Warnings are added to the plan.
	Warnings []string `json:",omitempty"`
}

// copied returns where the copy will be.
func (s cloneSpec) copied(of hypervisor.GuestRef) hypervisor.GuestRef {
	return hypervisor.GuestRef{Kind: of.Kind, Node: cmp.Or(s.Node, of.Node), ID: s.ID}
}

// taken says that another guest has the ID of the copy. It is also recognised
// as the beginning of a failure; see guestRun.idTaken.
func (s cloneSpec) taken() string { return fmt.Sprintf("guest %s exists", s.ID) }

// clone is the work that copies a guest. The hypervisor's task belongs to the
// guest that is copied.
var clone = Work[cloneSpec]{
	Kind: "clone", Needs: endpoint.Lifecycle, Templates: true,
	PublicParams: func(spec cloneSpec) any {
		return struct {
			Full    bool    `json:"full"`
			Name    *string `json:"name,omitempty"`
			NewID   *int64  `json:"newid,omitempty"`
			Storage *string `json:"storage,omitempty"`
			Target  *string `json:"target,omitempty"`
		}(spec.Order)
	},
	Plan: func(_ context.Context, on Subject, spec cloneSpec, p *plan.Plan) error {
		p.Add(plan.KindGuest, spec.Name, "%s is cloned to %s.", on.Guest.Name, spec.Name)
		if spec.Full {
			p.AddSized(plan.KindDisk, "", on.Guest.DiskTotalBytes, "Its disks are copied.")
		}
		for _, warning := range spec.Warnings {
			p.Warn("%s", warning)
		}
		return nil
	},
	Check: func(ctx context.Context, on Subject, spec cloneSpec) error {
		g := on.Guest
		switch {
		case !spec.Full && !g.Template:
			return problem.New(problem.CodeLinkedCloneNeedsTemplate, "cannot create a linked clone of %s: it is not a template; "+
				"request a full clone, or convert it to a template first", g.Name)
		case spec.Full && g.Kind == string(hypervisor.Container) && (g.Status == hypervisor.GuestRunning || g.Status == hypervisor.GuestPaused):
			return problem.New(problem.CodeGuestRunning, "cannot clone %s: the container is %s; stop it first", g.Name, g.Status)
		}
		// A missing privilege is better reported now than as a failed job.
		return permitted(ctx, on.hosts, g.HostID, endpoint.Lifecycle, func(ctx context.Context, at hypervisor.CreationChecker) error {
			return at.CheckClone(ctx, g.At(), spec.CloneSpec)
		})
	},
	Steps: []Step[cloneSpec]{{
		Name: "clone", Operation: hypervisor.OperationClone,
		Note: func(spec cloneSpec) string { return fmt.Sprintf("creating the clone %s (%s)", spec.Name, spec.ID) },
		Send: Using(func(c hypervisor.Cloner, ctx context.Context, ref hypervisor.GuestRef, spec cloneSpec) (string, error) {
			return c.Clone(ctx, ref, spec.CloneSpec)
		}),
		// The copy has no mark that would identify it, so its ID and its name
		// together show that the step was carried out.
		State: func(ctx context.Context, at hypervisor.Host, guest hypervisor.Guest, spec cloneSpec) (s State, err error) {
			there, err := at.Guest(ctx, spec.copied(guest.GuestRef))
			switch {
			case sdk.KindOf(err) == sdk.NotFound:
				return s, nil
			case err != nil:
				return s, err
			}
			s.Blocked = spec.taken()
			if there.Name == spec.Name {
				s.Created = fmt.Sprintf("guest %s named %s exists", spec.ID, spec.Name)
			}
			return s, nil
		},
	}},
	End: func(ctx context.Context, e *CompletedJob[cloneSpec]) error {
		made := e.Spec.copied(e.At)
		// The ID may have belonged to a guest that was just destroyed. Polls
		// must list the copy all the same.
		if err := e.allowRelisting(ctx, e.HostID, made); err != nil {
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

// Clone enqueues a copy of the request's guest. Problems in addition to those
// of Work.Prepare: invalid, with all wrong fields.
func Clone(ctx context.Context, a *Actor, r Request, order CloneRequest) (CreateResult, error) {
	g, draft := r.Guest, plan.Begin(ctx)
	spec := cloneSpec{Order: order, CloneSpec: hypervisor.CloneSpec{Full: order.Full, Name: copyName(g.Name)}}
	if order.Name != nil {
		spec.Name = *order.Name
	}
	node := g.Node
	if order.Target != nil {
		target, err := a.onlineNode(ctx, g.HostID, "target", order.Target)
		if err != nil {
			return CreateResult{}, withName(err, spec.Name)
		}
		node = target
	}
	if node != g.Node {
		spec.Node = node
	}
	p, err := a.placeOn(ctx, g.HostID, "newid", hypervisor.PlacementQuery{Kind: hypervisor.GuestKind(g.Kind), Node: node, Name: spec.Name,
		Number: order.NewID, ID: true, Storages: order.Full || order.Storage != nil})
	// A request for the plan alone also gets an answer if the hypervisor cannot
	// be reached.
	if err := draft.RefuseAndStop(ctx, err, plan.Confirmation{}); err != nil {
		return CreateResult{}, err
	}
	p.checkName(spec.Name)
	if order.Storage != nil {
		spec.Storage = *order.Storage
	}
	if err := draft.RefuseAndStop(ctx, a.checkCopy(ctx, p, r, order), plan.Confirmation{}); err != nil {
		return CreateResult{}, err
	}
	if err := p.err(); err != nil {
		return CreateResult{}, err
	}
	spec.ID, spec.Warnings = p.ID, p.warnings
	enqueue, err := clone.prepare(ctx, a, r, spec)
	if err != nil {
		return CreateResult{}, err
	}
	var answer CreateResult
	// The ID is reserved in the transaction that enqueues the job. Two requests
	// at the same time therefore never get the same ID.
	err = a.DB.Tx(ctx, func(tx *db.Tx) error {
		if err := p.reserve(ctx, tx, order.NewID != nil); err != nil {
			return err
		}
		spec.ID = p.ID
		result := made{VMID: p.Number, GuestRef: string(p.ID)}
		if err := idempotency.SaveData(ctx, result); err != nil {
			return err
		}
		enqueued, err := enqueue(ctx, tx, spec)
		if err != nil {
			return err
		}
		answer = CreateResult{StartResult: StartResult{Job: enqueued.View(), IsSelf: g.IsSelf}, VMID: result.VMID, GuestRef: result.GuestRef}
		return audit.Write(ctx, tx)
	})
	return answer, err
}

// checkCopy rejects guests that the hypervisor cannot copy, a storage that
// cannot be used, and disks that do not fit: together on the wanted storage, or
// each on its own. If the configuration cannot be read, it compares the known
// total size of the guest.
func (a *Actor) checkCopy(ctx context.Context, p *place, r Request, order CloneRequest) error {
	g := r.Guest
	if order.Storage != nil && !order.Full {
		p.refuse("storage", "value_error", "a linked clone must be on the storage of its template")
	}
	config, err := a.Subject(g).readConfig(ctx)
	if err != nil && !unsupported(err) {
		return err
	}
	var local []hypervisor.Disk
	for _, d := range config.Disks {
		if d.Local && !d.Removable {
			local = append(local, d)
		}
	}
	if len(local) > 0 {
		return problem.New(problem.CodeInvalidState, "cannot clone %s: the hypervisor does not clone directories and devices of the "+
			"node; remove %s first", g.Name, formatVolumes(local))
	}
	if !order.Full {
		return nil
	}
	total, needed := int64(0), map[string]int64{}
	for _, d := range config.Disks {
		if size := sizeOf(d); !d.Removable && !d.Local && !d.Unused && size != nil {
			total += *size
			needed[d.Storage] += *size
		}
	}
	// The configuration may be unreadable, but the list knows a size.
	if total == 0 && g.DiskTotalBytes != nil {
		total = *g.DiskTotalBytes
	}
	if order.Storage != nil {
		p.checkStorage("storage", *order.Storage, hypervisor.GuestKind(g.Kind), total)
		return nil
	}
	for _, s := range p.Storages {
		p.checkRoom(s, needed[s.Name], "storage", "the storage %s has %d GiB free, but the clone needs %d GiB; choose another storage",
			s.Name,
			free(s)>>30, gibibytes(needed[s.Name]))
	}
	return nil
}
