// Package migrations is the HTTP resource that migrates VMs and apps to other
// hosts and nodes. One operation checks a migration and returns the blockers
// and warnings; the other starts the job, which repeats the check.
package migrations

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/scope"
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

// Register declares the same operations for VMs and for apps.
func Register(a *op.API, deps Deps) {
	for _, s := range []struct {
		kind, one, tag string
		on             op.On
		guests         Guests
	}{
		{"vm", "a VM", "VMs", op.VM, deps.VMs},
		{"app", "an app", "Apps", op.App, deps.Apps},
	} {
		h := handlers{s.guests, deps.Actor}
		path := "/api/v1/" + s.kind + "s/:" + s.kind + "_id/migrate"
		op.Post(a, path+"/preflight", h.preflight, op.Spec{
			ID: "check_" + s.kind + "_migration", Summary: "Check the migration of " + s.one, Tag: s.tag, Role: identity.Admin, On: s.on,
			Calls: true, ReadOnly: true, Needs: endpoint.Lifecycle,
			Description: "Returns how the guest would be migrated to a host, with `blockers` that prevent it and " +
				"`warnings`, each with a code. Both hosts are contacted; nothing is reserved or changed. A host of " +
				"the guest's own cluster is a valid target: the guest then moves to another node, which `node` " +
				"selects if there are several. `strategy` is the first available strategy, or the requested one; " +
				"`rejected` explains why others are not available.",
		})
		op.Post(a, path, h.migrate, op.Spec{
			ID: "migrate_" + s.kind, Summary: "Migrate " + s.one, Tag: s.tag, Role: identity.Admin, On: s.on, Calls: true, Plan: true,
			Needs: endpoint.Lifecycle, Status: http.StatusAccepted, Audit: op.Audit{Action: s.kind + ".migrate"},
			Confirm: op.Confirm{When: op.ConfirmSelf, Field: "name"}, Replay: h.migrating,
			Description: "Starts a job and returns it with the check that the request passed; the job repeats the check. " +
				"Blockers are 409 `migration_blocked` with `blockers`. If the guest would be stopped, its name is required " +
				"in `confirm` (409 `confirm_required`). Between clusters, the guest is stopped, backed up to a storage " +
				"that both hosts have, and restored and started on the target. The original is kept, stopped and tagged " +
				"`moved`, and schedules that name it use the new guest. A guest with volumes that backups do not include " +
				"is not moved this way (`volumes_not_in_backup`). If there is no common storage and both nodes are hosts " +
				"with SSH access, the backup file is copied through this service (`transfer`) and deleted on both sides " +
				"at the end. If a step fails before the guest runs on the target, the original is started again.",
		})
	}
}

// Request names the target of a migration.
type Request struct {
	TargetHostID int64   `json:"target_host_id" minimum:"1" example:"2" doc:"ID of a host of the same or another cluster"`
	Node         *string `json:"node,omitempty" nullable:"true" minLength:"1" maxLength:"253" example:"pve2" doc:"Node of the target host's cluster; the host's own node if absent"`
	Storage      *string `json:"storage,omitempty" nullable:"true" minLength:"1" maxLength:"100" example:"local-lvm" doc:"Storage for its disks; storages with the same names if absent"`
	Strategy     *string `json:"strategy,omitempty" nullable:"true" enum:"cluster,shared_storage,transfer" example:"cluster" doc:"Required strategy; if absent, the first available one in this order"`
}

// order returns the request of package guest. It checks that the caller may
// have guests on the target.
func (h handlers) order(ctx context.Context, o Request) (guest.MigrationRequest, error) {
	_, err := schedule.Require(ctx, h.actor.DB, scope.Host, o.TargetHostID, identity.Admin)
	return guest.MigrationRequest(o), err
}

type preflightInput struct {
	Body struct{ Request }
}

func (h handlers) preflight(ctx context.Context, in *preflightInput) (*op.Body[guest.Preflight], error) {
	order, err := h.order(ctx, in.Body.Request)
	if err != nil {
		return nil, err
	}
	r, err := h.request(ctx, nil)
	if err != nil {
		return nil, err
	}
	p, err := guest.CheckMigration(ctx, h.actor, r, order)
	return &op.Body[guest.Preflight]{Body: p}, err
}

type migrateInput struct {
	op.PlanParams
	Body struct {
		Request
		Confirm *string `json:"confirm,omitempty" nullable:"true" example:"web1" doc:"Name of the guest, if it is stopped for the migration or is the service's own guest"`
	}
}

func (h handlers) migrate(ctx context.Context, in *migrateInput) (*op.Body[guest.MigrateResult], error) {
	order, err := h.order(ctx, in.Body.Request)
	if err != nil {
		return nil, err
	}
	r, err := h.request(ctx, in.Body.Confirm)
	if err != nil {
		return nil, err
	}
	done, err := guest.Migrate(ctx, h.actor, r, order)
	return &op.Body[guest.MigrateResult]{Body: done}, err
}

// request returns the guest that the path names.
func (h handlers) request(ctx context.Context, confirm *string) (guest.Request, error) {
	found := op.ResourceOf(ctx)
	return h.guests.Request(ctx, found.ID, found.TeamID, confirm)
}

// migrating rebuilds the answer of migrate for a repeated Idempotency-Key.
func (h handlers) migrating(ctx context.Context, made idempotency.Result) (any, error) {
	r, err := h.request(ctx, nil)
	if err != nil {
		return nil, err
	}
	return h.actor.ReplayMigrate(ctx, made, r.Guest.IsSelf)
}
