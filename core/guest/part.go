package guest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Parts runs work on a guest as parts of a job of another package, which does
// other things in between. Each part is done once: a later run of the job may
// call the method again with the same name of the part and gets the same
// result. Errors are those of job.Run.Do.
type Parts struct {
	*Worker
	Run   *job.Run
	Asked RequestedGuest
	// Checkpoints is the section of the job's checkpoint for the parts, by their
	// names. Save stores the checkpoint.
	Checkpoints map[string]json.RawMessage
	Save        func(ctx context.Context) error
}

// Snapshot takes a snapshot without the guest's memory.
func (p *Parts) Snapshot(ctx context.Context, part, name, description string) error {
	_, err := do(ctx, p, part, false, TakeSnapshot, hypervisor.SnapshotSpec{Name: name, Description: description})
	return err
}

// RollBack rolls the guest back to a snapshot, even if the job was canceled: it
// undoes what the job has done.
func (p *Parts) RollBack(ctx context.Context, part, name string) error {
	_, err := do(ctx, p, part, true, RollBack, hypervisor.RollbackSpec{Name: name})
	return err
}

// DeleteSnapshot deletes a snapshot if it exists, even if the job was canceled.
func (p *Parts) DeleteSnapshot(ctx context.Context, part, name string) error {
	_, err := do(ctx, p, part, true, DeleteSnapshot, name)
	return err
}

// Act changes the guest's power state unless it already has that state, even if
// the job was canceled.
func (p *Parts) Act(ctx context.Context, part string, action hypervisor.Action) error {
	_, err := do(ctx, p, part, true, Lifecycle(action), struct{}{})
	return err
}

// BackUp backs the guest up to a storage and returns the backup. The notes must
// be different from those of all other backups of the guest, because they
// identify it.
func (p *Parts) BackUp(ctx context.Context, part, storage, notes string) (hypervisor.Backup, error) {
	spec := backupSpec{BackupSpec: hypervisor.BackupSpec{Storage: storage, Notes: notes}}
	a, err := do(ctx, p, part, false, RunBackup, spec)
	if err != nil {
		return hypervisor.Backup{}, err
	}
	made, err := callHostAs(ctx, a, endpoint.Backup, func(ctx context.Context, at hypervisor.Host) ([]hypervisor.Backup, error) {
		return backupsSince(ctx, at, a.ref, spec.BackupSpec, time.Time{})
	})
	if err != nil {
		return hypervisor.Backup{}, err
	}
	// The task may not have reported its backup. The newest one with these
	// notes is ours then.
	id := p.Run.CreatedBackup(part + "/" + RunBackup.Steps[0].Name)
	for i := len(made) - 1; i >= 0; i-- {
		if id == "" || made[i].ID == id {
			p.relist(ctx, p.Run, a.hostID, storage, a.ref.Node)
			return made[i], nil
		}
	}
	return hypervisor.Backup{}, job.Fail("the backup was created, but the storage does not list it")
}

// RestorableVolumes returns the IDs of the guest's volumes that a backup contains, for
// a later restore over the guest. It fails if a restore would destroy volumes
// that backups leave out: the job must not begin something that it cannot undo.
func (p *Parts) RestorableVolumes(ctx context.Context) (volumes []string, err error) {
	a := &guestRun{Worker: p.Worker, run: p.Run, requested: p.Asked}
	if err := a.locate(ctx); err != nil {
		return nil, err
	}
	var config hypervisor.Config
	err = p.Run.RetryUnreachable(ctx, func(ctx context.Context) (err error) {
		config, err = callHost(ctx, a, func(ctx context.Context, at hypervisor.Host) (hypervisor.Config, error) {
			reader, err := host.AsAbility[hypervisor.ConfigReader](at)
			if err != nil {
				return hypervisor.Config{}, nil
			}
			return reader.Config(ctx, a.ref)
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	o := overwrite(config, nil)
	if len(o.erased) > 0 {
		return nil, job.Fail("backups do not include %s, and a restore would destroy that data", formatVolumes(o.erased))
	}
	return volumeIDs(o.replaced), nil
}

// Restore replaces the stopped guest by a backup of it, unless the guest has
// other volumes than the given ones by now. Nil means any volumes. It runs even
// if the job was canceled.
func (p *Parts) Restore(ctx context.Context, part string, backup hypervisor.Backup, volumes []string) error {
	a := &guestRun{Worker: p.Worker, run: p.Run, requested: p.Asked}
	if err := a.locate(ctx); err != nil {
		return err
	}
	spec := overSpec{RestoreSpec: hypervisor.RestoreSpec{Backup: backup, ID: a.ref.ID, Node: a.ref.Node, Over: true}}
	if volumes != nil {
		spec.Judged = &judged{Volumes: volumes}
	}
	_, err := do(ctx, p, part, true, restoreOver(false), spec)
	return err
}

// do runs a part and returns the act, which knows where the guest was found.
// The part has its own section of the checkpoint, and its steps have the part's
// name as prefix.
func do[P any](ctx context.Context, p *Parts, part string, undoes bool, w Work[P], spec P) (*guestRun, error) {
	w = w.interrupting(spec)
	a := &guestRun{Worker: p.Worker, run: p.Run, requested: p.Asked, interrupts: w.Interrupts}
	a.keep = func(ctx context.Context, now progress) error {
		raw, err := json.Marshal(now)
		if err != nil {
			return fmt.Errorf("encoding a checkpoint: %w", err)
		}
		p.Checkpoints[part] = raw
		return p.Save(ctx)
	}
	if raw := p.Checkpoints[part]; raw != nil {
		if err := json.Unmarshal(raw, &a.progress); err != nil {
			return nil, fmt.Errorf("decoding a checkpoint: %w", err)
		}
	}
	for _, s := range w.Steps {
		if s.Needs == "" {
			s.Needs = w.Needs
		}
		bound := s.with(spec)
		bound.name, bound.undoes = part+"/"+bound.name, undoes
		a.steps = append(a.steps, bound)
	}
	return a, a.do(ctx)
}

// Reversible says how the state of a guest can be saved before it is changed:
// with a snapshot, if the driver takes them and there is a token for it, and
// with a backup to the returned storage. The storage is empty if there is none,
// or if a restore would destroy volumes that backups left out when they were
// last read. If neither is possible, the problem is volumes_not_in_backup or
// the first refusal. Reversible does not ask the hypervisor.
func (a *Actor) Reversible(ctx context.Context, g *Guest) (snapshot bool, storage string, err error) {
	err = a.Hosts.Require(ctx, g.HostID, endpoint.Lifecycle, func(at hypervisor.Host) error {
		if _, err := host.AsAbility[hypervisor.LifecycleManager](at); err != nil {
			return err
		}
		_, err := host.AsAbility[hypervisor.Snapshotter](at)
		return err
	})
	if err != nil && problem.From(err).Status() >= 500 && !unsupported(err) {
		return false, "", err
	}
	snapshot = err == nil
	if failed := a.ableToRestore(ctx, g.HostID, true); failed == nil {
		if storage, failed = (&backupStorages{db: a.DB}).choose(ctx, g, nil); failed != nil {
			if problem.CodeOf(failed) != problem.CodeInvalid {
				return false, "", failed
			}
			storage = ""
		}
	}
	if storage != "" {
		disks, failed := leftOutNow(ctx, a.DB, g.ID)
		if failed != nil {
			return false, "", failed
		}
		if o := overwrite(hypervisor.Config{Disks: disks}, nil); len(o.erased) > 0 {
			storage, err = "", problem.New(problem.CodeVolumesNotInBackup, "cannot roll back %s with a backup: backups do not include %s, and "+
				"a restore would destroy that data; include all volumes in backups first", g.Name, formatVolumes(o.erased))
		}
	}
	if snapshot || storage != "" {
		err = nil
	}
	return snapshot, storage, err
}
