package guest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// deletionLimit is how long the job waits for a deleted backup to disappear.
const deletionLimit = 2 * time.Minute

// removeCopies deletes the backups that the migration has created on both
// sides, and no others. It returns what is left, as clauses. An error means
// that this run must end; the deletion can be repeated.
func (a *guestRun) removeCopies(ctx context.Context, x *across) (left []string, err error) {
	t := x.Transfer
	// The job failed before it knew its backup. One may exist all the same.
	if t.Made == nil && a.run.StepStarted(stepBackup) {
		if t.Made, err = a.newBackup(ctx, x); err != nil {
			left = append(left, fmt.Sprintf("could not check whether a backup was left on the storage %s", x.SourceStorage))
		}
		if t.Made == nil && err == nil && x.Failure != nil && x.Failure.Status == job.Unknown {
			left = append(left, fmt.Sprintf("a backup may still appear on the storage %s", x.SourceStorage))
		}
	}
	if t.Made != nil {
		if text := a.removeBackup(ctx, a.hostID, *t.Made); text != "" {
			left = append(left, text)
		}
	}
	switch {
	case t.To == nil:
	// A restore whose result is unknown may still be reading the backup.
	case x.Failure != nil && x.Failure.Status == job.Unknown && a.run.StepStarted(x.restoring()):
		left = append(left, fmt.Sprintf("the backup %s stays on %s, because a restore may still need it", t.To.ID, x.HostName))
	default:
		if text := a.removeBackup(ctx, x.HostID, x.copyAt(*t.To, a.requested)); text != "" {
			left = append(left, text)
		}
	}
	select {
	case <-a.run.Stopping():
		return nil, job.ErrStopping
	default:
		return left, nil
	}
}

// removeBackup deletes a backup if it exists and waits until it is gone. It
// returns what is left, or an empty string. If another job writes or deletes
// the backup, removeBackup waits for that job first.
func (a *guestRun) removeBackup(ctx context.Context, hostID int64, b hypervisor.Backup) (left string) {
	held := false
	for ends, sent, seen := time.Now().Add(deletionLimit), false, false; ; seen = true {
		list, err := a.backups(ctx, hostID, b.Node, b.Storage)
		if err == nil && !slices.ContainsFunc(list, func(other hypervisor.Backup) bool { return other.ID == b.ID }) {
			if seen {
				a.run.Note("the backup %s was deleted", b.ID)
				a.relist(ctx, a.run, hostID, b.Storage, b.Node)
			}
			return ""
		}
		if err == nil && !held {
			release, busy := a.holdBackup(ctx, hostID, b, deletionLimit)
			if held = busy == nil; held {
				defer release()
			} else if problem.CodeOf(busy) != problem.CodeGuestBusy {
				err = busy
			}
		}
		if err == nil && held && !sent {
			_, err = host.CallWithTimeout(ctx, a.Hosts, a.readLimit(), hostID, endpoint.Backup,
				func(ctx context.Context, at hypervisor.BackupManager) (string, error) { return at.DeleteBackup(ctx, b) })
			sent = err == nil
			if kind := sdk.KindOf(err); kind == sdk.NotFound || kind == sdk.Timeout || kind == sdk.Unreachable {
				// The list shows whether it was deleted, and asking twice does
				// no harm.
				err = nil
			}
		}
		if err != nil {
			return fmt.Sprintf("the backup %s was left on the storage %s: %s", b.ID, b.Storage, job.Explain(err))
		}
		if time.Now().After(ends) {
			return fmt.Sprintf("the backup %s was left on the storage %s, which cannot delete it", b.ID, b.Storage)
		}
		select {
		case <-a.run.Stopping():
			return "the service is stopping"
		case <-time.After(200 * time.Millisecond):
		}
	}
}
