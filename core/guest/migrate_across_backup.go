package guest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// listBefore stores which backups exist on both sides, so that the new one can
// be recognised.
func (a *guestRun) listBefore(ctx context.Context, x *across) error {
	here, err := a.backups(ctx, a.hostID, a.ref.Node, x.SourceStorage)
	if err != nil {
		return err
	}
	there, err := a.backups(ctx, x.HostID, x.Node, x.TargetStorage)
	if err != nil {
		return err
	}
	for _, b := range here {
		x.Before = append(x.Before, volumeOf(b))
	}
	for _, b := range there {
		x.BeforeThere = append(x.BeforeThere, volumeOf(b))
	}
	x.Listed = true
	return a.run.SaveCheckpoint(ctx, a.progress)
}

// backups lists a storage. It retries until the hypervisor answers, because the
// guest is stopped and giving up would only prolong that.
func (a *guestRun) backups(ctx context.Context, hostID int64, node, storage string) (list []hypervisor.Backup, err error) {
	err = a.run.RetryUnreachable(ctx, func(ctx context.Context) (err error) {
		list, err = host.CallWithTimeout(ctx, a.Hosts, a.readLimit(), hostID, endpoint.Backup,
			func(ctx context.Context, at hypervisor.BackupManager) ([]hypervisor.Backup, error) {
				return at.Backups(ctx, hypervisor.BackupQuery{Storage: storage, Node: node})
			})
		return err
	})
	return list, err
}

// backUp backs the guest up and finds the backup in the target's list, which
// proves that both sides see the same storage.
func (a *guestRun) backUp(ctx context.Context, x *across) error {
	spec := a.movingBackup(x)
	s := step{
		name: stepBackup, needs: endpoint.Backup, operation: hypervisor.OperationBackup,
		note: "backing up the guest to the storage " + x.SourceStorage,
		send: func(ctx context.Context, at hypervisor.Host, ref hypervisor.GuestRef) (string, error) {
			able, err := host.AsAbility[hypervisor.BackupManager](at)
			if err != nil {
				return "", err
			}
			return able.RunBackup(ctx, ref, spec)
		},
		state: func(context.Context, hypervisor.Host, hypervisor.Guest, time.Time) (State, error) {
			return State{}, nil
		},
	}
	err := a.settle(ctx, s, a.follow(ctx, s))
	// An unknown end of the task is not final: the list of backups shows
	// whether there is one.
	if status, verdict := job.Verdict(err); err != nil && (!verdict || status != job.Unknown) {
		return err
	}
	made, failed := a.newBackup(ctx, x)
	switch {
	case failed != nil:
		return errors.Join(failed, err)
	case made == nil && err != nil:
		return err
	case made == nil:
		return job.Fail("the backup was taken, but the storage %s does not list it", x.SourceStorage)
	case err != nil:
		a.run.Note("%s; but the backup %s exists", job.Text(err), made.ID)
	}
	if x.Transfer == nil {
		return a.verifyBackup(ctx, x, *made)
	}
	x.Transfer.Made = made
	if err := a.run.SaveCheckpoint(ctx, a.progress); err != nil {
		return err
	}
	return a.copyBackup(ctx, x)
}

// movingBackup returns the backup by which the guest is moved. The notes of a
// backup that is copied contain the job, so that the job deletes this one and
// no other.
func (a *guestRun) movingBackup(x *across) hypervisor.BackupSpec {
	spec := hypervisor.BackupSpec{Storage: x.SourceStorage, Mode: "stop", Notes: fmt.Sprintf("moved to %s", x.HostName)}
	if x.Transfer != nil {
		spec.Notes += fmt.Sprintf(" by job %d", a.run.Job().ID)
	}
	return spec
}

// newBackup returns the guest's backup that did not exist before, or nil.
func (a *guestRun) newBackup(ctx context.Context, x *across) (*hypervisor.Backup, error) {
	list, err := a.backups(ctx, a.hostID, a.ref.Node, x.SourceStorage)
	if err != nil {
		return nil, err
	}
	var newest *hypervisor.Backup
	told := a.run.CreatedBackup(stepBackup)
	for _, b := range list {
		// This backup will be deleted afterwards, so it must be known exactly.
		if x.Transfer != nil && (told != "" && b.ID != told || !a.movingBackup(x).NotesMatch(b)) {
			continue // it will be deleted
		}
		if b.Kind == a.requested.Kind && b.Guest == a.ref.ID && !slices.Contains(x.Before, volumeOf(b)) &&
			(newest == nil || b.TakenAt.After(newest.TakenAt)) {
			newest = &b
		}
	}
	return newest, nil
}

// defaultProofLimit is how long a new backup may take to become visible from
// the other side. Network storages cache directories for seconds.
const defaultProofLimit = time.Minute

// verifyBackup finds the new backup in the target's list, where it was not before.
func (a *guestRun) verifyBackup(ctx context.Context, x *across, made hypervisor.Backup) error {
	return a.appears(ctx, x, func(b hypervisor.Backup) bool {
		return sameBackup(b, made) && !slices.Contains(x.BeforeThere, volumeOf(b))
	}, "the host "+x.HostName+" sees the backup: both hosts have the same storage",
		fmt.Sprintf("the host %s does not see the backup %s: its storage %s is a different one; the backup stays where it is", x.HostName,
			made.ID, x.TargetStorage))
}

// appears waits until the target lists a backup that is ours, and stores it in
// the checkpoint.
func (a *guestRun) appears(ctx context.Context, x *across, ours func(hypervisor.Backup) bool, found, missing string) error {
	for ends := time.Now().Add(cmp.Or(a.ProofLimit, defaultProofLimit)); ; {
		list, err := a.backups(ctx, x.HostID, x.Node, x.TargetStorage)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(list, ours); i >= 0 {
			a.run.Note("%s", found)
			x.Backup = &list[i]
			return a.run.SaveCheckpoint(ctx, a.progress)
		}
		if time.Now().After(ends) {
			return job.Fail("%s", missing)
		}
		if err := wait(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
}
