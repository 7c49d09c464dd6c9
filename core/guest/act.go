package guest

import (
	"context"
	"slices"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Capabilities says what a host has tokens for.
type Capabilities interface {
	// Has reports whether the host has a token for the capability. It asks no hypervisor.
	Has(ctx context.Context, hostID int64, capability endpoint.Capability) (bool, error)
}

// Actor asks for changes of guests' power state.
type Actor struct {
	DB    *db.DB
	Queue *job.Queue
	Hosts Capabilities
}

// Action is a wish for one guest.
type Action struct {
	// Target is the VM or app in the words of the API.
	Target job.Target
	Guest  *Guest
	TeamID int64
	Action hypervisor.Action
	// Confirm is what the caller typed; it matters only for the guest that the service runs in.
	Confirm *string
}

// Started is the answer to an action.
type Started struct {
	Job    job.View `json:"job"`
	IsSelf bool     `json:"is_self" doc:"The service itself runs in this guest"`
}

// Started is the answer to an action again, with its job as it is now.
func (a *Actor) Started(ctx context.Context, jobID int64, isSelf bool) (Started, error) {
	j, err := a.Queue.Get(ctx, jobID, identity.FromContext(ctx).Visible())
	if err != nil {
		return Started{}, err
	}
	return Started{Job: j.View(), IsSelf: isSelf}, nil
}

// Start checks the wish and enqueues its job, with the audit row, in one transaction. Its problems are those of Prepare, and
// guest_busy.
func (a *Actor) Start(ctx context.Context, wish Action) (*job.Job, error) {
	enqueue, err := a.Prepare(ctx, wish)
	if err != nil {
		return nil, err
	}
	var made *job.Job
	err = a.DB.Tx(ctx, func(tx *db.Tx) (err error) {
		if made, err = enqueue(ctx, tx); err != nil {
			return err
		}
		return audit.Write(ctx, tx)
	})
	return made, err
}

// Prepare checks the wish and returns what enqueues its job; the audit row is its caller's to write. Problems: invalid for
// an action that this kind does not know, capability_missing, invalid_state for a template, self_target.
func (a *Actor) Prepare(ctx context.Context, wish Action) (schedule.Enqueue, error) {
	g := wish.Guest
	kind := hypervisor.GuestKind(g.Kind)
	if !slices.Contains(hypervisor.Actions(kind), wish.Action) {
		return nil, problem.InvalidField("is no action of a "+wish.Target.Kind, "enum", "path", "action")
	}
	if g.Template {
		return nil, problem.New(problem.CodeInvalidState, "%s is a template; it cannot run", g.Name)
	}
	phrase := wish.Target.Name
	confirmed := g.IsSelf && wish.Confirm != nil && *wish.Confirm == phrase
	if g.IsSelf && interrupts[wish.Action] && !confirmed {
		return nil, problem.Confirm(problem.CodeSelfTarget, phrase,
			"the service itself runs in %s and would be taken away with it; send its name as confirm to go on", phrase)
	}
	if has, err := a.Hosts.Has(ctx, g.HostID, endpoint.Lifecycle); err != nil {
		return nil, err
	} else if !has {
		return nil, host.Missing(endpoint.Lifecycle)
	}
	return func(ctx context.Context, tx *db.Tx) (*job.Job, error) {
		return a.Queue.Enqueue(ctx, tx, LifecycleSpec(wish.Target, wish.TeamID, g.HostID, LifecycleParams{
			GuestID: g.ID, Kind: kind, VMID: g.VMID, Name: g.Name, Action: wish.Action, ConfirmedSelf: confirmed,
		}))
	}, nil
}
