package appscript

import (
	"context"
	"errors"
	"fmt"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// restorePoint is how a container is set back: by a snapshot or by a backup.
type restorePoint struct {
	Snapshot string             `json:"snapshot,omitempty"`
	Backup   *hypervisor.Backup `json:"backup,omitempty"`
	// Volumes are the IDs of the container's volumes that the backup includes.
	Volumes []string `json:"volumes,omitempty"`
	// Deleted says that the snapshot is gone again.
	Deleted bool `json:"deleted,omitempty"`
}

// left describes what remains of the saved state if the job cannot remove it.
func (w *restorePoint) left() string {
	switch {
	case w == nil || w.Deleted:
		return "the copy from before no longer exists"
	case w.Backup != nil:
		return "the backup " + w.Backup.ID + " from before is left"
	}
	return "the snapshot " + w.Snapshot + " from before is left"
}

// createRestorePoint takes a snapshot, or creates a backup if that fails. The update does
// not run if neither works, or if a restore would destroy volumes that the
// backup does not include.
func (u *update) createRestorePoint(ctx context.Context) error {
	name := fmt.Sprintf("before-update-%d", u.run.Job().ID)
	var failed error
	if u.params.Snapshot {
		failed = u.parts().Snapshot(ctx, "snapshot", name, "Before the update of "+u.run.Job().Target.Name)
		if failed == nil {
			u.progress.Way = &restorePoint{Snapshot: name}
			return u.save(ctx)
		}
		status, verdict := job.Verdict(failed)
		if u.hold.Err() != nil || errors.Is(failed, job.ErrLost) || u.canceled() || verdict && status != job.Failed ||
			!verdict && !job.Refused(failed) || u.params.Storage == "" {
			return u.early(failed, "no snapshot could be taken")
		}
		u.run.Note("no snapshot could be taken (%s): making a backup instead", job.Text(failed))
	}
	volumes, err := u.parts().RestorableVolumes(ctx)
	if err != nil {
		return u.early(err, "a backup could not be used to roll back")
	}
	made, err := u.parts().BackUp(ctx, "backup", u.params.Storage, "hostler update "+name)
	if err != nil {
		return u.early(err, "no backup could be made")
	}
	u.progress.Way = &restorePoint{Backup: &made, Volumes: volumes}
	return u.save(ctx)
}

// rollBackAndCheck sets the container back, starts it and checks whether the app is as
// before. The result becomes the verdict.
func (u *update) rollBackAndCheck(ctx context.Context) error {
	v := u.progress.Verdict
	u.run.Note("%s: rolling back the container", v.Text)
	err := u.rollBack(ctx)
	if ctx.Err() != nil || errors.Is(err, job.ErrLost) || errors.Is(err, job.ErrStopping) {
		return err
	}
	v.Back = false
	if err != nil {
		status, verdict := job.Verdict(err)
		v.Unknown = verdict && status == job.Unknown
		v.Outcome = OutcomeNeedsHuman
		v.Text = fmt.Sprintf("%s; the container could not be rolled back (%s): fix it manually, %s", v.Text, job.Text(err),
			u.progress.Way.left())
		return u.save(ctx)
	}
	now, worse, err := u.observeUntil(ctx, u.progress.Before, u.probes())
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		v.Outcome, v.Text = OutcomeNeedsHuman, fmt.Sprintf("%s; the container was rolled back but cannot be checked (%s): check it manually",
			v.Text, job.Explain(err))
	case worse != "":
		v.Outcome, v.Text = OutcomeNeedsHuman, fmt.Sprintf("%s; the container was rolled back, but %s: check it manually", v.Text, worse)
	default:
		v.Outcome, v.Text = OutcomeRolledBack, v.Text+"; the container was rolled back, and the app is as it was before"
	}
	u.progress.After = now
	return u.save(ctx)
}

// rollBack sets the container back and starts it.
func (u *update) rollBack(ctx context.Context) error {
	w := u.progress.Way
	if w.Backup == nil {
		if err := u.parts().RollBack(ctx, "roll-back", w.Snapshot); err != nil {
			return err
		}
		return u.parts().Act(ctx, "start", hypervisor.Start)
	}
	if err := u.parts().Act(ctx, "stop", hypervisor.Stop); err != nil {
		return err
	}
	if err := u.parts().Restore(ctx, "restore", *w.Backup, w.Volumes); err != nil {
		return err
	}
	return u.parts().Act(ctx, "start", hypervisor.Start)
}

// forget deletes a snapshot that nobody needs any more. A failure does not
// change the result of the job.
func (u *update) forget(ctx context.Context, part, name string) (gone bool, err error) {
	err = u.parts().DeleteSnapshot(ctx, part, name)
	if ctx.Err() != nil || errors.Is(err, job.ErrLost) || errors.Is(err, job.ErrStopping) {
		return false, err
	}
	if err != nil {
		u.run.Note("the snapshot %s could not be deleted: %s", name, job.Text(err))
	}
	return err == nil, nil
}
