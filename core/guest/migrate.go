package guest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// The strategies of a migration, in the order in which they are tried.
const (
	// ByCluster lets the hypervisor move the guest between two nodes of a
	// cluster.
	ByCluster = "cluster"
	// BySharedStorage writes a backup to a storage that both hosts have, and
	// restores it on the other one.
	BySharedStorage = "shared_storage"
	// ByTransfer writes a backup to a storage of the guest's node, copies the
	// file through the service, and restores it on the other host.
	ByTransfer = "transfer"
)

// MigrationRequest describes a requested migration. A nil field leaves the choice
// to the service.
type MigrationRequest struct {
	TargetHostID int64   `json:"target_host_id"`
	Node         *string `json:"node,omitempty"`
	Storage      *string `json:"storage,omitempty"`
	Strategy     *string `json:"strategy,omitempty"`
}

// Preflight is the result of the check before a migration. It is shown before
// the request, and stored with it.
type Preflight struct {
	Strategy     *string            `json:"strategy" enum:"cluster,shared_storage,transfer" doc:"cluster: the hypervisor moves it between nodes of its cluster. shared_storage: it is stopped, backed up to a storage that both hosts have, and restored on the target; the source is kept. transfer: like shared_storage, but the backup file is copied between the nodes by SSH. Null if no strategy is available"`
	Rejected     []MigrationFinding `json:"rejected" doc:"Strategies that are not available: code is the strategy, and message the reason"`
	Possible     bool               `json:"possible" doc:"true if there are no blockers"`
	Node         string             `json:"node" example:"pve1" doc:"Current node of the guest"`
	TargetHostID int64              `json:"target_host_id" example:"2"`
	TargetNode   string             `json:"target_node" example:"pve2" doc:"Target node; empty if none was found"`
	TargetRef    string             `json:"target_guest_ref" example:"101" doc:"Expected ID of the guest on the target; the guest gets a different one if it is taken in the meantime"`
	Running      bool               `json:"running" doc:"true if the guest is running or paused"`
	Live         bool               `json:"live" doc:"true if the guest keeps running during the migration"`

	Blockers []MigrationFinding `json:"blockers" doc:"Reasons why the migration cannot start"`
	Warnings []MigrationFinding `json:"warnings" doc:"Warnings that do not prevent the migration"`
	Disks    []MigrationDisk    `json:"disks" doc:"Disks that are copied"`
	Bytes    *int64             `json:"bytes" doc:"Maximum number of bytes to copy; null if the size of a disk is not known"`

	DowntimeS     *int64 `json:"downtime_s" doc:"Expected downtime in seconds; null if it cannot be estimated"`
	DowntimeBasis string `json:"downtime_basis" doc:"Basis of the estimated downtime"`

	SourceStorage *string `json:"source_storage" doc:"Storage for the backup; null for the strategy cluster"`
	TargetStorage *string `json:"target_storage" doc:"For shared_storage, the name of the same storage on the target; for transfer, the storage that the backup is copied to; null for the strategy cluster"`
}

// MigrationFinding is one blocker or warning of a migration.
type MigrationFinding struct {
	Code    string `json:"code" example:"bind_mount"`
	Message string `json:"message" example:"mp0 is a directory of the node."`
}

// MigrationDisk is a disk that the migration copies.
type MigrationDisk struct {
	Key       string `json:"key" example:"scsi0"`
	Storage   string `json:"storage" example:"local-lvm"`
	SizeBytes *int64 `json:"size_bytes"`
}

// stops reports whether the guest is down for a while.
func (p *Preflight) stops() bool { return p.Running && !p.Live }

// is reports whether the migration uses a strategy.
func (p *Preflight) is(strategy string) bool { return p.Strategy != nil && *p.Strategy == strategy }

// across reports whether the guest goes to another cluster.
func (p *Preflight) across() bool { return p.is(BySharedStorage) || p.is(ByTransfer) }

// sentences joins the messages of findings to one text.
func sentences(list []MigrationFinding) (text string) {
	for i, f := range list {
		if i > 0 {
			text += " "
		}
		text += f.Message
	}
	return text
}

// MigrateResult is the answer to a request for a migration.
type MigrateResult struct {
	StartResult
	Preflight Preflight `json:"preflight"`
}

// migrationSpec contains the parameters of the job. Everything else is decided
// by the job's own check, because the situation may have changed while the job
// was queued.
type migrationSpec struct {
	Order MigrationRequest `json:"order"`
	// Confirmed says that the caller confirmed the guest to be stopped.
	Confirmed bool `json:"confirmed,omitempty"`
}

// migrate is the work of moving a guest. It describes how its jobs are shown;
// Worker.migrate carries them out.
var migrate = Work[migrationSpec]{
	Kind: "migrate", Needs: endpoint.Lifecycle, Templates: true,
	PublicParams: func(spec migrationSpec) any { return spec.Order },
}

// CheckMigration reports what a migration of the request's guest would
// encounter. Problems: invalid for a node that the target does not have, and
// those of host.Call for errors of the guest's own host. Errors of the target
// host are blockers.
func CheckMigration(ctx context.Context, a *Actor, r Request, order MigrationRequest) (Preflight, error) {
	m := newMigrationCheck(a.DB, a.Hosts, callLimit, r.Guest.HostID, r.Guest.At(), order)
	m.self, m.machines = r.Guest.IsSelf, a.Machines
	m.able = func(ctx context.Context) error {
		return a.Hosts.Require(ctx, r.Guest.HostID, migrate.Needs, func(at hypervisor.Host) error {
			_, err := host.AsAbility[hypervisor.Migrator](at)
			return err
		})
	}
	if err := m.run(ctx); err != nil {
		return Preflight{}, err
	}
	return m.Preflight, nil
}

// Migrate enqueues a migration. Problems in addition to those of
// CheckMigration: migration_blocked with the blockers; guest_busy;
// confirm_required if the guest will be stopped; self_target if the service
// runs in the guest; plan_stale.
func Migrate(ctx context.Context, a *Actor, r Request, order MigrationRequest) (MigrateResult, error) {
	draft, confirmed := plan.Begin(ctx), r.Confirm != nil && *r.Confirm == r.Target.Name
	// A preview reports a busy guest together with everything else, instead of
	// alone.
	if draft.PlanOnly() && r.Guest.JobID != nil {
		if err := draft.Refuse(problem.New(problem.CodeGuestBusy, "job %d is working on %s", *r.Guest.JobID, r.Guest.Name)); err != nil {
			return MigrateResult{}, err
		}
	}
	p, err := CheckMigration(ctx, a, r, order)
	if err := draft.RefuseAndStop(ctx, err, migrationConfirmation(r, p, confirmed)); err != nil {
		return MigrateResult{}, err
	}
	if err := refuseMigration(draft, r, p); err != nil {
		return MigrateResult{}, err
	}
	if err := draft.Finish(ctx, migrationConfirmation(r, p, confirmed), func(ctx context.Context, tell *plan.Plan) error {
		planMigration(r.Guest, p, tell)
		if !p.across() {
			return nil
		}
		return schedule.PlanRetarget(ctx, a.DB, tell, inSchedules(r.Target))
	}); err != nil {
		return MigrateResult{}, err
	}
	if err := idempotency.SaveData(ctx, p); err != nil {
		return MigrateResult{}, err
	}
	at := r.Guest.At()
	params := Params[migrationSpec]{Spec: migrationSpec{Order: order, Confirmed: confirmed}, RequestedGuest: RequestedGuest{
		GuestID: r.Guest.ID, Kind: at.Kind, Ref: at.ID, UID: at.UID, Name: r.Guest.Name, ConfirmedSelf: r.Guest.IsSelf && confirmed,
	}}
	made, err := a.Enqueue(ctx, migrate.Spec(r.Target, r.TeamID, r.Guest.HostID, params))
	if err != nil {
		return MigrateResult{}, err
	}
	return MigrateResult{StartResult: StartResult{Job: made.View(), IsSelf: r.Guest.IsSelf}, Preflight: p}, nil
}

// refuseMigration reports blockers, through the draft for a preview.
func refuseMigration(draft *plan.Builder, r Request, p Preflight) error {
	if len(p.Blockers) == 0 {
		return nil
	}
	if !draft.PlanOnly() {
		return problem.New(problem.CodeMigrationBlocked, "cannot migrate %s: %s", r.Guest.Name, sentences(p.Blockers)).
			With("blockers", p.Blockers)
	}
	for _, f := range p.Blockers {
		if err := draft.Refuse(problem.New(problem.CodeMigrationBlocked, "%s: %s", f.Code, f.Message)); err != nil {
			return err
		}
	}
	return nil
}

// migrationConfirmation returns the confirmation that the migration needs: the
// guest's name if the guest is stopped, or if the service runs in it.
func migrationConfirmation(r Request, p Preflight, given bool) plan.Confirmation {
	c := plan.Confirmation{Phrase: r.Target.Name, Given: given, IsSelf: r.Guest.IsSelf}
	switch {
	case r.Guest.IsSelf:
		c.Code = problem.CodeSelfTarget
		c.Why = fmt.Sprintf("the service itself runs in %s and is moved with it; to proceed, send the guest's name as confirm", c.Phrase)
	case p.stops():
		c.Code = problem.CodeConfirmRequired
		c.Why = fmt.Sprintf("%s is stopped while it is moved; to proceed, send the guest's name as confirm", c.Phrase)
	}
	return c
}

// planMigration writes the effects of the migration into the plan.
func planMigration(g *Guest, p Preflight, tell *plan.Plan) {
	on := Subject{Guest: g}
	switch {
	case p.stops():
		on.interrupt(tell)
	case p.Running:
		tell.Add(plan.KindGuest, g.Name, "%s keeps running while it is moved.", g.Name)
	}
	switch {
	case p.Node != p.TargetNode:
		tell.Add(plan.KindGuest, g.Name, "%s is moved from the node %s to the node %s.", g.Name, p.Node, p.TargetNode)
	case p.across():
		tell.Add(plan.KindGuest, g.Name, "%s is moved to the node %s of the other cluster.", g.Name, p.TargetNode)
	}
	if p.across() {
		tell.Add(plan.KindGuest, g.Name, "The original guest is kept: stopped, tagged %s, and no longer started with its node.",
			movedTag)
	}
	if p.is(ByTransfer) && p.SourceStorage != nil && p.TargetStorage != nil {
		tell.Add(plan.KindGuest, g.Name, "The backup is copied through this service from the storage %s to the storage %s of the other "+
			"host; both files are deleted at the end.", *p.SourceStorage, *p.TargetStorage)
	}
	for _, d := range p.Disks {
		tell.AddSized(plan.KindDisk, d.Key, d.SizeBytes, "The disk %s on the storage %s is copied.", d.Key, d.Storage)
	}
	for _, w := range p.Warnings {
		tell.Warn("%s", w.Message)
	}
}

// movedTag is the tag of a guest that was moved to another cluster. The
// original is kept, in case the new one does not work.
const movedTag = "moved"

// ReplayMigrate rebuilds the answer to a repeated request, with the present
// state of its job.
func (a *Actor) ReplayMigrate(ctx context.Context, again idempotency.Result, isSelf bool) (MigrateResult, error) {
	var was Preflight
	if err := json.Unmarshal(again.Data, &was); err != nil {
		return MigrateResult{}, fmt.Errorf("decoding the job's parameters: %w", err)
	}
	started, err := a.StartResult(ctx, again.JobID, isSelf)
	return MigrateResult{StartResult: started, Preflight: was}, err
}

// migrationStep is the hypervisor's own migration. Its task may end before the
// guest has arrived; Worker.arrive waits for that.
func migrationStep(spec hypervisor.MigrationSpec, running bool) step {
	return step{
		name: "migrate", needs: migrate.Needs, operation: hypervisor.OperationMigrate, to: spec.Node,
		note: fmt.Sprintf("moving the guest to the node %s%s", spec.Node, map[bool]string{true: " while it is running"}[spec.Online]),
		send: func(ctx context.Context, at hypervisor.Host, ref hypervisor.GuestRef) (string, error) {
			able, err := host.AsAbility[hypervisor.Migrator](at)
			if err != nil {
				return "", err
			}
			return able.Migrate(ctx, ref, spec)
		},
		state: func(_ context.Context, _ hypervisor.Host, guest hypervisor.Guest, _ time.Time) (s State, err error) {
			switch {
			// The guest has not arrived. There is nothing to report yet.
			case guest.Node != spec.Node:
			case running && guest.Status != hypervisor.GuestRunning && guest.Status != hypervisor.GuestPaused:
				s.Blocked = fmt.Sprintf("the guest is on the node %s and is %s", guest.Node, guest.Status)
			default:
				s.Done = "the guest is on the node " + guest.Node
			}
			return s, nil
		},
	}
}
