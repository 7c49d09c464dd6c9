package guest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// restoreKind is the kind of jobs that restore backups.
const restoreKind = "backup.restore"

// RestoreRequest describes a requested restore. A nil field leaves the choice to
// the hypervisor or the service.
type RestoreRequest struct {
	NewID   *int64  `json:"newid,omitempty"`
	Name    *string `json:"name,omitempty"`
	Node    *string `json:"node,omitempty"`
	Storage *string `json:"storage,omitempty"`
	Over    bool    `json:"over,omitempty"`
	Start   bool    `json:"start,omitempty"`
	// NewIdentity applies to a guest under a new ID only.
	NewIdentity *bool `json:"new_identity,omitempty"`
}

// RestoreSource is a backup that is going to be restored.
type RestoreSource struct {
	// ID is the service's ID of the backup.
	ID     int64
	HostID int64
	TeamID int64
	// Name is the name of the guest that was backed up, or its ID at the
	// hypervisor.
	Name string
	// GuestID is the row of that guest. It is nil if the guest does not exist
	// any more.
	GuestID *int64
	Backup  hypervisor.Backup
	// Suspicion is the reason why the backup does not count as one of the
	// guest. It is empty for a good one.
	Suspicion string
}

// warn adds warnings to a plan if the backup may not be what it seems.
func (b *RestoreSource) warn(p *plan.Plan) {
	if b.Backup.Verified == hypervisor.BackupDamaged {
		p.Warn("The last verification found the backup damaged.")
	}
	switch b.Suspicion {
	case BackupUnfinished:
		p.Warn("The backup is empty: it is still running, or was interrupted.")
	case BackupInFuture:
		p.Warn("The backup is dated in the future, so its real date is unknown.")
	case BackupOfUnknown:
		notes := "It has no notes."
		if text := strings.TrimSpace(host.CleanTo(b.Backup.Notes, maxNotes)); text != "" {
			notes = fmt.Sprintf("Its notes are: %q.", text)
		}
		p.Warn("Another cluster lists the same backup, and it is not certain that it belongs to %s. %s", b.Name, notes)
	}
}

// maxNotes is the part of a backup's notes that a plan shows, in bytes.
const maxNotes = 200

// target returns the backup as the target of a job.
func (b *RestoreSource) target() job.Target {
	return job.Target{Kind: "backup", ID: b.ID, Name: b.Name}
}

// restoreParams are the parameters of a job that restores a backup under a new
// ID.
type restoreParams struct {
	HostID int64                  `json:"host_id"`
	Name   string                 `json:"name"`
	Spec   hypervisor.RestoreSpec `json:"spec"`
	Wanted bool                   `json:"wanted,omitempty"`
	Start  bool                   `json:"start,omitempty"`
}

// restore runs a restore of either kind: over a guest, or under a free ID.
func (w *Worker) restore(ctx context.Context, run *job.Run) error {
	var params restoreParams
	if err := run.Params(&params); err != nil {
		return err
	}
	if params.Spec.Over {
		var over Params[overSpec]
		if err := run.Params(&over); err != nil {
			return err
		}
		return restoreOver(over.Spec.Order.Start).perform(ctx, w, run)
	}
	spec := params.Spec
	c := &creation{Worker: w, run: run, progress: creationProgress{ID: spec.ID}, hostID: params.HostID, kind: spec.Backup.Kind,
		node: spec.Node, name: params.Name, noun: "guest", wanted: params.Wanted, needs: endpoint.Backup, step: "restore",
		from: &spec.Backup, operation: hypervisor.OperationRestore, note: "creating a guest from the backup " + spec.Backup.ID, unmarked: true}
	c.send = func(ctx context.Context, at hypervisor.Host, id hypervisor.GuestID) (string, error) {
		able, err := host.AsAbility[hypervisor.BackupManager](at)
		if err != nil {
			return "", err
		}
		spec := spec
		spec.ID = id
		return able.Restore(ctx, spec)
	}
	c.find = func(ctx context.Context) (there, mine bool, err error) {
		at := &guestRun{Worker: w, hostID: c.hostID, ref: c.ref()}
		found, err := callHost(ctx, at, func(ctx context.Context, host hypervisor.Host) (hypervisor.GuestRef, error) {
			return find(ctx, host, c.ref())
		})
		if err != nil || found.Node == "" {
			return false, false, err
		}
		made, err := callHost(ctx, at, func(ctx context.Context, host hypervisor.Host) (hypervisor.Guest, error) {
			return host.Guest(ctx, found)
		})
		// The ID was free before the request. A guest with that ID and the
		// expected name was therefore restored by this job, if the answer to
		// the request was lost.
		named := made.Name == params.Name || made.Name == string(c.progress.ID)
		return err == nil, err == nil && c.progress.Lost && named, err
	}
	return c.execute(ctx, params.Start)
}

// overSpec is a restore over a guest, with the order that the API shows.
type overSpec struct {
	hypervisor.RestoreSpec
	Order RestoreRequest
	// Of is the backup as the target of the job.
	Of job.Target
	// Suspicion is as of Restorable.
	Suspicion string `json:",omitempty"`
	// Judged is the state of the guest that the request was judged by. It is
	// nil if that is unknown.
	Judged *judged `json:",omitempty"`
}

// judged is the state of the guest that a restore over it was judged by.
type judged struct {
	// Volumes are the guest's volumes that the restore replaces or detaches, by
	// the hypervisor's IDs.
	Volumes []string `json:"volumes"`
}

// restoreOver returns the work that replaces a stopped guest by a backup.
// Problems of its check: guest_running, protected, volumes_not_in_backup, and
// invalid_state for a backup that the hypervisor would refuse.
func restoreOver(start bool) Work[overSpec] {
	work := Work[overSpec]{
		Kind: restoreKind, Needs: endpoint.Backup, Interrupts: true, Appears: true, Templates: true,
		DataLoss:     "the guest and its disks are replaced by the backup, and everything written since then is lost",
		PublicParams: func(spec overSpec) any { return spec.Order }, Target: func(spec overSpec) job.Target { return spec.Of },
		Check: checkRestoreOver,
		Plan:  planRestoreOver,
		Steps: []Step[overSpec]{{
			Name: "restore", Operation: hypervisor.OperationRestore,
			Note: func(spec overSpec) string { return "replacing the guest with the backup " + spec.Backup.ID },
			Send: Using(func(b hypervisor.BackupManager, ctx context.Context, ref hypervisor.GuestRef, spec overSpec) (string, error) {
				spec.RestoreSpec.ID, spec.RestoreSpec.Node = ref.ID, ref.Node
				return b.Restore(ctx, spec.RestoreSpec)
			}),
			Since: overwritable,
		}},
	}
	if start {
		begin := Lifecycle(hypervisor.Start).Steps[0]
		work.Steps = append(work.Steps, Step[overSpec]{
			Name: "start", Needs: endpoint.Lifecycle, Operation: begin.Operation, Note: func(overSpec) string { return "starting the guest" },
			Send: Using(func(l hypervisor.LifecycleManager, ctx context.Context, ref hypervisor.GuestRef, _ overSpec) (string, error) {
				return l.Act(ctx, ref, hypervisor.Start)
			}),
			State: func(_ context.Context, _ hypervisor.Host, guest hypervisor.Guest, _ overSpec) (State, error) {
				return lifecycleState(hypervisor.Start, guest), nil
			},
		})
	}
	return work
}

// checkRestoreOver refuses the restore if it would destroy volumes that are not
// in the backup, if the token lacks a privilege, if the guest is running, or if
// it is protected, in this order: nobody should stop a guest for a restore that
// is refused anyway. It stores the guest's volumes in the spec.
func checkRestoreOver(ctx context.Context, on Subject, spec overSpec) error {
	lossless := on.checkLossless(ctx, spec)
	if lossless != nil && problem.From(lossless).Status() < 500 {
		return lossless
	}
	err := permitted(ctx, on.hosts, on.Guest.HostID, endpoint.Backup, func(ctx context.Context, at hypervisor.CreationChecker) error {
		return at.CheckRestore(ctx, spec.RestoreSpec)
	})
	if err != nil {
		return err
	}
	switch on.Guest.Status {
	case hypervisor.GuestRunning, hypervisor.GuestPaused:
		return problem.New(problem.CodeGuestRunning, "%s is %s; stop it first", on.Guest.Name, on.Guest.Status)
	}
	if lossless != nil {
		return lossless
	}
	return unprotected(ctx, on)
}

// checkLossless refuses a restore over the guest that the hypervisor would refuse,
// or that would destroy volumes which are not in the backup.
func (on Subject) checkLossless(ctx context.Context, spec overSpec) error {
	content, err := on.content(ctx, spec.Backup)
	if err == nil {
		err = refused(content, on.Guest.Name)
	}
	if err != nil {
		return err
	}
	config, err := on.config(ctx)
	if err != nil {
		return err
	}
	o := overwrite(config, content)
	if len(o.erased) > 0 {
		return notInBackup(on.Guest.Name, o.erased)
	}
	if spec.Judged != nil {
		spec.Judged.Volumes = volumeIDs(o.all())
	}
	return nil
}

// overwritable returns the state of a guest that is about to be replaced. The
// step is blocked if the guest runs, is protected, or has a volume that it did
// not have when the request was judged: that volume would be destroyed without
// anybody having seen it in the plan.
func overwritable(ctx context.Context, at hypervisor.Host, guest hypervisor.Guest, spec overSpec, sent time.Time) (s State, err error) {
	switch guest.Status {
	case hypervisor.GuestRunning, hypervisor.GuestPaused:
		s.Blocked = "the guest is " + guest.Status
		return s, nil
	}
	reader, err := host.AsAbility[hypervisor.ConfigReader](at)
	if err != nil {
		// The hypervisor itself refuses to replace a protected guest.
		return s, nil
	}
	config, err := reader.Config(ctx, guest.GuestRef)
	if err != nil {
		return s, err
	}
	if config.Protected {
		s.Blocked = protectedGuest
		return s, nil
	}
	// A restore that has begun creates volumes itself.
	if spec.Judged == nil || !sent.IsZero() {
		return s, nil
	}
	for _, d := range overwrite(config, nil).all() {
		if !slices.Contains(spec.Judged.Volumes, d.Volume) {
			s.Blocked = fmt.Sprintf("the guest has the volume %s, which did not exist when the restore was requested",
				host.Clean(d.Volume))
		}
	}
	return s, nil
}

// planRestoreOver adds what the guest has and the backup does not have.
func planRestoreOver(ctx context.Context, on Subject, spec overSpec, p *plan.Plan) error {
	g := on.Guest
	p.AddSince(plan.KindData, g.Name, spec.Backup.TakenAt, "All data that %s has written since the backup was taken is lost.", g.Name)
	config, err := on.config(ctx)
	if err != nil {
		return warnOnError(p, err)
	}
	content, err := on.content(ctx, spec.Backup)
	if err != nil {
		return warnOnError(p, err)
	}
	o := overwrite(config, content)
	for _, d := range o.replaced {
		p.AddSized(plan.KindDisk, d.Volume, sizeOf(d), "%s on the storage %s is replaced.", diskWords(d), d.Storage)
	}
	for _, d := range o.erased {
		p.AddSized(plan.KindDisk, d.Volume, sizeOf(d), "%s on the storage %s is destroyed with all its data: it is not in the backup.",
			diskWords(d), d.Storage)
	}
	for _, d := range o.detached {
		p.AddSized(plan.KindDisk, d.Volume, sizeOf(d), "%s on the storage %s is kept as an unused disk: it is not in the backup.",
			diskWords(d), d.Storage)
	}
	for _, d := range config.Disks {
		warnKept(p, g, d)
	}
	warnMissing(p, content)
	snapshots, err := Call(ctx, on, hypervisor.Snapshotter.Snapshots)
	if unsupported(err) {
		snapshots, err = nil, nil
	}
	if err != nil {
		return warnOnError(p, err)
	}
	for _, s := range inOrder(snapshots) {
		p.AddSince(plan.KindSnapshot, s.Name, s.TakenAt, "The snapshot %s is lost.", s.Name)
	}
	of := RestoreSource{Name: g.Name, Backup: spec.Backup, Suspicion: spec.Suspicion}
	of.warn(p)
	return on.backups(ctx, p, spec.Of.ID)
}

// warnMissing adds warnings about volumes that the backup does not contain. In
// a restored container they are empty, to a restored VM they are not attached.
func warnMissing(p *plan.Plan, content *hypervisor.BackupContent) {
	disks := missing(content)
	for _, d := range disks {
		if d.LeftOutReason != "" {
			p.Warn("%s is not in the backup, but the configuration of the restored guest refers to it: %s.", host.Clean(d.Key),
				host.Clean(d.LeftOutReason))
		}
	}
	disks = slices.DeleteFunc(disks, func(d hypervisor.Disk) bool { return d.LeftOutReason != "" })
	switch {
	case len(disks) == 0:
	case content.Keeps:
		p.Warn("Not in the backup, so not attached to the restored guest: %s.", formatVolumes(disks))
	default:
		p.Warn("Not in the backup, so empty in the restored guest: %s.", formatVolumes(disks))
	}
}

// RestoreOver enqueues the replacement of the request's guest by a backup of
// it. Its problems are those of Work.Prepare, and invalid for a storage that
// cannot be used.
func RestoreOver(ctx context.Context, a *Actor, r Request, b RestoreSource, order RestoreRequest) (CreateResult, error) {
	g := r.Guest
	spec := overSpec{Order: order, Of: b.target(), Suspicion: b.Suspicion, Judged: &judged{}, RestoreSpec: hypervisor.RestoreSpec{
		Backup: b.Backup, ID: hypervisor.GuestID(g.Ref), Node: g.Node, Over: true,
	}}
	if order.Storage != nil {
		spec.RestoreSpec.Storage = *order.Storage
		kind := hypervisor.GuestKind(g.Kind)
		p, err := a.placeOn(ctx, g.HostID, "", hypervisor.PlacementQuery{Kind: kind, Node: g.Node, Storages: true})
		if err := plan.Begin(ctx).RefuseAndStop(ctx, err, restoreOver(order.Start).confirmation(r, false)); err != nil {
			return CreateResult{}, err
		}
		if p.checkStorage("storage", *order.Storage, kind, 0); p.err() != nil {
			return CreateResult{}, p.err()
		}
	}
	result := made{VMID: g.VMID, GuestRef: g.Ref}
	if err := idempotency.SaveData(ctx, result); err != nil {
		return CreateResult{}, err
	}
	started, err := restoreOver(order.Start).Start(ctx, a, r, spec)
	return CreateResult{StartResult: started, VMID: result.VMID, GuestRef: result.GuestRef}, err
}

// RestoreNew enqueues the restore of a backup under a free ID. Problems:
// invalid with all wrong fields, invalid_state for a backup that the hypervisor
// would refuse, and those of host.Call.
func RestoreNew(ctx context.Context, a *Actor, b RestoreSource, order RestoreRequest) (CreateResult, error) {
	draft := plan.Begin(ctx)
	if err := draft.RefuseAndStop(ctx, a.ableToRestore(ctx, b.HostID, order.Start), plan.Confirmation{}); err != nil {
		return CreateResult{}, err
	}
	wanted := order.Node
	if wanted == nil && b.Backup.Node != "" {
		wanted = &b.Backup.Node
	}
	node, err := a.onlineNode(ctx, b.HostID, "node", wanted)
	if err != nil && order.Node == nil {
		// The node of the backup is offline. Another node may have access to
		// its storage.
		node, err = a.onlineNode(ctx, b.HostID, "node", nil)
	}
	name := copyName(b.Name)
	if order.Name != nil {
		name = *order.Name
	}
	if err := draft.RefuseAndStop(ctx, withName(err, name), plan.Confirmation{}); err != nil {
		return CreateResult{}, err
	}
	p, err := a.placeOn(ctx, b.HostID, "newid", hypervisor.PlacementQuery{Kind: b.Backup.Kind, Node: node, Name: name, Number: order.NewID,
		ID: true, Storages: order.Storage != nil})
	if err := draft.RefuseAndStop(ctx, err, plan.Confirmation{}); err != nil {
		return CreateResult{}, err
	}
	p.checkName(name)
	if order.Storage != nil {
		p.checkStorage("storage", *order.Storage, b.Backup.Kind, 0)
	}
	if err := p.err(); err != nil {
		return CreateResult{}, err
	}
	// If the original guest still exists, the new one gets other MAC addresses
	// by default, so that both can run.
	spec := hypervisor.RestoreSpec{Backup: b.Backup, Node: node, NewIdentity: b.GuestID != nil}
	if order.Name != nil {
		spec.Name = *order.Name
	}
	if order.Storage != nil {
		spec.Storage = *order.Storage
	}
	if order.NewIdentity != nil {
		spec.NewIdentity = *order.NewIdentity
	}
	content, unread := readContent(ctx, a.Hosts, b.HostID, b.Backup)
	if err := draft.Refuse(refused(content, b.Name)); err != nil {
		return CreateResult{}, err
	}
	spec.ID = p.ID
	err = permitted(ctx, a.Hosts, b.HostID, endpoint.Backup, func(ctx context.Context, at hypervisor.CreationChecker) error {
		return at.CheckRestore(ctx, spec)
	})
	if err := draft.Refuse(err); err != nil {
		return CreateResult{}, err
	}
	err = draft.Finish(ctx, plan.Confirmation{}, func(_ context.Context, told *plan.Plan) error {
		if err := warnOnError(told, unread); err != nil {
			return err
		}
		told.AddSince(plan.KindGuest, string(p.ID), b.Backup.TakenAt, "The guest %s is created from the backup of %s on node %s.", p.ID,
			b.Name, node)
		warnMissing(told, content)
		if b.GuestID != nil && !spec.NewIdentity {
			told.Warn("%s still exists: both guests have the same MAC addresses and cannot run in the same network.", b.Name)
		}
		b.warn(told)
		return nil
	})
	if err != nil {
		return CreateResult{}, err
	}
	return a.enqueueRestore(ctx, b, order, p, spec)
}

// enqueueRestore enqueues the job. Its target is the backup, because the guest
// does not exist yet.
func (a *Actor) enqueueRestore(ctx context.Context, b RestoreSource, order RestoreRequest, p *place, spec hypervisor.RestoreSpec) (
	answer CreateResult, err error) {
	err = a.DB.Tx(ctx, func(tx *db.Tx) error {
		if err := p.reserve(ctx, tx, order.NewID != nil); err != nil {
			return err
		}
		spec.ID = p.ID
		result := made{VMID: p.Number, GuestRef: string(p.ID)}
		if err := idempotency.SaveData(ctx, result); err != nil {
			return err
		}
		enqueued, err := a.Queue.Enqueue(ctx, tx, job.Spec{
			Kind: restoreKind, Target: b.target(), TeamID: b.TeamID, HostID: b.HostID, PublicParams: order,
			Exclusive: fmt.Sprintf("id:%d:%s", p.clusterID, p.ID),
			Params:    restoreParams{HostID: b.HostID, Name: cmp.Or(spec.Name, b.Name), Spec: spec, Wanted: order.NewID != nil, Start: order.Start},
		})
		if err != nil {
			return err
		}
		answer = CreateResult{StartResult: StartResult{Job: enqueued.View()}, VMID: result.VMID, GuestRef: result.GuestRef}
		return audit.Write(ctx, tx)
	})
	return answer, err
}

// ableToRestore returns the problem of a host that lacks a token or an ability
// for a restore.
func (a *Actor) ableToRestore(ctx context.Context, hostID int64, start bool) error {
	err := a.Hosts.Require(ctx, hostID, endpoint.Backup, func(at hypervisor.Host) error {
		if _, err := host.AsAbility[hypervisor.BackupManager](at); err != nil {
			return err
		}
		_, err := host.AsAbility[hypervisor.Provisioner](at)
		return err
	})
	if err != nil || !start {
		return err
	}
	return a.Hosts.Require(ctx, hostID, endpoint.Lifecycle, func(at hypervisor.Host) error {
		_, err := host.AsAbility[hypervisor.LifecycleManager](at)
		return err
	})
}
